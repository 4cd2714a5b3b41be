package library

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// read decodes one record; revision is 0 with ErrNotFound.
func read[T any](ctx context.Context, kv jetstream.KeyValue, key string) (v T, revision uint64, err error) {
	entry, err := kv.Get(ctx, key)
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return v, 0, fmt.Errorf("%s: %w", idOf(key), ErrNotFound)
	}
	if err != nil {
		return v, 0, fmt.Errorf("the record %s cannot be read: %w", key, err)
	}
	if err := json.Unmarshal(entry.Value(), &v); err != nil {
		return v, 0, fmt.Errorf("the record %s is damaged: %w", key, err)
	}
	return v, entry.Revision(), nil
}

// idOf is the id in a catalog key.
func idOf(key string) string {
	_, id, _ := strings.Cut(key, ".")
	return id
}

// update is read, change, write if nobody wrote in between, else again.
func update[T any](ctx context.Context, kv jetstream.KeyValue, key string, change func(*T) error) (T, error) {
	for {
		v, revision, err := read[T](ctx, kv, key)
		if err != nil && !errors.Is(err, ErrNotFound) {
			return v, err
		}
		if err := change(&v); err != nil {
			return v, err
		}
		data, err := json.Marshal(v)
		if err != nil {
			return v, fmt.Errorf("the record %s cannot be written: %w", key, err)
		}
		if revision == 0 {
			_, err = kv.Create(ctx, key, data)
		} else {
			_, err = kv.Update(ctx, key, data, revision)
		}
		if err == nil {
			return v, nil
		}
		if !lostRace(err) {
			return v, fmt.Errorf("the record %s cannot be written: %w", key, err)
		}
	}
}

// lostRace tells whether another writer was faster.
func lostRace(err error) bool {
	var api *jetstream.APIError
	return errors.Is(err, jetstream.ErrKeyExists) ||
		errors.As(err, &api) && api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence
}

// list decodes every record whose key matches the filter, in no order.
func list[T any](ctx context.Context, kv jetstream.KeyValue, filter string) ([]T, error) {
	all := []T{}
	err := scan(ctx, kv, filter, func(e jetstream.KeyValueEntry) error {
		var v T
		if err := json.Unmarshal(e.Value(), &v); err != nil {
			return fmt.Errorf("the record %s is damaged: %w", e.Key(), err)
		}
		all = append(all, v)
		return nil
	})
	return all, err
}

// scan visits the present records under a filter once. It fails with ErrDamaged
// when the store says that there are more but does not bring them.
func scan(ctx context.Context, kv jetstream.KeyValue, filter string, visit func(jetstream.KeyValueEntry) error, opts ...jetstream.WatchOpt) error {
	watcher, err := kv.Watch(ctx, filter, append(opts, jetstream.IgnoreDeletes())...)
	if err != nil {
		return fmt.Errorf("the records cannot be listed: %w", err)
	}
	defer func() { _ = watcher.Stop() }()
	patience := time.NewTimer(stall)
	defer patience.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-patience.C:
			return fmt.Errorf("the records cannot be listed: %w; start again to repair them", ErrDamaged)
		case entry, open := <-watcher.Updates():
			if !open || entry == nil { // nil marks the end of what was there
				return nil
			}
			if err := visit(entry); err != nil {
				return err
			}
			patience.Reset(stall)
		}
	}
}
