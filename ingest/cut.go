package ingest

import (
	"cmp"
	"math"
	"slices"
)

// The cutter is made of pure functions: the same facts and settings give the
// same cuts on every machine. Both levels use one search (bounds): among the
// places where a cut is natural it finds the set whose pieces are near the
// wanted length at the lowest price.

// place is where a cut may fall and what falling there costs: 0 at a chapter,
// 1 in the middle of a sentence.
type place struct {
	at   int64
	cost float64
}

// cutting says what a good set of pieces is. Lengths are in the unit of the
// axis: milliseconds for media, words for texts.
type cutting struct {
	target   int64
	min, max int64   // a piece outside costs so much that it is made only where nothing else is possible
	length   float64 // weight of the distance from the target
	crossing float64 // cost of a chapter mark inside a piece
	usual    float64 // price of an average place, so that cutting there makes pieces neither longer nor shorter
	marks    []int64 // chapter marks, ascending
}

// bounds cuts [from, to) and returns the places of the cuts between, ascending,
// without from and to. Pieces cover the whole without holes by construction.
func (c cutting) bounds(from, to int64, places []place) []int64 {
	if to-from <= c.min || c.target <= 0 {
		return nil
	}
	nodes := c.nodes(from, to, places)
	best := make([]float64, len(nodes))
	prev := make([]int, len(nodes))
	for j := 1; j < len(nodes); j++ {
		best[j] = math.Inf(1)
		for i := j - 1; i >= 0; i-- {
			// Beyond twice the longest piece nothing gets cheaper, but one way must stay.
			if nodes[j].at-nodes[i].at > 2*c.max && !math.IsInf(best[j], 1) {
				break
			}
			if cost := best[i] + nodes[j].cost - c.usual + c.piece(nodes[i].at, nodes[j].at); cost < best[j]-1e-12 {
				best[j], prev[j] = cost, i
			}
		}
	}
	var out []int64
	for j := prev[len(nodes)-1]; j > 0; j = prev[j] {
		out = append(out, nodes[j].at)
	}
	slices.Reverse(out)
	return out
}

// piece is the price of one piece: the squared logarithm of its length over
// the target, so that half and double are equally bad.
func (c cutting) piece(from, to int64) float64 {
	n := to - from
	d := math.Log(float64(n) / float64(c.target))
	cost := c.length * d * d
	switch {
	case n < c.min:
		cost += 10 * float64(c.min-n) / float64(c.min)
	case n > c.max:
		cost += 10 * float64(n-c.max) / float64(c.max)
	}
	if c.crossing > 0 {
		lo, _ := slices.BinarySearch(c.marks, from+1)
		hi, _ := slices.BinarySearch(c.marks, to)
		cost += c.crossing * float64(hi-lo)
	}
	return cost
}

// nodes are from, the places worth looking at, and to. Where many lie close
// together only the cheapest stays, so that a transcript of a hundred thousand
// cues costs no more than one of a thousand.
func (c cutting) nodes(from, to int64, places []place) []place {
	near := max(1, c.target/40)
	sorted := slices.Clone(places)
	slices.SortFunc(sorted, func(a, b place) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.cost, b.cost)) })
	out := []place{{at: from}}
	bucket := int64(-1)
	for _, p := range sorted {
		if p.at <= from || p.at >= to {
			continue
		}
		b := (p.at - from) / near
		switch last := &out[len(out)-1]; {
		case len(out) == 1 || b != bucket:
			out, bucket = append(out, p), b
		case p.cost < last.cost:
			*last = p
		}
	}
	return append(out, place{at: to})
}

// evenPlaces are the bounds of equal pieces near the target: always a way to
// cut, even where nothing natural is known.
func evenPlaces(from, to, target int64, cost float64) []place {
	n := max(1, (to-from+target/2)/target)
	out := make([]place, 0, n)
	for i := int64(1); i < n; i++ {
		out = append(out, place{at: from + int64(float64(to-from)*float64(i)/float64(n)), cost: cost})
	}
	return out
}
