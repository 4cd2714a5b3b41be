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

// otherDim is the dimension of another embedder than testEmbed.
const otherDim = 48

// otherEmbed is one that counts the texts it was given.
type otherEmbed struct {
	texts  atomic.Int64
	before func() error // of each call; may be nil
}

func (o *otherEmbed) embed(ctx context.Context, texts []string) ([][]float32, error) {
	if o.before != nil {
		if err := o.before(); err != nil {
			return nil, err
		}
	}
	o.texts.Add(int64(len(texts)))
	out, err := testEmbed(ctx, texts)
	for i := range out {
		out[i] = out[i][:otherDim]
	}
	return out, err
}

// openOther opens a kept engine with another embedder.
func openOther(t *testing.T, dir string, s shelf, o *otherEmbed) *Engine {
	t.Helper()
	e, err := Open(Config{Dir: dir, Embed: o.embed, EmbedderName: "other", Dim: otherDim, Trees: s.trees})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// staleLibrary keeps an index of trees and opens it with another embedder.
func staleLibrary(t *testing.T, o *otherEmbed, trees ...*tree.Tree) (e *Engine, dir string, s shelf) {
	t.Helper()
	dir, s = t.TempDir(), shelfOf(trees...)
	e = keptEngine(t, dir, s)
	for _, tr := range trees {
		if err := e.AddTree(t.Context(), tr); err != nil {
			t.Fatal(err)
		}
	}
	mustClose(t, e)
	return openOther(t, dir, s, o), dir, s
}

// wordsAlone reports that a question is answered, and by words alone.
func wordsAlone(t *testing.T, e *Engine, scope Scope) bool {
	t.Helper()
	v, err := e.cfg.Embed(t.Context(), []string{"kilometres"})
	if err != nil {
		t.Fatal(err)
	}
	both, err := e.enter(t.Context(), &question{text: "kilometres", terms: readQuestion("kilometres"), vector: v[0]}, scope)
	if err != nil || len(both) == 0 {
		t.Fatalf("the index does not answer: %v, %v", both, err)
	}
	words, err := e.enter(t.Context(), &question{text: "kilometres", terms: readQuestion("kilometres"), vector: make([]float32, otherDim)}, scope)
	if err != nil {
		t.Fatal(err)
	}
	return slices.Equal(nodes(both), nodes(words))
}

// Renewing needs the kept texts alone: no tree is read, each node is embedded once.
func TestRenewMakesVectorsAnewFromWhatIsKept(t *testing.T) {
	var o otherEmbed
	e, dir, s := staleLibrary(t, &o, lens, bread, harvest)
	clear(s) // no tree is to be had
	all := Scope{Tenant: "default"}
	for _, tr := range []*tree.Tree{lens, bread, harvest} {
		id := tr.Source.ID
		if !e.Stale("default", id) || e.Has("default", id) || !wordsAlone(t, e, all) {
			t.Errorf("%s before: stale %v, has %v", id, e.Stale("default", id), e.Has("default", id))
		}
		if err := e.Renew(t.Context(), "default", id); err != nil {
			t.Fatal(err)
		}
		if e.Stale("default", id) || !e.Has("default", id) {
			t.Errorf("%s is still stale", id)
		}
	}
	if wordsAlone(t, e, all) {
		t.Error("with every source renewed the vectors are not looked at")
	}
	nodes, embedded := e.words.Len(), o.texts.Load()
	if e.vectors.Len() != nodes {
		t.Errorf("%d vectors of %d nodes", e.vectors.Len(), nodes)
	}
	mustClose(t, e)
	e = openOther(t, dir, s, &o)
	defer mustClose(t, e)
	if e.Stale("default", lens.Source.ID) || e.vectors.Len() != nodes || e.words.Len() != nodes || o.texts.Load() != embedded {
		t.Errorf("after opening again: %d vectors, %d nodes, %d texts embedded of %d", e.vectors.Len(), e.words.Len(), o.texts.Load(), embedded)
	}
}

// A question whose sources are all renewed uses vectors while others wait.
func TestRenewedSourcesAreSearchedByVectorsAtOnce(t *testing.T) {
	var o otherEmbed
	e, _, _ := staleLibrary(t, &o, lens, bread)
	defer mustClose(t, e)
	own := Scope{Tenant: "default", Sources: []string{lens.Source.ID}}
	if !wordsAlone(t, e, own) {
		t.Error("vectors of another embedder are looked at")
	}
	if err := e.Renew(t.Context(), "default", lens.Source.ID); err != nil {
		t.Fatal(err)
	}
	if wordsAlone(t, e, own) || !wordsAlone(t, e, Scope{Tenant: "default"}) {
		t.Error("a renewed source is not searched by vectors, or one beside a stale one is")
	}
}

// Stopped or failing in the middle, a source stays as it was, and what was
// renewed before is not made again.
func TestRenewGoesOnWhereItStopped(t *testing.T) {
	var o otherEmbed
	e, dir, s := staleLibrary(t, &o, lens, bread)
	if err := e.Renew(t.Context(), "default", lens.Source.ID); err != nil {
		t.Fatal(err)
	}
	once := o.texts.Load()
	down := errors.New("the embedder is down")
	o.before = func() error { return down }
	if err := e.Renew(t.Context(), "default", bread.Source.ID); !errors.Is(err, down) || !e.Stale("default", bread.Source.ID) {
		t.Errorf("a failing embedder gave %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	o.before = nil
	if err := e.Renew(ctx, "default", bread.Source.ID); !errors.Is(err, context.Canceled) || !e.Stale("default", bread.Source.ID) {
		t.Errorf("a stopped renewal gave %v", err)
	}
	name := e.store.name("default", bread.Source.ID)
	mustClose(t, e)
	if err := os.WriteFile(name+".new", []byte("half a file, as a crash leaves it"), 0o600); err != nil {
		t.Fatal(err)
	}
	e = openOther(t, dir, s, &o)
	defer mustClose(t, e)
	if e.Stale("default", lens.Source.ID) || !e.Stale("default", bread.Source.ID) || o.texts.Load() != once {
		t.Errorf("after a crash: %v %v, %d texts embedded of %d", e.Stale("default", lens.Source.ID), e.Stale("default", bread.Source.ID), o.texts.Load(), once)
	}
	if err := e.Renew(t.Context(), "default", bread.Source.ID); err != nil || e.vectors.Len() != 5 {
		t.Errorf("%d vectors, %v", e.vectors.Len(), err)
	}
}

// A source that goes away or is added to while it is renewed stays right.
func TestRenewBesideAWriter(t *testing.T) {
	for name, change := range map[string]func(e *Engine) error{
		"removed": func(e *Engine) error { return e.Remove(context.Background(), "default", lens.Source.ID) },
		"renewed by another": func(e *Engine) error {
			return e.Renew(context.Background(), "default", lens.Source.ID)
		},
		"added to": func(e *Engine) error { return e.AddTree(context.Background(), lens) },
	} {
		var o otherEmbed
		e, _, _ := staleLibrary(t, &o, lens, bread)
		var begun atomic.Bool
		o.before = func() error {
			if begun.Swap(true) {
				return nil
			}
			return change(e)
		}
		if err := e.Renew(t.Context(), "default", lens.Source.ID); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		want := 3
		if name == "removed" {
			want = 0
		}
		if e.vectors.Len() != want || e.words.Len() != want+2 || e.Stale("default", lens.Source.ID) {
			t.Errorf("%s: %d vectors and %d words", name, e.vectors.Len(), e.words.Len())
		}
		mustClose(t, e)
	}
}

func TestRenewGivesUpWhatIsDamaged(t *testing.T) {
	var o otherEmbed
	e, _, _ := staleLibrary(t, &o, lens, bread)
	defer mustClose(t, e)
	if err := os.WriteFile(e.store.name("default", lens.Source.ID), []byte("damaged"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := e.Renew(t.Context(), "default", lens.Source.ID); err != nil || e.Stale("default", lens.Source.ID) || len(e.Indexed("default", lens.Source.ID)) != 0 {
		t.Errorf("%v", err)
	}
	if err := e.AddTree(t.Context(), lens); err != nil || !e.Has("default", lens.Source.ID) {
		t.Errorf("it cannot be added again: %v", err)
	}
}

// Questions are answered all the time while sources are renewed.
func TestAnswersWhileRenewing(t *testing.T) {
	var o otherEmbed
	e, _, _ := staleLibrary(t, &o, lens, bread, harvest)
	defer mustClose(t, e)
	stop := beside(3, func() bool {
		r, err := e.Query(t.Context(), Query{Text: "light seen from thirty kilometres", Scope: Scope{Tenant: "default"}}, nil)
		if err != nil || len(r.Items) == 0 {
			t.Errorf("no answer while vectors are made anew: %v", err)
			return false
		}
		return true
	})
	for _, tr := range []*tree.Tree{lens, bread, harvest} {
		if err := e.Renew(t.Context(), "default", tr.Source.ID); err != nil {
			t.Error(err)
		}
	}
	stop()
}
