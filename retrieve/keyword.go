package retrieve

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/blevesearch/bleve/v2"
	"github.com/blevesearch/bleve/v2/analysis/analyzer/custom"
	"github.com/blevesearch/bleve/v2/analysis/analyzer/keyword"
	"github.com/blevesearch/bleve/v2/analysis/tokenizer/whitespace"
	"github.com/blevesearch/bleve/v2/index/scorch"
	"github.com/blevesearch/bleve/v2/mapping"
)

// Keyword is the BM25 side of the entry stage: bleve in memory or in a folder.
// Texts are read into the package's own terms first, so that both sides of a
// search and the later stages agree on what a word is, in every script. Terms
// carry a mark of their tenant: how rare a word is in one tenant's sources
// never shows in another's scores.
type Keyword struct {
	mu     sync.Mutex // one writer
	index  bleve.Index
	closed bool
	dir    string // "" in memory
	log    *slog.Logger
}

var _ Index = (*Keyword)(nil)

// keywordVersion changes with the terms or the mapping: an index of another
// version is made anew.
const keywordVersion = "1"

var versionKey = []byte("version")

// NewKeyword is an empty index in memory.
func NewKeyword() (*Keyword, error) { return openKeyword("", slog.New(slog.DiscardHandler)) }

// openKeyword opens the index in a folder, "" for memory. One that is missing,
// damaged or of another version is made anew and empty; the engine fills it.
func openKeyword(dir string, log *slog.Logger) (*Keyword, error) {
	if dir != "" {
		if x, err := openUsing(dir); err == nil {
			return &Keyword{index: x, dir: dir, log: log}, nil
		} else if _, statErr := os.Stat(dir); statErr == nil {
			log.Warn("the keyword index is damaged or old and is made anew", "dir", dir, "err", err)
		}
		if err := os.RemoveAll(dir); err != nil {
			return nil, fmt.Errorf("the keyword index in %s cannot be made anew: %w", dir, err)
		}
	}
	index, err := bleve.NewUsing(dir, keywordMapping(), scorch.Name, scorch.Name, scorchConfig())
	if err == nil {
		err = index.SetInternal(versionKey, []byte(keywordVersion))
	}
	if err != nil {
		return nil, fmt.Errorf("the keyword index cannot be made: %w", err)
	}
	return &Keyword{index: index, dir: dir, log: log}, nil
}

// scorchConfig lets batches return before they are on disk: what a crash loses
// is found missing by its stamp and added again. A second process that has the
// folder open is an error after a moment, not a wait for ever.
func scorchConfig() map[string]any {
	return map[string]any{"unsafe_batch": true, "bolt_timeout": "2s"}
}

func openUsing(dir string) (index bleve.Index, err error) {
	defer func() {
		if r := recover(); r != nil { // damaged files can do that
			index, err = nil, fmt.Errorf("opening panicked: %v", r)
		}
	}()
	if index, err = bleve.OpenUsing(dir, scorchConfig()); err != nil {
		return nil, err
	}
	version, err := index.GetInternal(versionKey)
	if err == nil && string(version) != keywordVersion {
		err = fmt.Errorf("version %q instead of %q", version, keywordVersion)
	}
	if err != nil {
		return nil, errors.Join(err, index.Close())
	}
	return index, nil
}

func keywordMapping() *mapping.IndexMappingImpl {
	m := bleve.NewIndexMapping()
	m.ScoringModel = "bm25"
	if err := m.AddCustomAnalyzer("terms", map[string]any{"type": custom.Name, "tokenizer": whitespace.Name}); err != nil {
		panic(err) // only a misspelt constant above fails
	}
	doc := bleve.NewDocumentStaticMapping()
	add := func(name, analyzer string, stored bool) {
		f := bleve.NewTextFieldMapping()
		f.Analyzer, f.Store, f.Index = analyzer, stored, !stored
		f.IncludeInAll, f.IncludeTermVectors, f.DocValues = false, false, false
		doc.AddFieldMappingsAt(name, f)
	}
	add("text", "terms", false)
	for _, name := range []string{"tenant", "source", "collection", "kind"} {
		add(name, keyword.Name, false)
	}
	add("span", keyword.Name, true)
	m.DefaultMapping = doc
	m.DefaultAnalyzer = "terms"
	return m
}

// Add implements Index.
func (x *Keyword) Add(_ context.Context, entries []Entry) error { return x.add(entries, nil, "") }

// add writes entries and, where key is set, a stamp beside them, all or nothing.
func (x *Keyword) add(entries []Entry, key []byte, stamp string) error {
	if err := checkEntries(entries, 0); err != nil && !errors.Is(err, errBadVector) {
		return err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	batch := x.index.NewBatch()
	for i := range entries {
		if err := batch.Index(indexKey(entries[i].Tenant, entries[i].Node), keywordDoc(&entries[i])); err != nil {
			return fmt.Errorf("the node %s cannot be indexed: %w", entries[i].Node, err)
		}
	}
	if key != nil {
		batch.SetInternal(key, []byte(stamp))
	}
	return x.run(batch)
}

func (x *Keyword) run(batch *bleve.Batch) error {
	if err := x.index.Batch(batch); err != nil {
		return fmt.Errorf("the keyword index cannot be written: %w", err)
	}
	return nil
}

// runDurably runs a batch and waits until it is on disk, for a while at most:
// what did not get there in time is found missing when the folder is opened.
func (x *Keyword) runDurably(batch *bleve.Batch) error {
	done := make(chan error, 1)
	if x.dir != "" {
		batch.SetPersistedCallback(func(err error) { done <- err })
	}
	if err := x.run(batch); err != nil || x.dir == "" {
		return err
	}
	wait := time.NewTimer(durableTime)
	defer wait.Stop()
	select {
	case err := <-done:
		return err
	case <-wait.C:
		x.log.Warn("the keyword index is slow to reach the disk", "dir", x.dir)
		return nil
	}
}

const durableTime = 10 * time.Second

// Delete implements Index.
func (x *Keyword) Delete(_ context.Context, tenant string, nodes ...string) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	batch := x.index.NewBatch()
	for _, n := range nodes {
		batch.Delete(indexKey(tenant, n))
	}
	return x.run(batch)
}

// Remove implements Index.
func (x *Keyword) Remove(ctx context.Context, tenant, source string) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	for {
		req := bleve.NewSearchRequestOptions(bleve.NewConjunctionQuery(
			fieldQuery("tenant", tenant), fieldQuery("source", source)), 1000, 0, false)
		res, err := x.index.SearchInContext(ctx, req)
		if err != nil {
			return fmt.Errorf("source %s cannot be taken out of the keyword index: %w", source, err)
		}
		batch := x.index.NewBatch()
		for _, h := range res.Hits {
			batch.Delete(h.ID)
		}
		batch.DeleteInternal(stampOf(tenant, source))
		if len(res.Hits) == 0 {
			return x.runDurably(batch) // and with it all before
		}
		if err := x.run(batch); err != nil {
			return err
		}
	}
}

// stamp is what add noted beside a source, "" for nothing.
func (x *Keyword) stamp(tenant, source string) string {
	b, err := x.index.GetInternal(stampOf(tenant, source))
	if err != nil {
		return ""
	}
	return string(b)
}

func stampOf(tenant, source string) []byte { return []byte("stamp\x00" + tenant + "\x00" + source) }

// Len implements Index.
func (x *Keyword) Len() int {
	n, err := x.index.DocCount()
	if err != nil {
		return 0
	}
	return int(n)
}

// Close implements Index; closing again does nothing.
func (x *Keyword) Close() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.closed {
		return nil
	}
	x.closed = true
	batch := x.index.NewBatch()
	batch.SetInternal([]byte("closed"), []byte("yes"))
	return errors.Join(x.runDurably(batch), x.index.Close())
}
