package cli

import (
	"context"
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
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
		a.dropGraphs()
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
	if failed == 0 {
		a.dropGraphs()
	}
}

// graphsDir holds the graphs of a data folder, each in a folder of its embedder.
func graphsDir(data string) string { return filepath.Join(data, "index", "graph") }

// graphName is the folder of an embedder's graph, so that another one begins anew.
func graphName(e embedder) string { return url.PathEscape(e.Name()) }

// dropGraphs removes the graphs of other embedders once no source waits for
// this one: nothing else would ever take out of them what is deleted from now on.
func (a *app) dropGraphs() {
	dir := graphsDir(a.settings.Data)
	found, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	for _, f := range found {
		if f.Name() != graphName(a.embedder) {
			err = errors.Join(err, os.RemoveAll(filepath.Join(dir, f.Name())))
		}
	}
	if err != nil {
		a.log.Warn("the graphs of other embedders cannot be removed", "error", err)
	}
}
