package retrieve

import (
	"context"
	"errors"
	"slices"

	"github.com/reeltree/reeltree/tree"
)

const (
	entryNodes   = 10  // nodes whose clips the entry stage hands on
	entryShown   = 20  // nodes it names
	entryTrees   = 10  // trees they may lie in
	entryWide    = 100 // candidates of each index before fusion
	entryWritten = .65 // share of the keyword score in what was written
	entrySeen    = .4  // and in what is described or said, often in other words than the question's
	entryForeign = .3  // what of the vectors' share is left in other scripts than Latin
)

// enter finds the best L1 and L2 nodes of the scope. One index that fails
// leaves the other: an answer by words alone is better than none.
func (e *Engine) enter(ctx context.Context, q *question, s Scope) ([]Hit, error) {
	probe := Probe{Text: q.text, Vector: q.vector}
	var words, vectors []Hit
	var errWords, errVectors error
	if !e.cfg.Switches.Keywords {
		words, errWords = e.words.Search(ctx, probe, entryWide, s)
	}
	if !e.cfg.Switches.Vectors && !isZero(q.vector) && !e.catalog.anyStale(s) {
		vectors, errVectors = e.vectors.Search(ctx, probe, entryWide, s)
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if errWords != nil && errVectors != nil {
		return nil, errors.Join(errWords, errVectors)
	}
	if err := errors.Join(errWords, errVectors); err != nil {
		e.cfg.Log.Error("one side of the search index failed, the other answers alone", "err", err)
	}
	latin := q.latin()
	hits := fuse(words, vectors, func(source string) float64 {
		l := e.catalog.get(s.Tenant, source)
		return vectorShare(latin, l != nil && writtenKind(l.src.Kind))
	})
	return slices.DeleteFunc(hits, func(h Hit) bool { // written, but not yet or no longer listed
		l := e.catalog.get(s.Tenant, h.Source)
		return l == nil || l.nodes[h.Node].level == 0
	}), nil
}

// fuse adds up both scores, a share of the question's information and a cosine;
// share is what the vectors count of 1 in a source. Of a node that only one list names the
// other score is at most the last of a full list: all scores are counted from
// there, so that to be left out is no more than that.
func fuse(words, vectors []Hit, share func(source string) float64) []Hit {
	sum := map[string]Hit{}
	add := func(hits []Hit, weight func(source string) float64) {
		if len(hits) == 0 || hits[0].Score <= 0 {
			return
		}
		floor := 0.0
		if len(hits) == entryWide {
			floor = max(0, hits[entryWide-1].Score)
		}
		for _, h := range hits {
			f := sum[h.Node]
			f.Source, f.Node = h.Source, h.Node
			f.Score += weight(h.Source) * max(0, h.Score-floor)
			sum[h.Node] = f
		}
	}
	add(words, func(source string) float64 { return 1 - share(source) })
	add(vectors, share)
	all := make([]Hit, 0, len(sum))
	for _, h := range sum {
		all = append(all, h)
	}
	return sortHits(all, len(all))
}

// enterable are the sources to walk: all of a small scope, else those of the
// best hits, in order of their best hit.
func enterable(hits []Hit, scope []*listed, most int) []string {
	var out []string
	if len(scope) <= most {
		for _, l := range scope {
			out = append(out, l.src.ID)
		}
		return out
	}
	for _, h := range hits {
		if len(out) == most {
			break
		}
		if !slices.Contains(out, h.Source) {
			out = append(out, h.Source)
		}
	}
	return out
}

// trees are the views of sources, by id. A source that was removed in the
// meantime is left out; one whose tree cannot be read is logged and left out
// unless it is the only one.
func (e *Engine) trees(ctx context.Context, tenant string, sources []string) ([]*view, error) {
	var views []*view
	var failed error
	slices.Sort(sources)
	for _, id := range sources {
		v, err := e.view(ctx, tenant, id)
		switch {
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case err == nil:
			views = append(views, v)
		case e.catalog.get(tenant, id) != nil:
			failed = errors.Join(failed, err)
		}
	}
	if failed != nil && len(views) > 0 {
		e.cfg.Log.Error("a tree in scope is left out", "err", failed)
		failed = nil
	}
	return views, failed
}

// vectorShare is the share of the vector score in fusion. Vectors know other
// scripts than Latin by spelling alone: the encoder they were learned from
// finds .11 to .34 of paragraphs there, .91 of English ones.
func vectorShare(latin float64, written bool) float64 {
	words := entrySeen
	if written {
		words = entryWritten
	}
	return (1 - words) * (latin + (1-latin)*entryForeign)
}

// writtenKind reports whether a source of this kind was written rather than recorded.
func writtenKind(k tree.Kind) bool { return k == tree.KindDocument || k == tree.KindImage }

// latin is the share of a question's information that is in Latin letters.
func (q *question) latin() float64 {
	var latin, all float64
	for _, t := range q.terms {
		all += t.weight
		if t.latin && t.kind != kindSign {
			latin += t.weight
		}
	}
	if all == 0 {
		return 1
	}
	return latin / all
}
