package library

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
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

func (g *guards) of(tenant, source string) *sync.RWMutex {
	g.once.Do(func() { g.seed = maphash.MakeSeed() })
	return &g.lock[maphash.String(g.seed, tenant+"\x00"+source)%uint64(len(g.lock))]
}

// present holds off the deletion of a source that is there, until unlock.
func (s *Store) present(ctx context.Context, tenant, source string) (unlock func(), err error) {
	lock := s.guards.of(tenant, source)
	lock.RLock()
	src, _, err := read[tree.Source](ctx, s.sources, recordKey(tenant, source))
	switch {
	case errors.Is(err, ErrNotFound):
		err = fmt.Errorf("%s: %w", source, errNoRecord)
	case err == nil && src.State == stateDeleting:
		err = fmt.Errorf("the source %s is being deleted: %w", source, ErrNotFound)
	}
	if err != nil {
		lock.RUnlock()
		return nil, err
	}
	return lock.RUnlock, nil
}
