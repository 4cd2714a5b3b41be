package retrieve

// region is a node or a virtual group of units [lo, hi) of one clip, with the
// regions it falls into. Groups are never stored as levels of the tree.
type region struct {
	lo, hi   int
	score    float64
	children []*region
}

// Branch is the number of parts a virtual group falls into.
const branch = 2

// regions builds the balanced groups over units [lo, hi).
func regions(lo, hi int, score func(lo, hi int) float64) *region {
	r := &region{lo: lo, hi: hi, score: score(lo, hi)}
	n := hi - lo
	if n <= 1 {
		return r
	}
	for i := range min(branch, n) {
		a, b := lo+i*n/min(branch, n), lo+(i+1)*n/min(branch, n)
		r.children = append(r.children, regions(a, b, score))
	}
	return r
}

// refine is the parent-relative rule (DESIGN 4.3): from a kept region go on to
// every child that scores at least as much as the region; if none does, or the
// best leads by less than margin, keep the region whole. The kept regions are
// disjoint and in order. There is no absolute threshold and no fixed count.
func refine(r *region, margin float64, keep func(*region)) {
	best := 0.0
	for i, c := range r.children {
		if i == 0 || c.score > best {
			best = c.score
		}
	}
	if len(r.children) == 0 || best < r.score || best-r.score < margin {
		keep(r)
		return
	}
	for _, c := range r.children {
		if c.score >= r.score {
			refine(c, margin, keep)
		}
	}
}
