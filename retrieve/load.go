package retrieve

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"

	"github.com/reeltree/reeltree/tree"
)

// kept is what a store file holds about one source.
type kept struct {
	src     tree.Source
	entries []Entry // the last of each node, in order of first mention
	stamp   string
	stale   bool // the vectors were of another embedder and are left out
	name    string
	err     error // why the file cannot be used
}

// load reads every file of the store.
func (s *store) load(each func(kept) error) error { return s.readEach(true, each) }

// readEach reads every file, with the texts or without, some at once, and hands
// them over one at a time in the order of their names.
func (s *store) readEach(texts bool, each func(kept) error) error {
	if s.dir == "" {
		return nil
	}
	files, err := os.ReadDir(filepath.Join(s.dir, "entries"))
	if err != nil {
		return fmt.Errorf("the search index cannot be read: %w", err)
	}
	ahead := make(chan chan kept, runtime.GOMAXPROCS(0)) // files that are being read
	stop := make(chan struct{})
	var readers sync.WaitGroup
	readers.Go(func() {
		defer close(ahead)
		for _, f := range files {
			name, one := filepath.Join(s.dir, "entries", f.Name()), make(chan kept, 1)
			if filepath.Ext(name) != storeExt || f.IsDir() {
				continue
			}
			select {
			case ahead <- one:
				readers.Go(func() { one <- s.readFile(name, texts) })
			case <-stop:
				return
			}
		}
	})
	defer readers.Wait()
	defer close(stop)
	for one := range ahead {
		if err := s.take(<-one, each); err != nil {
			return err
		}
	}
	return nil
}

// take hands over what was read, or drops it where it is damaged.
func (s *store) take(k kept, each func(kept) error) error {
	if k.err != nil {
		s.log.Warn("a damaged part of the search index is dropped; its source must be indexed again", "file", k.name, "err", k.err)
		if err := os.Remove(k.name); err != nil {
			return fmt.Errorf("the search index cannot be repaired: %w", err)
		}
		return nil
	}
	if !k.stale {
		s.stamps[k.name] = k.stamp
	}
	return each(k)
}

// read reads one file and cuts off a tail that a crash left.
func (s *store) read(name string) (kept, error) {
	k := s.readFile(name, true)
	return k, k.err
}

// readFile is read with the texts or without; the error is in what it gives.
func (s *store) readFile(name string, texts bool) kept {
	f, err := os.OpenFile(name, os.O_RDWR, 0o600)
	if err != nil {
		return kept{name: name, err: err}
	}
	defer func() { _ = f.Close() }() // what was read is checked, what was cut is gone already
	k, whole, err := s.readAll(bufio.NewReaderSize(f, 1<<16), texts)
	if errors.Is(err, io.ErrUnexpectedEOF) && k.stamp != "" {
		s.log.Warn("the last write to a part of the search index was cut off", "file", name)
		err = f.Truncate(whole)
	}
	if err == nil && (k.stamp == "" || s.name(k.src.Tenant, k.src.ID) != name) {
		err = errors.New("it names another source or none")
	}
	k.name, k.err = name, err
	return k
}

// readRecords reads to the end with the texts.
func (s *store) readRecords(r *bufio.Reader) (k kept, whole int64, err error) {
	return s.readAll(r, true)
}

// readAll reads to the end; whole is where the last good record ends.
func (s *store) readAll(r *bufio.Reader, texts bool) (k kept, whole int64, err error) {
	payload, err := readRecord(r)
	var h header
	if err == nil {
		err = json.Unmarshal(payload, &h)
	}
	if err != nil || h.Format != storeFormat || h.Dim <= 0 {
		return k, 0, errors.Join(err, errors.New("it has no header of this format"))
	}
	whole = int64(8 + len(payload))
	k.stale = h.Embedder != s.embedder || h.Dim != s.dim
	at := map[string]int{}
	for {
		payload, err = readRecord(r)
		if errors.Is(err, io.EOF) {
			return k, whole, nil
		}
		if err != nil {
			return k, whole, err
		}
		src, entries, err := decodeRecord(payload, h.Dim, texts)
		if err != nil || src.Tenant != h.Tenant || src.ID != h.Source {
			return k, whole, errors.Join(err, errDamaged)
		}
		k.src = src
		for _, e := range entries {
			if k.stale {
				e.Vector = nil
			}
			if i, ok := at[e.Node]; ok {
				k.entries[i] = e
				continue
			}
			at[e.Node] = len(k.entries)
			k.entries = append(k.entries, e)
		}
		k.stamp = nextStamp(k.stamp, payload)
		whole += int64(8 + len(payload))
	}
}

// load fills the indexes from the store. What the keyword index already has,
// as its stamps say, is left alone; should it hold anything else besides, as
// after a crash in the middle of a removal, it is made anew.
func (e *Engine) load() error {
	ctx := context.Background()
	nodes := 0
	err := e.store.readEach(false, func(k kept) (err error) {
		if err = e.loadVectors(ctx, k); err != nil {
			return err
		}
		nodes += len(k.entries)
		e.catalog.put(k.src, k.entries)
		e.catalog.mark(k.src, k.stale)
		if e.words.stamp(k.src.Tenant, k.src.ID) == k.stamp {
			return nil
		}
		if err := e.words.Remove(ctx, k.src.Tenant, k.src.ID); err != nil {
			return err
		}
		if k, err = e.store.read(k.name); err != nil {
			return fmt.Errorf("the search index cannot be read: %w", err)
		}
		return e.loadWords(k)
	})
	if err == nil {
		err = errors.Join(e.dropUnknown(ctx), e.dropViews())
	}
	if err != nil || e.words.Len() == nodes || e.store.dir == "" {
		return err
	}
	e.cfg.Log.Warn("the keyword index holds something else than was added and is made anew", "has", e.words.Len(), "want", nodes)
	if err := errors.Join(e.words.Close(), os.RemoveAll(e.store.keywordDir())); err != nil {
		return fmt.Errorf("the keyword index cannot be made anew: %w", err)
	}
	if e.words, err = openKeyword(e.store.keywordDir(), e.cfg.Log); err != nil {
		return err
	}
	return e.store.load(e.loadWords)
}

// keeper is a vector index that was there before it was filled.
type keeper interface {
	// holds reports whether it has exactly these nodes and vectors of a source.
	holds(entries []Entry) bool
	// sources are those it holds, as (tenant, source).
	sources() [][2]string
}

// loadVectors fills the vector index with one source, unless it kept it.
func (e *Engine) loadVectors(ctx context.Context, k kept) error {
	if x, ok := e.vectors.(keeper); ok && !k.stale && x.holds(k.entries) {
		return nil
	}
	if err := e.vectors.Remove(ctx, k.src.Tenant, k.src.ID); err != nil || k.stale {
		return err
	}
	return e.vectors.Add(ctx, k.entries)
}

// dropUnknown takes out of a vector index what it kept and nobody lists, as
// after a crash in the middle of a removal.
func (e *Engine) dropUnknown(ctx context.Context) error {
	x, ok := e.vectors.(keeper)
	if !ok {
		return nil
	}
	for _, s := range x.sources() {
		if e.catalog.get(s[0], s[1]) == nil {
			if err := e.vectors.Remove(ctx, s[0], s[1]); err != nil {
				return err
			}
		}
	}
	return nil
}

// loadWords fills the keyword index with one source.
func (e *Engine) loadWords(k kept) error {
	key := stampOf(k.src.Tenant, k.src.ID)
	for part := range slices.Chunk(k.entries, 256) {
		if err := e.words.add(part, key, ""); err != nil {
			return err
		}
	}
	return e.words.add(nil, key, k.stamp)
}
