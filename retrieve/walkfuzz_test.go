package retrieve

import (
	"math"
	"math/rand/v2"
	"testing"
)

// FuzzBeam walks trees of odd shapes and vectors with drawn weights: no panic,
// every path is one of the tree, and no leaf is found twice.
func FuzzBeam(f *testing.F) {
	for _, seed := range []struct {
		shape        uint64
		l1, l2       int
		odd, untaken uint8
	}{{1, 0, 0, 0, 0}, {2, 16, 40, 1, 3}, {3, 1, 1, 2, 0}, {4, 2, 3, 3, 255}} {
		f.Add(seed.shape, seed.l1, seed.l2, seed.odd, seed.untaken)
	}
	f.Fuzz(func(t *testing.T, shape uint64, l1, l2 int, odd, untaken uint8) {
		rng := rand.New(rand.NewPCG(shape, 5))
		const dim = 8
		v, q := walkView(rng, dim), randomUnit(rng, dim)
		value := [...]float32{1, float32(math.NaN()), float32(math.Inf(1)), 0}[odd%4]
		for i := range v.leaves {
			v.leaves[i].vector[i%dim] *= value
		}
		for i := range v.clips {
			v.clips[i].vector[i%dim] *= value
		}
		w := of(dim, [...]*attention{identity(dim), explicitIdentity(dim), randomAttention(rng, dim)}[shape%3])
		w.Beam = Beam{max(0, l1), max(0, l2)}
		open := func(leaf int) bool { return untaken == 0 || leaf%int(untaken) != 0 }
		seen := map[int]bool{}
		s := &scored{view: v, q: &question{vector: q}}
		for _, p := range s.newWalk(w, nil).paths(open) {
			c := &v.clips[p.clip]
			if seen[p.leaf] || !open(p.leaf) || c.root != p.root || p.leaf < c.leafLo || p.leaf >= c.leafHi {
				t.Fatalf("%+v in a tree of %d leaves, seen %v", p, len(v.leaves), seen)
			}
			seen[p.leaf] = true
		}
	})
}
