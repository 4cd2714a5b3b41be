package retrieve

// path is one walk from an L1 to a leaf.
type path struct {
	root, clip, leaf int // indexes in the view
	scores           [3]float64
}

// walk gives paths L1 > L2 > L3 through a tree, every leaf at most once, in the
// order the navigator finds them. allowed says which leaves may be looked at.
func (s *scored) walk(w *Weights, allowed func(leaf int) bool) []path {
	v := s.view
	open := openLeaves{clips: make([]int, len(v.clips)), roots: make([]int, len(v.roots)), leaves: make([]bool, len(v.leaves))}
	for i, l := range v.leaves {
		if allowed(i) {
			open.change(v, i, l.clip, 1)
		}
	}
	n := newWalker(w, s.q.vector)
	var out []path
	for len(out) < w.MaxRounds {
		p, ok := s.descend(n, &open)
		if !ok {
			break
		}
		out = append(out, p)
		open.change(v, p.leaf, p.clip, -1)
		if n.halts(len(out)) {
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
func (s *scored) descend(n *walker, open *openLeaves) (p path, ok bool) {
	v := s.view
	if p.root, p.scores[0], ok = s.choose(n, 0, len(v.roots), func(i int) bool { return open.roots[i] > 0 }, s.rootNode); !ok {
		return p, false
	}
	r := v.roots[p.root]
	p.clip, p.scores[1], _ = s.choose(n, r.clipLo, r.clipHi, func(i int) bool { return open.clips[i] > 0 }, s.clipNode)
	c := v.clips[p.clip]
	p.leaf, p.scores[2], _ = s.choose(n, c.leafLo, c.leafHi, func(i int) bool { return open.leaves[i] }, s.leafNode)
	return p, true
}

func (s *scored) choose(n *walker, lo, hi int, open func(int) bool, node func(int) walkNode) (at int, score float64, ok bool) {
	var nodes []walkNode
	var index []int
	for i := lo; i < hi; i++ {
		if open(i) {
			nodes, index = append(nodes, node(i)), append(index, i)
		}
	}
	if len(nodes) == 0 {
		return 0, 0, false
	}
	k, score := n.step(nodes)
	return index[k], score, true
}

func (s *scored) rootNode(i int) walkNode {
	r := s.roots[i]
	return walkNode{r.vector, s.phi(s.clips[r.clipLo].lo, s.clips[r.clipHi-1].hi, 0)}
}

func (s *scored) clipNode(i int) walkNode {
	c := s.clips[i]
	return walkNode{c.vector, s.phi(c.lo, c.hi, .5)}
}

func (s *scored) leafNode(i int) walkNode {
	l := s.leaves[i]
	return walkNode{l.vector, s.phi(l.lo, l.hi, 1)}
}

// phi are the features of a node: lexical match, place in the source, share of
// the source, level.
func (s *scored) phi(lo, hi int, level float32) [phiFeatures]float32 {
	if s.noPhi {
		return [phiFeatures]float32{}
	}
	n := float32(len(s.units))
	return [phiFeatures]float32{float32(s.regionLexical(lo, hi)), float32(lo+hi) / 2 / n, float32(hi-lo) / n, level}
}
