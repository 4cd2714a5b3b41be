package retrieve

import (
	"context"
	"slices"
	"sync"

	"github.com/reeltree/reeltree/tree"
)

// Exact is the default vector index: a scan over rounded vectors keeps the
// best few, which are ranked again with the exact ones. Its recall is 1 but for
// ties of rounding, it looks only at the sources in scope, and nothing in it
// can break.
type Exact struct {
	dim     int
	mu      sync.RWMutex
	codes   codes
	rows    []exactRow
	free    []int32
	at      map[string]int32 // tenant NUL node -> row
	tenants map[string]map[string]*exactSource
}

type exactRow struct {
	node   string // "" in a free row
	source *exactSource
	span   tree.Span
	vector []float32
}

// exactSource is what the rows of a source have in common.
type exactSource struct {
	entry Entry // without node and vector
	rows  []int32
}

var _ Index = (*Exact)(nil)

// NewExact is an empty index for vectors of one dimension.
func NewExact(dim int) *Exact {
	return &Exact{dim: dim, codes: codes{size: codeSize(dim)}, at: map[string]int32{}, tenants: map[string]map[string]*exactSource{}}
}

// Add implements Index. Entries without a vector are left out.
func (x *Exact) Add(_ context.Context, entries []Entry) error {
	if err := checkEntries(entries, x.dim); err != nil {
		return err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	for i := range entries {
		if entries[i].Vector != nil {
			x.put(&entries[i])
		}
	}
	return nil
}

func (x *Exact) put(e *Entry) {
	x.delete(e.Tenant, e.Node)
	row := int32(len(x.rows))
	if n := len(x.free); n > 0 {
		row, x.free = x.free[n-1], x.free[:n-1]
	} else {
		x.rows = append(x.rows, exactRow{})
	}
	x.codes.set(row, e.Vector)
	s := x.source(e)
	s.rows = append(s.rows, row)
	x.rows[row] = exactRow{node: e.Node, source: s, span: e.Span, vector: e.Vector}
	x.at[indexKey(e.Tenant, e.Node)] = row
}

// source is the record of an entry's source, with its facts brought up to date.
func (x *Exact) source(e *Entry) *exactSource {
	if x.tenants[e.Tenant] == nil {
		x.tenants[e.Tenant] = map[string]*exactSource{}
	}
	s := x.tenants[e.Tenant][e.Source]
	if s == nil {
		s = &exactSource{}
		x.tenants[e.Tenant][e.Source] = s
	}
	s.entry = Entry{Tenant: e.Tenant, Source: e.Source, Collections: slices.Clone(e.Collections), Kind: e.Kind}
	return s
}

// Delete implements Index.
func (x *Exact) Delete(_ context.Context, tenant string, nodes ...string) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, n := range nodes {
		x.delete(tenant, n)
	}
	return nil
}

func (x *Exact) delete(tenant, node string) {
	key := indexKey(tenant, node)
	row, ok := x.at[key]
	if !ok {
		return
	}
	delete(x.at, key)
	s := x.rows[row].source
	if s.rows = slices.DeleteFunc(s.rows, func(r int32) bool { return r == row }); len(s.rows) == 0 {
		delete(x.tenants[tenant], s.entry.Source)
	}
	x.rows[row] = exactRow{}
	x.free = append(x.free, row)
}

// Remove implements Index.
func (x *Exact) Remove(_ context.Context, tenant, source string) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	s := x.tenants[tenant][source]
	if s == nil {
		return nil
	}
	for _, row := range s.rows {
		delete(x.at, indexKey(tenant, x.rows[row].node))
		x.rows[row] = exactRow{}
		x.free = append(x.free, row)
	}
	delete(x.tenants[tenant], source)
	return nil
}

// overscan is how many times k rows the scan keeps for exact ranking.
const overscan = 4

// Search implements Index.
func (x *Exact) Search(ctx context.Context, p Probe, k int, s Scope) ([]Hit, error) {
	if s.Tenant == "" {
		return nil, errNoTenant
	}
	if err := checkVector(p.Vector, x.dim); err != nil || k <= 0 {
		return nil, err
	}
	q := newCodedQuery(p.Vector)
	x.mu.RLock()
	defer x.mu.RUnlock()
	best := topRows{most: overscan*k + 16, rows: x.rows}
	for _, src := range x.within(&s) {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		rows := src.rows
		if s.Span != nil {
			rows = slices.DeleteFunc(slices.Clone(rows), func(r int32) bool { return !inSpan(x.rows[r].span, s.Span) })
		}
		best.scan(&x.codes, q, rows)
	}
	hits := make([]Hit, 0, len(best.heap))
	for _, b := range best.heap {
		r := &x.rows[b.row]
		hits = append(hits, Hit{r.source.entry.Source, r.node, dot(p.Vector, r.vector)})
	}
	return sortHits(hits, k), nil
}

// within are the sources of a scope.
func (x *Exact) within(s *Scope) []*exactSource {
	var out []*exactSource
	if len(s.Sources) > 0 {
		for _, id := range slices.Compact(slices.Sorted(slices.Values(s.Sources))) {
			if src := x.tenants[s.Tenant][id]; src != nil && s.admits(&src.entry) {
				out = append(out, src)
			}
		}
		return out
	}
	for _, src := range x.tenants[s.Tenant] {
		if s.admits(&src.entry) {
			out = append(out, src)
		}
	}
	return out
}

// Len implements Index.
func (x *Exact) Len() int {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return len(x.at)
}

// Close implements Index.
func (x *Exact) Close() error { return nil }
