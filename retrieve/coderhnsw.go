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
// is tombstones. Should it panic all the same, all rows are compared instead.
type CoderHNSW struct {
	dim    int
	mu     sync.Mutex
	graph  *hnsw.Graph[uint64]
	broken bool              // the graph panicked since it was last built
	rows   map[uint64]Entry  // living keys
	at     map[string]uint64 // tenant NUL node -> key
	next   uint64
	dead   int // keys in the graph that are not living
}

var _ Index = (*CoderHNSW)(nil)

// NewCoderHNSW is an empty index for vectors of one dimension.
func NewCoderHNSW(dim int) *CoderHNSW {
	return &CoderHNSW{dim: dim, graph: newCoderGraph(), rows: map[uint64]Entry{}, at: map[string]uint64{}}
}

func newCoderGraph() *hnsw.Graph[uint64] {
	g := hnsw.NewGraph[uint64]()
	g.M, g.EfSearch, g.Distance = 32, 400, hnsw.CosineDistance
	g.Rng = rand.New(rand.NewSource(1)) // the same entries give the same graph
	return g
}

// Add implements Index. Entries without a vector are left out.
func (x *CoderHNSW) Add(_ context.Context, entries []Entry) error {
	if err := checkEntries(entries, x.dim); err != nil {
		return err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, e := range entries {
		if e.Vector == nil {
			continue
		}
		key := indexKey(e.Tenant, e.Node)
		x.bury(key)
		e.Text, e.Title = "", ""
		x.next++
		x.rows[x.next], x.at[key] = e, x.next
		x.link(x.next, e.Vector)
	}
	x.tidy()
	return nil
}

// link puts a vector into the graph. A zero vector has no direction and would
// make every distance to it not a number; it stays outside.
func (x *CoderHNSW) link(key uint64, v []float32) {
	if x.broken || isZero(v) {
		return
	}
	defer x.guard()
	x.graph.Add(hnsw.MakeNode(key, v))
}

// guard turns a panic of the graph into a broken one.
func (x *CoderHNSW) guard() {
	if recover() != nil {
		x.broken = true
	}
}

func (x *CoderHNSW) bury(key string) {
	id, ok := x.at[key]
	if !ok {
		return
	}
	delete(x.at, key)
	delete(x.rows, id)
	x.dead++
}

// tidy rebuilds the graph of the living when tombstones outnumber them.
func (x *CoderHNSW) tidy() {
	if x.dead <= len(x.rows) || x.dead < 64 {
		return
	}
	x.graph, x.dead, x.broken = newCoderGraph(), 0, false
	for id := uint64(1); id <= x.next; id++ {
		if e, ok := x.rows[id]; ok {
			x.link(id, e.Vector)
		}
	}
}

// Delete implements Index.
func (x *CoderHNSW) Delete(_ context.Context, tenant string, nodes ...string) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, n := range nodes {
		x.bury(indexKey(tenant, n))
	}
	x.tidy()
	return nil
}

// Remove implements Index.
func (x *CoderHNSW) Remove(_ context.Context, tenant, source string) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	for key, id := range x.at {
		if e := x.rows[id]; e.Tenant == tenant && e.Source == source {
			x.bury(key)
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
	for _, id := range x.near(p.Vector, 20*k+x.dead) {
		hits = x.admit(hits, id, p, &s)
	}
	if len(hits) < k {
		hits = hits[:0]
		for id := range x.rows {
			hits = x.admit(hits, id, p, &s)
		}
	}
	return sortHits(hits, k), nil
}

// smallGraph is the size up to which comparing all is cheaper than the graph.
const smallGraph = 1000

// near are about n keys the graph finds; none where it cannot be asked.
func (x *CoderHNSW) near(v []float32, n int) (keys []uint64) {
	if x.broken || len(x.rows) <= smallGraph || isZero(v) {
		return nil
	}
	defer x.guard()
	for _, node := range x.graph.Search(v, n) {
		keys = append(keys, node.Key)
	}
	return keys
}

func (x *CoderHNSW) admit(hits []Hit, id uint64, p Probe, s *Scope) []Hit {
	e, alive := x.rows[id]
	if !alive || !s.admits(&e) || s.Span != nil && !inSpan(e.Span, s.Span) {
		return hits
	}
	return append(hits, Hit{e.Source, e.Node, dot(p.Vector, e.Vector)})
}

// Len implements Index.
func (x *CoderHNSW) Len() int {
	x.mu.Lock()
	defer x.mu.Unlock()
	return len(x.rows)
}

// Close implements Index.
func (x *CoderHNSW) Close() error { return nil }
