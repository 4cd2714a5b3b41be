package tree

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

func read(t testing.TB, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// withoutIDs is a file as plain values with every id taken out: ids are the
// one thing an import replaces.
func withoutIDs(t testing.TB, b []byte) any {
	t.Helper()
	var v any
	if err := json.Unmarshal(b, &v); err != nil {
		t.Fatal(err)
	}
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			delete(v, "id")
			for _, c := range v {
				walk(c)
			}
		case []any:
			for _, c := range v {
				walk(c)
			}
		}
	}
	walk(v)
	return v
}

func TestOriginalGoesThroughFieldForField(t *testing.T) {
	for _, name := range []string{"original.json", "original-document.json"} {
		t.Run(name, func(t *testing.T) {
			file := read(t, "testdata/"+name)
			tr, err := ImportOriginal(bytes.NewReader(file))
			if err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			if err := ExportOriginal(&out, tr); err != nil {
				t.Fatal(err)
			}
			sameJSON(t, withoutIDs(t, out.Bytes()), withoutIDs(t, file))

			stored, err := json.Marshal(tr)
			if err != nil {
				t.Fatal(err)
			}
			back, err := Read(bytes.NewReader(stored))
			if err != nil {
				t.Fatal(err)
			}
			var again bytes.Buffer
			if err := ExportOriginal(&again, back); err != nil {
				t.Fatal(err)
			}
			if again.String() != out.String() {
				t.Error("storing an imported tree changes its export")
			}
		})
	}
}

func TestImportOriginalVideo(t *testing.T) {
	tr, err := ImportOriginal(bytes.NewReader(read(t, "testdata/original.json")))
	if err != nil {
		t.Fatal(err)
	}
	s := tr.Source
	if s.Title != "Maize silo" || s.Kind != KindVideo || s.DurationMS != 42500 || s.State != StateDone || s.Nodes != (Counts{1, 2, 3}) {
		t.Errorf("source = %+v", s)
	}
	if tr.EmbedDim != 3 || tr.Embedder != "mini-3" {
		t.Errorf("vectors: %d, %q", tr.EmbedDim, tr.Embedder)
	}
	clip := tr.Find([]int{0, 0})
	if clip.ID != NodeID(s.ID, 0, 0) || clip.Span != MS(0, 20250) || clip.Text != "Anna opens the silo and measures the moisture." {
		t.Errorf("clip = %+v", clip)
	}
	first, second := clip.Children[0], clip.Children[1]
	if first.Span != MS(0, 12125) || second.Span != MS(12125, 20250) {
		t.Errorf("moments at %v and %v", first.Span, second.Span)
	}
	if first.ID != NodeID(s.ID, 0, 0, 0) || first.Transcript() != "Let us look inside." || first.Evidence.FramePath != "frames/f_0000.jpg" || first.Evidence.Frame != nil {
		t.Errorf("moment = %+v", first)
	}
	if len(second.Evidence.Cues) != 0 || second.Embedding[2] != 1 {
		t.Errorf("moment = %+v", second)
	}
}

func TestImportOriginalDocument(t *testing.T) {
	tr, err := ImportOriginal(bytes.NewReader(read(t, "testdata/original-document.json")))
	if err != nil {
		t.Fatal(err)
	}
	if tr.Source.Kind != KindDocument || tr.Source.Title != "harvest.md" || tr.Source.Language != "en" || tr.Source.DurationMS != 0 {
		t.Errorf("source = %+v", tr.Source)
	}
	l := tr.Find([]int{0, 1, 0})
	if l.Span != (Span{Unit: UnitText, Paragraph: 3, EndChar: 22}) || l.Evidence.Passage != "Losses were 8 percent." {
		t.Errorf("passage = %+v", l)
	}
	if n := tr.Find([]int{0, 1}); n.Span != (Span{Unit: UnitText, Paragraph: 3}) {
		t.Errorf("section at %+v", n.Span)
	}
}

// keys lists the fields of the first object found along a path of children.
func keys(t *testing.T, v any) []string {
	t.Helper()
	m, ok := v.(map[string]any)
	if !ok {
		t.Fatalf("%v is no object", v)
	}
	var out []string
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// A tree that was built here has exactly the fields of the original format.
func TestExportOriginalFields(t *testing.T) {
	tr := sampleVideo(t)
	var out bytes.Buffer
	if err := ExportOriginal(&out, tr); err != nil {
		t.Fatal(err)
	}
	var v map[string]any
	if err := json.Unmarshal(out.Bytes(), &v); err != nil {
		t.Fatal(err)
	}
	child := func(v any) any { return v.(map[string]any)["children"].([]any)[0] }
	l1 := v["roots"].([]any)[0]
	l2 := child(l1)
	l3 := child(l2)
	for _, c := range []struct {
		what string
		got  any
		want string
	}{
		{"tree", v, "[embed_dim metadata roots]"},
		{"L1", l1, "[children embedding id summary time_range]"},
		{"L2", l2, "[children description embedding id time_range]"},
		{"L3", l3, "[description embedding frame_path id raw_content timestamp]"},
	} {
		if got := fmt.Sprint(keys(t, c.got)); got != c.want {
			t.Errorf("%s has the fields %s, want %s", c.what, got, c.want)
		}
	}
	if got := fmt.Sprint(l2.(map[string]any)["time_range"]); got != "[0 25]" {
		t.Errorf("time range in seconds = %s", got)
	}
	if got := l3.(map[string]any)["raw_content"]; got != "Clip 0 is about drying." {
		t.Errorf("raw content = %v", got)
	}
	golden(t, out.String(), "export-original.json")
}

func TestImportOriginalOddFiles(t *testing.T) {
	cases := []struct{ name, file, want string }{
		{"empty", ``, "not a description-tree file"},
		{"text", `hello`, "not a description-tree file"},
		{"array", `[]`, "not a description-tree file"},
		{"no roots", `{"metadata":{}}`, "has no roots"},
		{"roots of text", `{"roots":["a"]}`, "not a description-tree file"},
		{"years", `{"roots":[{"id":"x","time_range":[0,1e12]}]}`, `"x": 1e+12 seconds`},
		{"one number", `{"roots":[{"id":"x","time_range":[1]}]}`, "wants [start, end]"},
		{"wrong dimension", `{"embed_dim":2,"roots":[{"embedding":[1,0,0]}]}`, "has 3 numbers, not 2"},
		{"deep", strings.Repeat("[", 5000), "nested too deeply"},
		{"many", `{"roots":[` + strings.Repeat("{},", maxObjects+1) + `{}]}`, "too many values"},
		{"no roots", `{"roots":[]}`, "is empty"},
		{"metadata", `{"metadata":"` + strings.Repeat("x", maxImportMetadata) + `","roots":[]}`, "the metadata has"},
	}
	for _, c := range cases {
		_, err := ImportOriginal(strings.NewReader(c.file))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", c.name, err, c.want)
		}
	}
}

// Sloppy times are put right, never refused: they are somebody's data.
func TestImportOriginalMendsTimes(t *testing.T) {
	file := `{"metadata":null,"roots":[
	 {"id":7e1,"summary":"a"}]}`
	if _, err := ImportOriginal(strings.NewReader(file)); err == nil {
		t.Error("an id that is no text was accepted")
	}
	file = `{"extra":1,"roots":[
	 {"id":"","summary":"no range","children":[
	  {"id":"a","description":"none either","children":[{"timestamp":3},{"timestamp":8},{"timestamp":5},{"timestamp":null},{"timestamp":9.9996}]},
	  {"id":"a","description":"reversed","time_range":[20,15],"children":[{"timestamp":-4},{"timestamp":400}]}]},
	 {"id":"a","time_range":[30,40],"children":[{"time_range":[35,99]},{}]}]}`
	tr, err := ImportOriginal(strings.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range tr.Roots {
		got = append(got, fmt.Sprintf("%d-%d", r.Span.StartMS, r.Span.EndMS))
		for _, c := range r.Children {
			got = append(got, fmt.Sprintf("(%d-%d", c.Span.StartMS, c.Span.EndMS))
			for _, l := range c.Children {
				got = append(got, fmt.Sprintf("%d", l.Span.StartMS))
			}
			got = append(got, ")")
		}
	}
	if g, want := strings.Join(got, " "), "0-20000 (3000-10000 3000 8000 8000 8000 10000 ) (20000-20000 20000 20000 ) 30000-40000 (35000-40000 ) (30000-40000 )"; g != want {
		t.Errorf("got  %s\nwant %s", g, want)
	}
	if tr.Source.Title != "Imported tree" || tr.Source.Kind != KindAudio || tr.Imported != nil {
		t.Errorf("source = %+v", tr.Source)
	}
}

func TestImportIsRepeatable(t *testing.T) {
	file := read(t, "testdata/original.json")
	a, _ := ImportOriginal(bytes.NewReader(file))
	b, _ := ImportOriginal(bytes.NewReader(file))
	sameJSON(t, a, b)
	a.Renumber(testDoc.ID)
	if a.Source.ID != testDoc.ID || a.Find([]int{0, 1, 0}).ID != testDoc.ID+"/0.1.0" {
		t.Error("Renumber left an id behind")
	}
	if err := a.Validate(); err != nil {
		t.Error(err)
	}
}

// sampleVideo is a built tree of one stretch, numbered from 0.
func sampleVideo(t testing.TB) *Tree {
	t.Helper()
	m := film(2)
	m.Index = 0
	root, calls, err := BuildStretch(context.Background(), Extractive{}, m, BuildOptions{})
	if err != nil {
		t.Fatal(err)
	}
	tr := &Tree{Source: m.Source, Models: map[string]string{"l1": "extractive"}, Settings: "s1", Calls: calls, Roots: []*Node{root}}
	tr.Source.Collections = []string{}
	tr.Source.State = StateDone
	tr.Source.Nodes = tr.Counts()
	return tr
}

func FuzzImportOriginal(f *testing.F) {
	f.Add(read(f, "testdata/original.json"))
	f.Add(read(f, "testdata/original-document.json"))
	f.Add([]byte(`{"roots":[{"time_range":[1,0],"children":[{"children":[{"timestamp":1e9}]}]}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		tr, err := ImportOriginal(bytes.NewReader(b))
		if err != nil {
			return
		}
		var out bytes.Buffer
		if err := ExportOriginal(&out, tr); err != nil {
			t.Fatalf("an imported tree cannot be exported: %v", err)
		}
		if _, err := ImportOriginal(&out); err != nil {
			t.Fatalf("an exported tree cannot be imported: %v", err)
		}
	})
}

func TestTreesWithoutAWord(t *testing.T) {
	for text, want := range map[string]bool{"": false, " \n": false, "A lamp.": true} {
		leaf := &Node{Level: L3, Text: text}
		tr := &Tree{Roots: []*Node{{Level: L1, Children: []*Node{{Level: L2, Children: []*Node{leaf}}}}}}
		if tr.HasText() != want {
			t.Errorf("%q: %v", text, !want)
		}
		leaf.Text, leaf.Evidence.Cues = "", []Cue{{Text: text}}
		if tr.HasText() != want {
			t.Errorf("spoken %q: %v", text, !want)
		}
	}
	if (&Tree{}).HasText() {
		t.Error("a tree without nodes says something")
	}
}
