package retrieve

import (
	"cmp"
	"math"
	"slices"
)

// rankSpread is the difference of head-mean logits at which the score of what
// is found falls by the factor e.
const rankSpread = 4

// ownWords is what the words of a region itself count beside its logit: where
// minutes are alike, what holds the words comes first.
const ownWords = 1

// navigate makes the walk of one tree ready.
func (f *finder) navigate(s *scored) *walk {
	var own *field
	if !f.off.Walk && f.weights.of(s.view).set.phi != nil {
		own = newField(s)
	}
	return s.newWalk(f.weights, own)
}

// ranked orders what was found in one tree by the navigator where it has been
// trained on such material, and joins neighbouring pictures to spans: of
// regions that share a place the best stays. The best keeps the score by which
// sources are compared, the others fall off from it.
func (f *finder) ranked(w *walk, found []*candidate, leaves []int) []*candidate {
	if f.off.Walk || !w.course.ranks || len(found) == 0 {
		return found
	}
	found = append(found, f.joined(w.s, leaves)...)
	top, peak := 0.0, math.Inf(-1)
	for _, c := range found {
		c.logit = w.score(c) + w.course.flat*c.rel
		top, peak = max(top, c.rel), max(peak, c.logit)
	}
	for _, c := range found {
		c.rel = top * math.Exp((c.logit-peak)/rankSpread)
	}
	return disjoint(found)
}

// score is the head-mean logit of a candidate in the state after the walk.
func (t *walk) score(c *candidate) float64 {
	t.nodes = append(t.nodes[:0], walkNode{vector: c.s.unitVector(c.lo, c.hi)})
	if t.f != nil {
		t.f.of(&t.nodes[0].phi, c.lo, c.hi, max(1, c.run), 2, dot(c.s.q.vector, t.nodes[0].vector))
	}
	t.pieces++
	return t.n.score(&t.nodes[0]) + t.course.own*float64(t.nodes[0].phi[phiOwn])
}

// joined are the runs of neighbouring leaves around those that were proposed.
func (f *finder) joined(s *scored, leaves []int) (out []*candidate) {
	seen := map[[2]int]bool{}
	for _, l := range leaves {
		s.runs(l, func(r region) {
			at := [2]int{r.lo, r.hi}
			if seen[at] || s.tokens(r.lo, r.hi) > maxQuote || !inSpan(s.units[r.lo].span, f.span) || !inSpan(s.units[r.hi-1].span, f.span) {
				return
			}
			seen[at] = true
			out = append(out, &candidate{s: s, clip: r.clip, lo: r.lo, hi: r.hi, run: r.run, rel: f.runScore(s, r), tokens: s.tokens(r.lo, r.hi)})
		})
	}
	return out
}

// runScore is the mean of what the leaves of a run score.
func (f *finder) runScore(s *scored, r region) float64 {
	first, sum := s.units[r.lo].leaf, 0.0
	for l := first; l < first+r.run; l++ {
		sum += f.leafScore(s, l)
	}
	return sum / float64(r.run)
}

// disjoint keeps of candidates that share units the best.
func disjoint(all []*candidate) []*candidate {
	slices.SortStableFunc(all, func(a, b *candidate) int { return cmp.Or(cmp.Compare(b.rel, a.rel), a.before(b)) })
	var out []*candidate
	for _, c := range all {
		if !slices.ContainsFunc(out, func(o *candidate) bool { return o.lo < c.hi && c.lo < o.hi }) {
			out = append(out, c)
		}
	}
	return out
}
