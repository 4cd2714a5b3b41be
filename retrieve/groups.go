package retrieve

import "math"

// defaultBranch is how many parts a virtual group falls into.
const defaultBranch = 2

// What a group stands for.
type groupKind uint8

const (
	groupClip  groupKind = iota // an L2
	groupMany                   // a virtual group of neighbouring leaves
	groupLeaf                   // an L3
	groupPart                   // a virtual group of units of one leaf
	groupUnit                   // one unit
	groupRoot                   // an L1; refinement begins below, decisions are judged there too
	groupKinds                  // how many kinds there are
)

// group is one region of a clip: units [lo, hi) that are an L2, a balanced
// virtual group of neighbouring L3, an L3, a part of one, or one unit. Groups
// are made with the view and never stored as levels of the tree.
type group struct {
	kind   groupKind
	lo, hi int
	clip   int     // the clip it lies in
	leaf   int     // the leaf it lies in; -1 where it spans several
	norm   float32 // length of the sum of its units' vectors
	kids   []*group
}

// clipGroups are the regions of clip i: it, then groups of its leaves down to
// single leaves, then groups of the units of a leaf.
func (v *view) clipGroups(i int) *group {
	v.branch = orDefault(v.branch, defaultBranch)
	c := &v.clips[i]
	g := v.overLeaves(c.leafLo, c.leafHi, groupMany)
	top := &group{kind: groupClip, lo: c.lo, hi: c.hi, clip: i, leaf: g.leaf, norm: g.norm, kids: g.kids}
	if g.kind == groupLeaf {
		top.kids = []*group{g}
	}
	return top
}

// overLeaves is the balanced group over leaves [lo, hi), at least one.
func (v *view) overLeaves(lo, hi int, kind groupKind) *group {
	if hi-lo == 1 {
		g := v.overUnits(lo, v.leaves[lo].lo, v.leaves[lo].hi)
		g.kind = groupLeaf
		v.leaves[lo].group = g
		return g
	}
	g := &group{kind: kind, lo: v.leaves[lo].lo, hi: v.leaves[hi-1].hi, clip: v.leaves[lo].clip, leaf: -1}
	n := min(v.branch, hi-lo)
	for k := range n {
		g.kids = append(g.kids, v.overLeaves(lo+k*(hi-lo)/n, lo+(k+1)*(hi-lo)/n, groupMany))
	}
	g.norm = v.norm(g.lo, g.hi)
	return g
}

// overUnits is the balanced group over units [lo, hi) of one leaf.
func (v *view) overUnits(leaf, lo, hi int) *group {
	g := &group{kind: groupPart, lo: lo, hi: hi, clip: v.leaves[leaf].clip, leaf: leaf, norm: v.norm(lo, hi)}
	if hi-lo == 1 {
		g.kind = groupUnit
		return g
	}
	n := min(v.branch, hi-lo)
	for k := range n {
		g.kids = append(g.kids, v.overUnits(leaf, lo+k*(hi-lo)/n, lo+(k+1)*(hi-lo)/n))
	}
	return g
}

// norm is the length of the sum of the vectors of units [lo, hi): the cosine
// of their mean to a question is the sum of theirs over it.
func (v *view) norm(lo, hi int) float32 {
	if hi-lo == 1 {
		return float32(math.Sqrt(dot(v.units[lo].vector, v.units[lo].vector)))
	}
	sum := v.sum(lo, hi)
	return float32(math.Sqrt(dot(sum, sum)))
}

func (v *view) sum(lo, hi int) []float32 {
	sum := make([]float32, len(v.units[lo].vector))
	for _, u := range v.units[lo:hi] {
		for d, x := range u.vector {
			sum[d] += x
		}
	}
	return sum
}
