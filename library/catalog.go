package library

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/reeltree/reeltree/tree"
)

// ErrNotFound is returned for ids nothing is stored under.
var ErrNotFound = errors.New("not found")

// recordKey is the catalog key of one tenant's record. Tenants and ids are
// checked where they come in; here a bad one can at worst name nothing.
func recordKey(tenant, id string) string { return safe(tenant) + "." + safe(id) }

// maxPlain is the longest name that is written out; longer ones are hashed.
const maxPlain = 90

// safe writes any string in the letters that keys, subjects and file names
// share: plain ones as they are, others as _ and hex, long ones as _- and the
// hex of their hash.
func safe(s string) string {
	plain := func(r rune) bool { return r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' }
	switch {
	case len(s) > maxPlain:
		return fmt.Sprintf("_-%x", sha256.Sum256([]byte(s)))
	case s != "" && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0:
		return s
	}
	return fmt.Sprintf("_%x", s)
}

// Source is the catalog record of a source, ErrNotFound without one or once its
// deletion has begun.
func (s *Store) Source(ctx context.Context, tenant, id string) (tree.Source, error) {
	src, _, err := read[tree.Source](ctx, s.sources, recordKey(tenant, id))
	if err == nil && src.State == stateDeleting {
		return tree.Source{}, fmt.Errorf("the source %.60s: %w", id, ErrNotFound)
	}
	return src, err
}

// UpdateSource changes a record with compare-and-swap; change sees a record
// with only ID and Tenant set when there is none, and may run again. Whoever
// makes a record must set Created: a late change by what still works on a
// deleted source does not bring it back but gets ErrNotFound.
func (s *Store) UpdateSource(ctx context.Context, tenant, id string, change func(*tree.Source) error) (tree.Source, error) {
	return update(ctx, s.sources, recordKey(tenant, id), func(v *tree.Source) error {
		if v.State == stateDeleting {
			return fmt.Errorf("the source %.60s is being deleted; hand it over again in a moment: %w", id, ErrNotFound)
		}
		v.ID, v.Tenant = id, tenant
		if err := change(v); err != nil {
			return err
		}
		if v.Created.IsZero() {
			return fmt.Errorf("the source %.60s: %w", id, ErrNotFound)
		}
		return nil
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
		if err := change(v); err != nil {
			return err
		}
		if v.Created.IsZero() {
			return fmt.Errorf("the job %.60s: %w", id, ErrNotFound)
		}
		return nil
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
