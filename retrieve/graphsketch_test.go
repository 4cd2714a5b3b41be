package retrieve

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestSketchIsTheSigns(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 4))
	for _, dim := range []int{1, 63, 64, 100, 256} {
		v := gaussian(rng, dim, 1)
		code := make([]byte, codeSize(dim))
		encode(v, code)
		s := sketches{words: len(code) / codeBlock}
		s.set(0, code)
		s.set(1, slices.Repeat([]byte{codeMid - 1}, len(code)))
		s.set(0, code)
		for i, c := range code {
			if got := s.row(0)[i/64]>>(i%64)&1 == 1; got != (c >= codeMid) {
				t.Fatalf("dim %d: the sign of %d, number %d, is %v", dim, int(c)-codeMid, i, got)
			}
		}
		if len(s.bits) != 2*s.words || s.row(1)[s.words-1] != 0 {
			t.Errorf("dim %d: %d words of two rows, the negative one %v", dim, len(s.bits), s.row(1))
		}
		q := newCodedQuery(v)
		if !slices.Equal(q.signs, s.row(0)) {
			t.Errorf("dim %d: a question has other signs than a row", dim)
		}
	}
	if got := apart([]uint64{0b1011, 1 << 63}, []uint64{0b0010, 0}); got != 3 {
		t.Errorf("%d signs apart instead of 3", got)
	}
}

// The line is that of least squares; before it is believed nothing is too far.
func TestNearLine(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 4))
	var p nearPairs
	for range fewPairs - 1 {
		s := rng.Float64()
		p.add(float32(s), int32(math.Round(120-80*s+5*rng.NormFloat64())))
	}
	if l := p.line(); l.most(.5) != math.MaxInt32 {
		t.Errorf("%d after too few pairs", l.most(.5))
	}
	p.add(.5, 80)
	l := p.line()
	if math.Abs(l.slope+80) > 1 || math.Abs(l.base-120) > 1 || math.Abs(l.spread-5) > .2 {
		t.Errorf("%g %+g x, spread %g", l.base, l.slope, l.spread)
	}
	if got := l.most(.5); got < 98 || got > 102 { // 120 - 40 + 4 x 5
		t.Errorf("%d signs may differ at a score of .5", got)
	}
	same := nearPairs{}
	for range fewPairs {
		same.add(1, 0) // pictures that are all equal
	}
	if l := same.line(); l.most(1) < 0 || l.most(1) == math.MaxInt32 {
		t.Errorf("%d signs may differ among equals", l.most(1))
	}
}

func TestKeepNear(t *testing.T) {
	s := sketches{words: 1, bits: []uint64{0, 0b1, 0b111, 0b11111, math.MaxUint64}}
	s.near = nearLine{laid: true, base: 5, slope: -2}
	w := &walkScratch{rows: []int32{4, 3, 2, 1, 0}}
	s.keepNear(w, []uint64{0}, 1)
	if !slices.Equal(w.rows, []int32{2, 1, 0}) {
		t.Errorf("kept %v: three signs may differ", w.rows)
	}
	s.near.laid = false
	w.rows = []int32{4, 3}
	if s.keepNear(w, []uint64{0}, 1); len(w.rows) != 2 {
		t.Errorf("kept %v of two without a line", w.rows)
	}
}

// Vectors that two numbers dominate have signs that say nothing of them; none of
// their neighbours is lost for it.
func TestSketchesOfVectorsTheyDoNotFit(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	x, exact := NewHNSW(64, HNSWOptions{Seed: 1, Scan: -1}), NewExact(64)
	vector := func() []float32 {
		v := gaussian(rng, 64, .3)
		turn := rng.Float64() * 2 * math.Pi
		v[0], v[1] = v[0]+float32(math.Cos(turn)), v[1]+float32(math.Sin(turn))
		n := float32(math.Sqrt(dot(v, v)))
		for i := range v {
			v[i] /= n
		}
		return v
	}
	for i := range 3000 {
		e := entry("t", "s", i, vector())
		mustAdd(t, x, e)
		mustAdd(t, exact, e)
	}
	found := 0
	for range 100 {
		p := Probe{Vector: vector()}
		want := nodes(mustSearch(t, exact, p, 10, Scope{Tenant: "t"}))
		for _, n := range nodes(mustSearch(t, x, p, 10, Scope{Tenant: "t"})) {
			if slices.Contains(want, n) {
				found++
			}
		}
	}
	if !x.graph.signs.near.laid || found < 985 {
		t.Errorf("%d of 1000, a line was laid: %v", found, x.graph.signs.near.laid)
	}
	t.Logf("%d of 1000; %g %+g x, spread %g", found, x.graph.signs.near.base, x.graph.signs.near.slope, x.graph.signs.near.spread)
}
