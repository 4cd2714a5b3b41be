package retrieve

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/reeltree/reeltree/tree"
)

func evenly(share float64) func(string) float64 { return func(string) float64 { return share } }

// Scores are added as they are, .65 of words and .35 of vectors.
func TestFuseByHand(t *testing.T) {
	got := fuse([]Hit{{"s", "s/0", .8}, {"s", "s/1", .4}}, []Hit{{"s", "s/1", .9}, {"s", "s/2", .25}, {"s", "s/3", -.1}}, evenly(.35))
	want := []Hit{{"s", "s/1", .65*.4 + .35*.9}, {"s", "s/0", .65 * .8}, {"s", "s/2", .35 * .25}, {"s", "s/3", 0}}
	if len(got) != len(want) {
		t.Fatalf("got %v", got)
	}
	for i := range want {
		if got[i].Node != want[i].Node {
			t.Errorf("place %d is %v, want %v", i, got[i], want[i])
		}
		near(t, got[i].Node, got[i].Score, want[i].Score)
	}
	if got := fuse(nil, []Hit{{"s", "s/0", 0}}, evenly(.35)); len(got) != 0 {
		t.Errorf("nothing but zeros gave %v", got)
	}
}

// A list that is full ends where others begin: what it does not name may be as
// good as its last, so that a node of the other list alone loses no more.
func TestFuseCountsFromTheEndOfAFullList(t *testing.T) {
	vectors := make([]Hit, entryWide)
	for i := range vectors {
		vectors[i] = Hit{"s", fmt.Sprintf("s/0.%d", i), .9 - .001*float64(i)}
	}
	got := fuse([]Hit{{"s", "s/1", .3}}, vectors, evenly(.5))
	if got[0].Node != "s/1" {
		t.Errorf("a node that words alone name stands behind %v", got[0])
	}
	near(t, "words alone", got[0].Score, .5*.3)
	near(t, "the best vector", got[1].Score, .5*.099)
	near(t, "the last vector", got[entryWide].Score, 0)
	if got := fuse([]Hit{{"s", "s/1", .3}}, vectors[:entryWide-1], evenly(.5)); got[0].Node != "s/0.0" {
		t.Errorf("a list that is not full names all there is, yet %v is first", got[0])
	}
}

// Each source is weighed as what it is.
func TestFuseWeighsBySource(t *testing.T) {
	share := func(source string) float64 { return map[string]float64{"book": .2, "film": .9}[source] }
	got := fuse([]Hit{{"film", "film/0", .5}, {"book", "book/0", .5}}, nil, share)
	if got[0].Node != "book/0" {
		t.Errorf("got %v", got)
	}
	near(t, "book", got[0].Score, .4)
	near(t, "film", got[1].Score, .05)
}

// In scripts the vectors hardly know, and in what was written, words decide.
func TestVectorShare(t *testing.T) {
	for text, want := range map[string][2]float64{
		"who won the championship": {.6, .35}, "من فاز بالبطولة": {.18, .105}, "冠军": {.18, .105}, "कौन जीता": {.18, .105}, "": {.6, .35}, "?": {.6, .35},
	} {
		q := &question{text: text, terms: readQuestion(text)}
		for i, kind := range []tree.Kind{tree.KindVideo, tree.KindDocument} {
			near(t, text, math.Round(1e6*vectorShare(q.latin(), writtenKind(kind))), math.Round(1e6*want[i]))
		}
	}
	mixed := &question{terms: readQuestion("championship 冠军")}
	if got := mixed.latin(); got <= 0 || got >= 1 {
		t.Errorf("a question in two scripts is Latin by %g", got)
	}
}

func TestEnterable(t *testing.T) {
	list := func(n int) (out []*listed) {
		for i := range n {
			out = append(out, &listed{src: tree.Source{ID: fmt.Sprint("s", i)}})
		}
		return out
	}
	hits := []Hit{{Source: "s7"}, {Source: "s2"}, {Source: "s7"}, {Source: "s0"}, {Source: "s1"}, {Source: "s3"}, {Source: "s4"}}
	if got := enterable(nil, list(5), 5); !slices.Equal(got, []string{"s0", "s1", "s2", "s3", "s4"}) {
		t.Errorf("a small scope is entered whole, not %v", got)
	}
	if got := enterable(hits, list(8), 5); !slices.Equal(got, []string{"s7", "s2", "s0", "s1", "s3"}) {
		t.Errorf("of a large one the trees of the best hits, not %v", got)
	}
}

// The whole path works on the adapter as on the default engine.
func TestEngineOnEveryIndex(t *testing.T) {
	for name, open := range vectorEngines {
		s := shelfOf(lens, bread, harvest)
		e, err := Open(Config{Embed: testEmbed, Dim: 64, Trees: s.trees, Vectors: open(64), Switches: Switches{Keywords: true}})
		if err != nil {
			t.Fatal(err)
		}
		for _, tr := range s {
			if err := e.AddTree(t.Context(), tr); err != nil {
				t.Fatal(err)
			}
		}
		if r := find(t, e, Query{Text: "clean with vinegar and a soft cloth"}); !holds(r.Items, "vinegar") {
			t.Errorf("%s: %+v", name, r.Items)
		}
		mustClose(t, e)
	}
}

func TestExactUsesFreeRowsAgain(t *testing.T) {
	x, rng := NewExact(16), rand.New(rand.NewPCG(1, 1))
	for i := range 2000 {
		mustAdd(t, x, entry("t", "s", i%50, clustered(rng, 16)))
		if i%100 == 99 {
			if err := x.Remove(t.Context(), "t", "s"); err != nil {
				t.Fatal(err)
			}
		}
	}
	if len(x.table.rows) > 60 || x.Len() != 0 {
		t.Errorf("%d rows for 50 nodes, %d found", len(x.table.rows), x.Len())
	}
}

// What is kept are the best rows, ties by node id, in whatever order they come.
func TestTopRowsKeepTheBest(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	for range 200 {
		n, most := 1+rng.IntN(60), 1+rng.IntN(20)
		rows := make([]tableRow, n)
		all := make([]rowScore, n)
		for i := range rows {
			rows[i].node = fmt.Sprintf("%03d", rng.IntN(1000))
			all[i] = rowScore{int32(i), float32(rng.IntN(5))}
		}
		top := topRows{most: most, rows: rows}
		for _, s := range all {
			top.offer(s.row, s.score)
		}
		compare := func(a, b rowScore) int {
			switch {
			case top.worse(b, a):
				return -1
			case top.worse(a, b):
				return 1
			}
			return 0
		}
		slices.SortFunc(all, compare)
		slices.SortFunc(top.heap, compare)
		if len(top.heap) != min(n, most) {
			t.Fatalf("%d of %d kept, %d wanted", len(top.heap), n, most)
		}
		for i, s := range top.heap {
			if s.score != all[i].score || rows[s.row].node != rows[all[i].row].node {
				t.Fatalf("place %d is %v, want %v", i, s, all[i])
			}
		}
	}
}

func TestAggregateQuestions(t *testing.T) {
	for _, c := range []struct {
		text          string
		plain, tables bool
	}{
		{"How many tons were sold?", false, true},
		{"How many times does she jump?", true, true},
		{"List the speakers", true, true},
		{"Summarize the discussion", true, true},
		{"What is the total of 2020?", false, true},
		{"Who was listed first?", false, false},
		{"How did the stall collapse?", false, false},
		{"总共多少吨", false, true},
		{"列出所有人", true, true},
		{"¿Cuántas veces salta?", true, true},
		{"What is a lens?", false, false},
	} {
		if got := Aggregate(c.text, false); got != c.plain {
			t.Errorf("%q of speech: %v", c.text, got)
		}
		if got := Aggregate(c.text, true); got != c.tables {
			t.Errorf("%q of tables: %v", c.text, got)
		}
	}
}

// After a change of embedder a source is renewed before it is added to.
func TestIndexedAfterAnotherEmbedder(t *testing.T) {
	dir, s := t.TempDir(), shelfOf(lens)
	e := keptEngine(t, dir, s)
	if err := e.AddTree(t.Context(), lens); err != nil {
		t.Fatal(err)
	}
	mustClose(t, e)
	e, err := Open(Config{Dir: dir, Embed: testEmbed, EmbedderName: "other", Dim: 64, Trees: s.trees})
	if err != nil {
		t.Fatal(err)
	}
	defer mustClose(t, e)
	clip := lens.Roots[0].Children[0]
	if err := e.Add(t.Context(), lens.Source, []*tree.Node{clip}); err != nil {
		t.Fatal(err)
	}
	if got := e.Indexed("default", lens.Source.ID); len(got) != 3 || !got[clip.ID] || e.Stale("default", lens.Source.ID) {
		t.Errorf("indexed are %v", got)
	}
}

// A removal that a crash cut in half leaves nothing to be found.
func TestCrashInTheMiddleOfARemoval(t *testing.T) {
	for name, half := range map[string]func(e *Engine) error{
		"words only": func(e *Engine) error { return e.words.Remove(t.Context(), "default", lens.Source.ID) },
		"file only":  func(e *Engine) error { return e.store.remove("default", lens.Source.ID) },
	} {
		dir, s := t.TempDir(), shelfOf(lens, bread)
		e := keptEngine(t, dir, s)
		for _, tr := range s {
			if err := e.AddTree(t.Context(), tr); err != nil {
				t.Fatal(err)
			}
		}
		if err := half(e); err != nil {
			t.Fatal(err)
		}
		mustClose(t, e)
		e = keptEngine(t, dir, s)
		want := 5
		if !e.Has("default", lens.Source.ID) {
			want = 2
		}
		if words, vectors := foundIn(t, e, "kilometres"); e.words.Len() != want || e.vectors.Len() != want || len(words) != len(vectors) {
			t.Errorf("%s: %d words and %d vectors of %d", name, e.words.Len(), e.vectors.Len(), want)
		}
		if err := e.Remove(t.Context(), "default", lens.Source.ID); err != nil { // the operation is completed
			t.Fatal(err)
		}
		if words, vectors := foundIn(t, e, "kilometres"); len(words)+len(vectors) != 0 {
			t.Errorf("%s: %v %v after removing again", name, words, vectors)
		}
		mustClose(t, e)
	}
}
