package retrieve

import (
	"cmp"
	"context"
	"errors"
	"slices"
)

const (
	entryNodes = 10 // nodes the entry stage hands on
	entryTrees = 5  // trees they may lie in
	entryWide  = 50 // candidates of each index before fusion
	rrfK       = 60 // reciprocal rank fusion (Cormack et al. 2009)
)

// enter finds the best L1 and L2 nodes of the scope: vector and keyword hits
// fused by reciprocal rank, at most entryTrees sources.
func (e *Engine) enter(ctx context.Context, text string, vector []float32, s Scope) ([]Hit, error) {
	probe := Probe{Text: text, Vector: vector}
	byWords, err := e.words.Search(ctx, probe, entryWide, s)
	if err != nil {
		return nil, err
	}
	byVector, err := e.vectors.Search(ctx, probe, entryWide, s)
	if err != nil {
		return nil, err
	}
	return fuse(byWords, byVector), nil
}

func fuse(lists ...[]Hit) []Hit {
	sum := map[string]Hit{}
	for _, hits := range lists {
		for rank, h := range hits {
			f := sum[h.Node]
			f.Source, f.Node = h.Source, h.Node
			f.Score += 1 / float64(rrfK+rank+1)
			sum[h.Node] = f
		}
	}
	all := make([]Hit, 0, len(sum))
	for _, h := range sum {
		all = append(all, h)
	}
	return sortHits(all, len(all))
}

// enteredTrees are the sources of the best hits, in order of their best hit.
func enteredTrees(hits []Hit) []string {
	var sources []string
	for _, h := range hits {
		if !slices.Contains(sources, h.Source) {
			if len(sources) == entryTrees {
				break
			}
			sources = append(sources, h.Source)
		}
	}
	return sources
}

// load gives the views of sources. A source that was removed in the meantime
// is left out.
func (e *Engine) load(ctx context.Context, tenant string, sources []string) ([]*view, error) {
	var views []*view
	for _, id := range sources {
		v, err := e.view(ctx, tenant, id)
		if err != nil {
			if ctx.Err() != nil || !e.Has(tenant, id) {
				if ctx.Err() != nil {
					return nil, ctx.Err()
				}
				continue
			}
			return nil, errors.Join(errors.New("a tree in scope cannot be read"), err)
		}
		views = append(views, v)
	}
	slices.SortStableFunc(views, func(a, b *view) int { return cmp.Compare(a.tree.Source.ID, b.tree.Source.ID) })
	return views, nil
}
