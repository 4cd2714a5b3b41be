package retrieve

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/reeltree/reeltree/tree"
)

// vectorEngines are all implementations the conformance suite runs on.
var vectorEngines = map[string]func(dim int) Index{
	"exact":      func(dim int) Index { return NewExact(dim) },
	"hnsw":       func(dim int) Index { return NewHNSW(dim, HNSWOptions{Seed: 1}) },
	"hnsw-graph": func(dim int) Index { return NewHNSW(dim, HNSWOptions{Seed: 1, Scan: -1, Search: 128}) },
	"coder-hnsw": func(dim int) Index { return NewCoderHNSW(dim) },
}

// clustered vectors, as captions are: real queries have near neighbours.
func clustered(rng *rand.Rand, dim int) []float32 {
	c := rand.New(rand.NewPCG(uint64(rng.IntN(20)), 7))
	v := make([]float32, dim)
	for i := range v {
		v[i] = float32(c.NormFloat64() + .5*rng.NormFloat64())
	}
	n := float32(math.Sqrt(dot(v, v)))
	for i := range v {
		v[i] /= n
	}
	return v
}

func entry(tenant, source string, node int, v []float32) Entry {
	return Entry{
		Tenant: tenant, Source: source, Node: fmt.Sprintf("%s/%d.%d", source, node/10, node%10), Vector: v, Level: tree.L2,
		Kind: tree.KindVideo, Span: tree.MS(int64(node)*1000, int64(node+1)*1000),
	}
}

func mustAdd(t testing.TB, x Index, entries ...Entry) {
	t.Helper()
	if err := x.Add(context.Background(), entries); err != nil {
		t.Fatal(err)
	}
}

func mustSearch(t testing.TB, x Index, p Probe, k int, s Scope) []Hit {
	t.Helper()
	hits, err := x.Search(context.Background(), p, k, s)
	if err != nil {
		t.Fatal(err)
	}
	return hits
}

func nodes(hits []Hit) []string {
	out := []string{}
	for _, h := range hits {
		out = append(out, h.Node)
	}
	return out
}

func TestIndexFindsBestFirstAndReplaces(t *testing.T) {
	for name, open := range vectorEngines {
		t.Run(name, func(t *testing.T) {
			x := open(16)
			a, b := make([]float32, 16), make([]float32, 16)
			a[0], b[1] = 1, 1
			mustAdd(t, x, entry("t", "s", 0, a), entry("t", "s", 1, b))
			hits := mustSearch(t, x, Probe{Vector: a}, 5, Scope{Tenant: "t"})
			if len(hits) != 2 || hits[0].Node != "s/0.0" || math.Abs(hits[0].Score-1) > 1e-6 || hits[0].Source != "s" || hits[1].Score != 0 {
				t.Errorf("hits %v", hits)
			}
			mustAdd(t, x, entry("t", "s", 0, b)) // again: replaces
			if hits := mustSearch(t, x, Probe{Vector: a}, 5, Scope{Tenant: "t"}); len(hits) != 2 || hits[0].Score != 0 || x.Len() != 2 {
				t.Errorf("after replacing: %v of %d", hits, x.Len())
			}
		})
	}
}

func TestIndexOrdersEqualsById(t *testing.T) {
	for name, open := range vectorEngines {
		t.Run(name, func(t *testing.T) {
			x := open(16)
			v := make([]float32, 16)
			v[3] = 1
			order := rand.New(rand.NewPCG(9, 9)).Perm(100)
			for _, n := range order {
				mustAdd(t, x, entry("t", "s", n, v))
			}
			want := []string{"s/0.0", "s/0.1", "s/0.2", "s/0.3"}
			if got := nodes(mustSearch(t, x, Probe{Vector: v}, 4, Scope{Tenant: "t"})); !slices.Equal(got, want) {
				t.Errorf("equals come as %v", got)
			}
		})
	}
}

func TestIndexFilters(t *testing.T) {
	for name, open := range vectorEngines {
		t.Run(name, func(t *testing.T) {
			x := open(16)
			v := make([]float32, 16)
			v[0] = 1
			one, two, other := entry("t", "one", 1, v), entry("t", "two", 2, v), entry("u", "three", 3, v)
			one.Collections, two.Collections, two.Kind = []string{"red", "blue"}, []string{"blue"}, tree.KindDocument
			mustAdd(t, x, one, two, other, entry("t", "two", 50, v))
			span := tree.MS(1500, 2500)
			for _, c := range []struct {
				s    Scope
				want []string
			}{
				{Scope{Tenant: "t"}, []string{"one/0.1", "two/0.2", "two/5.0"}},
				{Scope{Tenant: "u"}, []string{"three/0.3"}},
				{Scope{Tenant: "nobody"}, []string{}},
				{Scope{Tenant: "t", Sources: []string{"one"}}, []string{"one/0.1"}},
				{Scope{Tenant: "t", Sources: []string{"one", "one", "gone"}}, []string{"one/0.1"}},
				{Scope{Tenant: "t", Sources: []string{"three"}}, []string{}},
				{Scope{Tenant: "t", Collection: "red"}, []string{"one/0.1"}},
				{Scope{Tenant: "t", Collection: "blue", Kinds: []tree.Kind{tree.KindVideo}}, []string{"one/0.1"}},
				{Scope{Tenant: "t", Kinds: []tree.Kind{tree.KindAudio}}, []string{}},
				{Scope{Tenant: "t", Span: &span}, []string{"one/0.1", "two/0.2"}},
			} {
				if got := nodes(mustSearch(t, x, Probe{Vector: v}, 10, c.s)); !slices.Equal(got, c.want) {
					t.Errorf("%+v gives %v, want %v", c.s, got, c.want)
				}
			}
		})
	}
}

func TestIndexDeletesAndRemoves(t *testing.T) {
	for name, open := range vectorEngines {
		t.Run(name, func(t *testing.T) {
			x := open(16)
			v := make([]float32, 16)
			v[0] = 1
			for n := range 5 {
				mustAdd(t, x, entry("t", "a", n, v), entry("t", "b", n, v), entry("u", "a", n, v))
			}
			err := errors.Join(x.Delete(t.Context(), "t", "a/0.0", "a/0.9"), x.Remove(t.Context(), "t", "b"), x.Remove(t.Context(), "t", "never"))
			if err != nil {
				t.Fatal(err)
			}
			if got := nodes(mustSearch(t, x, Probe{Vector: v}, 99, Scope{Tenant: "t"})); !slices.Equal(got, []string{"a/0.1", "a/0.2", "a/0.3", "a/0.4"}) {
				t.Errorf("left are %v", got)
			}
			if got := mustSearch(t, x, Probe{Vector: v}, 99, Scope{Tenant: "u"}); len(got) != 5 || x.Len() != 9 {
				t.Errorf("the other tenant has %d of 5, the index %d of 9", len(got), x.Len())
			}
		})
	}
}

func TestIndexRefusesWhatWouldBreakIt(t *testing.T) {
	for name, open := range vectorEngines {
		t.Run(name, func(t *testing.T) {
			x := open(16)
			good := make([]float32, 16)
			good[0] = 1
			nan, inf := slices.Clone(good), slices.Clone(good)
			nan[2], inf[2] = float32(math.NaN()), float32(math.Inf(1))
			for _, bad := range [][]float32{good[:3], nan, inf} {
				if err := x.Add(t.Context(), []Entry{entry("t", "s", 0, good), entry("t", "s", 1, bad)}); !errors.Is(err, errBadVector) {
					t.Errorf("adding gave %v", err)
				}
				if _, err := x.Search(t.Context(), Probe{Vector: bad}, 3, Scope{Tenant: "t"}); !errors.Is(err, errBadVector) {
					t.Errorf("searching gave %v", err)
				}
			}
			if x.Len() != 0 {
				t.Errorf("a refused batch left %d entries", x.Len())
			}
			if err := x.Add(t.Context(), []Entry{{Source: "s", Node: "n", Vector: good}}); err == nil {
				t.Error("an entry without tenant was taken")
			}
			if _, err := x.Search(t.Context(), Probe{Vector: good}, 3, Scope{}); err == nil {
				t.Error("a search without tenant was run")
			}
			mustAdd(t, x, entry("t", "s", 1, make([]float32, 16)), entry("t", "s", 2, nil))
			for _, k := range []int{-1, 0, 1, 1000} {
				if hits := mustSearch(t, x, Probe{Vector: good}, k, Scope{Tenant: "t"}); len(hits) > max(0, min(k, 1)) {
					t.Errorf("k = %d gave %v", k, hits)
				}
			}
		})
	}
}

// Random writes and searches against a plain list.
func TestIndexAgainstAModel(t *testing.T) {
	for name, open := range vectorEngines {
		t.Run(name, func(t *testing.T) {
			x := open(16)
			rng := rand.New(rand.NewPCG(5, 6))
			model := map[string]Entry{}
			found, all := 0, 0
			for range 4000 {
				source := fmt.Sprintf("s%d", rng.IntN(4))
				e := entry("t", source, rng.IntN(600), clustered(rng, 16))
				switch r := rng.IntN(100); {
				case r < 60:
					mustAdd(t, x, e)
					model[e.Node] = e
				case r < 80:
					if err := x.Delete(t.Context(), "t", e.Node); err != nil {
						t.Fatal(err)
					}
					delete(model, e.Node)
				case r == 99:
					if err := x.Remove(t.Context(), "t", source); err != nil {
						t.Fatal(err)
					}
					for n, old := range model {
						if old.Source == source {
							delete(model, n)
						}
					}
				case r < 90:
					f, a := compareWithModel(t, x, model, e.Vector)
					found, all = found+f, all+a
				}
				if x.Len() != len(model) {
					t.Fatalf("%d entries instead of %d", x.Len(), len(model))
				}
			}
			recall := float64(found) / float64(all)
			t.Logf("recall@10 %.4f over %d", recall, all)
			if _, exact := x.(*Exact); exact && recall < 1 || recall < .95 {
				t.Errorf("recall@10 is %.4f", recall)
			}
		})
	}
}

func compareWithModel(t *testing.T, x Index, model map[string]Entry, q []float32) (found, all int) {
	t.Helper()
	var want []Hit
	for _, e := range model {
		want = append(want, Hit{e.Source, e.Node, dot(q, e.Vector)})
	}
	want = sortHits(want, 10)
	got := mustSearch(t, x, Probe{Vector: q}, 10, Scope{Tenant: "t"})
	if len(got) != len(want) || !slices.IsSortedFunc(got, compareHits) {
		t.Fatalf("%d hits instead of %d, or out of order", len(got), len(want))
	}
	for _, h := range got {
		if e, ok := model[h.Node]; !ok || dot(q, e.Vector) != h.Score {
			t.Fatalf("%s is deleted or was replaced", h.Node)
		}
		if slices.Contains(want, h) {
			found++
		}
	}
	return found, len(want)
}

func TestIndexReadersBesideAWriter(t *testing.T) {
	for name, open := range vectorEngines {
		t.Run(name, func(t *testing.T) {
			x := open(16)
			rng := rand.New(rand.NewPCG(1, 1))
			for n := range 50 {
				mustAdd(t, x, entry("t", "keep", n, clustered(rng, 16)))
			}
			var wg sync.WaitGroup
			stop := make(chan struct{})
			for r := range 4 {
				wg.Go(func() {
					rng := rand.New(rand.NewPCG(uint64(r), 2))
					for {
						select {
						case <-stop:
							return
						default:
						}
						hits, err := x.Search(t.Context(), Probe{Vector: clustered(rng, 16)}, 10, Scope{Tenant: "t", Sources: []string{"keep"}})
						if err != nil || len(hits) != 10 {
							t.Errorf("%d hits, %v", len(hits), err)
							return
						}
					}
				})
			}
			for n := range 300 {
				mustAdd(t, x, entry("t", "come", n, clustered(rng, 16)))
				if n%50 == 49 {
					if err := x.Remove(t.Context(), "t", "come"); err != nil {
						t.Error(err)
					}
				}
			}
			close(stop)
			wg.Wait()
		})
	}
}

func BenchmarkExactScan(b *testing.B) {
	x := NewExact(256)
	rng := rand.New(rand.NewPCG(1, 2))
	for s := range 273 {
		for n := range 132 {
			mustAdd(b, x, entry("t", fmt.Sprintf("source%d", s), n, clustered(rng, 256)))
		}
	}
	q := clustered(rng, 256)
	before := processorTime()
	for b.Loop() {
		mustSearch(b, x, Probe{Vector: q}, 50, Scope{Tenant: "t"})
	}
	reportProcessorTime(b, before)
	b.ReportMetric(float64(x.Len()), "vectors")
}
