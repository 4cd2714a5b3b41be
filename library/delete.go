package library

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/reeltree/reeltree/tree"
)

// stateDeleting marks a source whose deletion was recorded: it is gone for
// every list, and Open completes the deletion after a crash.
const stateDeleting tree.State = "deleting"

// kinds are the blobs a source has, each in a folder or file of its name.
var kinds = []string{"content", "subtitles", "clips", "frames", "trees", "vectors", "replies", "derived"}

// DeleteSource removes a source with everything that was made of it: its jobs
// and queued tasks, content, subtitles, clips, frames, tree, vectors, derived files, kept
// model replies, and the finished answers that quote it. The wish is recorded
// first, so that after a crash Open completes it; a failed call may be repeated.
func (s *Store) DeleteSource(ctx context.Context, tenant, id string) error {
	lock := s.guards.of(tenant, id)
	lock.Lock()
	defer lock.Unlock()
	if _, err := update(ctx, s.sources, recordKey(tenant, id), func(src *tree.Source) error {
		if src.ID == "" {
			return fmt.Errorf("the source %.60s: %w", id, ErrNotFound)
		}
		src.State = stateDeleting
		return nil
	}); err != nil {
		return err
	}
	return s.completeDeletion(ctx, tenant, id)
}

// DropOrphan removes content that no source names, with its subtitles: what was
// handed over only to be looked at. Content of a source stays.
func (s *Store) DropOrphan(ctx context.Context, tenant, id string) error {
	lock := s.guards.of(tenant, id)
	lock.Lock()
	defer lock.Unlock()
	if _, err := s.Source(ctx, tenant, id); !errors.Is(err, ErrNotFound) {
		return err
	}
	return errors.Join(s.remove(ctx, blobKey("content", tenant, id)), s.remove(ctx, blobKey("subtitles", tenant, id)))
}

// completeDeletion may run any number of times; the record that says so goes last.
func (s *Store) completeDeletion(ctx context.Context, tenant, id string) error {
	if err := s.dropJobs(ctx, tenant, id); err != nil {
		return err
	}
	if err := s.dropAnswers(ctx, tenant, id); err != nil {
		return err
	}
	if err := s.dropNotes(ctx, tenant, id); err != nil {
		return err
	}
	for _, kind := range kinds {
		if err := s.remove(ctx, blobKey(kind, tenant, id)); err != nil {
			return err
		}
	}
	s.frames.forget(tenant, id)
	if err := s.sources.Purge(ctx, recordKey(tenant, id)); err != nil {
		return fmt.Errorf("the record of %s cannot be deleted: %w", id, err)
	}
	return nil
}

// dropJobs removes the jobs of a source with their plans and queued tasks.
func (s *Store) dropJobs(ctx context.Context, tenant, source string) error {
	jobs, err := s.Jobs(ctx, tenant)
	if err != nil {
		return err
	}
	for _, j := range jobs {
		if j.Source != source {
			continue
		}
		tasks := "work." + safe(tenant) + "." + safe(j.ID) + ".>"
		err := errors.Join(s.work.Purge(ctx, jetstream.WithPurgeSubject(tasks)), s.dead.Purge(ctx, jetstream.WithPurgeSubject("dead."+tasks)))
		if err != nil {
			return fmt.Errorf("the tasks of job %s cannot be dropped: %w", j.ID, err)
		}
		if err := s.remove(ctx, blobKey("plans", tenant, j.ID)); err != nil {
			return err
		}
		if err := s.jobs.Purge(ctx, recordKey(tenant, j.ID)); err != nil {
			return fmt.Errorf("the job %s cannot be deleted: %w", j.ID, err)
		}
	}
	return nil
}

func (s *Store) completeDeletions(ctx context.Context) error {
	var open []tree.Source
	err := scan(ctx, s.sources, "*.*", func(e jetstream.KeyValueEntry) error {
		var src tree.Source
		if err := json.Unmarshal(e.Value(), &src); err == nil && src.State == stateDeleting {
			open = append(open, src)
		}
		return nil
	})
	for _, src := range open {
		err = errors.Join(err, s.completeDeletion(ctx, src.Tenant, src.ID))
	}
	return err
}
