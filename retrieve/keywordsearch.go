package retrieve

import (
	"context"
	"math"
	"slices"
)

// Search implements Index: BM25 over all rows of the tenant, of which the
// best in scope are found. Inverse document frequencies are those of the
// tenant's texts, whatever else the scope leaves out.
func (x *Keyword) Search(ctx context.Context, p Probe, k int, s Scope) ([]Hit, error) {
	if s.Tenant == "" {
		return nil, errNoTenant
	}
	w := x.tenant(s.Tenant)
	terms := libraryTerms(p.Text)
	if w == nil || len(terms) == 0 || k <= 0 {
		return nil, nil
	}
	state := w.state.Load()
	weights := state.weigh(terms)
	buffer := w.scores.Get().(*[]float32)
	defer w.scores.Put(buffer)
	var hits []Hit
	for i := range state.segments {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		g := &state.segments[i]
		*buffer = g.score(terms, weights, state.mean(), *buffer)
		hits = g.best(hits, *buffer, k, &s)
	}
	return sortHits(hits, k), nil
}

// mean is the mean length of the texts, in words.
func (s *wordState) mean() float32 { return float32(s.total / float64(max(1, s.living))) }

// weigh gives what each term can at most add to a score, the share of the
// question's information that it is, and 0 for one that stands nowhere.
func (s *wordState) weigh(terms []questionTerm) []float32 {
	weights, sum := make([]float32, len(terms)), float32(0)
	for i, t := range terms {
		df := 0
		for k := range s.segments {
			rows, _ := s.segments[k].list(t.key)
			df += len(rows)
		}
		w := float32(t.weight * math.Log1p((float64(s.rows-df)+.5)/(float64(df)+.5)))
		if sum += w; df > 0 {
			weights[i] = w
		}
	}
	for i := range weights {
		weights[i] /= sum
	}
	return weights
}

// score adds up the BM25 of the terms for every row, in a buffer that may be
// used again.
func (g *wordSegment) score(terms []questionTerm, weights []float32, mean float32, scores []float32) []float32 {
	scores = slices.Grow(scores[:0], len(g.rows))[:len(g.rows)]
	clear(scores)
	const base, slope = float32(bm25K1 * (1 - bm25B)), float32(bm25K1 * bm25B)
	per := slope / max(1, mean)
	for i, t := range terms {
		if weights[i] == 0 {
			continue
		}
		rows, counts := g.list(t.key)
		for k, r := range rows {
			n := float32(counts[k])
			scores[r] += weights[i] * n / (n + base + per*g.lengths[r])
		}
	}
	return scores
}

// best appends the k best rows in scope.
func (g *livingWords) best(hits []Hit, scores []float32, k int, s *Scope) []Hit {
	best := topRows{most: k, rows: g.rows}
	g.within(s, func(run wordRun) {
		for r := run.lo; r < run.hi; r++ {
			if scores[r] <= 0 || len(best.heap) == k && scores[r] < best.heap[0].score || g.isGone(r) {
				continue
			}
			if s.Span == nil || inSpan(g.rows[r].span, s.Span) {
				best.offer(r, scores[r])
			}
		}
	})
	for _, b := range best.heap {
		hits = append(hits, Hit{g.sourceOf(b.row).facts.Load().Source, g.rows[b.row].node, float64(b.score)})
	}
	return hits
}

// within visits the runs of a scope.
func (g *wordSegment) within(s *Scope, visit func(wordRun)) {
	if len(s.Sources) == 0 {
		for _, run := range g.runs {
			if s.admits(run.source.facts.Load()) {
				visit(run)
			}
		}
		return
	}
	rest := *s
	rest.Sources = nil // each is looked up instead
	for _, id := range slices.Compact(slices.Sorted(slices.Values(s.Sources))) {
		for _, i := range g.of[id] {
			if run := g.runs[i]; rest.admits(run.source.facts.Load()) {
				visit(run)
			}
		}
	}
}
