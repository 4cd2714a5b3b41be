package library

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"slices"
	"sync"

	"github.com/reeltree/reeltree/tree"
)

// errNoRecord is ErrNotFound for a source that has no record, to tell it from
// one that is being deleted.
var errNoRecord = fmt.Errorf("the source has no record: %w", ErrNotFound)

// guards keep what is still being made of a source from being stored while or
// after it is deleted: whoever stores shares, a deletion excludes. Sources
// share a few locks; a collision costs only waiting.
type guards struct {
	seed maphash.Seed
	once sync.Once
	lock [64]sync.RWMutex
}

func (g *guards) of(tenant, source string) *sync.RWMutex { return &g.lock[g.place(tenant, source)] }

func (g *guards) place(tenant, source string) int {
	g.once.Do(func() { g.seed = maphash.MakeSeed() })
	return int(maphash.String(g.seed, tenant+"\x00"+source) % uint64(len(g.lock)))
}

// share takes the locks of some sources, each once and always in one order, so
// that nobody waits for anybody in a circle.
func (g *guards) share(tenant string, sources []string) (unlock func()) {
	var places []int
	for _, source := range sources {
		places = append(places, g.place(tenant, source))
	}
	slices.Sort(places)
	places = slices.Compact(places)
	for _, p := range places {
		g.lock[p].RLock()
	}
	return func() {
		for _, p := range places {
			g.lock[p].RUnlock()
		}
	}
}

// present holds off the deletion of sources that are there, until unlock.
func (s *Store) present(ctx context.Context, tenant string, sources ...string) (unlock func(), err error) {
	unlock = s.guards.share(tenant, sources)
	for _, source := range sources {
		if err := s.there(ctx, tenant, source); err != nil {
			unlock()
			return nil, err
		}
	}
	return unlock, nil
}

// there refuses a source that is gone or going.
func (s *Store) there(ctx context.Context, tenant, source string) error {
	src, _, err := read[tree.Source](ctx, s.sources, recordKey(tenant, source))
	switch {
	case errors.Is(err, ErrNotFound):
		return fmt.Errorf("%s: %w", source, errNoRecord)
	case err == nil && src.State == stateDeleting:
		return fmt.Errorf("the source %s is being deleted: %w", source, ErrNotFound)
	}
	return err
}
