package retrieve

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/reeltree/reeltree/tree"
)

const dim = 64

// vectorIndexes are the engines the conformance suite runs on.
// The approximate one is held to a floor it was measured above.
var recallFloor = map[string]float64{"exact": .99, "coder-hnsw": .85}

var vectorIndexes = map[string]func() Index{
	"exact":      func() Index { return NewExact(dim) },
	"coder-hnsw": func() Index { return NewCoderHNSW(dim) },
}

// clustered gives unit vectors around a few centres, as texts are.
func clustered(n int, seed uint64) [][]float32 {
	r := rand.New(rand.NewPCG(seed, 1))
	centres := make([][]float32, 20)
	for i := range centres {
		centres[i] = noise(r, nil, 1)
	}
	out := make([][]float32, n)
	for i := range out {
		out[i] = noise(r, centres[i%len(centres)], .08)
	}
	return out
}

func noise(r *rand.Rand, around []float32, scale float64) []float32 {
	v := make([]float32, dim)
	for i := range v {
		v[i] = float32(r.NormFloat64() * scale)
		if around != nil {
			v[i] += around[i]
		}
	}
	n := math.Sqrt(dot(v, v))
	for i := range v {
		v[i] = float32(float64(v[i]) / n)
	}
	return v
}

func entry(i int, v []float32) Entry {
	tenant := []string{"one", "two"}[i%2]
	source := fmt.Sprintf("source%d", i%10)
	return Entry{Tenant: tenant, Source: source, Collections: []string{fmt.Sprint("c", i%3)}, Kind: tree.KindVideo, Node: fmt.Sprintf("%s/%d", source, i), Vector: v}
}

func TestVectorIndexConformance(t *testing.T) {
	for name, open := range vectorIndexes {
		t.Run(name, func(t *testing.T) {
			vectors := clustered(1500, 7)
			x := open()
			var all []Entry
			for i, v := range vectors {
				all = append(all, entry(i, v))
			}
			if err := x.Add(t.Context(), all); err != nil {
				t.Fatal(err)
			}
			if err := x.Add(t.Context(), all[:300]); err != nil { // replacing changes nothing
				t.Fatal(err)
			}
			for _, scope := range []Scope{{Tenant: "one"}, {Tenant: "two", Collection: "c1"}, {Tenant: "one", Sources: []string{"source4"}}} {
				if recall := recallOf(t, x, all, vectors[:40], scope); recall < recallFloor[name] {
					t.Errorf("%+v: recall@10 %.3f", scope, recall)
				}
			}
			if err := x.Remove(t.Context(), "one", "source4"); err != nil {
				t.Fatal(err)
			}
			for _, v := range vectors[:40] {
				hits, err := x.Search(t.Context(), Probe{Vector: v}, 50, Scope{Tenant: "one"})
				if err != nil {
					t.Fatal(err)
				}
				for i, h := range hits {
					if h.Source == "source4" || i > 0 && hits[i-1].Score < h.Score {
						t.Fatalf("hit %d is %+v after %+v", i, h, hits[max(0, i-1)])
					}
				}
			}
			refusesBadInput(t, x)
		})
	}
}

// recallOf compares with a plain comparison of everything in scope.
func recallOf(t *testing.T, x Index, all []Entry, queries [][]float32, s Scope) float64 {
	t.Helper()
	found, wanted := 0, 0
	for _, q := range queries {
		var want []Hit
		for i := range all {
			if s.admits(&all[i]) {
				want = append(want, Hit{all[i].Source, all[i].Node, dot(q, all[i].Vector)})
			}
		}
		want = sortHits(want, 10)
		got, err := x.Search(t.Context(), Probe{Vector: q}, 10, s)
		if err != nil {
			t.Fatal(err)
		}
		have := map[string]bool{}
		for _, h := range got {
			have[h.Node] = true
		}
		for _, h := range want {
			wanted++
			if have[h.Node] {
				found++
			}
		}
	}
	return float64(found) / float64(wanted)
}

func refusesBadInput(t *testing.T, x Index) {
	t.Helper()
	nan := make([]float32, dim)
	nan[3] = float32(math.NaN())
	for _, bad := range [][]float32{nan, make([]float32, dim-1)} {
		if err := x.Add(t.Context(), []Entry{entry(0, bad)}); !errors.Is(err, errBadVector) {
			t.Errorf("a bad vector was added: %v", err)
		}
		if _, err := x.Search(t.Context(), Probe{Vector: bad}, 5, Scope{Tenant: "one"}); !errors.Is(err, errBadVector) {
			t.Errorf("a bad vector was searched: %v", err)
		}
	}
	if _, err := x.Search(t.Context(), Probe{Vector: clustered(1, 1)[0]}, 5, Scope{}); !errors.Is(err, errNoTenant) {
		t.Errorf("a search without a tenant: %v", err)
	}
}

func TestReadersDuringWrites(t *testing.T) {
	for name, open := range vectorIndexes {
		t.Run(name, func(t *testing.T) {
			x, vectors := open(), clustered(300, 3)
			var readers sync.WaitGroup
			for range 3 {
				readers.Go(func() {
					for _, v := range vectors[:100] {
						if _, err := x.Search(t.Context(), Probe{Vector: v}, 5, Scope{Tenant: "one"}); err != nil {
							t.Error(err)
							return
						}
					}
				})
			}
			for i, v := range vectors {
				if err := x.Add(t.Context(), []Entry{entry(i, v)}); err != nil {
					t.Fatal(err)
				}
				if i%50 == 49 {
					if err := x.Remove(t.Context(), "one", fmt.Sprintf("source%d", i%10-1)); err != nil {
						t.Fatal(err)
					}
				}
			}
			readers.Wait()
		})
	}
}

func TestKeywordIndexFiltersInside(t *testing.T) {
	x, err := NewKeyword()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = x.Close() }()
	texts := []string{"the lens of the lighthouse", "a lens of a camera", "灯台のレンズ", "bread in the oven"}
	for i, text := range texts {
		e := entry(i, nil)
		e.Text = text
		if err := x.Add(t.Context(), []Entry{e}); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		query string
		scope Scope
		want  string
	}{
		{"lenses", Scope{Tenant: "one"}, "source0/0"},
		{"lens", Scope{Tenant: "two"}, "source1/1"},
		{"レンズ", Scope{Tenant: "one"}, "source2/2"},
		{"lens", Scope{Tenant: "one", Collection: "c2"}, ""},
		{"bread", Scope{Tenant: "two", Sources: []string{"source3"}}, "source3/3"},
		{"guitar", Scope{Tenant: "one"}, ""},
	} {
		hits, err := x.Search(t.Context(), Probe{Text: c.query}, 5, c.scope)
		got := ""
		if len(hits) > 0 {
			got = hits[0].Node
		}
		if err != nil || got != c.want {
			t.Errorf("%q in %+v: %q, want %q; %v", c.query, c.scope, got, c.want, err)
		}
	}
	if err := x.Remove(t.Context(), "one", "source0"); err != nil {
		t.Fatal(err)
	}
	if hits, _ := x.Search(t.Context(), Probe{Text: "lighthouse"}, 5, Scope{Tenant: "one"}); len(hits) != 0 {
		t.Errorf("a removed source is found: %+v", hits)
	}
}
