//go:build e2e

package e2e

import (
	little "encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/reeltree/reeltree/internal/testkit"
)

// The library that is taken over by another embedder, in the order in which
// that happens: films, and between them a document whose nodes are more than
// one call embeds.
const (
	renewFilms = 7
	renewBook  = 3 // how many films lie before the document
)

// book is a document of twenty parts of three sections each.
func book(t *testing.T) string {
	t.Helper()
	var text strings.Builder
	for part := range 20 {
		fmt.Fprintf(&text, "# Part %d\n\n", part+1)
		for i := range 3 {
			n := 3*part + i
			fmt.Fprintf(&text, "## Lamp %d\n\nThe lamp with the number %d shines for %d hours. Its keeper lives on island %d.\n\n", n, n, 200+n, 500+n)
		}
	}
	file := filepath.Join(t.TempDir(), "lamps.md")
	if err := os.WriteFile(file, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// shelf is a library in a folder, ingested and then killed: what its sources
// are called, in the order of their making, and what they looked like.
type shelf struct {
	data  string
	ids   []string
	trees map[string]string // as `show --json` gives them
	kept  map[string]keptSource
}

func newShelf(t *testing.T) shelf {
	t.Helper()
	e, lib := testkit.NewEndpoint(t), shelf{data: t.TempDir(), trees: map[string]string{}}
	s := serve(t, lib.data, visionArgs(e)...)
	for _, file := range slices.Insert(clipsOf(t, renewFilms), renewBook, book(t)) {
		lib.ids = append(lib.ids, upload(t, s, file))
	}
	for id, state := range ended(t, s, len(lib.ids)) {
		if state != "done" {
			t.Fatalf("%s is %s", id, state)
		}
		lib.trees[id] = must(t, "show", "--server", s.addr, "--json", id)
	}
	s.kill()
	lib.kept = keptIndex(t, lib.data)
	if e.Count() == 0 || len(lib.kept) != len(lib.ids) {
		t.Fatalf("%d calls, %d of %d sources in the index", e.Count(), len(lib.kept), len(lib.ids))
	}
	return lib
}

// keptSource is what the index keeps on disk of a source.
type keptSource struct {
	Embedder string
	Dim      int
	texts    map[string]string // by node
	vectors  map[string][]float32
}

// keptIndex reads the search index of a data folder, which a service may be
// changing: records of length, checksum and payload, a header first, then JSON
// with its vectors behind it.
func keptIndex(t *testing.T, data string) map[string]keptSource {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(data, "index", "entries", "*.entries"))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]keptSource{}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if errors.Is(err, os.ErrNotExist) {
			continue // deleted meanwhile
		}
		if err != nil {
			t.Fatal(err)
		}
		var source string
		k := keptSource{texts: map[string]string{}, vectors: map[string][]float32{}}
		for n := 0; len(b) > 8; n++ {
			size := little.LittleEndian.Uint32(b)
			payload := b[8 : 8+size]
			b = b[8+size:]
			if n > 0 {
				k.record(t, payload)
				continue
			}
			var head struct {
				Source, Embedder string
				Dim              int
			}
			if err := json.Unmarshal(payload, &head); err != nil {
				t.Fatal(err)
			}
			source, k.Embedder, k.Dim = head.Source, head.Embedder, head.Dim
		}
		all[source] = k
	}
	return all
}

func (k *keptSource) record(t *testing.T, b []byte) {
	t.Helper()
	size := little.LittleEndian.Uint32(b)
	doc, vectors := b[4:4+size], b[4+size:]
	var added struct{ Nodes []struct{ ID, Text string } }
	if err := json.Unmarshal(doc, &added); err != nil {
		t.Fatal(err)
	}
	for _, n := range added.Nodes {
		v := make([]float32, k.Dim)
		for d := range v {
			v[d] = math.Float32frombits(little.LittleEndian.Uint32(vectors[4*d:]))
		}
		k.texts[n.ID], k.vectors[n.ID], vectors = n.Text, v, vectors[4*k.Dim:]
	}
}

const bookQuestion = "For how many hours does the lamp with the number 23 shine?"

// questionFor asks for what the source at a place of the shelf alone says.
func questionFor(at int) string {
	if at == renewBook {
		return bookQuestion
	}
	if at > renewBook {
		at--
	}
	return fmt.Sprintf("Which film ends with the number %d?", 1000+at)
}

// embedded is the source whose nodes a call embeds for the index, "" where it
// is for a question or for the sentences of a tree.
func (l shelf) embedded(c testkit.Call) string {
	if len(c.Inputs) < 2 {
		return ""
	}
	for source, k := range l.kept {
		texts := map[string]bool{}
		for _, text := range k.texts {
			texts[text] = true
		}
		if !slices.ContainsFunc(c.Inputs, func(text string) bool { return !texts[text] }) {
			return source
		}
	}
	return ""
}
