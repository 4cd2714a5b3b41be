package retrieve

import (
	"context"
	"math"
	"sync"
)

// Exact is the default vector index: a scan over int8 vectors keeps the best
// few, which are ranked again with the exact float vectors. Its recall is 1 up
// to quantisation ties and nothing in it can break.
type Exact struct {
	dim  int
	mu   sync.RWMutex
	rows []exactRow
	at   map[string]int // tenant NUL node -> row
}

type exactRow struct {
	entry Entry
	quant []int8
	scale float32 // quant * scale is about the vector
}

var _ Index = (*Exact)(nil)

// NewExact is an empty index for vectors of one dimension.
func NewExact(dim int) *Exact { return &Exact{dim: dim, at: map[string]int{}} }

// Add implements Index. Entries without a vector are left out.
func (x *Exact) Add(_ context.Context, entries []Entry) error {
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
		row := exactRow{entry: e}
		row.entry.Text = "" // the keyword side has it
		row.quant, row.scale = quantise(e.Vector)
		key := e.Tenant + "\x00" + e.Node
		if i, ok := x.at[key]; ok {
			x.rows[i] = row
			continue
		}
		x.at[key] = len(x.rows)
		x.rows = append(x.rows, row)
	}
	return nil
}

// Remove implements Index: the last row takes the place of a removed one.
func (x *Exact) Remove(_ context.Context, tenant, source string) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	for i := 0; i < len(x.rows); {
		e := &x.rows[i].entry
		if e.Tenant != tenant || e.Source != source {
			i++
			continue
		}
		delete(x.at, e.Tenant+"\x00"+e.Node)
		last := len(x.rows) - 1
		if i != last {
			x.rows[i] = x.rows[last]
			x.at[x.rows[i].entry.Tenant+"\x00"+x.rows[i].entry.Node] = i
		}
		x.rows[last] = exactRow{}
		x.rows = x.rows[:last]
	}
	return nil
}

// overscan is how many times k rows the int8 scan keeps for exact ranking.
const overscan = 4

// Search implements Index.
func (x *Exact) Search(_ context.Context, p Probe, k int, s Scope) ([]Hit, error) {
	if s.Tenant == "" {
		return nil, errNoTenant
	}
	if err := checkVector(p.Vector, x.dim); err != nil {
		return nil, err
	}
	quant, scale := quantise(p.Vector)
	x.mu.RLock()
	defer x.mu.RUnlock()
	best := make([]Hit, 0, overscan*k+1)
	rows := map[string]int{}
	for i := range x.rows {
		r := &x.rows[i]
		if !s.admits(&r.entry) {
			continue
		}
		best = append(best, Hit{r.entry.Source, r.entry.Node, float64(dotInt8(quant, r.quant)) * float64(scale*r.scale)})
		rows[r.entry.Node] = i
		if len(best) >= 8*overscan*max(k, 16) {
			best = sortHits(best, overscan*k)
		}
	}
	best = sortHits(best, overscan*k)
	for i := range best {
		best[i].Score = dot(p.Vector, x.rows[rows[best[i].Node]].entry.Vector)
	}
	return sortHits(best, k), nil
}

// Close implements Index.
func (x *Exact) Close() error { return nil }

func quantise(v []float32) ([]int8, float32) {
	var peak float32
	for _, f := range v {
		peak = max(peak, float32(math.Abs(float64(f))))
	}
	out := make([]int8, len(v))
	if peak == 0 {
		return out, 0
	}
	for i, f := range v {
		out[i] = int8(math.RoundToEven(float64(f / peak * 127)))
	}
	return out, peak / 127
}

func dotInt8(a, b []int8) int32 {
	var s int32
	b = b[:len(a)]
	for i, v := range a {
		s += int32(v) * int32(b[i])
	}
	return s
}
