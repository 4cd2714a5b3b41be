package retrieve

import "slices"

// path is one walk from an L1 to a leaf.
type path struct {
	root, clip, leaf int // indexes in the view
	scores           [3]float64
}

// walk gives paths L1 > L2 > L3 through a tree, every leaf at most once, in the
// order the navigator finds them. allowed says which leaves may be looked at.
type walk struct {
	s              *scored
	w              *Weights
	f              *field // nil: nobody reads features
	n              *walker
	course         course
	open           openLeaves
	nodes          []walkNode
	index          []int              // of the candidates of a step
	parent         []int              // of each: which of the paths it goes on from
	known          [3]map[int]float64 // by level, scores that hold as long as the state stays
	scored, rounds int                // nodes that were scored, rounds that were walked
	pieces         int                // regions that were scored after the walk
}

// newWalk starts a walk; field may be nil where the weights read no features.
func (s *scored) newWalk(w *Weights, f *field) *walk {
	c := w.of(s.view)
	return &walk{s: s, w: w, f: f, n: newWalker(c.set, s.q.vector), course: c}
}

// material is what most leaves of a tree hold.
func (v *view) material() layer {
	var count [layers]int
	var most layer
	for i := range v.leaves {
		l := v.leaves[i].layer
		if count[l]++; count[l] > count[most] {
			most = l
		}
	}
	return most
}

// paths walks until the navigator has seen enough or no leaf is left.
func (t *walk) paths(allowed func(leaf int) bool) []path {
	v := t.s.view
	t.open = openLeaves{clips: make([]int, len(v.clips)), roots: make([]int, len(v.roots)), leaves: make([]bool, len(v.leaves))}
	for i, l := range v.leaves {
		if allowed(i) {
			t.open.change(v, i, l.clip, 1)
		}
	}
	var out []path
	for t.rounds < t.w.MaxRounds {
		found := t.descend()
		if len(found) == 0 {
			break
		}
		out = append(out, found...)
		t.rounds++
		for _, p := range found {
			t.open.change(v, p.leaf, p.clip, -1)
		}
		if t.rounds >= max(1, t.w.MinRounds) && t.n.halts() {
			break
		}
	}
	return out
}

// openLeaves counts the leaves that were not visited.
type openLeaves struct {
	roots, clips []int
	leaves       []bool
}

func (o *openLeaves) change(v *view, leaf, clip, by int) {
	o.leaves[leaf] = by > 0
	o.clips[clip] += by
	o.roots[v.clips[clip].root] += by
}

// descend takes one step per level and gives the paths that are left of its
// beam, best first.
func (t *walk) descend() []path {
	v := t.s.view
	all := []path{{}}
	all = t.choose(0, all, t.w.Beam, func(path) (int, int) { return 0, len(v.roots) })
	all = t.choose(1, all, t.w.Beam, func(p path) (int, int) { return v.roots[p.root].clipLo, v.roots[p.root].clipHi })
	return t.choose(2, all, Beam{}, func(p path) (int, int) { return v.clips[p.clip].leafLo, v.clips[p.clip].leafHi })
}

// choose goes on from paths to those of the nodes below them that hold open
// leaves and score best. Without a width it keeps as many as there are paths.
func (t *walk) choose(level int, from []path, b Beam, below func(path) (lo, hi int)) []path {
	t.index, t.parent = t.index[:0], t.parent[:0]
	for k, p := range from {
		lo, hi := below(p)
		for i := lo; i < hi; i++ {
			if t.isOpen(level, i) {
				t.index, t.parent = append(t.index, i), append(t.parent, k)
			}
		}
	}
	if len(t.index) == 0 {
		return nil
	}
	t.rate(level)
	width := len(from)
	if level < 2 {
		width = b.width(level, len(t.index))
	}
	var out []path
	for _, k := range t.n.best(width) {
		p := from[t.parent[k]]
		*[...]*int{&p.root, &p.clip, &p.leaf}[level], p.scores[level] = t.index[k], t.n.scores[k]
		out = append(out, p)
	}
	return out
}

// rate holds the candidates of a step against the question. Where the state
// never moves, what was scored in an earlier round keeps its score.
func (t *walk) rate(level int) {
	if !t.n.still() {
		t.fill(level)
		t.scored += len(t.index)
		t.n.choose(t.nodes)
		return
	}
	if t.known[level] == nil {
		t.known[level] = map[int]float64{}
	}
	all := t.n.scores[:0]
	for _, i := range t.index {
		s, ok := t.known[level][i]
		if !ok {
			t.nodes = append(t.nodes[:0], walkNode{})
			t.node(&t.nodes[0], level, i)
			s = t.n.score(&t.nodes[0])
			t.known[level][i] = s
			t.scored++
		}
		all = append(all, s)
	}
	t.n.scores = all
}

// fill makes the nodes of the candidates of a step.
func (t *walk) fill(level int) {
	t.nodes = slices.Grow(t.nodes[:0], len(t.index))[:len(t.index)]
	for k, i := range t.index {
		t.node(&t.nodes[k], level, i)
	}
}

func (t *walk) isOpen(level, i int) bool {
	switch level {
	case 0:
		return t.open.roots[i] > 0
	case 1:
		return t.open.clips[i] > 0
	}
	return t.open.leaves[i]
}

// node fills a node of a level.
func (t *walk) node(n *walkNode, level, i int) {
	v := t.s.view
	var lo, hi int
	switch level {
	case 0:
		r := &v.roots[i]
		n.vector, lo, hi = r.vector, v.clips[r.clipLo].lo, v.clips[r.clipHi-1].hi
	case 1:
		n.vector, lo, hi = v.clips[i].vector, v.clips[i].lo, v.clips[i].hi
	default:
		n.vector, lo, hi = v.leaves[i].vector, v.leaves[i].lo, v.leaves[i].hi
	}
	if t.f != nil {
		t.f.of(&n.phi, lo, hi, 1, level, dot(t.s.q.vector, n.vector))
	}
}
