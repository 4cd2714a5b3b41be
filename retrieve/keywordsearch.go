package retrieve

import (
	"context"
	"math"
)

// Search implements Index: BM25 over all rows of the tenant, of which the
// best in scope are found. Inverse document frequencies are those of the
// tenant's texts, whatever else the scope leaves out.
func (x *Keyword) Search(ctx context.Context, p Probe, k int, s Scope) ([]Hit, error) {
	if s.Tenant == "" {
		return nil, errNoTenant
	}
	x.mu.RLock()
	defer x.mu.RUnlock()
	w := x.tenants[s.Tenant]
	terms := readQuestion(p.Text)
	if w == nil || len(terms) == 0 || k <= 0 {
		return nil, nil
	}
	buffer := w.scores.Get().(*[]float32)
	defer w.scores.Put(buffer)
	scores := w.score(terms, *buffer)
	*buffer = scores
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	best := topRows{most: k, rows: w.table.rows}
	for _, src := range w.table.within(&s) {
		for _, row := range src.rows {
			if scores[row] > 0 && (s.Span == nil || inSpan(w.table.rows[row].span, s.Span)) {
				best.offer(row, scores[row])
			}
		}
	}
	hits := make([]Hit, 0, len(best.heap))
	for _, b := range best.heap {
		r := &w.table.rows[b.row]
		hits = append(hits, Hit{r.source.entry.Source, r.node, float64(b.score)})
	}
	return sortHits(hits, k), nil
}

// score adds up the BM25 of the terms for every row, in a buffer that may be
// used again.
func (w *wordLists) score(terms []questionTerm, scores []float32) []float32 {
	rows := len(w.table.rows)
	if cap(scores) < rows {
		scores = make([]float32, rows+rows/4)
	}
	scores = scores[:rows]
	clear(scores)
	mean := float32(w.total / float64(max(1, len(w.table.at))))
	for _, t := range terms {
		l := w.lists[t.key]
		if l == nil {
			continue
		}
		df := float64(len(l.rows))
		weight := float32(t.weight * math.Log1p((float64(rows)-df+.5)/(df+.5)) * (bm25K1 + 1))
		const base, slope = float32(bm25K1 * (1 - bm25B)), float32(bm25K1 * bm25B)
		per := slope / max(1, mean)
		for i, r := range l.rows {
			n := float32(l.counts[i])
			scores[r] += weight * n / (n + base + per*w.lengths[r])
		}
	}
	return scores
}
