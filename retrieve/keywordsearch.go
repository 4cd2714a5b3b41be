package retrieve

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/blevesearch/bleve/v2"
	"github.com/blevesearch/bleve/v2/search/query"

	"github.com/reeltree/reeltree/tree"
)

// keywordDoc is an entry as bleve sees it.
func keywordDoc(e *Entry) map[string]any {
	var b strings.Builder
	mark := tenantMark(e.Tenant)
	for _, text := range []string{e.Title, e.Text} {
		scan(text, func(t term) {
			if !t.stop {
				b.WriteString(mark)
				writeTerm(&b, t.kind, t.runes)
				b.WriteByte(' ')
			}
		})
	}
	return map[string]any{
		"text": b.String(), "tenant": e.Tenant, "source": e.Source, "collection": e.Collections,
		"kind": string(e.Kind), "span": writeSpan(e.Span),
	}
}

func writeTerm(b *strings.Builder, kind byte, runes []rune) {
	b.WriteByte(kind)
	for _, r := range runes {
		b.WriteRune(r)
	}
}

// tenantMark begins every term of a tenant.
func tenantMark(tenant string) string {
	return strconv.FormatUint(termKey('t', []rune(tenant))&(1<<40-1), 36) + "/"
}

// writeSpan keeps media spans; the other units are never narrowed by.
func writeSpan(s tree.Span) string {
	if s.Unit != tree.UnitMS {
		return ""
	}
	return fmt.Sprintf("%d-%d", s.StartMS, s.EndMS)
}

func readSpan(v any) tree.Span {
	s, _ := v.(string)
	from, to, ok := strings.Cut(s, "-")
	a, errA := strconv.ParseInt(from, 10, 64)
	b, errB := strconv.ParseInt(to, 10, 64)
	if !ok || errA != nil || errB != nil {
		return tree.Span{Unit: tree.UnitText}
	}
	return tree.MS(a, b)
}

// Search implements Index. A media span is looked at after the search, which
// then goes deeper until it has enough or there is no more.
func (x *Keyword) Search(ctx context.Context, p Probe, k int, s Scope) ([]Hit, error) {
	if s.Tenant == "" {
		return nil, errNoTenant
	}
	q := keywordQuery(p.Text, &s)
	if q == nil || k <= 0 {
		return nil, nil
	}
	for size := k; ; size *= 4 {
		hits, found, err := x.search(ctx, q, size, &s)
		if err != nil || len(hits) >= k || found < size {
			return sortHits(hits, k), err
		}
	}
}

func (x *Keyword) search(ctx context.Context, q query.Query, size int, s *Scope) (hits []Hit, found int, err error) {
	defer func() {
		if r := recover(); r != nil { // damaged files can do that
			hits, err = nil, fmt.Errorf("the keyword index is damaged; restart with an empty keyword folder: %v", r)
		}
	}()
	req := bleve.NewSearchRequestOptions(q, size, 0, false)
	req.SortBy([]string{"-_score", "_id"})
	if s.Span != nil {
		req.Fields = []string{"span"}
	}
	res, err := x.index.SearchInContext(ctx, req)
	if err != nil {
		return nil, 0, fmt.Errorf("the keyword index cannot be searched: %w", err)
	}
	for _, h := range res.Hits {
		tenant, node, _ := strings.Cut(h.ID, "\x00")
		if tenant == s.Tenant && (s.Span == nil || inSpan(readSpan(h.Fields["span"]), s.Span)) {
			source, _, _ := strings.Cut(node, "/")
			hits = append(hits, Hit{Source: source, Node: node, Score: h.Score})
		}
	}
	return hits, len(res.Hits), nil
}

// keywordQuery is any of the question's terms within the scope; nil where the
// question has none. Filters do not score.
func keywordQuery(text string, s *Scope) query.Query {
	mark := tenantMark(s.Tenant)
	var should []query.Query
	for _, t := range readQuestion(text) {
		var b strings.Builder
		b.WriteString(mark)
		writeTerm(&b, t.kind, []rune(t.shown))
		q := bleve.NewTermQuery(b.String())
		q.SetField("text")
		q.SetBoost(t.weight)
		should = append(should, q)
	}
	if len(should) == 0 {
		return nil
	}
	all := bleve.NewBooleanQuery()
	all.AddShould(should...)
	all.SetMinShould(1)
	filters := keywordFilters(s)
	if len(filters) > 0 {
		all.AddFilter(bleve.NewConjunctionQuery(filters...))
	}
	return all
}

// keywordFilters narrow by source, collection and kind; the tenant is part of
// every term.
func keywordFilters(s *Scope) []query.Query {
	var all []query.Query
	any := func(field string, values []string) {
		if len(values) > 0 {
			var each []query.Query
			for _, v := range values {
				each = append(each, fieldQuery(field, v))
			}
			all = append(all, bleve.NewDisjunctionQuery(each...))
		}
	}
	any("source", s.Sources)
	if s.Collection != "" {
		any("collection", []string{s.Collection})
	}
	var kinds []string
	for _, k := range s.Kinds {
		kinds = append(kinds, string(k))
	}
	any("kind", kinds)
	return all
}

func fieldQuery(field, value string) query.Query {
	q := bleve.NewTermQuery(value)
	q.SetField(field)
	return q
}
