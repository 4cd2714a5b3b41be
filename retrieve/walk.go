package retrieve

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
	open           openLeaves
	nodes          []walkNode
	index          []int
	scored, rounds int // nodes that were scored, rounds that were walked
}

// newWalk starts a walk; field may be nil where the weights read no features.
func (s *scored) newWalk(w *Weights, f *field) *walk {
	return &walk{s: s, w: w, f: f, n: newWalker(w.sets[s.material()], s.q.vector)}
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
	for len(out) < t.w.MaxRounds {
		p, ok := t.descend()
		if !ok {
			break
		}
		out = append(out, p)
		t.rounds++
		t.open.change(v, p.leaf, p.clip, -1)
		if len(out) >= max(1, t.w.MinRounds) && t.n.halts() {
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

// descend takes one step per level.
func (t *walk) descend() (p path, ok bool) {
	v := t.s.view
	if p.root, p.scores[0], ok = t.choose(0, 0, len(v.roots)); !ok {
		return p, false
	}
	r := v.roots[p.root]
	p.clip, p.scores[1], _ = t.choose(1, r.clipLo, r.clipHi)
	c := v.clips[p.clip]
	p.leaf, p.scores[2], _ = t.choose(2, c.leafLo, c.leafHi)
	return p, true
}

// choose takes one of the nodes [lo, hi) of a level that hold open leaves.
func (t *walk) choose(level, lo, hi int) (at int, score float64, ok bool) {
	t.nodes, t.index = t.nodes[:0], t.index[:0]
	for i := lo; i < hi; i++ {
		if t.isOpen(level, i) {
			t.nodes, t.index = append(t.nodes, walkNode{}), append(t.index, i)
			t.node(&t.nodes[len(t.nodes)-1], level, i)
		}
	}
	if len(t.nodes) == 0 {
		return 0, 0, false
	}
	t.scored += len(t.nodes)
	k, score := t.n.choose(t.nodes)
	return t.index[k], score, true
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
