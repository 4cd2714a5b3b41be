package library

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/reeltree/reeltree/tree"
)

// ErrTooLarge is returned for content over the limit; nothing of it is kept.
var ErrTooLarge = errors.New("the content is larger than allowed")

// PutContent stores bytes under the id their hash gives, so the same content of
// a tenant is stored once and no name ever becomes a path. limit 0 means none.
// On an error nothing is left.
func (s *Store) PutContent(ctx context.Context, tenant string, r io.Reader, limit int64) (id string, n int64, err error) {
	f, err := os.CreateTemp(filepath.Join(s.cfg.Dir, "tmp"), "content-")
	if err != nil {
		return "", 0, fmt.Errorf("content cannot be stored: %w", err)
	}
	defer func() {
		_ = f.Close()
		_ = os.Remove(f.Name()) // gone already when it was renamed
	}()
	if limit > 0 {
		r = io.LimitReader(r, limit+1)
	}
	hash := tree.NewIDHash(tenant)
	n, err = io.Copy(io.MultiWriter(f, hash), contextReader{ctx, r})
	if err != nil {
		return "", 0, fmt.Errorf("content cannot be stored: %w", err)
	}
	if limit > 0 && n > limit {
		return "", 0, fmt.Errorf("%w: it has more than %d bytes", ErrTooLarge, limit)
	}
	if err := f.Sync(); err != nil {
		return "", 0, fmt.Errorf("content cannot be stored: %w", err)
	}
	if err := s.place(f.Name(), blobKey("content", tenant, hash.ID())); err != nil {
		return "", 0, fmt.Errorf("content cannot be stored: %w", err)
	}
	return hash.ID(), n, nil
}

// place moves a finished file to where its blob belongs.
func (s *Store) place(file, key string) error {
	final := filepath.Join(s.cfg.Dir, "blobs", filepath.FromSlash(key))
	if err := os.MkdirAll(filepath.Dir(final), 0o700); err != nil {
		return err
	}
	if err := os.Rename(file, final); err != nil {
		return err
	}
	return s.syncFolders(path.Dir(key))
}

// VerifyContent reads the bytes of a source and compares them with its id:
// ErrDamaged when they changed on the disk. It is not done at every opening,
// since content may be gigabytes.
func (s *Store) VerifyContent(ctx context.Context, tenant, source string) error {
	f, err := s.OpenContent(ctx, tenant, source)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	hash := tree.NewIDHash(tenant)
	if _, err := io.Copy(hash, contextReader{ctx, f}); err != nil {
		return fmt.Errorf("the content of %s cannot be read: %w", source, err)
	}
	if hash.ID() != source {
		return fmt.Errorf("the content of %s: %w; hand it over again", source, ErrDamaged)
	}
	return nil
}

//nolint:containedctx // lives as long as the one call that made it
type contextReader struct {
	ctx context.Context
	r   io.Reader
}

// Read stops a copy when its request is gone.
func (c contextReader) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}

func (s *Store) contentPath(tenant, source string) string {
	return filepath.Join(s.cfg.Dir, "blobs", filepath.FromSlash(blobKey("content", tenant, source)))
}

// OpenContent opens the bytes of a source, ErrNotFound when they were removed.
func (s *Store) OpenContent(_ context.Context, tenant, source string) (*os.File, error) {
	f, err := os.Open(s.contentPath(tenant, source))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("the content of %s: %w", source, ErrNotFound)
	}
	if err != nil {
		return nil, fmt.Errorf("the content of %s cannot be opened: %w", source, err)
	}
	return f, nil
}

// RemoveContent frees the bytes of a source; its tree and frames stay.
func (s *Store) RemoveContent(ctx context.Context, tenant, source string) error {
	return s.remove(ctx, blobKey("content", tenant, source))
}

type sidecar struct {
	Name string `json:"name"`
	Data []byte `json:"data"`
}

// SaveSubtitles keeps the subtitle file that was handed over with a source.
func (s *Store) SaveSubtitles(ctx context.Context, tenant, source, name string, data []byte) error {
	b, err := json.Marshal(sidecar{name, data})
	if err != nil {
		return err
	}
	return s.put(ctx, blobKey("subtitles", tenant, source), b)
}

// Subtitles gives it back; without one name is empty and err nil.
func (s *Store) Subtitles(ctx context.Context, tenant, source string) (name string, data []byte, err error) {
	b, err := s.get(ctx, blobKey("subtitles", tenant, source))
	if errors.Is(err, ErrNotFound) {
		return "", nil, nil
	}
	if err != nil {
		return "", nil, err
	}
	var side sidecar
	if err := json.NewDecoder(bytes.NewReader(b)).Decode(&side); err != nil {
		return "", nil, fmt.Errorf("the subtitles of %s: %w", source, ErrDamaged)
	}
	return side.Name, side.Data, nil
}
