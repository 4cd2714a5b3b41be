package retrieve

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/reeltree/reeltree/tree"
)

var operations = flag.Int("operations", 2500, "random operations of the test of the graph index against a plain list; 100000 is the full run")

func mustOpenHNSW(t testing.TB, opts HNSWOptions) *HNSW {
	t.Helper()
	x, err := OpenHNSW(16, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = x.Close() })
	return x
}

// Random writes and searches against a plain list, through repairs, snapshots
// and openings again: nothing deleted is found, nothing that is there is lost,
// and the graph stays whole.
func TestHNSWAgainstAModel(t *testing.T) {
	dir := t.TempDir()
	opts := HNSWOptions{Dir: dir, Seed: 3, Scan: -1}
	x := mustOpenHNSW(t, opts)
	rng := rand.New(rand.NewPCG(8, 9))
	model := map[string]Entry{}
	found, all := 0, 0
	for i := range *operations {
		source := fmt.Sprintf("s%d", rng.IntN(12))
		e := entry("t", source, rng.IntN(250), clustered(rng, 16))
		switch r := rng.IntN(1000); {
		case r < 600:
			mustAdd(t, x, e)
			model[e.Node] = e
		case r < 800:
			if err := x.Delete(t.Context(), "t", e.Node); err != nil {
				t.Fatal(err)
			}
			delete(model, e.Node)
		case r < 802:
			if err := x.Remove(t.Context(), "t", source); err != nil {
				t.Fatal(err)
			}
			for n, old := range model {
				if old.Source == source {
					delete(model, n)
				}
			}
		case r == 802 && i > *operations/2:
			closeHNSW(t, x)
			x = mustOpenHNSW(t, opts)
		case r < 1000:
			f, a := compareWithModel(t, x, model, e.Vector)
			found, all = found+f, all+a
		}
		if x.Len() != len(model) {
			t.Fatalf("%d entries instead of %d", x.Len(), len(model))
		}
	}
	if err := x.graph.check(len(x.graph.dead)); err != nil {
		t.Error("the graph links to rows that are not there")
	}
	recall := float64(found) / float64(all)
	t.Logf("%d operations, %d nodes left, recall@10 %.4f over %d", *operations, len(model), recall, all)
	if recall < .99 {
		t.Errorf("recall@10 is %.4f", recall)
	}
}

func closeHNSW(t *testing.T, x *HNSW) {
	t.Helper()
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
}

// grown is an index of n nodes in sources of 50.
func grown(t testing.TB, opts HNSWOptions, n int) *HNSW {
	t.Helper()
	x := mustOpenHNSW(t, opts)
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range n {
		mustAdd(t, x, entry("t", fmt.Sprintf("s%d", i/50), i%50, clustered(rng, 16)))
	}
	return x
}

func TestHNSWIsTheSameUnderOneSeed(t *testing.T) {
	a, b, c := grown(t, HNSWOptions{Seed: 5}, 800), grown(t, HNSWOptions{Seed: 5}, 800), grown(t, HNSWOptions{Seed: 6}, 800)
	for _, x := range []*HNSW{a, b, c} {
		for i := range 5 {
			if err := x.Remove(t.Context(), "t", fmt.Sprintf("s%d", 2*i)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if !slices.Equal(a.graph.ground, b.graph.ground) || a.graph.entry != b.graph.entry {
		t.Error("the same writes made two graphs")
	}
	if slices.Equal(slices.Sorted(maps.Keys(a.graph.upper)), slices.Sorted(maps.Keys(c.graph.upper))) {
		t.Error("another seed gave the same rows their levels")
	}
}

// Levels fall by the factor of the links: one row in so many is above the ground.
func TestHNSWLevels(t *testing.T) {
	g := newGraph(16, 16, 10, 1)
	counts := [4]int{}
	for r := range int32(160_000) {
		for l := range min(3, g.drawLevel(r)) {
			counts[l]++
		}
	}
	for l, want := range []int{10_000, 625, 39} {
		if counts[l] < want*7/10 || counts[l] > want*13/10 {
			t.Errorf("%d rows above level %d instead of about %d", counts[l], l, want)
		}
	}
}

// A static picture gives the same vector thousands of times: none of them is
// lost, and what differs is found beside them.
func TestHNSWManyEqualVectors(t *testing.T) {
	x := NewHNSW(16, HNSWOptions{Seed: 1, Scan: -1})
	same, other := make([]float32, 16), make([]float32, 16)
	same[0], other[0], other[1] = 1, .8, .6
	for i := range 1500 {
		v := same
		if i == 700 {
			v = other
		}
		mustAdd(t, x, entry("t", "s", i, v))
	}
	if hits := mustSearch(t, x, Probe{Vector: other}, 1, Scope{Tenant: "t"}); len(hits) != 1 || hits[0].Node != "s/70.0" {
		t.Errorf("found %v", hits)
	}
	w := &walkScratch{}
	if got := x.graph.explore(w, newCodedQuery(same), x.graph.entry, 1500, 0, nil); len(got) != 1500 {
		t.Errorf("%d of 1500 can be reached", len(got))
	}
}

// The heuristic takes what lies in another direction before what is closer.
func TestDiverseNeighbours(t *testing.T) {
	g := newGraph(2, 16, 10, 1)
	for i, v := range [][]float32{{1, 0}, {.9, .436}, {.88, .475}, {.8, -.6}, {-1, 0}} {
		g.reserve(int32(i), v)
	}
	ranked := g.rank(0, []int32{4, 3, 2, 1})
	if got := g.diverse(ranked, 2); !slices.Equal(got, []int32{1, 3}) {
		t.Errorf("chose %v: row 2 lies behind row 1", got)
	}
	if got := g.diverse(ranked, 3); !slices.Equal(got, []int32{1, 3, 2}) {
		t.Errorf("chose %v: the rest is filled with what is closest", got)
	}
}

// After repair nothing links to what is gone and everything can be reached.
func TestHNSWRepair(t *testing.T) {
	x := grown(t, HNSWOptions{Seed: 1, Scan: -1}, 1000)
	for i := range 19 { // most of it, the entry among it sooner or later
		if err := x.Remove(t.Context(), "t", fmt.Sprintf("s%d", i)); err != nil {
			t.Fatal(err)
		}
	}
	x.repair()
	alive := 0
	for r := range int32(len(x.graph.dead)) {
		if x.graph.dead[r] {
			if len(x.graph.links(r, 0)) > 0 {
				t.Errorf("tombstone %d still has links", r)
			}
			continue
		}
		alive++
		for _, n := range x.graph.links(r, 0) {
			if x.graph.dead[n] {
				t.Errorf("row %d still links to tombstone %d", r, n)
			}
		}
	}
	if alive != 50 || x.graph.dead[x.graph.entry] {
		t.Errorf("%d rows alive, the entry among the dead: %v", alive, x.graph.dead[x.graph.entry])
	}
	if hits := mustSearch(t, x, Probe{Vector: clustered(rand.New(rand.NewPCG(3, 3)), 16)}, 50, Scope{Tenant: "t"}); len(hits) != 50 {
		t.Errorf("%d of 50 can be reached", len(hits))
	}
	for i := range 200 { // rows are used again
		mustAdd(t, x, entry("t", "new", i, clustered(rand.New(rand.NewPCG(uint64(i), 3)), 16)))
	}
	if len(x.graph.dead) != 1000 {
		t.Errorf("%d rows for 250 nodes of once 1000", len(x.graph.dead))
	}
	if err := x.Remove(t.Context(), "t", "new"); err != nil {
		t.Error(err)
	}
	if err := x.Remove(t.Context(), "t", "s19"); err != nil {
		t.Error(err)
	}
	x.repair()
	if hits := mustSearch(t, x, Probe{Vector: clustered(rand.New(rand.NewPCG(3, 3)), 16)}, 5, Scope{Tenant: "t"}); len(hits) != 0 || x.graph.entry != -1 {
		t.Errorf("an empty index finds %v, enters at %d", hits, x.graph.entry)
	}
}

// A selective scope is scanned, a wide one walked; both find what the exact
// index finds.
func TestHNSWFiltersInsideTheSearch(t *testing.T) {
	x, exact := NewHNSW(16, HNSWOptions{Seed: 1, Scan: 300}), NewExact(16)
	rng := rand.New(rand.NewPCG(7, 7))
	for i := range 3600 {
		e := entry("t", fmt.Sprintf("s%d", i/36), i%36, clustered(rng, 16))
		e.Collections, e.Kind = []string{fmt.Sprint("c", i/36%3)}, tree.KindVideo
		mustAdd(t, x, e)
		mustAdd(t, exact, e)
	}
	mustAdd(t, x, entry("u", "other", 1, clustered(rng, 16)))
	for name, s := range map[string]Scope{
		"all": {Tenant: "t"}, "one source": {Tenant: "t", Sources: []string{"s7"}}, "a third": {Tenant: "t", Collection: "c1"},
		"nothing": {Tenant: "t", Collection: "c9"}, "other tenant": {Tenant: "u"}, "span": {Tenant: "t", Span: new(tree.MS(10_000, 14_000))},
	} {
		found, all := 0, 0
		for range 25 {
			q := clustered(rng, 16)
			want, got := mustSearch(t, exact, Probe{Vector: q}, 10, s), mustSearch(t, x, Probe{Vector: q}, 10, s)
			for _, h := range got {
				if slices.Contains(want, h) {
					found++
				}
			}
			all += len(want)
		}
		if name != "other tenant" && found*100 < all*98 {
			t.Errorf("%s: %d of %d", name, found, all)
		}
	}
	if x.walkPays(3600, 10) != true || x.walkPays(400, 10) != false {
		t.Error("the walk pays in all of it and not in little of it")
	}
}

// Readers beside a writer that replaces, deletes and repairs: a node is found
// once, with one of the vectors it had, and the one that never changes always.
func TestHNSWReadersSeeNothingTorn(t *testing.T) {
	x := grown(t, HNSWOptions{Seed: 2, Scan: -1}, 400)
	still := make([]float32, 16)
	still[0] = 1
	mustAdd(t, x, entry("t", "still", 0, still))
	stop := beside(3, func() bool {
		hits, err := x.Search(t.Context(), Probe{Vector: still}, 20, Scope{Tenant: "t"})
		seen := map[string]bool{}
		for _, h := range hits {
			if seen[h.Node] || h.Score > 1.0001 {
				t.Errorf("%s found twice or with no vector of it", h.Node)
			}
			seen[h.Node] = true
		}
		if err != nil || len(hits) != 20 || hits[0].Node != "still/0.0" {
			t.Errorf("%d hits, first %v, %v", len(hits), hits[:min(1, len(hits))], err)
			return false
		}
		return true
	})
	rng := rand.New(rand.NewPCG(4, 4))
	for i := range 250 {
		mustAdd(t, x, entry("t", fmt.Sprintf("s%d", i%8), i%50, clustered(rng, 16)))
		if i%10 == 0 {
			if err := x.Delete(t.Context(), "t", fmt.Sprintf("s%d/%d.%d", i%8, i%50/10, i%10)); err != nil {
				t.Error(err)
			}
		}
	}
	stop()
}

func TestHNSWIsThereAfterAnOpening(t *testing.T) {
	dir := t.TempDir()
	opts := HNSWOptions{Dir: dir, Seed: 1, Scan: -1}
	x := grown(t, opts, 300)
	if err := x.Remove(t.Context(), "t", "s2"); err != nil {
		t.Fatal(err)
	}
	q := clustered(rand.New(rand.NewPCG(3, 3)), 16)
	want := mustSearch(t, x, Probe{Vector: q}, 10, Scope{Tenant: "t"})
	closeHNSW(t, x)
	closeHNSW(t, x)
	for round := range 3 { // from the snapshot, then with a log, then from a log alone
		x = mustOpenHNSW(t, opts)
		if got := mustSearch(t, x, Probe{Vector: q}, 10, Scope{Tenant: "t"}); !slices.Equal(got, want) || x.Len() != 250 {
			t.Errorf("round %d: %v of %d instead of %v", round, got, x.Len(), want)
		}
		add := entry("t", "more", round, clustered(rand.New(rand.NewPCG(uint64(round), 3)), 16))
		mustAdd(t, x, add)
		if err := errors.Join(x.Delete(t.Context(), "t", add.Node), x.disk.close()); err != nil { // as if killed
			t.Fatal(err)
		}
	}
	if _, err := OpenHNSW(32, HNSWOptions{Dir: dir}); !errors.Is(err, ErrIndexDamaged) {
		t.Errorf("another dimension: %v", err)
	}
}

// A folder cut or flipped at 120 places is opened with what is whole, or
// refused with one sentence; it never gives a deleted node or another vector.
func TestHNSWDamage(t *testing.T) {
	whole := t.TempDir()
	opts := HNSWOptions{Dir: whole, Seed: 1}
	x := grown(t, opts, 120)
	if err := x.snapshot(); err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(6, 6))
	known := map[string][]float32{}
	for i := range 60 {
		e := entry("t", "later", i, clustered(rng, 16))
		mustAdd(t, x, e)
		known[e.Node] = e.Vector
	}
	for i := range int32(120) {
		known[x.table.rows[i].node] = slices.Clone(x.table.rows[i].vector)
	}
	if err := errors.Join(x.Delete(t.Context(), "t", "s0/0.0"), x.Remove(t.Context(), "t", "s1")); err != nil {
		t.Fatal(err)
	}
	deleted := func(h Hit) bool { return h.Node == "s0/0.0" || h.Source == "s1" }
	opened, refused := 0, 0
	for i := range 120 {
		name := []string{snapshotName, logName}[i%2]
		dir := t.TempDir()
		for _, n := range []string{snapshotName, logName} {
			b, err := os.ReadFile(filepath.Join(whole, n))
			if err != nil {
				t.Fatal(err)
			}
			at := rng.IntN(len(b))
			if cut := i%4 < 2; n == name && cut {
				b = b[:at]
			} else if n == name {
				b[at] ^= 1 << rng.IntN(8)
			}
			if err := os.WriteFile(filepath.Join(dir, n), b, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		y, err := OpenHNSW(16, HNSWOptions{Dir: dir, Seed: 1})
		if err != nil {
			refused++
			if !errors.Is(err, ErrIndexDamaged) || strings.Contains(err.Error(), "\n") {
				t.Errorf("refused with %q", err)
			}
			anew, err := OpenHNSW(16, HNSWOptions{Dir: dir, Anew: true})
			if err != nil || anew.Len() != 0 {
				t.Errorf("begun anew: %v", err)
			} else {
				closeHNSW(t, anew)
			}
			continue
		}
		opened++
		for _, h := range mustSearch(t, y, Probe{Vector: known["later/0.0"]}, 500, Scope{Tenant: "t"}) {
			cutLog := name == logName && i%4 < 2 // then the last writes are lost, as in a crash
			if deleted(h) && !cutLog {
				t.Errorf("place %d of %s: the deleted %s is found", i, name, h.Node)
			}
			if v, ok := known[h.Node]; !ok || dot(known["later/0.0"], v) != h.Score {
				t.Errorf("place %d of %s: %s has another vector", i, name, h.Node)
			}
		}
		if err := y.disk.close(); err != nil { // Close would keep it whole
			t.Error(err)
		}
	}
	t.Logf("%d opened, %d refused", opened, refused)
	if refused == 0 || opened == 0 {
		t.Error("only one of both happened")
	}
}

// A writer that grows the index keeps a snapshot now and then, while readers go on.
func TestHNSWKeepsASnapshotOfALongLog(t *testing.T) {
	d := &graphDisk{writes: 20_100}
	if !d.long(100) || d.long(1000) || (*graphDisk)(nil).long(0) {
		t.Error("a log is long from 20,000 writes and half of the nodes on")
	}
	x := grown(t, HNSWOptions{Dir: t.TempDir(), Seed: 1}, 60)
	x.disk.writes = 30_000
	mustAdd(t, x, entry("t", "s", 1, clustered(rand.New(rand.NewPCG(1, 9)), 16)))
	if x.disk.generation != 1 || x.disk.writes != 0 || x.disk.mapped == nil {
		t.Errorf("generation %d after a long log, %d writes", x.disk.generation, x.disk.writes)
	}
	q := clustered(rand.New(rand.NewPCG(1, 9)), 16)
	if hits := mustSearch(t, x, Probe{Vector: q}, 1, Scope{Tenant: "t"}); len(hits) != 1 || hits[0].Node != "s/0.1" {
		t.Errorf("found %v in what is mapped", hits)
	}
}

// An engine over an index that was kept adds nothing again, but for what
// changed meanwhile, and takes out what it does not know.
func TestEngineOverAKeptIndex(t *testing.T) {
	dir := t.TempDir()
	open := func(files string) (*Engine, *HNSW) {
		x, err := OpenHNSW(64, HNSWOptions{Dir: filepath.Join(dir, "vectors"), Anew: true})
		if err != nil {
			t.Fatal(err)
		}
		e, err := Open(Config{Dir: filepath.Join(dir, files), Embed: testEmbed, Dim: 64, Trees: shelf{}.trees, Vectors: x})
		if err != nil {
			t.Fatal(err)
		}
		return e, x
	}
	e, x := open("engine")
	for _, tr := range []*tree.Tree{harvest, lens} {
		if err := e.AddTree(t.Context(), tr); err != nil {
			t.Fatal(err)
		}
	}
	n := x.Len()
	mustClose(t, e)
	e, x = open("engine")
	if x.Len() != n || x.disk.writes != 0 {
		t.Errorf("%d of %d nodes, %d writes at an opening that changes nothing", x.Len(), n, x.disk.writes)
	}
	if err := x.Delete(t.Context(), harvest.Source.Tenant, x.table.rows[0].node); err != nil { // behind the engine's back
		t.Fatal(err)
	}
	mustClose(t, e)
	e, x = open("engine")
	if x.Len() != n {
		t.Errorf("%d of %d nodes: what was missing is added again", x.Len(), n)
	}
	mustClose(t, e)
	e, x = open("another") // knows none of it
	if x.Len() != 0 {
		t.Errorf("%d nodes of unknown sources are still there", x.Len())
	}
	mustClose(t, e)
}
