package retrieve

import (
	"context"
	"math/rand"
	"sync"

	"github.com/coder/hnsw"
)

// CoderHNSW puts the graph of coder/hnsw 0.6.1 behind Index, guarded against
// what was measured of it (docs/adr/0004-vector-index.md): it panics on a
// repeated Add and after Delete, searches without a lock, returns results in no
// order and finds few of them. So keys are our own and used once, a replaced or
// removed node becomes a tombstone, one lock covers everything, vectors are
// checked first, and each search asks for many more than k and ranks them with
// exact distances. Delete is never called; the graph is rebuilt when half of it
// is tombstones.
type CoderHNSW struct {
	dim   int
	mu    sync.Mutex
	graph *hnsw.Graph[uint64]
	rows  map[uint64]Entry  // living keys
	at    map[string]uint64 // tenant NUL node -> key
	next  uint64
	dead  int
}

var _ Index = (*CoderHNSW)(nil)

// NewCoderHNSW is an empty index for vectors of one dimension.
func NewCoderHNSW(dim int) *CoderHNSW {
	return &CoderHNSW{dim: dim, graph: newGraph(), rows: map[uint64]Entry{}, at: map[string]uint64{}}
}

func newGraph() *hnsw.Graph[uint64] {
	g := hnsw.NewGraph[uint64]()
	g.M, g.EfSearch, g.Distance = 32, 400, hnsw.CosineDistance
	g.Rng = rand.New(rand.NewSource(1)) // the same entries give the same graph
	return g
}

// Add implements Index. Entries without a vector are left out.
func (x *CoderHNSW) Add(_ context.Context, entries []Entry) error {
	for _, e := range entries {
		if e.Vector != nil {
			if err := checkVector(e.Vector, x.dim); err != nil {
				return err
			}
		}
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, e := range entries {
		if e.Vector == nil {
			continue
		}
		key := e.Tenant + "\x00" + e.Node
		if old, ok := x.at[key]; ok {
			x.bury(old)
		}
		e.Text = ""
		x.insert(key, e)
	}
	x.tidy()
	return nil
}

func (x *CoderHNSW) insert(key string, e Entry) {
	x.next++
	x.rows[x.next], x.at[key] = e, x.next
	x.graph.Add(hnsw.MakeNode(x.next, e.Vector))
}

func (x *CoderHNSW) bury(id uint64) {
	delete(x.rows, id)
	x.dead++
}

// tidy rebuilds the graph of the living when tombstones outnumber them.
func (x *CoderHNSW) tidy() {
	if x.dead <= len(x.rows) || x.dead < 64 {
		return
	}
	x.graph, x.dead = newGraph(), 0
	for id := uint64(1); id <= x.next; id++ {
		if e, ok := x.rows[id]; ok {
			x.graph.Add(hnsw.MakeNode(id, e.Vector))
		}
	}
}

// Remove implements Index.
func (x *CoderHNSW) Remove(_ context.Context, tenant, source string) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	for key, id := range x.at {
		if e := x.rows[id]; e.Tenant == tenant && e.Source == source {
			delete(x.at, key)
			x.bury(id)
		}
	}
	x.tidy()
	return nil
}

// Search implements Index. Where the scope admits little, or the graph gave
// fewer than k, every living row is compared instead.
func (x *CoderHNSW) Search(_ context.Context, p Probe, k int, s Scope) ([]Hit, error) {
	if s.Tenant == "" {
		return nil, errNoTenant
	}
	if err := checkVector(p.Vector, x.dim); err != nil {
		return nil, err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if k <= 0 || len(x.rows) == 0 {
		return nil, nil
	}
	var hits []Hit
	if len(x.rows) > smallGraph {
		for _, n := range x.graph.Search(p.Vector, 20*k+x.dead) {
			hits = x.admit(hits, n.Key, p, s)
		}
	}
	if len(hits) < k {
		hits = hits[:0]
		for id := range x.rows {
			hits = x.admit(hits, id, p, s)
		}
	}
	return sortHits(hits, k), nil
}

// smallGraph is the size up to which comparing all is cheaper than the graph.
const smallGraph = 1000

func (x *CoderHNSW) admit(hits []Hit, id uint64, p Probe, s Scope) []Hit {
	e, alive := x.rows[id]
	if !alive || !s.admits(&e) {
		return hits
	}
	return append(hits, Hit{e.Source, e.Node, dot(p.Vector, e.Vector)})
}

// Close implements Index.
func (x *CoderHNSW) Close() error { return nil }
