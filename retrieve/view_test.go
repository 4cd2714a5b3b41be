package retrieve

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/reeltree/reeltree/tree"
)

// film is a video of one clip: a spoken leaf with a frame, a silent one with a
// frame, and a leaf with two speakers.
func film(model string) *tree.Tree {
	id := "filmfilmfilmfilmfi"
	node := func(c int, from int64, text string, e tree.Evidence) *tree.Node {
		e.Frame = &tree.FrameRef{ID: fmt.Sprint("frame", c), TimeMS: from}
		return &tree.Node{ID: tree.NodeID(id, 0, 0, c), Level: tree.L3, Text: text, Span: tree.MS(from, from+5000), Evidence: e}
	}
	l2 := &tree.Node{ID: tree.NodeID(id, 0, 0), Level: tree.L2, Text: "A kitchen.", Span: tree.MS(0, 15_000), Children: []*tree.Node{
		node(0, 0, "A woman at a table.", tree.Evidence{Cues: []tree.Cue{{StartMS: 500, EndMS: 4500, Speaker: "Ann", Text: "Today we bake bread."}}}),
		node(1, 5000, "New picture at 0:00:05.", tree.Evidence{}),
		node(2, 10_000, "Two people.", tree.Evidence{
			Cues:   []tree.Cue{{StartMS: 10_000, EndMS: 11_000, Speaker: "Ann", Text: "How hot is the oven?"}, {StartMS: 11_000, EndMS: 14_000, Speaker: "Bob", Text: "Two hundred degrees."}},
			Screen: []tree.Cue{{StartMS: 10_000, EndMS: 15_000, Text: "RECIPE CARD"}},
		}),
	}}
	t := &tree.Tree{
		Source: tree.Source{ID: id, Tenant: "default", Kind: tree.KindVideo, DurationMS: 15_000},
		Roots:  []*tree.Node{{ID: tree.NodeID(id, 0), Level: tree.L1, Text: "Baking", Span: tree.MS(0, 15_000), Children: []*tree.Node{l2}}},
	}
	if model != "" {
		t.Models = map[string]string{"l3": model}
	}
	return t
}

func mustView(t *testing.T, tr *tree.Tree) *view {
	t.Helper()
	v, err := newView(t.Context(), tr, testEmbed, "test", 64, 0)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func holdsTerm(v *view, word string) (units []int) {
	for _, p := range v.postings[readQuestion(word)[0].key] {
		units = append(units, int(p.unit))
	}
	return units
}

func TestViewOfAFilmNobodyLookedAt(t *testing.T) {
	v := mustView(t, film("extractive"))
	if len(v.leaves) != 2 || len(v.units) != 3 || len(holdsTerm(v, "picture")) != 0 || len(holdsTerm(v, "woman")) != 0 {
		t.Errorf("%d leaves, %d units; a picture among words says nothing", len(v.leaves), len(v.units))
	}
	if got := holdsTerm(v, "oven"); !slices.Equal(got, []int{1}) {
		t.Errorf("oven stands in units %v", got)
	}
	if got := holdsTerm(v, "recipe"); !slices.Equal(got, []int{1, 2}) {
		t.Errorf("what is on screen meanwhile stands in units %v", got)
	}
	silent := film("extractive")
	for _, l := range silent.Roots[0].Children[0].Children {
		l.Evidence.Cues, l.Evidence.Screen = nil, nil
	}
	if v := mustView(t, silent); len(v.leaves) != 3 || len(holdsTerm(v, "picture")) != 1 {
		t.Error("a silent film has nothing but what is seen")
	}
}

func TestViewOfADescribedFilm(t *testing.T) {
	v := mustView(t, film("some-model"))
	if got := holdsTerm(v, "people"); len(v.leaves) != 3 || !slices.Equal(got, []int{2, 3}) {
		t.Errorf("%d leaves; what is seen stands in units %v", len(v.leaves), got)
	}
	imported := film("")
	imported.Imported = []byte(`{}`)
	if got := holdsTerm(mustView(t, imported), "people"); !slices.Equal(got, []int{2, 3}) {
		t.Errorf("of an imported tree in units %v", got)
	}
}

func TestUnfinishedClipsAreLeftOut(t *testing.T) {
	tr := film("")
	tr.Roots[0].Children = append(tr.Roots[0].Children, &tree.Node{ID: tree.NodeID(tr.Source.ID, 0, 1), Level: tree.L2}, &tree.Node{ID: tree.NodeID(tr.Source.ID, 0, 2), Level: tree.L2, Text: "No leaves yet."})
	tr.Roots = append(tr.Roots, &tree.Node{ID: tree.NodeID(tr.Source.ID, 1), Level: tree.L1, Text: "empty"})
	v := mustView(t, tr)
	if len(v.roots) != 1 || len(v.clips) != 2 || v.leaves[len(v.leaves)-1].node.Level != tree.L2 {
		t.Errorf("%d roots, %d clips", len(v.roots), len(v.clips))
	}
	if v := mustView(t, &tree.Tree{}); len(v.units) != 0 {
		t.Error("an empty tree has units")
	}
}

func TestItemsNameSpeakerFrameAndPlace(t *testing.T) {
	v := mustView(t, film("extractive"))
	src := tree.Source{ID: v.tree.Source.ID, Title: "newer title"}
	item := func(lo, hi int) Item {
		return (&candidate{s: &scored{view: v}, lo: lo, hi: hi, rel: 1.5, tokens: v.tokens(lo, hi)}).item(src)
	}
	it := item(0, 1)
	if it.Speaker != "Ann" || it.Frame.ID != "frame0" || it.Span != tree.MS(500, 4500) || it.Level != tree.L3 || it.Score != 1 || it.Source.Title != "newer title" {
		t.Errorf("one cue: %+v", it)
	}
	it = item(1, 3)
	if it.Speaker != "" || it.Frame.ID != "frame2" || it.Span != tree.MS(10_000, 14_000) || it.Quote != "How hot is the oven? Two hundred degrees." || it.Tokens != tree.Tokens("How hot is the oven?")+tree.Tokens("Two hundred degrees.") {
		t.Errorf("two cues: %+v", it)
	}
	if it = item(0, 3); it.Level != tree.L2 || it.Text != "A kitchen." || it.Node != v.clips[0].node.ID {
		t.Errorf("across leaves: %+v", it)
	}
}

// Vectors in the tree are used when they are of this embedder, else made anew.
func TestStoredVectorsAreUsed(t *testing.T) {
	tr := film("some-model")
	tr.Embedder, tr.EmbedDim = "test", 64
	stored := make([]float32, 64)
	stored[5] = 1
	leaf := tr.Roots[0].Children[0].Children[1]
	leaf.Embedding = stored
	if v := mustView(t, tr); v.leaves[1].vector[5] != 1 || v.units[1].vector[5] != 1 {
		t.Error("the stored vector is not used")
	}
	tr.Embedder = "another"
	if v := mustView(t, tr); v.leaves[1].vector[5] == 1 {
		t.Error("a vector of another embedder is used")
	}
	tr.Embedder, leaf.Embedding = "test", stored[:3]
	if v := mustView(t, tr); len(v.leaves[1].vector) != 64 {
		t.Error("a vector of another length is used")
	}
}

func TestEqualTextsAreEmbeddedOnce(t *testing.T) {
	tr := talk("samesamesamesamesa", "Same", slices.Repeat([]string{"the same caption"}, 50)...)
	asked := 0
	_, err := newView(t.Context(), tr, func(ctx context.Context, texts []string) ([][]float32, error) {
		asked += len(texts)
		return testEmbed(ctx, texts)
	}, "", 64, 0)
	if err != nil || asked > 8 {
		t.Errorf("%d texts, %v", asked, err)
	}
}

func TestCacheKeepsWithinItsBytes(t *testing.T) {
	c := newViewCache(100)
	made := map[string]int{}
	get := func(id string) {
		t.Helper()
		_, err := c.get(t.Context(), "t", id, func(context.Context) (*view, error) {
			made[id]++
			return &view{bytes: 40}, nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for id := range strings.SplitSeq("a b a c a b", " ") { // c pushes b out, b pushes c out
		get(id)
	}
	if made["a"] != 1 || made["b"] != 2 || made["c"] != 1 || c.bytes != 80 {
		t.Errorf("made %v, %d bytes", made, c.bytes)
	}
	c.drop("t", "a")
	get("a")
	if made["a"] != 2 {
		t.Error("a dropped view was kept")
	}
	big := newViewCache(1)
	_, _ = big.get(t.Context(), "t", "x", func(context.Context) (*view, error) { return &view{bytes: 40}, nil })
	if big.order.Len() != 1 {
		t.Error("a view larger than the cache is not even kept for the next question")
	}
}

func TestCacheMakesOnceForAllWhoWait(t *testing.T) {
	c := newViewCache(100)
	begun, release := make(chan struct{}), make(chan struct{})
	calls := 0
	load := func(context.Context) (*view, error) {
		if calls++; calls == 1 {
			close(begun)
		}
		<-release
		return &view{}, nil
	}
	var wg sync.WaitGroup
	views := make([]*view, 4)
	ask := func(i int) {
		v, err := c.get(t.Context(), "t", "a", load)
		if err != nil {
			t.Error(err)
		}
		views[i] = v
	}
	wg.Go(func() { ask(0) })
	<-begun
	for i := range views[1:] {
		wg.Go(func() { ask(i + 1) })
	}
	close(release)
	wg.Wait()
	for _, v := range views {
		if v == nil || v != views[0] {
			t.Error("two views were made")
		}
	}
}

func TestCacheDropDuringMakingAndFailures(t *testing.T) {
	c := newViewCache(100)
	_, err := c.get(t.Context(), "t", "a", func(context.Context) (*view, error) {
		c.drop("t", "a") // a clip was added meanwhile
		return &view{bytes: 1}, nil
	})
	if err != nil || c.order.Len() != 0 {
		t.Errorf("a view that was out of date when ready was kept, %v", err)
	}
	lost := errors.New("lost")
	if _, err := c.get(t.Context(), "t", "a", func(context.Context) (*view, error) { return nil, lost }); !errors.Is(err, lost) {
		t.Errorf("got %v", err)
	}
	if v, err := c.get(t.Context(), "t", "a", func(context.Context) (*view, error) { return &view{}, nil }); err != nil || v == nil {
		t.Errorf("after a failure: %v", err)
	}
}

// A unit is found by its own words as often as it says them, and by those of
// the description above it that no unit of the leaf says.
func TestTermsOfUnitsAndOfWhatTheyStandUnder(t *testing.T) {
	n := &tree.Node{ID: "s/0.0.0", Level: tree.L3, Text: "A lamp and a red boat", Evidence: tree.Evidence{Cues: []tree.Cue{
		{StartMS: 0, EndMS: 1000, Text: "boat boat"}, {StartMS: 1000, EndMS: 2000, Text: "harbour"},
	}}}
	b := &viewBuilder{v: &view{postings: map[uint64][]posting{}}}
	b.leaf(n, 0)
	count := func(word string) (out []posting) { return b.v.postings[termKey(kindWord, []rune(word))] }
	if got := count("boat"); !slices.Equal(got, []posting{{0, 2}}) {
		t.Errorf("boat stands at %v", got)
	}
	if got := count("lamp"); !slices.Equal(got, []posting{{0, 1}, {1, 1}}) {
		t.Errorf("lamp stands at %v", got)
	}
	if u := b.v.units[1]; int(u.length) != len(u.words) || len(u.words) != 1+len(tokensOf(n.Text)) {
		t.Errorf("the second unit has %d words", len(u.words))
	}
	all := 0
	for _, list := range b.v.postings {
		all += len(list)
	}
	if all != b.postings {
		t.Errorf("%d postings are counted as %d", all, b.postings)
	}
}
