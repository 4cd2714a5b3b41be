package retrieve

import (
	"bufio"
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/reeltree/reeltree/tree"
)

// kept opens an engine in a folder over trees that are not added.
func keptEngine(t *testing.T, dir string, s shelf) *Engine {
	t.Helper()
	e, err := Open(Config{Dir: dir, Embed: testEmbed, EmbedderName: "test", Dim: 64, Trees: s.trees})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func mustClose(t *testing.T, e *Engine) {
	t.Helper()
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
}

func shelfOf(trees ...*tree.Tree) shelf {
	s := shelf{}
	for _, tr := range trees {
		s[tr.Source.Tenant+"/"+tr.Source.ID] = tr
	}
	return s
}

// foundIn lists the sources whose nodes both indexes give for a question.
func foundIn(t *testing.T, e *Engine, text string) (words, vectors []string) {
	t.Helper()
	v, err := testEmbed(t.Context(), []string{text})
	if err != nil {
		t.Fatal(err)
	}
	list := func(hits []Hit) (out []string) {
		for _, h := range hits {
			if h.Score > .05 && !slices.Contains(out, h.Source) {
				out = append(out, h.Source)
			}
		}
		slices.Sort(out)
		return out
	}
	p := Probe{Text: text, Vector: v[0]}
	return list(mustSearch(t, e.words, p, 50, Scope{Tenant: "default"})), list(mustSearch(t, e.vectors, p, 50, Scope{Tenant: "default"}))
}

func TestEngineOpensWhatItKept(t *testing.T) {
	dir, s := t.TempDir(), shelfOf(lens, bread)
	e := keptEngine(t, dir, s)
	for _, tr := range s {
		if err := e.AddTree(t.Context(), tr); err != nil {
			t.Fatal(err)
		}
	}
	if err := e.AddTree(t.Context(), lens); err != nil { // again: replaces
		t.Fatal(err)
	}
	want := find(t, e, Query{Text: "light seen from thirty kilometres"})
	indexed := e.Indexed("default", lens.Source.ID)
	mustClose(t, e)

	e = keptEngine(t, dir, s)
	defer mustClose(t, e)
	if !e.Has("default", lens.Source.ID) || !e.Has("default", bread.Source.ID) || len(indexed) != 3 || len(e.Indexed("default", lens.Source.ID)) != 3 {
		t.Errorf("after opening: %v, before: %v", e.Indexed("default", lens.Source.ID), indexed)
	}
	if e.words.Len() != 5 || e.vectors.Len() != 5 {
		t.Errorf("%d and %d entries instead of 5", e.words.Len(), e.vectors.Len())
	}
	if got := find(t, e, Query{Text: "light seen from thirty kilometres"}); len(got.Items) == 0 || got.Items[0].Quote != want.Items[0].Quote || got.Items[0].Score != want.Items[0].Score {
		t.Errorf("after opening %+v, before %+v", got.Items, want.Items)
	}
	if err := e.Remove(t.Context(), "default", lens.Source.ID); err != nil {
		t.Fatal(err)
	}
	mustClose(t, e)
	e = keptEngine(t, dir, s)
	if words, vectors := foundIn(t, e, "kilometres"); e.Has("default", lens.Source.ID) || len(words)+len(vectors) != 0 {
		t.Errorf("a removed source is back: %v %v", words, vectors)
	}
}

func TestKeywordFolderIsMadeAnew(t *testing.T) {
	dir, s := t.TempDir(), shelfOf(lens, bread)
	e := keptEngine(t, dir, s)
	for _, tr := range s {
		if err := e.AddTree(t.Context(), tr); err != nil {
			t.Fatal(err)
		}
	}
	mustClose(t, e)
	if err := os.RemoveAll(filepath.Join(dir, "keywords")); err != nil {
		t.Fatal(err)
	}
	e = keptEngine(t, dir, s)
	defer mustClose(t, e)
	if words, _ := foundIn(t, e, "kilometres"); !slices.Equal(words, []string{lens.Source.ID}) || e.words.Len() != 5 {
		t.Errorf("found in %v of %d", words, e.words.Len())
	}
}

// A store file cut or flipped anywhere never stops the engine from opening,
// and never leaves a source half searchable without saying so.
func TestStoreFileCutOrFlippedAnywhere(t *testing.T) {
	dir, s := t.TempDir(), shelfOf(bread)
	e := keptEngine(t, dir, s)
	src := bread.Source
	for _, n := range append([]*tree.Node{bread.Roots[0]}, bread.Roots[0].Children...) { // one record each
		if err := e.Add(t.Context(), src, []*tree.Node{n}); err != nil {
			t.Fatal(err)
		}
	}
	mustClose(t, e)
	name := e.store.name(src.Tenant, src.ID)
	whole, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	check := func(at int, spoiled []byte) {
		t.Helper()
		overwrite(t, name, string(spoiled))
		st, err := openStore(dir, "test", 64, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = st.close() }()
		n := 0
		err = st.load(func(k kept) error {
			n += len(k.entries)
			for _, e := range k.entries {
				if e.Text == "" || checkVector(e.Vector, 64) != nil {
					t.Errorf("place %d: a torn entry %q", at, e.Node)
				}
			}
			return nil
		})
		if err != nil || n > 2 {
			t.Errorf("place %d: %d entries, %v", at, n, err)
		}
		if n == 2 && len(spoiled) < len(whole) {
			t.Errorf("cut at %d of %d: nothing is missing", at, len(whole))
		}
		if n == 1 { // the good beginning goes on from here
			if _, err := st.append(src, []Entry{{Tenant: src.Tenant, Source: src.ID, Node: "x/0", Text: "x", Vector: make([]float32, 64)}}); err != nil {
				t.Error(err)
			}
			if k, err := st.read(name); err != nil || len(k.entries) != 2 {
				t.Errorf("place %d: after going on %d entries, %v", at, len(k.entries), err)
			}
		}
	}
	for i := range 60 {
		at := i * len(whole) / 60
		check(at, whole[:at])
		flipped := bytes.Clone(whole)
		flipped[at] ^= 0x40
		check(at, flipped)
	}
}

// Another embedder: words still find, vectors wait until the source is added again.
func TestAnotherEmbedderMakesVectorsAnew(t *testing.T) {
	dir, s := t.TempDir(), shelfOf(lens)
	e := keptEngine(t, dir, s)
	if err := e.AddTree(t.Context(), lens); err != nil {
		t.Fatal(err)
	}
	mustClose(t, e)
	open := func() *Engine {
		e, err := Open(Config{Dir: dir, Embed: testEmbed, EmbedderName: "other", Dim: 64, Trees: s.trees})
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	e = open()
	words, vectors := foundIn(t, e, "kilometres")
	if e.Has("default", lens.Source.ID) || len(words) != 1 || len(vectors) != 0 || len(e.Indexed("default", lens.Source.ID)) != 0 {
		t.Errorf("with another embedder: has %v, words %v, vectors %v", e.Has("default", lens.Source.ID), words, vectors)
	}
	if err := e.AddTree(t.Context(), lens); err != nil {
		t.Fatal(err)
	}
	mustClose(t, e)
	e = open()
	defer mustClose(t, e)
	if _, vectors := foundIn(t, e, "kilometres"); !e.Has("default", lens.Source.ID) || len(vectors) != 1 || e.vectors.Len() != 3 || e.words.Len() != 3 {
		t.Errorf("after adding again: %v of %d and %d", vectors, e.vectors.Len(), e.words.Len())
	}
}

func TestFolderIsOpenOnce(t *testing.T) {
	dir := t.TempDir()
	e := keptEngine(t, dir, shelf{})
	if _, err := Open(Config{Dir: dir, Embed: testEmbed, Dim: 64, Trees: shelf{}.trees}); err == nil || !strings.Contains(err.Error(), "another process") {
		t.Errorf("the second opener got %v", err)
	}
	mustClose(t, e)
	mustClose(t, keptEngine(t, dir, shelf{}))
}

func TestFailedWritesLeaveTheEngineAsItWas(t *testing.T) {
	if os.Getuid() == 0 {
		t.Log("as root no folder refuses a write; a file in its place does")
	}
	dir := t.TempDir()
	e := keptEngine(t, dir, shelfOf(lens))
	defer mustClose(t, e)
	name := e.store.name("default", lens.Source.ID)
	if err := os.Mkdir(name, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := e.AddTree(t.Context(), lens); err == nil || e.Has("default", lens.Source.ID) || e.vectors.Len() != 0 {
		t.Errorf("a failed write gave %v, %d vectors", err, e.vectors.Len())
	}
}

func FuzzReadRecords(f *testing.F) {
	src := bread.Source
	payload, err := encodeAdded(src, []Entry{{Tenant: src.Tenant, Source: src.ID, Node: "n/0", Text: "text", Vector: make([]float32, 2)}})
	if err != nil {
		f.Fatal(err)
	}
	var good bytes.Buffer
	writeRecord(&good, []byte(`{"format":1,"tenant":"default","source":"`+src.ID+`","embedder":"e","dim":2}`))
	writeRecord(&good, payload)
	f.Add(good.Bytes())
	f.Add(payload)
	f.Fuzz(func(t *testing.T, data []byte) {
		s := &store{embedder: "e", dim: 2, log: slog.New(slog.DiscardHandler)}
		k, whole, _ := s.readRecords(bufio.NewReader(bytes.NewReader(data)))
		if whole > int64(len(data)) {
			t.Errorf("%d good bytes of %d", whole, len(data))
		}
		for _, e := range k.entries {
			if !k.stale && checkVector(e.Vector, 2) != nil {
				t.Error("a bad vector came through")
			}
		}
		_, _, _ = decodeAdded(data, 2) // must not panic on what no checksum vouched for
	})
}
