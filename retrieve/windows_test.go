package retrieve

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// sparseText is a text of so many units of random lengths, and some postings in it.
func sparseText(rng *rand.Rand) (*view, []posting) {
	v := &view{}
	n := 1 + rng.IntN(400)
	for range n {
		v.units = append(v.units, unit{tokens: rng.IntN(40), vector: []float32{1}})
	}
	var list []posting
	for u := range n {
		if rng.IntN(1+rng.IntN(90)) == 0 {
			list = append(list, posting{int32(u), float32(1 + rng.IntN(3))})
		}
	}
	return v, list
}

// Reading only the stretches that a word reaches gives what reading the whole
// text gives.
func TestStretchesAreTheWholeText(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	for range 200 {
		v, list := sparseText(rng)
		s := v.surround()
		n := len(v.units)
		for k := range contexts {
			whole, run := make([]float32, n), make([]float32, n+1)
			for _, p := range list {
				whole[p.unit] = p.count
			}
			s.spread(k, 0, n, whole, run)
			parts, counts, read, last := make([]float32, n), make([]float32, n), 0, 0
			s.stretches(k, list, func(part []posting, lo, hi int) {
				if lo < last || hi <= lo || hi > n {
					t.Fatalf("units [%d, %d) after %d of %d", lo, hi, last, n)
				}
				read, last = read+len(part), hi
				clear(counts[lo:hi])
				for _, p := range part {
					counts[p.unit] = p.count
				}
				s.spread(k, lo, hi, counts, run)
				copy(parts[lo:hi], counts[lo:hi])
			})
			if read != len(list) {
				t.Fatalf("%d of %d postings were read", read, len(list))
			}
			for u := range whole {
				if math.Abs(float64(whole[u]-parts[u])) > 1e-3*(1+math.Abs(float64(whole[u]))) {
					t.Fatalf("unit %d of %d: %g, by stretches %g", u, n, whole[u], parts[u])
				}
			}
		}
	}
}

// The counts of a word in every window that holds it, against counting anew.
func TestCountsInWindows(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	for range 200 {
		v, list := sparseText(rng)
		mass := v.surround().mass
		for _, width := range phiScales {
			box := windows(mass, width)
			want, got := make([]float32, len(box)), make([]float32, len(box))
			for i, b := range box {
				for _, p := range list {
					if p.unit >= b.lo && p.unit < b.hi {
						want[i] += p.count
					}
				}
			}
			inWindows(list, box, func(i int, c float32) { got[i] += c })
			if !slices.Equal(want, got) {
				t.Fatalf("width %g: %v, want %v", width, got, want)
			}
		}
	}
}
