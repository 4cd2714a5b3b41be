package cli

import (
	"context"
	"time"

	"github.com/reeltree/reeltree/tree"
)

// renewWait is how long a single command lets vectors be made anew before it
// asks: a small library is ready by then, a large one is searched by words.
const renewWait = 2 * time.Second

// renew makes the vectors anew that another embedder made, one source after the
// other, while the index answers: no description is made again, and what is
// done when it is stopped stays done.
func (a *app) renew(ctx context.Context) {
	var stale []tree.Source
	sources, err := a.store.Sources(ctx, tree.DefaultTenant)
	if err != nil {
		if ctx.Err() == nil {
			a.log.Error("the library cannot be listed", "error", err)
		}
		return
	}
	for _, src := range sources {
		if a.engine.Stale(src.Tenant, src.ID) {
			stale = append(stale, src)
		}
	}
	if len(stale) == 0 {
		return
	}
	a.log.Info("vectors are made anew for another embedder; meanwhile words are searched", "embedder", a.embedder.Name(), "sources", len(stale))
	failed := 0
	for _, src := range stale {
		err := a.engine.Renew(ctx, src.Tenant, src.ID)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			failed++
			a.log.Error("a source is searched by words alone until the next start", "source", src.ID, "error", err)
		default:
			a.log.Debug("the vectors of a source are made anew", "source", src.ID)
		}
	}
	a.log.Info("vectors are made anew", "sources", len(stale)-failed)
}
