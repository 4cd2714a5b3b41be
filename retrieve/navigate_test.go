package retrieve

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func randomUnit(rng *rand.Rand, dim int) []float32 {
	v := make([]float32, dim)
	for i := range v {
		v[i] = float32(rng.NormFloat64())
	}
	n := float32(math.Sqrt(dot(v, v)))
	for i := range v {
		v[i] /= n
	}
	return v
}

// walkView is a random tree of vectors.
func walkView(rng *rand.Rand, dim int) *view {
	v := &view{tree: &tree0}
	for range 1 + rng.IntN(4) {
		r := rootView{vector: randomUnit(rng, dim), clipLo: len(v.clips)}
		for range 1 + rng.IntN(4) {
			c := clipView{node: clipNode(fmt.Sprint(len(v.clips))), root: len(v.roots), leafLo: len(v.leaves), lo: len(v.units), vector: randomUnit(rng, dim)}
			for range 1 + rng.IntN(5) {
				v.leaves = append(v.leaves, leafView{node: clipNode("l"), clip: len(v.clips), lo: len(v.units), hi: len(v.units) + 1, vector: randomUnit(rng, dim)})
				v.units = append(v.units, unit{leaf: len(v.leaves) - 1})
			}
			c.leafHi, c.hi = len(v.leaves), len(v.units)
			v.clips = append(v.clips, c)
		}
		r.clipHi = len(v.clips)
		v.roots = append(v.roots, r)
	}
	return v
}

// cosineRoute is routing by plain cosine: best root with leaves left, its best
// clip, its best leaf, up to rounds times.
func cosineRoute(v *view, q []float32, rounds int) (leaves []int) {
	visited := map[int]bool{}
	free := func(c clipView) bool {
		for l := c.leafLo; l < c.leafHi; l++ {
			if !visited[l] {
				return true
			}
		}
		return false
	}
	pick := func(lo, hi int, ok func(int) bool, vec func(int) []float32) int {
		at, top := -1, math.Inf(-1)
		for i := lo; i < hi; i++ {
			if s := dot(q, vec(i)); ok(i) && s > top {
				at, top = i, s
			}
		}
		return at
	}
	for range rounds {
		r := pick(0, len(v.roots), func(i int) bool { return slices.ContainsFunc(v.clips[v.roots[i].clipLo:v.roots[i].clipHi], free) },
			func(i int) []float32 { return v.roots[i].vector })
		if r < 0 {
			break
		}
		c := pick(v.roots[r].clipLo, v.roots[r].clipHi, func(i int) bool { return free(v.clips[i]) }, func(i int) []float32 { return v.clips[i].vector })
		l := pick(v.clips[c].leafLo, v.clips[c].leafHi, func(i int) bool { return !visited[i] }, func(i int) []float32 { return v.leaves[i].vector })
		visited[l] = true
		leaves = append(leaves, l)
	}
	return leaves
}

func walkLeaves(v *view, w *Weights, q []float32) (leaves []int, paths []path) {
	s := &scored{view: v, q: &question{vector: q}, lexical: make([]float32, len(v.units)), noPhi: w.Phi == nil}
	for _, p := range s.walk(w, func(int) bool { return true }) {
		leaves = append(leaves, p.leaf)
		paths = append(paths, p)
	}
	return leaves, paths
}

// The untrained navigator is cosine routing exactly, its scores 2/sqrt(d_h)/heads
// times the cosine, and z never moves.
func TestUntrainedWalkIsScaledCosineRouting(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	const dim = 32
	explicit := explicitIdentity(dim)
	for range 100 {
		v, q := walkView(rng, dim), randomUnit(rng, dim)
		want := cosineRoute(v, q, 5)
		for name, w := range map[string]*Weights{"implicit": IdentityWeights(dim), "explicit": explicit} {
			got, paths := walkLeaves(v, w, q)
			if !slices.Equal(got, want) {
				t.Fatalf("%s: walked %v, cosine routing gives %v", name, got, want)
			}
			scale := 2 / math.Sqrt(dim/4) / 4
			for _, p := range paths {
				for level, vec := range [][]float32{v.roots[p.root].vector, v.clips[p.clip].vector, v.leaves[p.leaf].vector} {
					if math.Abs(p.scores[level]-scale*dot(q, vec)) > 1e-6 {
						t.Fatalf("%s: level %d scored %g, want %g", name, level+1, p.scores[level], scale*dot(q, vec))
					}
				}
			}
		}
	}
}

// explicitIdentity is the identity form written out: unit matrices, and zeros
// where training begins.
func explicitIdentity(dim int) *Weights {
	w := IdentityWeights(dim)
	unit := func(x float32) [][]float32 {
		m := make([][]float32, dim)
		for i := range m {
			m[i] = make([]float32, dim)
			m[i][i] = x
		}
		return m
	}
	w.Query, w.Key, w.Value, w.Out = unit(1), unit(1), unit(1), unit(0)
	w.Phi = [][]float32{make([]float32, phiFeatures), make([]float32, phiFeatures), make([]float32, phiFeatures), make([]float32, phiFeatures)}
	gains := slices.Repeat([]float32{1}, dim)
	w.Blocks = []Block{{gains, unit(1), unit(1), unit(0)}, {gains, unit(1), unit(1), unit(0)}}
	w.Halt = make([]float32, dim)
	return w
}

// One step with trained-like weights, worked by hand: one head, q = (1, 0),
// nodes (1, 0) and (0, 1), W_o = .5 I.
func TestStepByHand(t *testing.T) {
	w := &Weights{Dim: 2, Heads: 1, Out: [][]float32{{.5, 0}, {0, .5}}, MaxRounds: 1}
	n := newWalker(w, []float32{1, 0})
	at, score := n.step([]walkNode{{vector: []float32{1, 0}}, {vector: []float32{0, 1}}})
	near(t, "logit 2/sqrt(2)", score, math.Sqrt2)
	p := math.Exp(math.Sqrt2) / (math.Exp(math.Sqrt2) + 1)
	near(t, "z_0 = 1 + .5 p", float64(n.z[0]), 1+.5*p)
	near(t, "z_1 = .5 (1 - p)", float64(n.z[1]), .5*(1-p))
	if at != 0 {
		t.Errorf("chose %d", at)
	}
	w.Phi = [][]float32{{0, 0, 0, 5}} // the level feature outweighs the cosine
	if at, _ = newWalker(w, []float32{1, 0}).step([]walkNode{{vector: []float32{1, 0}}, {[]float32{0, 1}, [phiFeatures]float32{3: 1}}}); at != 1 {
		t.Error("the features do not count")
	}
}

func TestBlockByHand(t *testing.T) {
	b := Block{Norm: []float32{1, 2}, Gate: [][]float32{{1, 0}}, Up: [][]float32{{0, 1}}, Down: [][]float32{{1}, {-1}}}
	z := []float32{1, 0}
	b.add(z, []float32{2, 4}) // z + x = (3, 4), mean square 12.5
	rms := math.Sqrt(12.5 + 1e-6)
	g := 3 / rms
	step := g / (1 + math.Exp(-g)) * (4 / rms * 2)
	near(t, "z_0", float64(z[0]), 1+step)
	near(t, "z_1", float64(z[1]), -step)
}

func TestHaltNeedsItsRounds(t *testing.T) {
	w := IdentityWeights(4)
	n := newWalker(w, []float32{1, 0, 0, 0})
	if n.halts(1) || n.halts(4) {
		t.Error("the untrained walk halted")
	}
	w.Halt, w.HaltBias, w.MinRounds = []float32{9, 0, 0, 0}, -5, 2
	if n.halts(1) || !n.halts(2) {
		t.Error("a sure walk must halt after its least rounds, not before")
	}
	v := walkView(rand.New(rand.NewPCG(1, 1)), 4)
	if leaves, _ := walkLeaves(v, w, []float32{1, 0, 0, 0}); len(leaves) > 2 {
		t.Errorf("walked %d rounds", len(leaves))
	}
}

func TestWalkOnOddTrees(t *testing.T) {
	w := explicitIdentity(8)
	nan := float32(math.NaN())
	v := walkView(rand.New(rand.NewPCG(2, 2)), 8)
	for i := range v.leaves {
		v.leaves[i].vector = slices.Repeat([]float32{nan}, 8)
	}
	if leaves, _ := walkLeaves(v, w, slices.Repeat([]float32{nan}, 8)); len(leaves) == 0 {
		t.Error("a walk among not-a-numbers found no leaf at all")
	}
	if leaves, _ := walkLeaves(&view{tree: &tree0}, w, make([]float32, 8)); len(leaves) != 0 {
		t.Error("an empty tree has no leaves")
	}
}

func TestWeightsOfWrongShapeAreRefused(t *testing.T) {
	if err := explicitIdentity(8).check(8); err != nil {
		t.Fatal(err)
	}
	for name, spoil := range map[string]func(*Weights){
		"dimension": func(w *Weights) { w.Dim = 16 },
		"heads":     func(w *Weights) { w.Heads = 3 },
		"query":     func(w *Weights) { w.Query = w.Query[:7] },
		"row":       func(w *Weights) { w.Out[3] = w.Out[3][:2] },
		"phi":       func(w *Weights) { w.Phi = w.Phi[:1] },
		"norm":      func(w *Weights) { w.Blocks[0].Norm = nil },
		"down":      func(w *Weights) { w.Blocks[1].Down = nil },
		"halt":      func(w *Weights) { w.Halt = w.Halt[:1] },
		"rounds":    func(w *Weights) { w.MaxRounds = 0 },
	} {
		w := explicitIdentity(8)
		spoil(w)
		if w.check(8) == nil {
			t.Errorf("wrong %s was taken", name)
		}
	}
}
