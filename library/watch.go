package library

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/reeltree/reeltree/tree"
)

// The operations of the library feed.
const (
	OpAdded   = "added"
	OpChanged = "changed"
	OpRemoved = "removed"
)

// Watch tells see about every change of a tenant's sources from now on, in
// order, until ctx ends; a removed source has only its ID and Tenant. see must
// not block for long: the feed waits for it.
func (s *Store) Watch(ctx context.Context, tenant string, see func(op string, src tree.Source)) error {
	watcher, err := s.sources.Watch(ctx, safe(tenant)+".*")
	if err != nil {
		return fmt.Errorf("the library cannot be watched: %w", err)
	}
	defer func() { _ = watcher.Stop() }()
	known, live := map[string]bool{}, false
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case entry, open := <-watcher.Updates():
			switch {
			case !open:
				return ctx.Err()
			case entry == nil:
				live = true
			default:
				tell(entry, tenant, known, live, see)
			}
		}
	}
}

// tell turns one record change into one event of the feed.
func tell(entry jetstream.KeyValueEntry, tenant string, known map[string]bool, live bool, see func(string, tree.Source)) {
	_, id, _ := strings.Cut(entry.Key(), ".")
	src, op := tree.Source{ID: id, Tenant: tenant}, OpChanged
	if entry.Operation() == jetstream.KeyValuePut {
		if err := json.Unmarshal(entry.Value(), &src); err != nil {
			return // a damaged record is reported where it is read
		}
	}
	switch gone := entry.Operation() != jetstream.KeyValuePut || src.State == stateDeleting; {
	case gone && !known[id]:
		return
	case gone:
		op, src = OpRemoved, tree.Source{ID: id, Tenant: tenant}
		delete(known, id)
	case !known[id]:
		op = OpAdded
		known[id] = true
	}
	if live {
		see(op, src)
	}
}
