package library

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// Derived files are made of a source's medium or tree when somebody first wants
// them, such as a rendition that browsers play. They can be made again at any
// time and go with their source.

func derivedKey(tenant, source, name string) string {
	return path.Join(blobKey("derived", tenant, source), safe(name))
}

// OpenDerived opens a finished derived file, ErrNotFound where there is none yet.
func (s *Store) OpenDerived(_ context.Context, tenant, source, name string) (*os.File, error) {
	f, err := os.Open(filepath.Join(s.cfg.Dir, "blobs", filepath.FromSlash(derivedKey(tenant, source, name))))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s of %s: %w", name, source, ErrNotFound)
	}
	if err != nil {
		return nil, fmt.Errorf("%s of %s cannot be opened: %w", name, source, err)
	}
	return f, nil
}

// SaveDerived stores what write writes under a name, all of it or nothing: on
// an error, or when the source is gone by its end, nothing is left.
func (s *Store) SaveDerived(ctx context.Context, tenant, source, name string, write func(io.Writer) error) error {
	f, err := os.CreateTemp(filepath.Join(s.cfg.Dir, "tmp"), "derived-")
	if err != nil {
		return fmt.Errorf("%s cannot be stored: %w", name, err)
	}
	defer func() {
		_ = f.Close()
		_ = os.Remove(f.Name()) // gone already when it was renamed
	}()
	if err := write(f); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return fmt.Errorf("%s cannot be stored: %w", name, err)
	}
	unlock, err := s.present(ctx, tenant, source)
	if err != nil {
		return err
	}
	defer unlock()
	if err := s.place(f.Name(), derivedKey(tenant, source, name)); err != nil {
		return fmt.Errorf("%s cannot be stored: %w", name, err)
	}
	return nil
}

// DropDerived removes the derived files whose names begin so, but for those
// that begin with keep as well.
func (s *Store) DropDerived(ctx context.Context, tenant, source, prefix, keep string) error {
	keys, err := s.keys(ctx, blobKey("derived", tenant, source), true)
	if err != nil {
		return err
	}
	for _, k := range keys {
		if name := path.Base(k); strings.HasPrefix(name, prefix) && !strings.HasPrefix(name, keep) {
			if err := s.blobs.Delete(ctx, k); err != nil {
				return fmt.Errorf("%s cannot be deleted: %w", k, err)
			}
		}
	}
	return nil
}
