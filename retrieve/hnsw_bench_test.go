package retrieve

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// mixture draws unit vectors from 2,000 Gaussians whose noise has the length .8
// of their centres.
func mixture(seed uint64, n, dim int) [][]float32 {
	centres, noise := rand.New(rand.NewPCG(11, 0)), rand.New(rand.NewPCG(seed, 1))
	middle := make([][]float32, 2000)
	for i := range middle {
		middle[i] = gaussian(centres, dim, 1)
	}
	out := make([][]float32, n)
	for i := range out {
		v, c := gaussian(noise, dim, .8), middle[noise.IntN(len(middle))]
		var square float64
		for d := range v {
			v[d] += c[d]
			square += float64(v[d]) * float64(v[d])
		}
		for d := range v {
			v[d] /= float32(math.Sqrt(square))
		}
		out[i] = v
	}
	return out
}

// gaussian is a random direction of about a length.
func gaussian(rng *rand.Rand, dim int, length float64) []float32 {
	v := make([]float32, dim)
	for d := range v {
		v[d] = float32(rng.NormFloat64() * length / math.Sqrt(float64(dim)))
	}
	return v
}

// BenchmarkHNSW builds a graph of 100,000 vectors and searches it: recall@10
// against all distances, processor time of building and of a search.
func BenchmarkHNSW(b *testing.B) {
	const rows, dim = 100_000, 256
	vectors, questions := mixture(1, rows, dim), mixture(2, 500, dim)
	x := NewHNSW(dim, HNSWOptions{Seed: 1})
	entries := make([]Entry, rows)
	for i, v := range vectors {
		entries[i] = entry("t", fmt.Sprintf("source%d", i/132), i, v)
	}
	began := processorTime()
	mustAdd(b, x, entries...)
	building := processorTime() - began
	exact := NewExact(dim)
	mustAdd(b, exact, entries...)
	found := 0
	for _, q := range questions {
		want := nodes(mustSearch(b, exact, Probe{Vector: q}, 10, Scope{Tenant: "t"}))
		for _, n := range nodes(mustSearch(b, x, Probe{Vector: q}, 10, Scope{Tenant: "t"})) {
			if slices.Contains(want, n) {
				found++
			}
		}
	}
	for _, c := range []struct {
		name string
		x    Index
	}{{"graph", x}, {"exact", exact}} {
		b.Run(c.name, func(b *testing.B) {
			before := processorTime()
			for i := 0; b.Loop(); i++ {
				mustSearch(b, c.x, Probe{Vector: questions[i%len(questions)]}, 10, Scope{Tenant: "t"})
			}
			reportProcessorTime(b, before)
			if c.x == x {
				b.ReportMetric(float64(found)/float64(10*len(questions)), "recall@10")
				b.ReportMetric(building.Round(time.Millisecond).Seconds(), "build-cpu-s")
			}
		})
	}
}
