package library

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"
)

// ErrDamaged is returned for stored bytes that do not fit their checksum.
var ErrDamaged = errors.New("stored data is damaged")

// unfinished ends the name of a blob that is being written; no key ends so.
const unfinished = ".tmp"

func blobKey(kind, tenant string, parts ...string) string {
	key := path.Join(kind, safe(tenant))
	for _, p := range parts {
		key = path.Join(key, safe(p))
	}
	return key
}

// put stores data behind its checksum.
func (s *Store) put(ctx context.Context, key string, data []byte) error {
	sum := sha256.Sum256(data)
	return s.write(ctx, key, sum[:], data)
}

// write stores the joined parts and returns once they are on the disk: the
// bytes are synced under a temporary name, renamed, and the folder is synced.
// Where the bucket is no folder, its own promise holds.
func (s *Store) write(ctx context.Context, key string, parts ...[]byte) error {
	ctx, cancel := context.WithCancel(ctx) // ended before Close, it drops what was written
	defer cancel()
	var file *os.File
	w, err := s.blobs.NewWriter(ctx, key, &blob.WriterOptions{
		ContentType: "application/octet-stream",
		BeforeWrite: func(as func(any) bool) error { as(&file); return nil },
	})
	if err != nil {
		return fmt.Errorf("%s cannot be stored: %w", key, err)
	}
	for _, p := range parts {
		if _, err = w.Write(p); err != nil {
			break
		}
	}
	if err == nil && file != nil {
		err = file.Sync()
	}
	if err != nil {
		cancel()
	}
	if err = errors.Join(err, w.Close()); err != nil {
		return fmt.Errorf("%s cannot be stored: %w", key, err)
	}
	return s.syncFolders(path.Dir(key))
}

// syncFolders makes the names in a folder durable, and those of new folders
// above it. One fsync per level costs little next to that of the data.
func (s *Store) syncFolders(folder string) error {
	var fresh []string
	for {
		if err := syncDir(filepath.Join(s.cfg.Dir, "blobs", filepath.FromSlash(folder))); err != nil {
			return err
		}
		_, known := s.synced.Load(folder) // its own name is durable since an earlier call
		if known || folder == "." {
			break
		}
		fresh = append(fresh, folder)
		folder = path.Dir(folder)
	}
	for _, f := range fresh {
		s.synced.Store(f, true)
	}
	return nil
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("a folder cannot be synced: %w", err)
	}
	defer func() { _ = d.Close() }()
	if err := d.Sync(); err != nil {
		return fmt.Errorf("a folder cannot be synced: %w", err)
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

// keys lists the blobs in a folder, in order; parts of interrupted writes only
// with all.
func (s *Store) keys(ctx context.Context, folder string, all bool) ([]string, error) {
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
		if all || !strings.HasSuffix(obj.Key, unfinished) {
			keys = append(keys, obj.Key)
		}
	}
}

// remove deletes a blob or, with a folder, all blobs in it; absent is fine.
func (s *Store) remove(ctx context.Context, key string) error {
	keys, err := s.keys(ctx, key, true)
	if err != nil {
		return err
	}
	for _, k := range append(keys, key) {
		if err := s.blobs.Delete(ctx, k); err != nil && gcerrors.Code(err) != gcerrors.NotFound && !s.isFolder(k) {
			return fmt.Errorf("%s cannot be deleted: %w", k, err)
		}
	}
	s.synced.Delete(key)
	dir := filepath.Join(s.cfg.Dir, "blobs", filepath.FromSlash(key))
	if err := os.Remove(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
		s.log.Debug("an emptied folder stays", "folder", key, "error", err)
	}
	if err := syncDir(filepath.Dir(dir)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func (s *Store) isFolder(key string) bool {
	info, err := os.Stat(filepath.Join(s.cfg.Dir, "blobs", filepath.FromSlash(key)))
	return err == nil && info.IsDir()
}

// sweep removes what writes left behind that a crash interrupted.
func (s *Store) sweep() error {
	return filepath.WalkDir(filepath.Join(s.cfg.Dir, "blobs"), func(name string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() && strings.HasSuffix(name, unfinished) {
			err = os.Remove(name)
		}
		if err != nil {
			return fmt.Errorf("a leftover of an interrupted write cannot be removed: %w", err)
		}
		return nil
	})
}
