package retrieve

import (
	"context"
	"slices"
	"sync"
)

// Exact is the default vector index: a scan over rounded vectors keeps the
// best few, which are ranked again with the exact ones. Its recall is 1 but for
// ties of rounding, it looks only at the sources in scope, and nothing in it
// can break.
type Exact struct {
	dim   int
	mu    sync.RWMutex
	codes codes
	table rowTable
	free  []int32
}

var _ Index = (*Exact)(nil)

// NewExact is an empty index for vectors of one dimension.
func NewExact(dim int) *Exact {
	return &Exact{dim: dim, codes: codes{size: codeSize(dim)}, table: newRowTable()}
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
	x.drop(e.Tenant, e.Node)
	row := int32(len(x.table.rows))
	if n := len(x.free); n > 0 {
		row, x.free = x.free[n-1], x.free[:n-1]
	}
	x.codes.set(row, e.Vector)
	x.table.put(row, e)
}

func (x *Exact) drop(tenant, node string) {
	if row, ok := x.table.drop(tenant, node); ok {
		x.free = append(x.free, row)
	}
}

// Delete implements Index.
func (x *Exact) Delete(_ context.Context, tenant string, nodes ...string) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, n := range nodes {
		x.drop(tenant, n)
	}
	return nil
}

// Remove implements Index.
func (x *Exact) Remove(_ context.Context, tenant, source string) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.free = append(x.free, x.table.remove(tenant, source)...)
	return nil
}

// Search implements Index.
func (x *Exact) Search(ctx context.Context, p Probe, k int, s Scope) ([]Hit, error) {
	if s.Tenant == "" {
		return nil, errNoTenant
	}
	if err := checkVector(p.Vector, x.dim); err != nil || k <= 0 {
		return nil, err
	}
	x.mu.RLock()
	defer x.mu.RUnlock()
	return compareAll(ctx, &x.codes, &x.table, x.table.within(&s), p.Vector, k, &s)
}

// overscan is how many times k rows a scan keeps for exact ranking.
const overscan = 4

// compareAll ranks every row of some sources.
func compareAll(ctx context.Context, c *codes, t *rowTable, sources []*rowSource, question []float32, k int, s *Scope) ([]Hit, error) {
	q := newCodedQuery(question)
	best := topRows{most: overscan*k + 16, rows: t.rows}
	for _, src := range sources {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		rows := src.rows
		if s.Span != nil {
			rows = slices.DeleteFunc(slices.Clone(rows), func(r int32) bool { return !inSpan(t.rows[r].span, s.Span) })
		}
		best.scan(c, q, rows)
	}
	hits := make([]Hit, 0, len(best.heap))
	for _, b := range best.heap {
		hits = append(hits, t.hit(b.row, question))
	}
	return sortHits(hits, k), nil
}

// Len implements Index.
func (x *Exact) Len() int {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return len(x.table.at)
}

// Close implements Index.
func (x *Exact) Close() error { return nil }
