package retrieve

// region is a stretch of a tree that may become evidence: units [lo, hi) of the
// clip it begins in, or of several where it is a run of siblings.
type region struct {
	clip, lo, hi int
	run          int // how many neighbouring leaves it joins; 1 for a piece of a clip
}

// runs are the spans of 2 to mostRun neighbouring leaves of one L1 that hold
// leaf and nothing but descriptions of what is seen.
func (v *view) runs(leaf int, each func(region)) {
	root := v.clips[v.leaves[leaf].clip].root
	joins := func(l int) bool {
		return l >= 0 && l < len(v.leaves) && v.leaves[l].layer == layerSeen && v.clips[v.leaves[l].clip].root == root
	}
	for from := leaf; from > leaf-mostRun && joins(from); from-- {
		for to := leaf; to < from+mostRun && joins(to); to++ {
			if to > from {
				each(region{clip: v.leaves[from].clip, lo: v.leaves[from].lo, hi: v.leaves[to].hi, run: to - from + 1})
			}
		}
	}
}
