package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/reeltree/reeltree/generate"
	"github.com/reeltree/reeltree/library"
	"github.com/reeltree/reeltree/retrieve"
	"github.com/reeltree/reeltree/tree"
)

// find searches, and refuses what cannot be searched because it is not there:
// that nothing was found in it would sound as if it had been looked through.
func (a *app) find(ctx context.Context, q retrieve.Query, onRound func(retrieve.Round) error) (retrieve.Result, error) {
	for _, id := range q.Scope.Sources {
		if err := a.searchable(ctx, q.Scope.Tenant, id); err != nil {
			return retrieve.Result{}, err
		}
	}
	result, err := a.engine.Query(ctx, q, onRound)
	if err == nil && q.Scope.Collection != "" && len(result.Items)+len(result.Nearest) == 0 {
		err = a.collected(ctx, q.Scope.Tenant, q.Scope.Collection)
	}
	return result, err
}

// searchable refuses a source that is not there or never will be searched.
func (a *app) searchable(ctx context.Context, tenant, id string) error {
	if a.engine.Has(tenant, id) {
		return nil
	}
	src, err := a.store.Source(ctx, tenant, id)
	switch {
	case errors.Is(err, library.ErrNotFound):
		return unasked("there is no source with the id %.60q: list the sources and name one of them", id)
	case err != nil:
		return err
	case src.Nodes.L1 == 0 && (src.State == tree.StateFailed || src.State == tree.StateCancelled):
		return unasked("there is nothing to search in the source %.60q, its ingest ended as %s: ingest it again, or ask another one", src.Title, src.State)
	}
	return nil
}

// collected refuses a collection that no source is in.
func (a *app) collected(ctx context.Context, tenant, collection string) error {
	all, err := a.store.Sources(ctx, tenant)
	if err != nil || slices.ContainsFunc(all, func(s tree.Source) bool { return slices.Contains(s.Collections, collection) }) {
		return err
	}
	return unasked("there is no source in the collection %.60q: check its name", collection)
}

func unasked(format string, args ...any) error {
	return &generate.Error{Kind: generate.KindBadQuestion, Message: fmt.Sprintf(format, args...), Cause: retrieve.ErrQuestion}
}
