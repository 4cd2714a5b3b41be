package library

import (
	"context"
	"errors"
)

// Keep stores a model's reply under the hash of its prompt, so that a build
// that is made again pays for no call twice. The replies of all tenants share
// no key, since a prompt holds the material it was made from.
func (s *Store) Keep(ctx context.Context, key string, reply []byte) error {
	return s.put(ctx, blobKey("replies", "all", key), reply)
}

// Recall gives a kept reply back, nil when there is none or it is damaged.
func (s *Store) Recall(ctx context.Context, key string) ([]byte, error) {
	reply, err := s.get(ctx, blobKey("replies", "all", key))
	if errors.Is(err, ErrNotFound) || errors.Is(err, ErrDamaged) {
		return nil, nil
	}
	return reply, err
}

// ForgetClips drops the clips and the tree of a source that is built anew with
// other settings; its frames are replaced clip by clip.
func (s *Store) ForgetClips(ctx context.Context, tenant, source string) error {
	return errors.Join(s.remove(ctx, blobKey("clips", tenant, source)), s.remove(ctx, blobKey("trees", tenant, source)))
}
