package retrieve

import (
	"context"
	"math"
	"runtime"
	"slices"
)

// SetSearch sets HNSWOptions.Search for the searches to come.
func (x *HNSW) SetSearch(breadth int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.opts.Search = breadth
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
	x.enter()
	defer x.leave()
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

// enter takes the lock for a search, leave lets it go. Where searches
// outnumber processors each gives way before it begins: one that was stopped in
// the middle for the others would keep the lock meanwhile, and with it a writer
// and everybody behind the writer.
func (x *HNSW) enter() {
	if x.searching.Add(1) > x.procs {
		runtime.Gosched()
	}
	x.mu.RLock()
}

func (x *HNSW) leave() {
	x.mu.RUnlock()
	x.searching.Add(-1)
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
	q := &w.asked
	q.ask(question)
	from := x.graph.descend(w, q, 0)
	found := x.graph.explore(w, q, from, max(x.opts.Search, k+k/2), 0, x.admitter(s, sources, admitted))
	slices.SortFunc(found, compareRows)
	return x.rank(w, q, question, found, k)
}

// rankPart is how many rows beyond k are ranked at once.
const rankPart = 4

// rank gives the k best of found rows, which come best first, by their exact
// scores. It ends where rounding can no longer have hidden a better one: the
// error of a rounded score has a deviation of the length of a vector times
// √((a²+b²)/12), a and b the steps of both roundings.
func (x *HNSW) rank(w *walkScratch, q *codedQuery, question []float32, found []rowScore, k int) []Hit {
	hits := make([]Hit, 0, k+2*rankPart)
	length := math.Sqrt(dot(question, question))
	for at, part := 0, k+rankPart; at < len(found); at, part = at+part, rankPart {
		if len(hits) >= k {
			sortHits(hits, k)
			step := math.Hypot(float64(q.scale), float64(x.graph.codes.scales[found[at].row]))
			if float64(found[at].score)+4*length*step/math.Sqrt(12) < hits[k-1].Score {
				break
			}
		}
		next := found[at:min(at+part, len(found))]
		x.table.touch(w, next)
		for _, r := range next {
			hits = append(hits, x.table.hit(r.row, question))
		}
	}
	return sortHits(hits, k)
}

// touch reads a little of every cache line of some vectors, since memory
// answers many questions in the time of one.
func (t *rowTable) touch(w *walkScratch, rows []rowScore) {
	for _, r := range rows {
		v := t.rows[r.row].vector
		for at := 0; at < len(v); at += 16 {
			w.touched += uint64(math.Float32bits(v[at]))
		}
	}
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
