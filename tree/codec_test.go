package tree

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

// samples are the trees that are kept as files of this version, so that later
// versions can prove they still read them.
func samples(t testing.TB) map[string]*Tree {
	t.Helper()
	video := sampleVideo(t)
	video.Source.Created = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	video.Source.Title = "Maïs <trocken> & \"gut\" 玉米"
	video.Embedder, video.EmbedDim = "builtin-1", 2
	video.Roots[0].Embedding = []float32{0.6, 0.8}
	video.Roots[0].Children[0].Embedding = []float32{1, 0}
	video.Calls = Calls{L1: 1, L2: 2, L3: 2, Fallback: 3, TokensIn: 400, TokensOut: 50}
	video.Roots[0].Calls = Calls{L1: 1}

	cases := extractiveCases()
	build := func(m Material) *Tree {
		root, _, err := BuildStretch(context.Background(), Extractive{}, m, BuildOptions{})
		if err != nil {
			t.Fatal(err)
		}
		tr := &Tree{Source: m.Source, Models: map[string]string{"l2": "extractive"}, Roots: []*Node{root}}
		tr.Source.Collections = []string{"farm"}
		return tr
	}
	imported, err := ImportOriginal(bytes.NewReader(read(t, "testdata/original.json")))
	if err != nil {
		t.Fatal(err)
	}
	return map[string]*Tree{"video": video, "audio": build(cases["meeting"]), "document": build(cases["document"]), "imported": imported}
}

// The stored samples are never rewritten: a change that breaks them needs a
// new format number and code that still reads the old one.
func TestStoredSamplesStillRead(t *testing.T) {
	for name, want := range samples(t) {
		path := filepath.Join("testdata", "v0.1.0", name+".json")
		if _, err := os.Stat(path); err != nil && *update {
			b, err := json.MarshalIndent(want, "", " ")
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, append(b, '\n'), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		got, err := Read(bytes.NewReader(read(t, path)))
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		var node Node
		b, err := json.Marshal(got.Roots[0].Children[0])
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(b, &node); err != nil || !reflect.DeepEqual(&node, got.Roots[0].Children[0]) {
			t.Errorf("%s: a clip by itself does not go through: %v", name, err)
		}
		var file, again bytes.Buffer
		if err := json.Compact(&file, read(t, path)); err != nil {
			t.Fatal(err)
		}
		b, err = json.Marshal(got)
		if err != nil {
			t.Fatal(err)
		}
		again.Write(b)
		if file.String() != again.String() {
			t.Errorf("%s is written differently than it was read:\n%s\n%s", path, again.String(), file.String())
		}
	}
}

// randomTree makes any tree that validates.
func randomTree(r *rand.Rand) *Tree {
	text := func() string {
		words := []string{"", "maize", "玉米", "قال", "\"quote\"", "<b>&", "line\nbreak", "\u2028", "😀", "\\", "\t"}
		return strings.Repeat(words[r.IntN(len(words))]+" ", r.IntN(3))
	}
	t := &Tree{
		Source:   Source{ID: testVideo.ID, Tenant: text(), Kind: KindVideo, Title: text(), DurationMS: r.Int64N(1e6), Collections: []string{text()}, Created: time.Unix(r.Int64N(1e9), 0).UTC()},
		Embedder: text(), EmbedDim: r.IntN(4), Settings: text(), Calls: Calls{L2: r.IntN(9), TokensIn: r.IntN(999)},
	}
	if r.IntN(2) == 0 {
		t.Models = map[string]string{"l1": text(), "asr": text()}
		t.Imported = json.RawMessage(`{"a":[1,2]}`)
	}
	t.Roots = randomNodes(r, text, t, t.Source.ID+"/", L1, MS(0, 1e6))
	return t
}

func randomNodes(r *rand.Rand, text func() string, t *Tree, prefix string, level Level, outer Span) []*Node {
	var out []*Node
	number := 0
	for range r.IntN(4) {
		number += r.IntN(3)
		n := &Node{ID: fmt.Sprintf("%s%d", prefix, number), Level: level, Text: text(), Span: outer}
		number++
		if outer.Unit == UnitMS && outer.Duration() > 0 {
			start := outer.StartMS + r.Int64N(outer.Duration())
			n.Span = MS(start, start+r.Int64N(outer.EndMS-start+1))
		}
		switch {
		case r.IntN(9) == 0:
			n.Span = Span{Unit: UnitText, Page: r.IntN(3), Paragraph: r.IntN(5), StartChar: 1, EndChar: 1 + r.IntN(9)}
		case r.IntN(9) == 0:
			n.Span = Span{Unit: UnitRows, Table: r.IntN(3), RowStart: 2, RowEnd: 2 + r.IntN(4)}
		}
		if t.EmbedDim > 0 && r.IntN(2) == 0 {
			for range t.EmbedDim {
				n.Embedding = append(n.Embedding, r.Float32()*2-1)
			}
		}
		if r.IntN(2) == 0 {
			n.Evidence = Evidence{Title: text(), Passage: text(), FramePath: text(), Frame: &FrameRef{ID: "x", TimeMS: n.Span.StartMS}}
		}
		if r.IntN(2) == 0 {
			n.Evidence.Cues = []Cue{{1, 2, text(), text()}}
			n.Evidence.Rows = [][]string{{text()}, {text(), text()}}
		}
		if level < L3 {
			n.Calls = Calls{L1: r.IntN(2), L3: r.IntN(3)}
			n.Children = randomNodes(r, text, t, n.ID+".", level+1, n.Span)
		}
		out = append(out, n)
	}
	return out
}

func TestRoundTripProperty(t *testing.T) {
	for seed := range uint64(300) {
		want := randomTree(rand.New(rand.NewPCG(seed, 7)))
		b, err := json.Marshal(want)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		got, err := Read(bytes.NewReader(b))
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, b)
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("seed %d: got\n%+v\nwant\n%+v\n%s", seed, got, want, b)
		}
	}
}

const okTree = `{"metadata":{"format":1,"source":{"id":"aaaabbbbccccddddeeeeffff22"}},"embed_dim":2,"roots":[
{"id":"aaaabbbbccccddddeeeeffff22/0","summary":"s","time_range":[0,100],"embedding":[1,0],"children":[
{"id":"aaaabbbbccccddddeeeeffff22/0.0","description":"d","time_range":[0,50],"embedding":null,"children":[
{"id":"aaaabbbbccccddddeeeeffff22/0.0.0","description":"e","raw_content":null,"frame_path":null,"timestamp":0,"time_range":[0,20],"embedding":null,"evidence":{}}]}]}]}`

func TestDecodeIsStrict(t *testing.T) {
	if _, err := Read(strings.NewReader(okTree)); err != nil {
		t.Fatal(err)
	}
	id := testVideo.ID
	cases := []struct{ name, old, new, want string }{
		{"future format", `"format":1`, `"format":7,"shape":"round"`, "format 7, but this version reads only up to 1"},
		{"format 0", `"format":1`, `"format":0`, "format 0 does not exist"},
		{"no format", `"format":1,`, ``, "must be imported"},
		{"unknown field", `"summary":"s"`, `"summary":"s","mood":1`, `unknown field "mood"`},
		{"unknown field below", `"evidence":{}`, `"evidence":{"proof":1}`, `unknown field "proof"`},
		{"fourth level", `"evidence":{}`, `"evidence":{},"children":[]`, `unknown field "children"`},
		{"L2 with a summary", `"description":"d"`, `"summary":"d"`, "unknown field"},
		{"source id", `"source":{"id":"` + id, `"source":{"id":"../../etc/passwd`, "source id"},
		{"other source", id + `/0"`, testDoc.ID + `/0"`, "does not fit"},
		{"wrong parent", id + `/0.0.0"`, id + `/0.1.0"`, "does not fit"},
		{"not a number", id + `/0.0"`, id + `/0.x"`, "does not fit"},
		{"leading zero", id + `/0.0"`, id + `/0.00"`, "does not fit"},
		{"negative", id + `/0"`, id + `/-1"`, "does not fit"},
		{"deeper id", id + `/0.0"`, id + `/0.0.0"`, "does not fit"},
		{"outside its parent", `[0,50]`, `[0,101]`, "outside its parent"},
		{"before its parent", `"time_range":[0,50]`, `"time_range":[-1,50]`, "negative"},
		{"reversed", `[0,20]`, `[20,0]`, "ends before it starts"},
		{"three times", `[0,20]`, `[0,20,30]`, "wants [start_ms, end_ms]"},
		{"fraction", `[0,20]`, `[0,20.5]`, "20.5"},
		{"no place", `"time_range":[0,20],`, ``, "ends before it starts or is negative"},
		{"two places", `"time_range":[0,20]`, `"time_range":[0,20],"span":{"paragraph":1,"page":0}`, "negative"},
		{"media span as span", `"time_range":[0,20]`, `"span":{"start_ms":0,"end_ms":20}`, "negative"},
		{"mixed span", `"time_range":[0,20]`, `"span":{"start_ms":0,"end_ms":20,"paragraph":1}`, "needs either"},
		{"unknown span field", `"time_range":[0,20]`, `"span":{"paragraph":1,"line":2}`, `unknown field "line"`},
		{"vector length", `[1,0]`, `[1,0,0]`, "has 3 numbers, not 2"},
		{"empty vector", `[1,0]`, `[]`, "has 0 numbers"},
		{"vector range", `[1,0]`, `[1e99,0]`, "1e99"},
		{"dimension", `"embed_dim":2`, `"embed_dim":-2`, "not supported"},
		{"huge dimension", `"embed_dim":2`, `"embed_dim":99999`, "not supported"},
		{"two values", `]}]}]}`, `]}]}]}{}`, "after top-level value"},
		{"cut off", `]}]}]}`, `]}]}`, "unexpected end"},
	}
	for _, c := range cases {
		if !strings.Contains(okTree, c.old) {
			t.Fatalf("%s: the case changes nothing", c.name)
		}
		_, err := Read(strings.NewReader(strings.Replace(okTree, c.old, c.new, 1)))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", c.name, err, c.want)
		}
	}
}

func TestDecodeIsBounded(t *testing.T) {
	for name, file := range map[string]string{
		"deep":          strings.Repeat(`{"a":`, 100000),
		"many objects":  `{"metadata":{"format":1},"roots":[` + strings.Repeat("{},", maxObjects),
		"many arrays":   `{"metadata":{"format":1},"roots":[` + strings.Repeat("[],", maxArrays),
		"huge text":     strings.Replace(okTree, `"d"`, `"`+strings.Repeat("x", MaxText+1)+`"`, 1),
		"not json":      "\x00\x01",
		"open string":   `{"metadata":"`,
		"open escape":   `{"metadata":"\`,
		"null":          "null",
		"closes itself": "]]]]}}}}",
	} {
		if _, err := Read(strings.NewReader(file)); err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
	endless := strings.NewReader(strings.Repeat(" ", 1000))
	if _, err := readBounded(endless, 999); err == nil {
		t.Error("a file past the limit was read")
	}
	// Braces inside texts are no structure.
	braces := strings.Replace(okTree, `"d"`, `"`+strings.Repeat(`{[\"`, 50)+`"`, 1)
	if _, err := Read(strings.NewReader(braces)); err != nil {
		t.Errorf("braces in a text: %v", err)
	}
}

// An error leaves the tree as it was; so a half-read file is never shown.
func TestDecodeErrorChangesNothing(t *testing.T) {
	tr := Tree{Settings: "before"}
	if err := json.Unmarshal([]byte(strings.Replace(okTree, `[0,50]`, `[0,500]`, 1)), &tr); err == nil || tr.Settings != "before" || tr.Roots != nil {
		t.Errorf("error %v, tree %+v", err, tr)
	}
}

func TestEncodeRefusesContradictions(t *testing.T) {
	for name, spoil := range map[string]func(*Tree){
		"foreign id":  func(t *Tree) { t.Roots[0].Children[0].ID = NodeID(testDoc.ID, 0, 0) },
		"wrong level": func(t *Tree) { t.Roots[0].Children[0].Level = L3 },
		"same number": func(t *Tree) { t.Roots[0].Children[1].ID = t.Roots[0].Children[0].ID },
		"wrong order": func(t *Tree) {
			c := t.Roots[0].Children
			c[0], c[1] = c[1], c[0]
		},
		"nil child":     func(t *Tree) { t.Roots[0].Children[1] = nil },
		"deep":          func(t *Tree) { t.Roots[0].Children[0].Children[0].Children = []*Node{{}} },
		"outside":       func(t *Tree) { t.Roots[0].Children[1].Span.EndMS = 1e9 },
		"vector":        func(t *Tree) { t.Roots[0].Embedding = []float32{1} },
		"without an id": func(t *Tree) { t.Source.ID = "" },
	} {
		tr := sampleVideo(t)
		spoil(tr)
		if _, err := json.Marshal(tr); err == nil {
			t.Errorf("%s was written", name)
		}
	}
	if _, err := json.Marshal(&Node{ID: "nonsense"}); err == nil {
		t.Error("a node without a real id was written")
	}
	for _, bad := range []string{`{}`, `{"id":"x"}`, `[]`, `{"id":"aaaabbbbccccddddeeeeffff22/0.0","summary":"x","time_range":[0,1]}`} {
		if err := json.Unmarshal([]byte(bad), new(Node)); err == nil {
			t.Errorf("node %s was read", bad)
		}
	}
}

// While an ingest runs, clips are missing: numbers stay, positions do not.
func TestFindWithGaps(t *testing.T) {
	tr := sampleVideo(t)
	tr.Roots[0].Children = tr.Roots[0].Children[1:]
	b, err := json.Marshal(tr)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Read(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	if n := got.Find([]int{0, 1, 2}); n == nil || n.ID != NodeID(testVideo.ID, 0, 1, 2) {
		t.Errorf("found %v", n)
	}
	for _, path := range [][]int{{0, 0}, {1}, {0, 1, 9}, {-1}, {0, 1, 2, 0}, nil} {
		if n := got.Find(path); n != nil {
			t.Errorf("found %v at %v", n, path)
		}
	}
}

func FuzzTree(f *testing.F) {
	f.Add([]byte(okTree))
	files, err := filepath.Glob("testdata/v0.1.0/*.json")
	if err != nil || len(files) == 0 {
		f.Fatal("no samples", err)
	}
	for _, file := range files {
		f.Add(read(f, file))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		tr, err := Read(bytes.NewReader(b))
		if err != nil {
			return
		}
		one, err := json.Marshal(tr)
		if err != nil {
			t.Fatalf("a tree that was read cannot be written: %v", err)
		}
		again, err := Read(bytes.NewReader(one))
		if err != nil {
			t.Fatalf("a tree that was written cannot be read: %v", err)
		}
		two, err := json.Marshal(again)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(one, two) {
			t.Fatalf("written twice, two texts:\n%s\n%s", one, two)
		}
	})
}
