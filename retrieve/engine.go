package retrieve

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"

	"github.com/reeltree/reeltree/tree"
)

// Config of an Engine. Only Embed, Dim and Trees must be set.
type Config struct {
	Dir          string // folder of the indexes; "" keeps them in memory
	Embed        Embed
	EmbedderName string // vectors stored under another name are made anew
	Dim          int
	Remember     bool // keep the vectors of sentences in Dir too: for an embedder that is slow or costs
	Trees        Trees
	Vectors      Index        // nil means an exact scan
	Weights      *Weights     // of the navigator; nil means the shipped ones
	Refiner      *Refiner     // nil means the shipped one, an empty one the published rule
	Switches     Switches     // stages that are switched off
	Rounds       int          // default rounds of a query, 0 means 1
	Budget       int          // default evidence tokens, 0 means 3000
	EntryNodes   int          // nodes the entry stage hands on and most trees they lie in, 0 means 10
	Branch       int          // parts a region between two levels falls into, 0 means 2
	CacheBytes   int          // about what trees kept ready may take, 0 means 128 MB
	Log          *slog.Logger // nil means no log
}

// Switches turn stages off, so that the gain of each can be measured.
type Switches struct {
	Vectors  bool // entry by vectors
	Keywords bool // entry by keywords
	Walk     bool // the navigator's paths as candidates
	Flat     bool // the best leaves as candidates
	Entered  bool // the L2 that entry hit as candidates
	Refine   bool // parent-relative refinement; off: stretches as large as a quote may be
	Keff     bool // the limit by the largest drop of utility
	Bridge   bool // the choice of two sources that names lead to
}

// Engine finds evidence. All methods are safe for concurrent use.
type Engine struct {
	cfg     Config
	vectors Index
	words   *Keyword
	store   *store
	catalog *catalog
	views   *viewCache
	write   sync.Mutex // one writer
}

// ErrQuestion is wrapped by every refusal of a question.
var ErrQuestion = errors.New("the question cannot be searched")

const (
	defaultBudget = 3000
	defaultCache  = 128 << 20
)

// Open makes an engine, or opens the one kept in Config.Dir, which no other
// process may have open. What is damaged there is made anew from what is not;
// Has tells which sources are no longer searchable and must be added again.
func Open(cfg Config) (*Engine, error) {
	if cfg.Embed == nil || cfg.Trees == nil || cfg.Dim <= 0 {
		return nil, errors.New("retrieve: Embed, Trees and Dim must be set")
	}
	if err := cfg.fill(); err != nil {
		return nil, err
	}
	if err := cfg.Weights.check(cfg.Dim); err != nil {
		return nil, err
	}
	e := &Engine{cfg: cfg, vectors: cfg.Vectors, catalog: newCatalog(), views: newViewCache(cfg.CacheBytes)}
	var err error
	if e.store, err = openStore(cfg.Dir, cfg.EmbedderName, cfg.Dim, cfg.Log); err != nil {
		return nil, err
	}
	if e.words, err = openKeyword(e.store.keywordDir(), cfg.Log); err != nil {
		return nil, errors.Join(err, e.store.close())
	}
	if err := e.load(); err != nil {
		return nil, errors.Join(err, e.Close())
	}
	return e, nil
}

func (c *Config) fill() (err error) {
	c.Rounds, c.Budget = max(1, c.Rounds), orDefault(c.Budget, defaultBudget)
	c.CacheBytes = orDefault(c.CacheBytes, defaultCache)
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Vectors == nil {
		c.Vectors = NewExact(c.Dim)
	}
	if c.Weights == nil {
		if c.Weights, err = TrainedWeights(c.EmbedderName, c.Dim); err != nil {
			return err
		}
	}
	if c.Refiner == nil {
		c.Refiner, err = TrainedRefiner(c.EmbedderName, c.Dim)
	}
	return err
}

func orDefault(v, def int) int {
	if v > 0 {
		return v
	}
	return def
}

// Close frees the indexes.
func (e *Engine) Close() error {
	e.write.Lock()
	defer e.write.Unlock()
	err := e.vectors.Close()
	if e.words != nil {
		err = errors.Join(err, e.words.Close())
	}
	return errors.Join(err, e.store.close())
}

// Add makes the L1 and L2 nodes among nodes searchable by their description
// and the words of their leaves. Adding a node again replaces it. A source
// whose vectors are of another embedder is renewed first.
func (e *Engine) Add(ctx context.Context, src tree.Source, nodes []*tree.Node) error {
	entries := entriesOf(src, nodes)
	if src.Tenant == "" || src.ID == "" {
		return errors.New("a source without tenant or id cannot be indexed")
	}
	if err := e.Renew(ctx, src.Tenant, src.ID); err != nil {
		return err
	}
	texts := make([]string, len(entries))
	for i := range entries {
		texts[i] = entries[i].Text
	}
	vectors, err := embedChecked(ctx, e.cfg.Embed, texts, e.cfg.Dim)
	if err != nil {
		return fmt.Errorf("nodes of %s cannot be embedded: %w", src.ID, err)
	}
	for i := range entries {
		entries[i].Vector = vectors[i]
	}
	e.write.Lock()
	defer e.write.Unlock()
	stamp, err := e.store.append(src, entries)
	if err != nil {
		return err
	}
	if err := e.publish(ctx, src, entries, stamp); err != nil {
		return err
	}
	e.views.drop(src.Tenant, src.ID)
	return nil
}

// publish puts entries into both indexes and the catalog.
func (e *Engine) publish(ctx context.Context, src tree.Source, entries []Entry, stamp string) error {
	if err := e.vectors.Add(ctx, entries); err != nil {
		return err
	}
	if err := e.words.add(entries, stampOf(src.Tenant, src.ID), stamp); err != nil {
		return err
	}
	e.catalog.put(src, entries)
	return nil
}

// entriesOf are the entries of the L1 and L2 among nodes that say something.
func entriesOf(src tree.Source, nodes []*tree.Node) []Entry {
	var out []Entry
	for _, n := range nodes {
		if n == nil || n.Level == tree.L3 {
			continue
		}
		text := nodeText(n)
		if strings.TrimSpace(text) == "" {
			continue
		}
		out = append(out, Entry{
			Tenant: src.Tenant, Source: src.ID, Collections: src.Collections, Kind: src.Kind,
			Node: n.ID, Level: n.Level, Span: n.Span, Title: src.Title, Text: text,
		})
	}
	return out
}

// AddTree makes all finished nodes of a tree searchable.
func (e *Engine) AddTree(ctx context.Context, t *tree.Tree) error {
	var nodes []*tree.Node
	for _, l1 := range t.Roots {
		nodes = append(append(nodes, l1), l1.Children...)
	}
	return e.Add(ctx, t.Source, nodes)
}

// Remove makes a source unfindable; it returns when none of its nodes can be
// found any more. Removing what is not there is no error.
func (e *Engine) Remove(ctx context.Context, tenant, source string) error {
	e.write.Lock()
	defer e.write.Unlock()
	e.catalog.drop(tenant, source)
	e.views.drop(tenant, source)
	return errors.Join(e.vectors.Remove(ctx, tenant, source), e.words.Remove(ctx, tenant, source), e.store.remove(tenant, source), e.store.removeViews(tenant, source))
}

// Has reports whether a source is searchable by words and vectors.
func (e *Engine) Has(tenant, source string) bool {
	l := e.catalog.get(tenant, source)
	return l != nil && !l.stale && len(l.nodes) > 0
}

// Indexed are the ids of a source's searchable nodes, in no order; whoever
// opened an engine after a crash adds what is missing from them.
func (e *Engine) Indexed(tenant, source string) map[string]bool {
	out := map[string]bool{}
	if l := e.catalog.get(tenant, source); l != nil && !l.stale {
		for id := range l.nodes {
			out[id] = true
		}
	}
	return out
}

// Warm lays a tree out and keeps it, so that the first question need not wait.
func (e *Engine) Warm(ctx context.Context, tenant, source string) error {
	_, err := e.view(ctx, tenant, source)
	return err
}

func (e *Engine) view(ctx context.Context, tenant, source string) (*view, error) {
	return e.views.get(ctx, tenant, source, func(ctx context.Context) (*view, error) {
		t, err := e.cfg.Trees(ctx, tenant, source)
		if err != nil {
			return nil, fmt.Errorf("the tree of source %s cannot be read: %w", source, err)
		}
		return e.layOut(ctx, tenant, source, t)
	})
}

// embedChecked embeds texts and holds the embedder to its contract, so that
// nothing but finite vectors of one dimension gets any further.
func embedChecked(ctx context.Context, embed Embed, texts []string, dim int) ([][]float32, error) {
	if len(texts) == 0 {
		return nil, nil
	}
	vectors, err := embed(ctx, texts)
	if err != nil {
		return nil, err
	}
	if len(vectors) != len(texts) {
		return nil, fmt.Errorf("the embedder gave %d vectors for %d texts", len(vectors), len(texts))
	}
	for _, v := range vectors {
		if err := checkVector(v, dim); err != nil {
			return nil, err
		}
	}
	return vectors, nil
}
