package retrieve

import (
	"cmp"
	"math"
	"slices"

	"github.com/reeltree/reeltree/tree"
)

// ranker scores the units of the entered trees for one query text.
type ranker struct {
	s        *search
	question weighted
	vector   []float32
	round    *Round
}

// candidates are the regions the walk, the entry hits and the flat ranking
// propose, tightened by refinement, best first. Flat ranking proposes, the
// tree decides depth; with untrained weights the walk only adds.
func (r *ranker) candidates(hits []Hit) []*candidate {
	var all []*candidate
	for _, v := range r.s.views {
		own := make([]float64, len(v.units))
		for i, u := range v.units {
			own[i] = r.relevance(u.vector, func(t string) float64 { return u.counts[t] }, float64(u.terms))
		}
		all = append(all, r.regions(v, own, hits)...)
		all = append(all, r.flat(v, own)...)
	}
	slices.SortStableFunc(all, func(a, b *candidate) int {
		return cmp.Or(cmp.Compare(b.rel, a.rel), cmp.Compare(a.view.units[a.lo].node, b.view.units[b.lo].node), cmp.Compare(a.lo, b.lo), cmp.Compare(a.hi, b.hi))
	})
	return slices.CompactFunc(all, func(a, b *candidate) bool { return a.view == b.view && a.lo == b.lo && a.hi == b.hi })
}

// relevance joins lexical match and cosine, both in [0, 1].
func (r *ranker) relevance(vector []float32, counts func(string) float64, length float64) float64 {
	lexical := r.s.corpus.lexical(r.question, counts, length)
	return shareLexical*lexical + (1-shareLexical)*max(0, dot(r.vector, vector))
}

// regions refines the clips of the walk and of the entry hits.
func (r *ranker) regions(v *view, own []float64, hits []Hit) []*candidate {
	clips := map[int]bool{}
	for _, st := range (navigator{}).walk(v, r.vector, walkRounds) {
		clips[st.clip] = true
		r.trace("walk", "step", v.units[st.unit].node, st.score)
	}
	byNode := map[string]int{}
	for i, c := range v.clips {
		byNode[c.node.ID] = i
	}
	for _, h := range hits[:min(len(hits), entryNodes)] {
		if i, ok := byNode[h.Node]; ok {
			clips[i] = true
		}
	}
	var all []*candidate
	for i, c := range v.clips {
		if !clips[i] || c.hi == c.lo || !r.inSpan(c.node.Span) {
			continue
		}
		root := regions(c.lo, c.hi, func(lo, hi int) float64 { return r.regionScore(v, own, lo, hi) })
		refine(root, refineMargin, func(g *region) {
			if g.hi-g.lo <= maxRegion {
				all = append(all, r.candidate(v, g.lo, g.hi, g.score))
			}
		})
	}
	return all
}

// maxRegion is the most units a piece of evidence may join: a clip that
// answers as a whole is better shown by its best parts than as a wall of words.
const maxRegion = 4

// flat proposes the best units by their own score and their neighbours'.
func (r *ranker) flat(v *view, own []float64) []*candidate {
	type scored struct {
		unit  int
		score float64
	}
	var best []scored
	for i := range v.units {
		if !r.inSpan(v.units[i].span) {
			continue
		}
		near := 0.0
		for _, j := range []int{i - 1, i + 1} {
			if j >= 0 && j < len(own) && v.units[j].at[0] == v.units[i].at[0] {
				near = max(near, own[j])
			}
		}
		best = append(best, scored{i, (own[i] + smooth*near*own[i]) / (1 + smooth)})
	}
	slices.SortStableFunc(best, func(a, b scored) int { return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.unit, b.unit)) })
	var all []*candidate
	for _, b := range best[:min(len(best), flatUnits)] {
		if b.score > 0 {
			all = append(all, r.candidate(v, b.unit, b.unit+1, own[b.unit]))
		}
	}
	return all
}

// regionScore is the relevance of units [lo, hi) taken together.
func (r *ranker) regionScore(v *view, own []float64, lo, hi int) float64 {
	if hi-lo == 1 {
		return own[lo]
	}
	length := 0
	for _, u := range v.units[lo:hi] {
		length += u.terms
	}
	counts := func(t string) (n float64) {
		for _, u := range v.units[lo:hi] {
			n += u.counts[t]
		}
		return n
	}
	return r.relevance(meanVector(v.units[lo:hi]), counts, float64(length))
}

func (r *ranker) candidate(v *view, lo, hi int, rel float64) *candidate {
	c := &candidate{view: v, lo: lo, hi: hi, rel: rel, vector: meanVector(v.units[lo:hi])}
	seen := map[string]bool{}
	for _, u := range v.units[lo:hi] {
		c.tokens += tree.Tokens(u.quote)
		for t := range u.counts {
			if !seen[t] && !common[t] {
				seen[t] = true
				c.terms = append(c.terms, t)
			}
		}
	}
	slices.Sort(c.terms)
	return c
}

// inSpan reports whether a media span touches the one that was asked for.
func (r *ranker) inSpan(s tree.Span) bool {
	wanted := r.s.q.Scope.Span
	return wanted == nil || s.Overlap(*wanted) > 0
}

func (r *ranker) trace(stage, action, node string, score float64) {
	if r.s.q.Trace {
		r.round.Trace = append(r.round.Trace, Decision{Stage: stage, Action: action, Node: node, Score: score})
	}
}

// meanVector is the unit-length mean of the units' vectors.
func meanVector(units []*unit) []float32 {
	if len(units) == 1 {
		return units[0].vector
	}
	sum := make([]float32, len(units[0].vector))
	for _, u := range units {
		for d, x := range u.vector {
			sum[d] += x
		}
	}
	norm := math.Sqrt(dot(sum, sum))
	if norm == 0 {
		return sum
	}
	for d := range sum {
		sum[d] = float32(float64(sum[d]) / norm)
	}
	return sum
}
