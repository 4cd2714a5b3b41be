package retrieve

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/blevesearch/bleve/v2"
	"github.com/blevesearch/bleve/v2/analysis/analyzer/custom"
	"github.com/blevesearch/bleve/v2/analysis/analyzer/keyword"
	"github.com/blevesearch/bleve/v2/analysis/tokenizer/whitespace"
	"github.com/blevesearch/bleve/v2/mapping"
	"github.com/blevesearch/bleve/v2/search/query"
)

// Keyword is the BM25 side of the entry stage: bleve in memory. Texts are cut
// into the package's own terms first, so that both sides of a search and the
// later stages agree on what a word is, in every script.
type Keyword struct {
	index bleve.Index
	mu    sync.Mutex // one writer
	nodes map[string]map[string]bool
}

var _ Index = (*Keyword)(nil)

// maxQueryTerms bounds a question's cost; longer ones are cut.
const maxQueryTerms = 64

// NewKeyword is an empty index.
func NewKeyword() (*Keyword, error) {
	index, err := bleve.NewMemOnly(keywordMapping())
	if err != nil {
		return nil, fmt.Errorf("the keyword index cannot be made: %w", err)
	}
	return &Keyword{index: index, nodes: map[string]map[string]bool{}}, nil
}

func keywordMapping() *mapping.IndexMappingImpl {
	m := bleve.NewIndexMapping()
	m.ScoringModel = "bm25"
	if err := m.AddCustomAnalyzer("terms", map[string]any{"type": custom.Name, "tokenizer": whitespace.Name}); err != nil {
		panic(err) // only a misspelt constant above fails
	}
	text, exact := bleve.NewTextFieldMapping(), bleve.NewTextFieldMapping()
	text.Analyzer, exact.Analyzer = "terms", keyword.Name
	for _, f := range []*mapping.FieldMapping{text, exact} {
		f.Store, f.IncludeInAll, f.IncludeTermVectors, f.DocValues = false, false, false, false
	}
	doc := bleve.NewDocumentStaticMapping()
	doc.AddFieldMappingsAt("text", text)
	for _, name := range []string{"tenant", "source", "collection", "kind"} {
		doc.AddFieldMappingsAt(name, exact)
	}
	m.DefaultMapping = doc
	m.DefaultAnalyzer = "terms"
	return m
}

func keywordID(e *Entry) string { return e.Tenant + "\x00" + e.Node }

// Add implements Index.
func (x *Keyword) Add(_ context.Context, entries []Entry) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	batch := x.index.NewBatch()
	for i := range entries {
		e := &entries[i]
		doc := map[string]any{
			"text": strings.Join(terms(e.Text), " "), "tenant": e.Tenant, "source": e.Source,
			"collection": e.Collections, "kind": string(e.Kind),
		}
		if err := batch.Index(keywordID(e), doc); err != nil {
			return fmt.Errorf("the node %s cannot be indexed: %w", e.Node, err)
		}
		owner := e.Tenant + "\x00" + e.Source
		if x.nodes[owner] == nil {
			x.nodes[owner] = map[string]bool{}
		}
		x.nodes[owner][keywordID(e)] = true
	}
	if err := x.index.Batch(batch); err != nil {
		return fmt.Errorf("the keyword index cannot be written: %w", err)
	}
	return nil
}

// Remove implements Index.
func (x *Keyword) Remove(_ context.Context, tenant, source string) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	batch := x.index.NewBatch()
	owner := tenant + "\x00" + source
	for id := range x.nodes[owner] {
		batch.Delete(id)
	}
	if err := x.index.Batch(batch); err != nil {
		return fmt.Errorf("the keyword index cannot be written: %w", err)
	}
	delete(x.nodes, owner)
	return nil
}

// Search implements Index.
func (x *Keyword) Search(ctx context.Context, p Probe, k int, s Scope) ([]Hit, error) {
	if s.Tenant == "" {
		return nil, errNoTenant
	}
	words := contentTerms(p.Text)
	if len(words) == 0 || k <= 0 {
		return nil, nil
	}
	var any []query.Query
	for _, w := range words[:min(len(words), maxQueryTerms)] {
		q := bleve.NewTermQuery(w)
		q.SetField("text")
		any = append(any, q)
	}
	all := append([]query.Query{bleve.NewDisjunctionQuery(any...)}, filters(s)...)
	req := bleve.NewSearchRequestOptions(bleve.NewConjunctionQuery(all...), k, 0, false)
	req.SortBy([]string{"-_score", "_id"})
	res, err := x.index.SearchInContext(ctx, req)
	if err != nil {
		return nil, fmt.Errorf("the keyword index cannot be searched: %w", err)
	}
	hits := make([]Hit, 0, len(res.Hits))
	for _, h := range res.Hits {
		_, node, _ := strings.Cut(h.ID, "\x00")
		source, _, _ := strings.Cut(node, "/")
		hits = append(hits, Hit{Source: source, Node: node, Score: h.Score})
	}
	return sortHits(hits, k), nil
}

// filters narrow inside the index; they do not add to the score.
func filters(s Scope) []query.Query {
	filter := func(field string, values ...string) query.Query {
		var any []query.Query
		for _, v := range values {
			q := bleve.NewTermQuery(v)
			q.SetField(field)
			q.SetBoost(0)
			any = append(any, q)
		}
		return bleve.NewDisjunctionQuery(any...)
	}
	all := []query.Query{filter("tenant", s.Tenant)}
	if len(s.Sources) > 0 {
		all = append(all, filter("source", s.Sources...))
	}
	if s.Collection != "" {
		all = append(all, filter("collection", s.Collection))
	}
	if len(s.Kinds) > 0 {
		var kinds []string
		for _, k := range s.Kinds {
			kinds = append(kinds, string(k))
		}
		all = append(all, filter("kind", kinds...))
	}
	return all
}

// Close implements Index.
func (x *Keyword) Close() error { return x.index.Close() }
