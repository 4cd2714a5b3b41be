package retrieve

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/reeltree/reeltree/tree"
)

// store keeps what was added, one file per source, so that an engine opens
// without reading any tree. A file is a header record and one record per Add,
// each with length and checksum; a tail that a crash cut off is dropped, and a
// file that is damaged further in is given up as a whole: its source is then
// no longer searchable and must be added again. The files are the truth for
// both indexes, which are made from them.
type store struct {
	dir      string // "" keeps nothing
	lock     *os.File
	embedder string
	dim      int
	log      *slog.Logger
	stamps   map[string]string // file name -> stamp of its last record
}

// header is the first record of a file.
type header struct {
	Format   int    `json:"format"`
	Tenant   string `json:"tenant"`
	Source   string `json:"source"`
	Embedder string `json:"embedder"`
	Dim      int    `json:"dim"`
}

// added is the JSON part of any later record; the vectors of its nodes follow
// as little-endian float32.
type added struct {
	Source tree.Source `json:"source"`
	Nodes  []addedNode `json:"nodes"`
}

type addedNode struct {
	ID    string     `json:"id"`
	Level tree.Level `json:"level"`
	Span  tree.Span  `json:"span"`
	Text  string     `json:"text"`
}

const (
	storeFormat = 1
	storeExt    = ".entries"
	mostRecord  = 1 << 30 // bytes of a record that is believed
)

func openStore(dir, embedder string, dim int, log *slog.Logger) (*store, error) {
	s := &store{dir: dir, embedder: embedder, dim: dim, log: log, stamps: map[string]string{}}
	if dir == "" {
		return s, nil
	}
	if err := os.MkdirAll(filepath.Join(dir, "entries"), 0o700); err != nil {
		return nil, fmt.Errorf("the folder of the search index cannot be made: %w", err)
	}
	var err error
	s.lock, err = lockFile(filepath.Join(dir, "lock"))
	return s, err
}

func (s *store) keywordDir() string {
	if s.dir == "" {
		return ""
	}
	return filepath.Join(s.dir, "keywords")
}

func (s *store) close() error {
	if s.lock == nil {
		return nil
	}
	lock := s.lock
	s.lock = nil
	return lock.Close()
}

// name is the file of a source. It is a hash: names from outside never become
// paths.
func (s *store) name(tenant, source string) string {
	sum := sha256.Sum256([]byte(tenant + "\x00" + source))
	return filepath.Join(s.dir, "entries", hex.EncodeToString(sum[:16])+storeExt)
}

// append keeps entries and says what stamp the file has now.
func (s *store) append(src tree.Source, entries []Entry) (stamp string, err error) {
	if s.dir == "" {
		return "", nil
	}
	name := s.name(src.Tenant, src.ID)
	var out bytes.Buffer
	if s.stamps[name] == "" {
		head, err := json.Marshal(header{storeFormat, src.Tenant, src.ID, s.embedder, s.dim})
		if err != nil {
			return "", fmt.Errorf("the search index cannot be written: %w", err)
		}
		writeRecord(&out, head)
	}
	payload, err := encodeAdded(src, entries)
	if err == nil {
		writeRecord(&out, payload)
		stamp = nextStamp(s.stamps[name], payload)
		err = appendFile(name, out.Bytes(), s.stamps[name] == "")
	}
	if err != nil {
		return "", fmt.Errorf("the search index cannot be written: %w", err)
	}
	s.stamps[name] = stamp
	return stamp, nil
}

// appendFile adds data to a file, or leaves the file as it was; anew begins it
// anew.
func appendFile(name string, data []byte, anew bool) error {
	flags := os.O_CREATE | os.O_WRONLY | os.O_APPEND
	if anew {
		flags |= os.O_TRUNC
	}
	f, err := os.OpenFile(name, flags, 0o600)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err != nil {
		return errors.Join(err, f.Close())
	}
	if _, err = f.Write(data); err != nil {
		err = errors.Join(err, f.Truncate(info.Size()))
	}
	return errors.Join(err, f.Close())
}

func (s *store) remove(tenant, source string) error {
	if s.dir == "" {
		return nil
	}
	name := s.name(tenant, source)
	delete(s.stamps, name)
	if err := os.Remove(name); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("source %s cannot be taken out of the search index: %w", source, err)
	}
	return nil
}
