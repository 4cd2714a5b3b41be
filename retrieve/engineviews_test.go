package retrieve

import (
	"context"
	"errors"
	"os"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/reeltree/reeltree/tree"
)

// countedEmbed is testEmbed that counts its texts and fails where it is told to.
type countedEmbed struct {
	texts atomic.Int64
	most  int64 // texts after which it fails; 0 = never
}

var errSpent = errors.New("the embedder has had enough")

func (c *countedEmbed) embed(ctx context.Context, texts []string) ([][]float32, error) {
	if c.most > 0 && c.texts.Load() >= c.most {
		return nil, errSpent
	}
	c.texts.Add(int64(len(texts)))
	return testEmbed(ctx, texts)
}

// rememberingEngine opens a kept engine that remembers under the name of an embedder.
func rememberingEngine(t *testing.T, dir, name string, c *countedEmbed, s shelf) *Engine {
	t.Helper()
	e, err := Open(Config{Dir: dir, Embed: c.embed, EmbedderName: name, Dim: 64, Remember: true, Trees: s.trees})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// warmed is how many texts laying a tree out asks the embedder for.
func warmed(t *testing.T, e *Engine, c *countedEmbed, tr *tree.Tree) int64 {
	t.Helper()
	before := c.texts.Load()
	if err := e.Warm(t.Context(), tr.Source.Tenant, tr.Source.ID); err != nil {
		t.Fatal(err)
	}
	return c.texts.Load() - before
}

func TestVectorsOfSentencesAreMadeOnce(t *testing.T) {
	var c countedEmbed
	dir, s := t.TempDir(), shelfOf(lens)
	e := rememberingEngine(t, dir, "test", &c, s)
	if err := e.AddTree(t.Context(), lens); err != nil {
		t.Fatal(err)
	}
	first := warmed(t, e, &c, lens)
	want := find(t, e, Query{Text: "light seen from thirty kilometres"})
	mustClose(t, e)
	if first == 0 {
		t.Fatal("laying a tree out asks for nothing")
	}

	e = rememberingEngine(t, dir, "test", &c, s)
	if n := warmed(t, e, &c, lens); n != 0 {
		t.Errorf("%d texts are embedded again after opening", n)
	}
	if got := find(t, e, Query{Text: "light seen from thirty kilometres"}); !slices.EqualFunc(got.Items, want.Items, func(a, b Item) bool { return a.Quote == b.Quote && a.Score == b.Score }) {
		t.Errorf("%+v instead of %+v", got.Items, want.Items)
	}
	name := e.store.viewsName("default", lens.Source.ID)
	mustClose(t, e)

	e = rememberingEngine(t, dir, "other", &c, s)
	if n := warmed(t, e, &c, lens); n != first {
		t.Errorf("another embedder made %d of %d vectors", n, first)
	}
	mustClose(t, e)

	overwrite(t, name, "damaged")
	e = rememberingEngine(t, dir, "other", &c, s)
	defer mustClose(t, e)
	if n := warmed(t, e, &c, lens); n != first {
		t.Errorf("a damaged file gave all but %d of %d vectors", n, first)
	}
	if err := e.Remove(t.Context(), "default", lens.Source.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(name); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the vectors of a removed source stay: %v", err)
	}
}

// What was embedded before a failure is not paid for twice.
func TestVectorsBeforeAFailureAreKept(t *testing.T) {
	long := &tree.Tree{Source: tree.Source{ID: "longlonglonglonglonglo", Tenant: "default", Kind: tree.KindVideo, DurationMS: 900_000}}
	root := &tree.Node{ID: tree.NodeID(long.Source.ID, 0), Level: tree.L1, Text: "all", Span: tree.MS(0, 900_000)}
	for i := range 90 {
		id := tree.NodeID(long.Source.ID, 0, i)
		span := tree.MS(int64(i)*10_000, int64(i+1)*10_000)
		text := "lamp number " + string(rune('a'+i%26)) + " " + id
		root.Children = append(root.Children, &tree.Node{ID: id, Level: tree.L2, Text: text, Span: span})
	}
	long.Roots = []*tree.Node{root}
	var c countedEmbed
	s := shelfOf(long)
	e := rememberingEngine(t, t.TempDir(), "test", &c, s)
	defer mustClose(t, e)
	if err := e.AddTree(t.Context(), long); err != nil {
		t.Fatal(err)
	}
	added := c.texts.Load()
	c.most = added + 1 // one batch gets through
	if err := e.Warm(t.Context(), "default", long.Source.ID); !errors.Is(err, errSpent) {
		t.Fatalf("the embedder did not fail: %v", err)
	}
	done := c.texts.Load() - added
	c.most = 0
	rest := warmed(t, e, &c, long)
	e.views.drop("default", long.Source.ID)
	if done == 0 || rest == 0 || warmed(t, e, &c, long) != 0 {
		t.Errorf("%d texts before the failure, %d after it", done, rest)
	}
}

// What a tree no longer says is no longer kept, and what it still says is not
// embedded again.
func TestKeptVectorsAreThoseOfTheTree(t *testing.T) {
	var c countedEmbed
	e := rememberingEngine(t, t.TempDir(), "test", &c, shelfOf(lens))
	defer mustClose(t, e)
	if err := e.AddTree(t.Context(), lens); err != nil {
		t.Fatal(err)
	}
	r := e.remember("default", lens.Source.ID)
	for _, texts := range [][]string{{"one", "two", "three"}, {"two", "four"}} {
		if _, err := r.embed(t.Context(), texts); err != nil {
			t.Fatal(err)
		}
		if err := r.keep(); err != nil {
			t.Fatal(err)
		}
	}
	kept := e.remember("default", lens.Source.ID)
	if r.asked != 4 || len(kept.vectors) != 2 || kept.vectors[textKey("two")] == nil || kept.vectors[textKey("four")] == nil {
		t.Errorf("%d texts were asked for, %d are kept", r.asked, len(kept.vectors))
	}
}

// A source that goes away while its view is made leaves nothing behind, nor
// does one whose removal a crash cut in half.
func TestKeptVectorsGoWithTheirSource(t *testing.T) {
	var c countedEmbed
	dir, s := t.TempDir(), shelfOf(lens, bread)
	e := rememberingEngine(t, dir, "test", &c, s)
	for _, tr := range s {
		if err := e.AddTree(t.Context(), tr); err != nil {
			t.Fatal(err)
		}
	}
	r := e.remember("default", lens.Source.ID)
	if _, err := r.embed(t.Context(), []string{"a sentence"}); err != nil {
		t.Fatal(err)
	}
	if err := e.Remove(t.Context(), "default", lens.Source.ID); err != nil {
		t.Fatal(err)
	}
	if err := r.keep(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(e.store.viewsName("default", lens.Source.ID)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a view that was made meanwhile brought vectors back: %v", err)
	}
	warmed(t, e, &c, bread)
	left := e.store.viewsName("default", bread.Source.ID)
	if err := e.store.remove("default", bread.Source.ID); err != nil { // as far as a crash let it come
		t.Fatal(err)
	}
	mustClose(t, e)
	e = rememberingEngine(t, dir, "test", &c, s)
	defer mustClose(t, e)
	if _, err := os.Stat(left); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("vectors of a source that is not listed stay: %v", err)
	}
}
