package retrieve

import (
	"context"
	"sync"
)

// HNSWOptions of a graph index; zero values mean the defaults.
type HNSWOptions struct {
	Dir    string // folder it is kept in; "" keeps it in memory
	Anew   bool   // begin anew where what is kept is damaged, instead of refusing: for owners who can fill it again
	Links  int    // links of a node above the ground level, half of those on it; 0 means 16
	Build  int    // breadth of the search for a new node's links; 0 means 120
	Search int    // breadth of a search, never less than k; 0 means 64
	Scan   int    // nodes in scope up to which all are compared; 0 means 6000, less: only where the graph finds fewer than k
	Seed   uint64 // of the levels
}

// HNSW is a vector index for large libraries: a graph of rounded vectors finds
// the nearest, exact ones rank them. Readers run while the one writer looks for
// links and wait only while they are set. Deleted nodes are unfindable at once
// and taken out of the graph by repair, some at a time. The same writes give
// the same index under one seed.
type HNSW struct {
	dim   int
	opts  HNSWOptions
	write sync.Mutex // one writer

	mu    sync.RWMutex // guards what follows against readers
	graph *graph
	table rowTable
	free  []int32
	gone  []int32 // tombstones in the graph
	disk  *graphDisk
}

var _ Index = (*HNSW)(nil)

// NewHNSW is an empty index in memory for vectors of one dimension.
func NewHNSW(dim int, opts HNSWOptions) *HNSW {
	opts.Links, opts.Build = orDefault(opts.Links, 16), orDefault(opts.Build, 120)
	opts.Search = orDefault(opts.Search, 64)
	if opts.Scan == 0 {
		opts.Scan = 6000
	}
	return &HNSW{dim: dim, opts: opts, graph: newGraph(dim, opts.Links, opts.Build, opts.Seed), table: newRowTable()}
}

// Add implements Index. Entries without a vector are left out.
func (x *HNSW) Add(_ context.Context, entries []Entry) error {
	if err := checkEntries(entries, x.dim); err != nil {
		return err
	}
	x.write.Lock()
	defer x.write.Unlock()
	if err := x.disk.logAdd(entries); err != nil {
		return err
	}
	for i := range entries {
		if entries[i].Vector != nil {
			x.put(&entries[i])
		}
	}
	return x.tidy()
}

// put adds one entry: its row is reserved, connected while readers go on, and
// published together with the end of the one it replaces.
func (x *HNSW) put(e *Entry) {
	q := newCodedQuery(e.Vector)
	x.mu.Lock()
	row := int32(len(x.graph.dead))
	if n := len(x.free); n > 0 {
		row, x.free = x.free[n-1], x.free[:n-1]
	}
	x.graph.reserve(row, e.Vector)
	if int(row) == len(x.table.rows) {
		x.table.rows = append(x.table.rows, tableRow{})
	}
	x.mu.Unlock()
	directed := !isZero(e.Vector) // a zero vector is near nothing and stays outside the graph
	if directed {
		x.graph.connect(row, q)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.end(e.Tenant, e.Node)
	if directed {
		x.graph.publish(row)
	}
	x.table.put(row, e)
}

// end makes a node unfindable. The lock is held.
func (x *HNSW) end(tenant, node string) {
	if row, ok := x.table.drop(tenant, node); ok {
		x.graph.dead[row] = true
		x.gone = append(x.gone, row)
	}
}

// Delete implements Index.
func (x *HNSW) Delete(_ context.Context, tenant string, nodes ...string) error {
	x.write.Lock()
	defer x.write.Unlock()
	if err := x.disk.logDelete(tenant, nodes); err != nil {
		return err
	}
	x.mu.Lock()
	for _, n := range nodes {
		x.end(tenant, n)
	}
	x.mu.Unlock()
	return x.tidy()
}

// Remove implements Index.
func (x *HNSW) Remove(_ context.Context, tenant, source string) error {
	x.write.Lock()
	defer x.write.Unlock()
	if err := x.disk.logRemove(tenant, source); err != nil {
		return err
	}
	x.mu.Lock()
	for _, row := range x.table.remove(tenant, source) {
		x.graph.dead[row] = true
		x.gone = append(x.gone, row)
	}
	x.mu.Unlock()
	return x.tidy()
}

// leastGone tombstones are repaired together; of a large graph one in so many
// rows, since each repair looks at all rows.
const (
	leastGone = 64
	shareGone = 256
)

// tidy repairs the graph when enough tombstones have come together, and keeps
// the whole on disk when the log has grown long.
func (x *HNSW) tidy() error {
	if len(x.gone) >= max(leastGone, len(x.graph.dead)/shareGone) {
		x.repair()
	}
	if x.disk.long(len(x.table.at)) {
		return x.snapshot()
	}
	return nil
}

func (x *HNSW) repair() {
	gone := x.gone
	edits, alone := x.graph.repairs(gone)
	x.mu.Lock()
	x.graph.bury(gone, alone, edits)
	x.free, x.gone = append(x.free, gone...), nil
	x.mu.Unlock()
	var q codedQuery
	for _, row := range alone {
		if row == x.graph.entry {
			continue // others link to it
		}
		q.lay(x.graph.codes.row(row))
		q.scale = x.graph.codes.scales[row]
		x.graph.connect(row, &q)
		x.mu.Lock()
		x.graph.publish(row)
		x.mu.Unlock()
	}
}

// Search implements Index. A scope that admits few nodes is compared whole;
// in a larger one the graph is walked through all nodes and only those in
// scope are found, for as long as that is cheaper.
func (x *HNSW) Search(ctx context.Context, p Probe, k int, s Scope) ([]Hit, error) {
	if s.Tenant == "" {
		return nil, errNoTenant
	}
	if err := checkVector(p.Vector, x.dim); err != nil || k <= 0 {
		return nil, err
	}
	x.mu.RLock()
	defer x.mu.RUnlock()
	var sources []*rowSource
	admitted := len(x.table.at)
	if whole := len(x.table.tenants) == 1 && x.table.tenants[s.Tenant] != nil && !s.narrows(); !whole {
		sources, admitted = x.table.within(&s), 0
		for _, src := range sources {
			admitted += len(src.rows)
		}
	}
	if admitted > x.opts.Scan && admitted > k && !isZero(p.Vector) && x.walkPays(admitted, k) {
		if hits := x.walk(p.Vector, k, &s, sources, admitted); len(hits) == k {
			return hits, nil
		}
	}
	return compareAll(ctx, &x.graph.codes, &x.table, x.table.within(&s), p.Vector, k, &s)
}

// walkCost is how many rows a scan compares in the time the graph looks at one
// node's links: it fetches them from all over memory.
const walkCost = 40

// walkPays reports whether the graph finds k of the admitted rows sooner than
// a scan of them does: of the nodes it meets only this share is admitted.
func (x *HNSW) walkPays(admitted, k int) bool {
	if x.opts.Scan < 0 {
		return true
	}
	met := float64(max(x.opts.Search, k)) * float64(len(x.table.at)) / float64(admitted)
	return met*walkCost < float64(admitted)
}

// walk searches the graph.
func (x *HNSW) walk(question []float32, k int, s *Scope, sources []*rowSource, admitted int) []Hit {
	if x.graph.entry < 0 {
		return nil
	}
	w := x.graph.pool.Get().(*walkScratch)
	defer x.graph.pool.Put(w)
	q := newCodedQuery(question)
	from := x.graph.descend(w, q, 0)
	hits := make([]Hit, 0, max(x.opts.Search, k))
	for _, r := range x.graph.explore(w, q, from, max(x.opts.Search, k+k/2), 0, x.admitter(s, sources, admitted)) {
		hits = append(hits, x.table.hit(r.row, question))
	}
	return sortHits(hits, k)
}

// admitter says which rows a search may find.
func (x *HNSW) admitter(s *Scope, sources []*rowSource, admitted int) func(int32) bool {
	if admitted == len(x.table.at) && s.Span == nil {
		return func(row int32) bool { return !x.graph.dead[row] }
	}
	in := make(map[*rowSource]bool, len(sources))
	for _, src := range sources {
		in[src] = true
	}
	return func(row int32) bool {
		r := &x.table.rows[row]
		return !x.graph.dead[row] && in[r.source] && (s.Span == nil || inSpan(r.span, s.Span))
	}
}

// Len implements Index.
func (x *HNSW) Len() int {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return len(x.table.at)
}

var _ keeper = (*HNSW)(nil)

func (x *HNSW) holds(entries []Entry) bool {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.table.holds(entries)
}

func (x *HNSW) sources() (all [][2]string) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	for tenant, sources := range x.table.tenants {
		for id := range sources {
			all = append(all, [2]string{tenant, id})
		}
	}
	return all
}
