package retrieve

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestCodesAreNearTheVectors(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, dim := range []int{1, 7, 8, 9, 64, 65, 128, 255, 256, 384, 1024} {
		c := codes{size: codeSize(dim)}
		var vectors [][]float32
		for r := range int32(40) {
			v := make([]float32, dim)
			for i := range v {
				v[i] = float32(rng.NormFloat64())
			}
			vectors = append(vectors, v)
			c.set(r, v)
		}
		q := newCodedQuery(vectors[0])
		rows := []int32{3, 0, 39, 3}
		out := make([]float32, len(rows))
		c.scores(q, rows, out)
		for k, r := range rows {
			most := 0.0 // every value is off by at most half a step
			for i := range dim {
				a, b := float64(vectors[0][i]), float64(vectors[r][i])
				most += float64(q.scale)*math.Abs(b)/2 + float64(c.scales[r])*math.Abs(a)/2 + float64(q.scale*c.scales[r])/4
			}
			if want := dot(vectors[0], vectors[r]); math.Abs(float64(out[k])-want) > most+1e-4 {
				t.Fatalf("dim %d row %d: %g instead of %g", dim, r, out[k], want)
			}
		}
	}
}

// layLanes lays questions out for every implementation.
func layLanes(tb testing.TB) {
	tb.Helper()
	old := laned
	laned = true
	tb.Cleanup(func() { laned = old })
}

// Every implementation gives the same whole number, at the ends of the range too.
func TestProductsAreTheSameEverywhere(t *testing.T) {
	layLanes(t)
	rng := rand.New(rand.NewPCG(3, 4))
	kinds := []func() float32{
		func() float32 { return 1 }, func() float32 { return -1 }, func() float32 { return 0 },
		func() float32 { return float32(rng.NormFloat64()) }, func() float32 { return float32(rng.IntN(2)*2 - 1) },
	}
	for _, dim := range []int{1, 63, 64, 192, 256, 300, 1536} {
		c := codes{size: codeSize(dim)}
		var queries []*codedQuery
		for r, kind := range kinds {
			v := make([]float32, dim)
			for i := range v {
				v[i] = kind()
			}
			c.set(int32(r), v)
			queries = append(queries, newCodedQuery(v))
		}
		rows := []int32{0, 1, 2, 3, 4}
		for name, products := range implementations() {
			for _, q := range queries {
				got, want := make([]float32, len(rows)), make([]float32, len(rows))
				products(q, &c, rows, got)
				for k, r := range rows {
					for i, b := range c.row(r) {
						want[k] += float32(int8(q.signed[i])) * float32(int(b)-codeMid)
					}
				}
				if !slices.Equal(got, want) {
					t.Fatalf("%s, dim %d: %v instead of %v", name, dim, got, want)
				}
			}
		}
	}
}

func TestCodesOfARowAreReplaced(t *testing.T) {
	c := codes{size: codeSize(3)}
	c.set(0, []float32{1, 0, 0})
	c.set(1, []float32{0, 1, 0})
	c.set(0, []float32{0, 0, 2})
	out := make([]float32, 2)
	c.scores(newCodedQuery([]float32{0, 0, 1}), []int32{0, 1}, out)
	if math.Abs(float64(out[0])-2) > 1e-5 || out[1] != 0 || len(c.scales) != 2 {
		t.Errorf("scores %v of %d rows", out, len(c.scales))
	}
}

// BenchmarkProducts compares a question with 36,000 codes of 256 numbers.
func BenchmarkProducts(b *testing.B) {
	rng := rand.New(rand.NewPCG(5, 6))
	c := codes{size: 256}
	v := make([]float32, 256)
	rows := make([]int32, 36_000)
	for r := range rows {
		for i := range v {
			v[i] = float32(rng.NormFloat64())
		}
		rows[r] = int32(r)
		c.set(int32(r), v)
	}
	layLanes(b)
	q, out := newCodedQuery(v), make([]float32, 256)
	for name, products := range implementations() {
		b.Run(name, func(b *testing.B) {
			before := processorTime()
			for b.Loop() {
				for part := range slices.Chunk(rows, 256) {
					products(q, &c, part, out)
				}
			}
			reportProcessorTime(b, before)
		})
	}
}
