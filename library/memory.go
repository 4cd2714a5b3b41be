package library

import (
	"context"
	"errors"
	"fmt"
)

// Keep stores a model's reply under the hash of its prompt, so that a build
// that is made again pays for no call twice. A reply tells what its source
// shows, so it lies with the source of the task that ctx belongs to and goes
// with it; outside a task nothing is kept.
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
	return s.put(ctx, blobKey("replies", tenant, source, key), reply)
}

// Recall gives a kept reply back, nil when there is none or it is damaged.
func (s *Store) Recall(ctx context.Context, key string) ([]byte, error) {
	tenant, source, err := s.sourceOf(ctx)
	if err != nil || source == "" {
		return nil, err
	}
	reply, err := s.get(ctx, blobKey("replies", tenant, source, key))
	if errors.Is(err, ErrNotFound) || errors.Is(err, ErrDamaged) {
		return nil, nil
	}
	return reply, err
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
