package library

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/reeltree/reeltree/tree"
)

// ErrNotFound is returned for ids nothing is stored under.
var ErrNotFound = errors.New("not found")

// recordKey is the catalog key of one tenant's record. Tenants and ids are
// checked where they come in; here a bad one can at worst name nothing.
func recordKey(tenant, id string) string { return safe(tenant) + "." + safe(id) }

// safe writes any string in the letters that keys, subjects and file names share.
func safe(s string) string {
	plain := func(r rune) bool { return r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' }
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	return fmt.Sprintf("_%x", s)
}

// Source is the catalog record of a source, ErrNotFound without one.
func (s *Store) Source(ctx context.Context, tenant, id string) (tree.Source, error) {
	src, _, err := read[tree.Source](ctx, s.sources, recordKey(tenant, id))
	return src, err
}

// UpdateSource changes a record with compare-and-swap; change sees a record
// with only ID and Tenant set when there is none, and may run again.
func (s *Store) UpdateSource(ctx context.Context, tenant, id string, change func(*tree.Source) error) (tree.Source, error) {
	return update(ctx, s.sources, recordKey(tenant, id), func(v *tree.Source) error {
		v.ID, v.Tenant = id, tenant
		return change(v)
	})
}

// Sources lists a tenant's sources by time of creation, then id. Those whose
// deletion has begun are gone.
func (s *Store) Sources(ctx context.Context, tenant string) ([]tree.Source, error) {
	all, err := list[tree.Source](ctx, s.sources, safe(tenant)+".*")
	all = slices.DeleteFunc(all, func(v tree.Source) bool { return v.State == stateDeleting })
	slices.SortFunc(all, func(a, b tree.Source) int {
		return cmp.Or(a.Created.Compare(b.Created), cmp.Compare(a.ID, b.ID))
	})
	return all, err
}

// Job is the record of an ingest job, ErrNotFound without one.
func (s *Store) Job(ctx context.Context, tenant, id string) (tree.Job, error) {
	job, _, err := read[tree.Job](ctx, s.jobs, recordKey(tenant, id))
	return job, err
}

// UpdateJob changes a record as UpdateSource does.
func (s *Store) UpdateJob(ctx context.Context, tenant, id string, change func(*tree.Job) error) (tree.Job, error) {
	return update(ctx, s.jobs, recordKey(tenant, id), func(v *tree.Job) error {
		v.ID, v.Tenant = id, tenant
		return change(v)
	})
}

// Jobs lists a tenant's jobs by time of creation, then id.
func (s *Store) Jobs(ctx context.Context, tenant string) ([]tree.Job, error) {
	all, err := list[tree.Job](ctx, s.jobs, safe(tenant)+".*")
	slices.SortFunc(all, func(a, b tree.Job) int {
		return cmp.Or(a.Created.Compare(b.Created), cmp.Compare(a.ID, b.ID))
	})
	return all, err
}

// read decodes one record; revision is 0 with ErrNotFound.
func read[T any](ctx context.Context, kv jetstream.KeyValue, key string) (v T, revision uint64, err error) {
	entry, err := kv.Get(ctx, key)
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return v, 0, fmt.Errorf("%s: %w", key, ErrNotFound)
	}
	if err != nil {
		return v, 0, fmt.Errorf("the record %s cannot be read: %w", key, err)
	}
	if err := json.Unmarshal(entry.Value(), &v); err != nil {
		return v, 0, fmt.Errorf("the record %s is damaged: %w", key, err)
	}
	return v, entry.Revision(), nil
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

// scan visits the present records under a filter once.
func scan(ctx context.Context, kv jetstream.KeyValue, filter string, visit func(jetstream.KeyValueEntry) error) error {
	watcher, err := kv.Watch(ctx, filter, jetstream.IgnoreDeletes())
	if err != nil {
		return fmt.Errorf("the records cannot be listed: %w", err)
	}
	defer func() { _ = watcher.Stop() }()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case entry, open := <-watcher.Updates():
			if !open || entry == nil { // nil marks the end of what was there
				return nil
			}
			if err := visit(entry); err != nil {
				return err
			}
		}
	}
}
