package library

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/reeltree/reeltree/tree"
)

// The operations of the library feed.
const (
	OpAdded   = "added"
	OpChanged = "changed"
	OpRemoved = "removed"
)

// Watch tells see about every change of a tenant's sources from now on until
// ctx ends; a removed source has only its ID and Tenant. A slow see holds up
// nobody and nothing piles up: what it has not been told yet is one change per
// source, the newest.
func (s *Store) Watch(ctx context.Context, tenant string, see func(op string, src tree.Source)) error {
	watcher, err := s.sources.Watch(ctx, safe(tenant)+".*")
	if err != nil {
		return fmt.Errorf("the library cannot be watched: %w", err)
	}
	f := &feed{tenant: tenant, told: map[string]bool{}, latest: map[string]*tree.Source{}, wake: make(chan struct{}, 1)}
	ended := make(chan struct{})
	var reader sync.WaitGroup
	reader.Go(func() {
		defer close(ended)
		f.read(watcher.Updates())
	})
	defer reader.Wait()
	defer func() { _ = watcher.Stop() }() // closes the updates
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ended:
			return ctx.Err()
		case <-f.wake:
			f.tell(ctx, see)
		}
	}
}

// feed stands between the store, which must not be held up, and a listener.
type feed struct {
	tenant string
	wake   chan struct{}

	mu     sync.Mutex
	live   bool                    // what was there at the beginning has been read
	order  []string                // ids with news, the longest waiting first
	latest map[string]*tree.Source // news by id; nil: the source is gone
	told   map[string]bool         // ids the listener knows of
}

// read takes in every record change until the watcher stops.
func (f *feed) read(updates <-chan jetstream.KeyValueEntry) {
	for entry := range updates {
		f.add(entry)
		select {
		case f.wake <- struct{}{}:
		default:
		}
	}
}

func (f *feed) add(entry jetstream.KeyValueEntry) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if entry == nil {
		f.live = true
		return
	}
	id := idOf(entry.Key())
	var src *tree.Source
	if entry.Operation() == jetstream.KeyValuePut {
		src = &tree.Source{}
		if err := json.Unmarshal(entry.Value(), src); err != nil {
			return // a damaged record is reported where it is read
		}
		if id = src.ID; src.State == stateDeleting {
			src = nil
		}
	}
	if !f.live {
		if src != nil {
			f.told[id] = true
		}
		return
	}
	if _, waits := f.latest[id]; !waits {
		f.order = append(f.order, id)
	}
	f.latest[id] = src
}

// tell hands the listener what is new.
func (f *feed) tell(ctx context.Context, see func(string, tree.Source)) {
	for ctx.Err() == nil {
		op, src, more := f.next()
		if !more {
			return
		}
		if op != "" {
			see(op, src)
		}
	}
}

// next takes the longest waiting news; op is empty for a source that came and
// went untold.
func (f *feed) next() (op string, src tree.Source, more bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.order) == 0 {
		return "", tree.Source{}, false
	}
	id := f.order[0]
	f.order = f.order[1:]
	now, known := f.latest[id], f.told[id]
	delete(f.latest, id)
	switch {
	case now == nil && !known:
		return "", tree.Source{}, true
	case now == nil:
		delete(f.told, id)
		return OpRemoved, tree.Source{ID: id, Tenant: f.tenant}, true
	case known:
		return OpChanged, *now, true
	}
	f.told[id] = true
	return OpAdded, *now, true
}
