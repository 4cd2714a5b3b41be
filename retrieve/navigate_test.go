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
	s := &scored{view: v, q: &question{vector: q}}
	for _, p := range s.newWalk(w, nil).paths(func(int) bool { return true }) {
		leaves = append(leaves, p.leaf)
		paths = append(paths, p)
	}
	return leaves, paths
}

// of are weights of one set for every material.
func of(dim int, a *attention) *Weights {
	w := IdentityWeights(dim)
	for l := range w.sets {
		w.sets[l] = a
	}
	return w
}

// The untrained navigator is cosine routing exactly, its scores 2/sqrt(d_h)/heads
// times the cosine, and z never moves.
func TestUntrainedWalkIsScaledCosineRouting(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	const dim = 32
	explicit := of(dim, explicitIdentity(dim))
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

func filled(rows, cols int, at func(i, k int) float32) *matrix {
	m := &matrix{rows, cols, make([]float32, rows*cols)}
	for i := range rows {
		for k := range cols {
			m.data[i*cols+k] = at(i, k)
		}
	}
	return m
}

func scaledUnit(dim int, x float32) *matrix {
	return filled(dim, dim, func(i, k int) float32 {
		if i == k {
			return x
		}
		return 0
	})
}

func zeros(rows, cols int) *matrix { return filled(rows, cols, func(int, int) float32 { return 0 }) }

// explicitIdentity is the identity form written out: unit matrices, and zeros
// where training begins.
func explicitIdentity(dim int) *attention {
	a := identity(dim)
	unit := scaledUnit(dim, 1)
	a.query, a.key, a.value, a.out = unit, unit, unit, zeros(dim, dim)
	a.phi, a.lean, a.leanPhi = zeros(a.heads, phiFeatures), unit, zeros(a.heads*dim, phiFeatures)
	a.encode, a.encodePhi, a.encodeBias = unit, zeros(dim, phiFeatures), make([]float32, dim)
	a.ask, a.askBias = zeros(dim, dim), make([]float32, dim)
	gains := slices.Repeat([]float32{1}, dim)
	a.blocks = []block{{gains, unit, unit, zeros(dim, dim)}, {gains, unit, unit, zeros(dim, dim)}}
	a.halt = make([]float32, dim)
	return a
}

// Random weights of the size of trained ones.
func randomAttention(rng *rand.Rand, dim int) *attention {
	const heads, head, gated, rank, hidden = 4, 3, 2, 5, 7
	m := func(rows, cols int) *matrix {
		return filled(rows, cols, func(int, int) float32 { return float32(rng.NormFloat64()) / 4 })
	}
	row := func(n int) []float32 { return m(1, n).data }
	return &attention{
		heads: heads, query: m(heads*head, dim), key: m(heads*head, dim), value: m(heads*head, dim), out: m(dim, heads*head),
		encode: m(heads*gated, dim), encodePhi: m(heads*gated, phiFeatures), encodeBias: row(heads * gated),
		ask: m(heads*gated, dim), askBias: row(heads * gated),
		phi: m(heads, phiFeatures), lean: m(rank, dim), leanPhi: m(heads*rank, phiFeatures),
		blocks: []block{{row(dim), m(hidden, dim), m(hidden, dim), m(dim, hidden)}}, cycles: 2, halt: row(dim), haltBias: -1,
	}
}

// One step with trained-like weights, worked by hand: one head, q = (1, 0),
// nodes (1, 0) and (0, 1), W_o = .5 I.
func TestStepByHand(t *testing.T) {
	a := &attention{heads: 1, query: scaledUnit(2, 1), key: scaledUnit(2, 1), value: scaledUnit(2, 1), out: scaledUnit(2, .5)}
	n := newWalker(a, []float32{1, 0})
	at, score := n.choose([]walkNode{{vector: []float32{1, 0}}, {vector: []float32{0, 1}}})
	near(t, "logit 2/sqrt(2)", score, math.Sqrt2)
	p := math.Exp(math.Sqrt2) / (math.Exp(math.Sqrt2) + 1)
	near(t, "z_0 = 1 + .5 p", float64(n.z[0]), 1+.5*p)
	near(t, "z_1 = .5 (1 - p)", float64(n.z[1]), .5*(1-p))
	if at != 0 {
		t.Errorf("chose %d", at)
	}
	a.phi = zeros(1, phiFeatures)
	a.phi.data[3] = 5 // this feature outweighs the cosine
	other := walkNode{vector: []float32{0, 1}}
	other.phi[3] = 1
	if at, _ = newWalker(a, []float32{1, 0}).choose([]walkNode{{vector: []float32{1, 0}}, other}); at != 1 {
		t.Error("the features do not count")
	}
}

// Each part of a logit by hand: q = z = (1, 0), one head.
func TestLogitByHand(t *testing.T) {
	row := func(v ...float32) *matrix { return &matrix{1, len(v), v} }
	feature := func(at int, x float32) *matrix {
		m := zeros(1, phiFeatures)
		m.data[at] = x
		return m
	}
	node := &walkNode{vector: []float32{.5, 2}}
	node.phi[1], node.phi[2] = 3, 1
	silu := func(x float64) float64 { return x / (1 + math.Exp(-x)) }
	for name, c := range map[string]struct {
		a    attention
		want float64
	}{
		"key":     {attention{query: row(2, 0), key: row(0, 1)}, 4 * 2},
		"feature": {attention{blind: true, phi: feature(1, .5)}, 1.5},
		"lean":    {attention{blind: true, phi: feature(1, .5), lean: row(.25, 0), leanPhi: feature(2, 7)}, 1.5 + .5*7},
		"gated": {attention{
			blind: true, encode: row(1, .5), encodePhi: feature(1, 1), encodeBias: []float32{-.5}, ask: row(.5, 0), askBias: []float32{2},
		}, 3 * silu(.5+1+3-.5)},
	} {
		c.a.heads = 1
		near(t, name, newWalker(&c.a, []float32{1, 0}).score(node), c.want)
	}
}

// The score by mean keys is the mean of the scores of the heads, and a step
// allocates nothing.
func TestHeadMeanAndNoAllocation(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	a := randomAttention(rng, 16)
	nodes := make([]walkNode, 9)
	for i := range nodes {
		nodes[i].vector = randomUnit(rng, 16)
		for k := range nodes[i].phi {
			nodes[i].phi[k] = rng.Float32()
		}
	}
	n := newWalker(a, randomUnit(rng, 16))
	best := math.Inf(-1)
	for i := range nodes {
		best = max(best, n.score(&nodes[i]))
	}
	if _, score := n.choose(nodes); math.Abs(score-best) > 1e-5 {
		t.Errorf("chosen at %g, the best scores %g", score, best)
	}
	if allocs := testing.AllocsPerRun(20, func() { n.choose(nodes) }); allocs != 0 {
		t.Errorf("a step allocates %g times", allocs)
	}
}

func TestBlockByHand(t *testing.T) {
	b := block{norm: []float32{1, 2}, gate: &matrix{1, 2, []float32{1, 0}}, up: &matrix{1, 2, []float32{0, 1}}, down: &matrix{2, 1, []float32{1, -1}}}
	z := []float32{1, 0}
	b.add(z, []float32{2, 4}, make([]float32, 2), make([]float32, 1)) // z + x = (3, 4), mean square 12.5
	rms := math.Sqrt(12.5 + 1e-6)
	g := 3 / rms
	step := g / (1 + math.Exp(-g)) * (4 / rms * 2)
	near(t, "z_0", float64(z[0]), 1+step)
	near(t, "z_1", float64(z[1]), -step)
}

func TestHaltNeedsItsRounds(t *testing.T) {
	q := []float32{1, 0, 0, 0}
	v := walkView(rand.New(rand.NewPCG(1, 1)), 4)
	if leaves, _ := walkLeaves(v, IdentityWeights(4), q); len(leaves) != min(5, len(v.leaves)) {
		t.Errorf("the untrained walk halted after %d rounds", len(leaves))
	}
	a := identity(4)
	a.halt, a.haltBias = []float32{9, 0, 0, 0}, -5
	for _, least := range []int{1, 2} {
		w := of(4, a)
		w.MinRounds = least
		if leaves, _ := walkLeaves(v, w, q); len(leaves) != least {
			t.Errorf("a sure walk of at least %d rounds took %d", least, len(leaves))
		}
	}
}

func TestWalkOnOddTrees(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	nan := float32(math.NaN())
	for name, w := range map[string]*Weights{"identity": of(8, explicitIdentity(8)), "random": of(8, randomAttention(rng, 8))} {
		v := walkView(rng, 8)
		for i := range v.leaves {
			v.leaves[i].vector = slices.Repeat([]float32{nan}, 8)
		}
		if leaves, _ := walkLeaves(v, w, slices.Repeat([]float32{nan}, 8)); len(leaves) == 0 {
			t.Errorf("%s: a walk among not-a-numbers found no leaf at all", name)
		}
		if leaves, _ := walkLeaves(&view{tree: &tree0}, w, make([]float32, 8)); len(leaves) != 0 {
			t.Errorf("%s: an empty tree has no leaves", name)
		}
		wide := walkView(rng, 8)
		for len(wide.leaves) < 10_000 { // one L2 of ten thousand children
			wide.leaves = append(wide.leaves, leafView{node: clipNode("l"), clip: len(wide.clips) - 1, lo: len(wide.units), hi: len(wide.units) + 1, vector: randomUnit(rng, 8)})
			wide.units = append(wide.units, unit{leaf: len(wide.leaves) - 1})
		}
		wide.clips[len(wide.clips)-1].leafHi = len(wide.leaves)
		if leaves, _ := walkLeaves(wide, w, randomUnit(rng, 8)); len(leaves) == 0 {
			t.Errorf("%s: nothing found among ten thousand", name)
		}
	}
}

func TestWeightsOfWrongShapeAreRefused(t *testing.T) {
	if err := of(8, explicitIdentity(8)).check(8); err != nil {
		t.Fatal(err)
	}
	for name, spoil := range map[string]func(*attention){
		"heads":   func(a *attention) { a.heads = 3 },
		"query":   func(a *attention) { a.query = zeros(7, 8) },
		"key":     func(a *attention) { a.key = nil },
		"row":     func(a *attention) { a.out = zeros(8, 7) },
		"phi":     func(a *attention) { a.phi = zeros(1, phiFeatures) },
		"lean":    func(a *attention) { a.leanPhi = zeros(4, phiFeatures) },
		"encode":  func(a *attention) { a.encodePhi = nil },
		"ask":     func(a *attention) { a.askBias = a.askBias[1:] },
		"norm":    func(a *attention) { a.blocks[0].norm = nil },
		"down":    func(a *attention) { a.blocks[1].down = nil },
		"halt":    func(a *attention) { a.halt = a.halt[1:] },
		"numbers": func(a *attention) { a.halt[0] = float32(math.Inf(1)) },
		"cycles":  func(a *attention) { a.cycles = -1 },
	} {
		a := explicitIdentity(8)
		spoil(a)
		if of(8, a).check(8) == nil {
			t.Errorf("wrong %s was taken", name)
		}
	}
	w := IdentityWeights(8)
	if w.check(16) == nil {
		t.Error("weights of another dimension were taken")
	}
	if w.MaxRounds = 0; w.check(8) == nil {
		t.Error("a walk of no rounds was taken")
	}
}
