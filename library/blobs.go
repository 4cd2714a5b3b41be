package library

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"path"

	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"
)

// ErrDamaged is returned for stored bytes that do not fit their checksum.
var ErrDamaged = errors.New("stored data is damaged")

// Every blob but content and frames is its SHA-256 (32 bytes), then the data.
// Frames are named by their hash, content is named by its own.

func blobKey(kind, tenant string, parts ...string) string {
	key := path.Join(kind, safe(tenant))
	for _, p := range parts {
		key = path.Join(key, safe(p))
	}
	return key
}

func (s *Store) put(ctx context.Context, key string, data []byte) error {
	sum := sha256.Sum256(data)
	if err := s.blobs.WriteAll(ctx, key, append(sum[:], data...), nil); err != nil {
		return fmt.Errorf("%s cannot be stored: %w", key, err)
	}
	return nil
}

// get returns ErrNotFound for an absent blob and ErrDamaged for a changed one.
func (s *Store) get(ctx context.Context, key string) ([]byte, error) {
	data, err := s.blobs.ReadAll(ctx, key)
	if gcerrors.Code(err) == gcerrors.NotFound {
		return nil, fmt.Errorf("%s: %w", key, ErrNotFound)
	}
	if err != nil {
		return nil, fmt.Errorf("%s cannot be read: %w", key, err)
	}
	if len(data) < sha256.Size {
		return nil, fmt.Errorf("%s: %w", key, ErrDamaged)
	}
	if sum := sha256.Sum256(data[sha256.Size:]); !bytes.Equal(sum[:], data[:sha256.Size]) {
		return nil, fmt.Errorf("%s: %w", key, ErrDamaged)
	}
	return data[sha256.Size:], nil
}

// keys lists the blobs under a folder, in order.
func (s *Store) keys(ctx context.Context, folder string) ([]string, error) {
	var keys []string
	it := s.blobs.List(&blob.ListOptions{Prefix: folder + "/"})
	for {
		obj, err := it.Next(ctx)
		if errors.Is(err, io.EOF) {
			return keys, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s cannot be listed: %w", folder, err)
		}
		keys = append(keys, obj.Key)
	}
}

// remove deletes a blob or, with a folder, all blobs in it; absent is fine.
func (s *Store) remove(ctx context.Context, key string) error {
	keys, err := s.keys(ctx, key)
	if err != nil {
		return err
	}
	for _, k := range append(keys, key) {
		if err := s.blobs.Delete(ctx, k); err != nil && gcerrors.Code(err) != gcerrors.NotFound {
			return fmt.Errorf("%s cannot be deleted: %w", k, err)
		}
	}
	return nil
}

// SavePlan keeps what planning a job found out.
func (s *Store) SavePlan(ctx context.Context, tenant, job string, data []byte) error {
	return s.put(ctx, blobKey("plans", tenant, job), data)
}

// Plan gives it back, ErrNotFound without one.
func (s *Store) Plan(ctx context.Context, tenant, job string) ([]byte, error) {
	return s.get(ctx, blobKey("plans", tenant, job))
}

// SaveVectors keeps the vectors of a source's tree, named by the embedder that
// made them, so that another embedder never reads them by mistake.
func (s *Store) SaveVectors(ctx context.Context, tenant, source, embedder string, data []byte) error {
	return s.put(ctx, blobKey("vectors", tenant, source, embedder), data)
}

// Vectors gives them back, ErrNotFound without.
func (s *Store) Vectors(ctx context.Context, tenant, source, embedder string) ([]byte, error) {
	return s.get(ctx, blobKey("vectors", tenant, source, embedder))
}
