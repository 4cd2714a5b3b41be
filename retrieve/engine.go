package retrieve

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"

	"github.com/reeltree/reeltree/tree"
)

// Config of an Engine.
type Config struct {
	Embed        Embed
	EmbedderName string
	Dim          int
	Trees        Trees
	Vectors      Index        // nil means an exact scan
	Rounds       int          // default rounds of a query, 0 means 1
	Budget       int          // default evidence tokens, 0 means 3000
	Cache        int          // trees kept ready, 0 means 64
	Log          *slog.Logger // nil means no log
}

// Engine finds evidence. All methods are safe for concurrent use.
type Engine struct {
	cfg     Config
	vectors Index
	words   Index
	views   *viewCache

	mu      sync.RWMutex
	indexed map[string]map[string]bool // tenant NUL source -> nodes
}

// ErrQuestion is wrapped by every refusal of a question.
var ErrQuestion = errors.New("the question cannot be searched")

// maxQuestion bounds the bytes of a question.
const maxQuestion = 64 << 10

// Open makes an engine with empty indexes; Add fills them.
func Open(cfg Config) (*Engine, error) {
	if cfg.Embed == nil || cfg.Trees == nil || cfg.Dim <= 0 {
		return nil, errors.New("retrieve: Embed, Trees and Dim must be set")
	}
	cfg.Rounds, cfg.Budget = max(1, cfg.Rounds), orDefault(cfg.Budget, 3000)
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Vectors == nil {
		cfg.Vectors = NewExact(cfg.Dim)
	}
	words, err := NewKeyword()
	if err != nil {
		return nil, err
	}
	return &Engine{
		cfg: cfg, vectors: cfg.Vectors, words: words,
		views: newViewCache(orDefault(cfg.Cache, 64)), indexed: map[string]map[string]bool{},
	}, nil
}

func orDefault(v, def int) int {
	if v > 0 {
		return v
	}
	return def
}

// Close frees the indexes.
func (e *Engine) Close() error { return errors.Join(e.vectors.Close(), e.words.Close()) }

// Add makes nodes searchable: an L2 with its leaves, or an L1. Adding a node
// again replaces it.
func (e *Engine) Add(ctx context.Context, src tree.Source, nodes []*tree.Node) error {
	var entries []Entry
	var texts []string
	for _, n := range nodes {
		if n.Level == tree.L3 || n.Text == "" && n.Transcript() == "" {
			continue
		}
		text := n.Text + "\n" + n.Transcript()
		entries = append(entries, Entry{
			Tenant: src.Tenant, Source: src.ID, Collections: src.Collections, Kind: src.Kind,
			Node: n.ID, Text: src.Title + "\n" + text,
		})
		texts = append(texts, text)
	}
	vectors, err := e.cfg.Embed(ctx, texts)
	if err != nil {
		return fmt.Errorf("nodes of %s cannot be embedded: %w", src.ID, err)
	}
	for i := range entries {
		entries[i].Vector = vectors[i]
	}
	if err := errors.Join(e.vectors.Add(ctx, entries), e.words.Add(ctx, entries)); err != nil {
		return err
	}
	e.note(src, entries)
	return nil
}

func (e *Engine) note(src tree.Source, entries []Entry) {
	key := src.Tenant + "\x00" + src.ID
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.indexed[key] == nil {
		e.indexed[key] = map[string]bool{}
	}
	for _, entry := range entries {
		e.indexed[key][entry.Node] = true
	}
	e.views.drop(src.Tenant, src.ID)
}

// AddTree makes all finished nodes of a tree searchable.
func (e *Engine) AddTree(ctx context.Context, t *tree.Tree) error {
	var nodes []*tree.Node
	for _, l1 := range t.Roots {
		nodes = append(append(nodes, l1), l1.Children...)
	}
	return e.Add(ctx, t.Source, nodes)
}

// Has reports whether any node of a source is searchable.
func (e *Engine) Has(tenant, source string) bool {
	e.mu.RLock()
	defer e.mu.RUnlock()
	return len(e.indexed[tenant+"\x00"+source]) > 0
}

// Remove makes a source unfindable.
func (e *Engine) Remove(ctx context.Context, tenant, source string) error {
	err := errors.Join(e.vectors.Remove(ctx, tenant, source), e.words.Remove(ctx, tenant, source))
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.indexed, tenant+"\x00"+source)
	e.views.drop(tenant, source)
	return err
}

// Warm loads a tree into the cache, so that the first question need not wait.
func (e *Engine) Warm(ctx context.Context, tenant, source string) error {
	_, err := e.view(ctx, tenant, source)
	return err
}

func (e *Engine) view(ctx context.Context, tenant, source string) (*view, error) {
	return e.views.get(ctx, tenant, source, func(ctx context.Context) (*view, error) {
		t, err := e.cfg.Trees(ctx, tenant, source)
		if err != nil {
			return nil, err
		}
		return newView(ctx, t, e.cfg.Embed)
	})
}
