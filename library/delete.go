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

// DeleteSource removes a source with everything that was made of it: its jobs
// and queued tasks, content, subtitles, clips, frames, tree and vectors. The
// wish is recorded first, so a crash in between loses nothing of it.
func (s *Store) DeleteSource(ctx context.Context, tenant, id string) error {
	if _, err := s.Source(ctx, tenant, id); err != nil {
		return err
	}
	if _, err := s.UpdateSource(ctx, tenant, id, func(src *tree.Source) error {
		src.State = stateDeleting
		return nil
	}); err != nil {
		return err
	}
	return s.completeDeletion(ctx, tenant, id)
}

func (s *Store) completeDeletion(ctx context.Context, tenant, id string) error {
	if err := s.dropJobs(ctx, tenant, id); err != nil {
		return err
	}
	for _, kind := range []string{"content", "subtitles", "clips", "frames", "trees", "vectors"} {
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
		if err := s.work.Purge(ctx, jetstream.WithPurgeSubject("work."+safe(tenant)+"."+safe(j.ID)+".>")); err != nil {
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
