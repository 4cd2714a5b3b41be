package retrieve

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"log/slog"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/reeltree/reeltree/tree"
)

// whole merges a tenant's segments into one, without the rows that are gone.
func whole(x *Keyword, tenant string) {
	w := x.tenant(tenant)
	w.state.Store(stateOf([]livingWords{merged(w.state.Load().segments...)}))
}

// fresh is an index that never held more than these entries.
func fresh(t *testing.T, entries map[string]Entry) *Keyword {
	t.Helper()
	x := keywordIndex(t)
	var all []Entry
	for _, node := range sortedNames(entries) {
		all = append(all, entries[node])
	}
	mustAdd(t, x, all...)
	return x
}

func sameHits(a, b []Hit) bool {
	return slices.EqualFunc(a, b, func(p, q Hit) bool {
		return p.Node == q.Node && p.Source == q.Source && math.Abs(p.Score-q.Score) < 1e-4
	})
}

// Whatever is added, replaced, taken out and put under another source, an
// index holds what is left, and scores it as one that never held more.
func TestKeywordAgainstAFreshIndex(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	x, left := keywordIndex(t), map[string]Entry{}
	words := []string{"lens", "oven", "pump", "mill", "dam", "кран", "灯台", "harbour"}
	check := func(op int) {
		want, whole := fresh(t, left), Scope{Tenant: "t"}
		if x.Len() != len(left) {
			t.Fatalf("after %d operations %d nodes instead of %d", op, x.Len(), len(left))
		}
		for _, word := range words {
			for _, s := range []Scope{whole, {Tenant: "t", Sources: []string{"s1", "s9", "s1"}}, {Tenant: "t", Collection: "c1"}, {Tenant: "t", Span: new(tree.MS(3000, 9000))}} {
				got, model := mustSearch(t, x, Probe{Text: word}, 1000, s), mustSearch(t, want, Probe{Text: word}, 1000, s)
				slices.SortFunc(got, func(a, b Hit) int { return compareHits(Hit{Node: a.Node}, Hit{Node: b.Node}) })
				slices.SortFunc(model, func(a, b Hit) int { return compareHits(Hit{Node: a.Node}, Hit{Node: b.Node}) })
				if !slices.Equal(nodes(got), nodes(model)) {
					t.Fatalf("after %d operations %q in %+v finds %v instead of %v", op, word, s, nodes(got), nodes(model))
				}
			}
		}
	}
	for op := range 3000 {
		source := fmt.Sprint("s", rng.IntN(12))
		switch rng.IntN(10) {
		case 0:
			if err := x.Remove(t.Context(), "t", source); err != nil {
				t.Fatal(err)
			}
			for node, e := range left {
				if e.Source == source {
					delete(left, node)
				}
			}
		case 1, 2:
			node := fmt.Sprintf("s%d/%d.%d", rng.IntN(12), rng.IntN(2), rng.IntN(10))
			if err := x.Delete(t.Context(), "t", node, "nowhere"); err != nil {
				t.Fatal(err)
			}
			delete(left, node)
		default:
			var batch []Entry
			for range 1 + rng.IntN(6) {
				e := written("t", source, rng.IntN(20), words[rng.IntN(len(words))]+" "+words[rng.IntN(len(words))])
				if rng.IntN(50) == 0 { // moves to another source
					e.Source = "moved"
				}
				e.Collections = []string{fmt.Sprint("c", len(e.Source)%2)}
				batch = append(batch, e)
				left[e.Node] = e
			}
			mustAdd(t, x, batch...)
		}
		if op%250 == 249 {
			check(op)
		}
	}
	if n := len(x.tenant("t").state.Load().segments); n > 5 {
		t.Errorf("%d segments for %d nodes", n, len(left))
	}
	whole(x, "t")
	for _, word := range words {
		a, b := mustSearch(t, x, Probe{Text: word}, 30, Scope{Tenant: "t"}), mustSearch(t, fresh(t, left), Probe{Text: word}, 30, Scope{Tenant: "t"})
		if !sameHits(a, b) {
			t.Errorf("%q scores\n%v instead of\n%v", word, a, b)
		}
	}
}

// A reader sees each batch whole or not at all while a writer replaces, merges
// and removes.
func TestKeywordReadersNeverSeeHalfABatch(t *testing.T) {
	x := keywordIndex(t)
	const size = 40
	batch := func(word string) (all []Entry) {
		for n := range size {
			all = append(all, written("t", "s", n, word+" always"))
		}
		return all
	}
	for n := range 300 {
		mustAdd(t, x, written("t", fmt.Sprint("other", n%30), n, "quiet"))
	}
	mustAdd(t, x, batch("alpha")...)
	stop := beside(4, func() bool {
		alpha, both := mustSearch(t, x, Probe{Text: "alpha"}, 200, Scope{Tenant: "t"}), mustSearch(t, x, Probe{Text: "alpha beta always"}, 200, Scope{Tenant: "t"})
		if len(alpha) != 0 && len(alpha) != size || len(both) != size {
			t.Errorf("%d of a batch of %d, %d of both", len(alpha), size, len(both))
			return false
		}
		return true
	})
	for n := range 150 {
		mustAdd(t, x, batch([]string{"beta", "alpha"}[n%2])...)
		mustAdd(t, x, written("t", "gone", n, "quiet"))
		if n%10 == 9 {
			if err := x.Remove(t.Context(), "t", "gone"); err != nil {
				t.Error(err)
			}
		}
	}
	stop()
}

func TestSegmentsStayFew(t *testing.T) {
	x := keywordIndex(t)
	for n := range 2000 {
		mustAdd(t, x, written("t", fmt.Sprint("s", n/20), n, fmt.Sprintf("lens %d", n%50)))
		segments := x.tenant("t").state.Load().segments
		for i := 1; i < len(segments); i++ {
			if len(segments[i-1].rows) < mergeFactor*len(segments[i].rows) {
				t.Fatalf("after %d texts a segment of %d rows lies beside one of %d", n+1, len(segments[i-1].rows), len(segments[i].rows))
			}
		}
	}
	if err := x.Remove(t.Context(), "t", "s7"); err != nil || x.Len() != 1980 {
		t.Errorf("%d left: %v", x.Len(), err)
	}
	for s := range 100 {
		if err := x.Remove(t.Context(), "t", fmt.Sprint("s", s)); err != nil {
			t.Fatal(err)
		}
		if w := x.tenant("t"); w != nil {
			if state := w.state.Load(); state.rows-state.living >= wordsGoneFew+state.rows/wordsGoneShare+1 {
				t.Fatalf("%d of %d rows are gone and kept", state.rows-state.living, state.rows)
			}
		}
	}
	if x.tenant("t") != nil {
		t.Error("an empty tenant is kept")
	}
}

// A tenant's facts are those of the last time a source was added to.
func TestKeywordSourceFactsAreBroughtUpToDate(t *testing.T) {
	x := keywordIndex(t)
	e := written("t", "s", 0, "lens")
	e.Collections = []string{"red"}
	mustAdd(t, x, e)
	e = written("t", "s", 1, "lens")
	e.Collections = []string{"blue"}
	mustAdd(t, x, e)
	for collection, want := range map[string]int{"red": 0, "blue": 2} {
		if hits := mustSearch(t, x, Probe{Text: "lens"}, 9, Scope{Tenant: "t", Collection: collection}); len(hits) != want {
			t.Errorf("%d hits in %s instead of %d", len(hits), collection, want)
		}
	}
}

// everySpan has entries with each kind of place, some of them gone.
func everySpan(t testing.TB, dir string) *Keyword {
	t.Helper()
	x, err := openKeyword(dir, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	for n, span := range []tree.Span{
		tree.MS(0, 1), tree.MS(-5, 1<<40), {}, {Unit: tree.UnitText, Page: 3, Paragraph: 200, StartChar: 1, EndChar: 70_000}, {Unit: tree.UnitRows, Table: 2, RowStart: 5, RowEnd: 9},
	} {
		e := written("t", fmt.Sprint("s", n%2), n, "lens")
		e.Span = span
		mustAdd(t, x, e)
	}
	mustAdd(t, x, written("t", "all gone", 50, "lens"), written("t", "all gone", 51, "pump"))
	for n := range 40 {
		mustAdd(t, x, written("t", "many", n, fmt.Sprint("pump ", n)))
	}
	if err := x.Remove(t.Context(), "t", "all gone"); err != nil {
		t.Fatal(err)
	}
	if err := x.Delete(t.Context(), "t", "many/0.3"); err != nil {
		t.Fatal(err)
	}
	return x
}

func TestKeywordFileKeepsEveryPlace(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "keywords")
	x := everySpan(t, dir)
	places := func(x *Keyword) map[string]tree.Span {
		out := map[string]tree.Span{}
		for _, g := range x.tenant("t").state.Load().segments {
			for r := range g.rows {
				if !g.isGone(int32(r)) {
					out[g.sourceOf(int32(r)).facts.Load().Source+" "+g.rows[r].node] = g.rows[r].span
				}
			}
		}
		return out
	}
	want, scope := places(x), Scope{Tenant: "t"}
	hits := mustSearch(t, x, Probe{Text: "lens pump"}, 99, scope)
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	y, err := openKeyword(dir, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	if got := places(y); fmt.Sprint(got) != fmt.Sprint(want) || len(got) != 44 {
		t.Errorf("%d places\n%v instead of\n%v", len(got), got, want)
	}
	if got := mustSearch(t, y, Probe{Text: "lens pump"}, 99, scope); !slices.Equal(got, hits) {
		t.Errorf("%v instead of %v", got, hits)
	}
	mustAdd(t, y, written("t", "all gone", 50, "lens"))
	if got := nodes(mustSearch(t, y, Probe{Text: "lens"}, 9, Scope{Tenant: "t", Sources: []string{"all gone"}})); !slices.Equal(got, []string{"all gone/5.0"}) {
		t.Errorf("a source that was removed before is found as %v", got)
	}
}

// FuzzKeywordFile decodes snapshots whose checksum fits whatever they hold.
func FuzzKeywordFile(f *testing.F) {
	x := everySpan(f, "")
	b, err := x.encode()
	if err != nil {
		f.Fatal(err)
	}
	for _, at := range []int{8, 40, 200, len(b) / 2, len(b) - 60, len(b) - 8} {
		flipped := slices.Clone(b)
		flipped[at] ^= 0x11
		f.Add(flipped)
	}
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) < 4 {
			return
		}
		b = slices.Clone(b[:len(b)-4])
		b = binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
		var y Keyword
		y.empty()
		if y.decode(b) != nil {
			return
		}
		for tenant := range *y.tenants.Load() {
			if _, err := y.Search(t.Context(), Probe{Text: "lens pump 7"}, 5, Scope{Tenant: tenant}); err != nil && tenant != "" {
				t.Error(err)
			}
		}
	})
}
