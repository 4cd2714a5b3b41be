package library

import (
	"context"
	"errors"
	"fmt"
	"path"

	"gocloud.dev/gcerrors"
)

// Keep stores a model's reply under the hash of its prompt, so that a build
// that is made again pays for no call twice. A reply tells what its source
// shows, so it lies with the source of the task that ctx belongs to and goes
// with it; outside a task nothing is kept. The tenant's other sources find it
// by a note that names the source.
func (s *Store) Keep(ctx context.Context, key string, reply []byte) error {
	tenant, source, err := s.sourceOf(ctx)
	if err != nil || source == "" {
		return err
	}
	unlock, err := s.present(ctx, tenant, source)
	if errors.Is(err, ErrNotFound) {
		return nil // deleted meanwhile: nothing is kept
	}
	if err != nil {
		return err
	}
	defer unlock()
	if err := s.put(ctx, blobKey("replies", tenant, source, key), reply); err != nil {
		return err
	}
	return s.put(ctx, blobKey("notes", tenant, key), []byte(source))
}

// Recall gives a kept reply back, nil when there is none or it is damaged. One
// of another source of the tenant, such as an earlier cut of the same film, is
// kept with this one as well, which then has no need of the other.
func (s *Store) Recall(ctx context.Context, key string) ([]byte, error) {
	tenant, source, err := s.sourceOf(ctx)
	if err != nil || source == "" {
		return nil, err
	}
	reply, err := s.whole(ctx, blobKey("replies", tenant, source, key))
	if err != nil || reply != nil {
		return reply, err
	}
	other, err := s.whole(ctx, blobKey("notes", tenant, key))
	if err != nil || other == nil {
		return nil, err
	}
	reply, err = s.whole(ctx, blobKey("replies", tenant, string(other), key))
	if err != nil || reply == nil {
		return nil, err
	}
	return reply, s.Keep(ctx, key, reply)
}

// whole is a blob, nil where there is none or it is damaged.
func (s *Store) whole(ctx context.Context, key string) ([]byte, error) {
	data, err := s.get(ctx, key)
	if errors.Is(err, ErrNotFound) || errors.Is(err, ErrDamaged) {
		return nil, nil
	}
	return data, err
}

// dropNotes removes the notes that lead to the replies of a source.
func (s *Store) dropNotes(ctx context.Context, tenant, source string) error {
	replies, err := s.keys(ctx, blobKey("replies", tenant, source), false)
	if err != nil {
		return err
	}
	for _, r := range replies {
		note := blobKey("notes", tenant) + "/" + path.Base(r)
		named, err := s.whole(ctx, note)
		if err != nil {
			return err
		}
		if string(named) != source {
			continue
		}
		// Not synced: a note that leads nowhere does no harm.
		if err := s.blobs.Delete(ctx, note); err != nil && gcerrors.Code(err) != gcerrors.NotFound {
			return fmt.Errorf("%s cannot be deleted: %w", note, err)
		}
	}
	return nil
}

// sourceOf is the source whose task runs in ctx, empty without one.
func (s *Store) sourceOf(ctx context.Context) (tenant, source string, err error) {
	t, ok := taskOf(ctx)
	if !ok {
		return "", "", nil
	}
	job, err := s.Job(ctx, t.Tenant, t.Job)
	if errors.Is(err, ErrNotFound) {
		return "", "", nil
	}
	if err != nil {
		return "", "", fmt.Errorf("an earlier reply cannot be looked up: %w", err)
	}
	return t.Tenant, job.Source, nil
}

// ForgetClips drops the clips and the tree of a source that is built anew with
// other settings; its frames are replaced clip by clip.
func (s *Store) ForgetClips(ctx context.Context, tenant, source string) error {
	lock := s.guards.of(tenant, source)
	lock.Lock()
	defer lock.Unlock()
	return errors.Join(s.remove(ctx, blobKey("clips", tenant, source)), s.remove(ctx, blobKey("trees", tenant, source)))
}
