package retrieve

import (
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
)

// A writer that looks for links holds nobody up, however many there are.
func TestHNSWSearchesGoOnBesideAWriter(t *testing.T) {
	x := grown(t, HNSWOptions{Seed: 2, Scan: -1}, 300)
	x.procs = 1 // so that they outnumber the processors
	x.write.Lock()
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			for range 20 {
				if hits, err := x.Search(t.Context(), Probe{Vector: clustered(rand.New(rand.NewPCG(1, 1)), 16)}, 5, Scope{Tenant: "t"}); err != nil || len(hits) != 5 {
					t.Errorf("%v, %v", hits, err)
				}
			}
		})
	}
	wg.Wait()
	x.write.Unlock()
	if n := x.searching.Load(); n != 0 {
		t.Errorf("%d searches are still under way", n)
	}
}

// What rounding ranks behind twice as many others is found all the same where it
// may have been hidden by it.
func TestHNSWRanksWhatRoundingHid(t *testing.T) {
	x := NewHNSW(16, HNSWOptions{Seed: 1, Scan: -1, Search: 200})
	t.Cleanup(func() { _ = x.Close() })
	v := func(second float64) []float32 {
		out := make([]float32, 16)
		out[0], out[1] = 1, float32(second) // all of one code
		return out
	}
	for i := range 120 {
		mustAdd(t, x, entry("t", "s", i, v(float64(i)*6e-5)))
	}
	got := nodes(mustSearch(t, x, Probe{Vector: v(.5)}, 3, Scope{Tenant: "t"}))
	if want := []string{"s/11.9", "s/11.8", "s/11.7"}; !slices.Equal(got, want) {
		t.Errorf("%v instead of %v", got, want)
	}
}

// What is far behind is not ranked exactly: a search for few reads few vectors.
func TestHNSWRanksNoMoreThanItMust(t *testing.T) {
	x := NewHNSW(16, HNSWOptions{Seed: 1, Scan: -1})
	t.Cleanup(func() { _ = x.Close() })
	for i := range 60 {
		v := make([]float32, 16)
		v[0], v[1] = float32(math.Cos(float64(i)/40)), float32(math.Sin(float64(i)/40))
		mustAdd(t, x, entry("t", "s", i, v))
	}
	q := newCodedQuery([]float32{1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0})
	w := &walkScratch{}
	question := make([]float32, 16)
	question[0] = 1
	found := slices.SortedFunc(slices.Values(x.graph.explore(w, q, x.graph.entry, 60, 0, nil)), compareRows)
	for i := range found[30:] {
		x.table.rows[found[30+i].row].source = nil // reading it would panic
	}
	if hits := x.rank(w, q, question, found, 3); len(hits) != 3 || hits[0].Node != "s/0.0" {
		t.Errorf("ranked %v", hits)
	}
}

func TestHNSWSetSearch(t *testing.T) {
	x := grown(t, HNSWOptions{Seed: 2, Scan: -1}, 100)
	x.SetSearch(7)
	if x.opts.Search != 7 {
		t.Errorf("the breadth is %d", x.opts.Search)
	}
}
