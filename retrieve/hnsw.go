package retrieve

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
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

	searching atomic.Int32 // searches under way or waiting
	procs     int32

	mu      sync.RWMutex // guards what follows against readers
	graph   *graph
	table   rowTable
	free    []int32
	gone    []int32 // tombstones in the graph
	disk    *graphDisk
	vectors vectorFile // of rows that are not in the snapshot
}

var _ Index = (*HNSW)(nil)

// NewHNSW is an empty index in memory for vectors of one dimension.
func NewHNSW(dim int, opts HNSWOptions) *HNSW {
	opts.Links, opts.Build = orDefault(opts.Links, 16), orDefault(opts.Build, 120)
	opts.Search = orDefault(opts.Search, 64)
	if opts.Scan == 0 {
		opts.Scan = 6000
	}
	return &HNSW{
		dim: dim, opts: opts, procs: int32(runtime.GOMAXPROCS(0)), graph: newGraph(dim, opts.Links, opts.Build, opts.Seed), table: newRowTable(), vectors: vectorFile{dir: opts.Dir, dim: dim},
	}
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
	x.put(entries)
	return x.tidy()
}

// put adds entries: their rows are reserved, then each is connected while
// readers go on, and published together with the end of the one it replaces.
func (x *HNSW) put(entries []Entry) {
	entries = slices.DeleteFunc(slices.Clone(entries), func(e Entry) bool { return e.Vector == nil })
	rows := x.reserve(entries)
	for i, key := range batchKeys(entries) {
		e, row := &entries[i], rows[i]
		q := newCodedQuery(e.Vector)
		e.Vector = x.vectors.keep(row, e.Vector)
		directed := !isZero(e.Vector) // a zero vector is near nothing and stays outside the graph
		if directed {
			x.graph.connect(row, q)
		}
		x.mu.Lock()
		x.end(e.Tenant, e.Node)
		if directed {
			x.graph.publish(row)
		}
		x.table.putKey(row, e, key)
		x.mu.Unlock()
		if x.searching.Load() > 0 {
			runtime.Gosched() // so that a search waits for one node, not for a time slice of them
		}
	}
}

// reserve makes rows for entries. Where that takes larger arrays, they are made
// before readers have to wait.
func (x *HNSW) reserve(entries []Entry) []int32 {
	more := max(0, len(entries)-len(x.free))
	arrays, table := x.graph.roomier(more), roomier(x.table.rows, more)
	x.mu.Lock()
	defer x.mu.Unlock()
	x.graph.graphRows, x.table.rows = arrays, table
	rows := make([]int32, len(entries))
	for i := range entries {
		rows[i] = int32(len(x.graph.dead))
		if n := len(x.free); n > 0 {
			rows[i], x.free = x.free[n-1], x.free[:n-1]
		}
		x.graph.reserve(rows[i], entries[i].Vector)
		if int(rows[i]) == len(x.table.rows) {
			x.table.rows = append(x.table.rows, tableRow{})
		}
	}
	return rows
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
		x.graph.layRow(&q, row)
		x.graph.connect(row, &q)
		x.mu.Lock()
		x.graph.publish(row)
		x.mu.Unlock()
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
