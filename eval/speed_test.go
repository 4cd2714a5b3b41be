package eval

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/reeltree/reeltree/retrieve"
)

// speedFiles are 300 vectors of four values, of which the first five are also
// the queries, and three texts.
func speedFiles(t *testing.T) *Speed {
	t.Helper()
	dir, r := t.TempDir(), rand.New(rand.NewPCG(9, 9))
	var rows bytes.Buffer
	for range 300 {
		v := []float32{r.Float32(), r.Float32(), r.Float32(), r.Float32()}
		var length float32
		for _, x := range v {
			length += x * x
		}
		for i := range v {
			v[i] /= length
		}
		if err := binary.Write(&rows, binary.LittleEndian, v); err != nil {
			t.Fatal(err)
		}
	}
	write := func(name string, data []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	return &Speed{
		Index: retrieve.NewExact(4), Dim: 4, Vectors: write("rows", rows.Bytes()), Queries: write("queries", rows.Bytes()[:5*16]),
		Texts: write("texts", []byte("one\ntwo\nthree\n")), Embed: blind(4),
	}
}

func TestServeMeasures(t *testing.T) {
	var out bytes.Buffer
	if err := speedFiles(t).Serve(t.Context(), strings.NewReader("build\nsearch 1 4\nembed 0 3\n"), &out); err != nil {
		t.Fatal(err)
	}
	var took []Took
	for line := range strings.Lines(out.String()) {
		var one Took
		if err := json.Unmarshal([]byte(line), &one); err != nil {
			t.Fatal(err)
		}
		took = append(took, one)
	}
	if len(took) != 3 || took[0].N != 300 || took[1].N != 3 || took[2].N != 3 || took[2].Op != "embed" {
		t.Fatalf("%+v", took)
	}
	if len(took[1].Hits) != 3 || len(took[1].Hits[0]) != speedHits {
		t.Errorf("%+v", took[1].Hits)
	}
	for _, one := range took {
		if one.Wall <= 0 || one.CPU < 0 {
			t.Errorf("%+v", one)
		}
	}
}

// A graph's breadth is set between searches, and its memory is told apart by what
// stands behind it.
func TestServeMeasuresAGraph(t *testing.T) {
	s := speedFiles(t)
	x := retrieve.NewHNSW(4, retrieve.HNSWOptions{Scan: -1})
	t.Cleanup(func() { _ = x.Close() })
	s.Index = x
	var out bytes.Buffer
	if err := s.Serve(t.Context(), strings.NewReader("build\nef 1\nsearch 0 5\nef 40\nsearch 0 5\nmapped\nreaders 3\n"), &out); err != nil {
		t.Fatal(err)
	}
	var took []Took
	for dec := json.NewDecoder(&out); dec.More(); {
		var one Took
		if err := dec.Decode(&one); err != nil {
			t.Fatal(err)
		}
		took = append(took, one)
	}
	if len(took) != 7 || took[1].Op != "ef" || len(took[4].Hits) != 5 || len(took[4].Hits[2]) != speedHits {
		t.Fatalf("%+v", took)
	}
	if b := took[6].Beside; b == nil || b.Readers != 3 || b.Searches != readerRounds*readerSearches*3 || b.Written == 0 || b.AloneP99 < b.AloneP50 || x.Len() != 300 {
		t.Errorf("%+v, %d nodes left", b, x.Len())
	}
	if runtime.GOOS == "linux" && took[5].Mapped <= 0 {
		t.Errorf("%d bytes of files", took[5].Mapped)
	}
}

func TestServeRefuses(t *testing.T) {
	for command, want := range map[string]string{
		"fly": "cannot be run here", "search 1": "cannot be run here", "search 4 2": "cannot be run here", "search a b": "cannot be run here",
		" ": "cannot be run here", "ef 3": "cannot be run here", "mapped 1": "cannot be run here", "search 3 9": "query 5", "embed 0 4": "there are 3 texts and 4 are asked for",
	} {
		if err := speedFiles(t).Serve(t.Context(), strings.NewReader(command+"\n"), &bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", command, err, want)
		}
	}
	s := speedFiles(t)
	s.Dim = 7
	s.Index = retrieve.NewExact(7)
	if err := s.Serve(t.Context(), strings.NewReader("build\n"), &bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), "check --dim") {
		t.Errorf("%v", err)
	}
	s = speedFiles(t)
	s.Vectors, s.Queries, s.Texts = "absent", "absent", "absent"
	for _, command := range []string{"build", "search 0 1", "embed 0 1"} {
		if err := s.Serve(t.Context(), strings.NewReader(command+"\n"), &bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), "cannot be read") {
			t.Errorf("%s: %v", command, err)
		}
	}
	if err := (&Speed{}).Serve(t.Context(), strings.NewReader("build\n"), &bytes.Buffer{}); err == nil {
		t.Error("nothing to build")
	}
	failing := speedFiles(t)
	failing.Embed = func(context.Context, []string) ([][]float32, error) { return nil, errors.New("down") }
	if err := failing.Serve(t.Context(), strings.NewReader("embed 0 1\n"), &bytes.Buffer{}); err == nil || err.Error() != "down" {
		t.Errorf("%v", err)
	}
}

func TestPerformancePage(t *testing.T) {
	dir := t.TempDir()
	result := filepath.Join(dir, "result.json")
	page := filepath.Join(dir, "performance.md")
	data := `{"version":"v1","dim":256,"centres":2000,"noise":0.8,"hits":10,"indexes":[
		{"engine":"reeltree exact","vectors":100,"queries":10,"recall":1,"build_cpu_s":2,"bytes":3000000,"mapped":7000000,"search_cpu_ms":0.5,"turn_cpu_ms":[0.4,0.6],"p50_ms":0.45,
		"beside":{"readers":16,"searches":900,"alone_p50_ms":0.1,"alone_p99_ms":0.2,"beside_p50_ms":0.15,"beside_p99_ms":0.3}},
		{"engine":"reeltree exact (plain)","vectors":100,"queries":10,"recall":1,"build_cpu_s":2,"bytes":3000000,"search_cpu_ms":2.5},
		{"engine":"hnswlib","width":64,"vectors":100,"queries":10,"recall":0.99,"build_cpu_s":4,"bytes":6000000,"search_cpu_ms":1,"turn_cpu_ms":[1]},
		{"engine":"alone","vectors":50,"queries":10,"recall":1,"build_cpu_s":0,"bytes":0,"search_cpu_ms":1}],
		"embedders":[{"engine":"built-in","texts":20,"words":14.4,"per_cpu_s":50000.4}]}`
	if err := os.WriteFile(result, []byte(data), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := WritePerformance(page, result); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"256 values a vector", "99.2 % on 1000 queries", "2000 Gaussians", "norm 0.8", "Measured at v1.", "The exact scan of the plain build takes 5.0 times", "## 50 vectors", "## 100 vectors",
		"| reeltree exact | - | 1.000 | 0.500 | 0.600, 0.400 | 0.450 | 2.00 | 2.0 | 2.00 | 3 | 0.50 | 7 |",
		"| hnswlib | 64 | 0.990 | 1.000 | 1.000, 1.000 | - | 1.00 | 4.0 | 1.00 | 6 | 1.00 | 0 |",
		"16 readers at once, 900 searches alone", "| reeltree exact | 0.100 | 0.200 | 0.150 | 0.300 | 1.50 |",
		"| alone | - | 1.000 | 1.000 | 0.000, 0.000 | - | - | 0.0 | - | 0 | - | 0 |", "| built-in | 20 | 14.4 | 50000 |",
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	picture, err := os.ReadFile(filepath.Join(dir, "images", "search-100.svg"))
	if err != nil {
		t.Fatal(err)
	}
	wellFormed(t, "search-100.svg", picture)
	if err := WritePerformance(page, filepath.Join(dir, "absent")); err == nil || !strings.Contains(err.Error(), "cannot be read") {
		t.Errorf("%v", err)
	}
	if err := WritePerformance(page, page); err == nil || !strings.Contains(err.Error(), "run make bench") {
		t.Errorf("%v", err)
	}
}

// What was measured again replaces its size as a whole; the rest stays.
func TestPerformanceKeepsOtherSizes(t *testing.T) {
	dir := t.TempDir()
	kept, result := filepath.Join(dir, "kept.json"), filepath.Join(dir, "result.json")
	run := func(data string) string {
		t.Helper()
		if err := os.WriteFile(result, []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := MergePerformance(kept, result); err != nil {
			t.Fatal(err)
		}
		p, err := readPerformance(kept)
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, n := range p.sizes() {
			for _, r := range p.of(n) {
				out = append(out, fmt.Sprint(n, r.Engine, r.Version))
			}
		}
		for _, e := range p.Embedders {
			out = append(out, e.Engine)
		}
		return strings.Join(out, " ")
	}
	first := run(`{"version":"v1","indexes":[{"engine":"a","vectors":10},{"engine":"b","vectors":10},{"engine":"a","vectors":20}],"embedders":[{"engine":"e"}]}`)
	if want := "10av1 10bv1 20av1 e"; first != want {
		t.Errorf("a first run is kept as %q, want %q", first, want)
	}
	if got, want := run(`{"version":"v2","indexes":[{"engine":"a","vectors":10}]}`), "10av2 20av1 e"; got != want {
		t.Errorf("after a second run of one size %q is kept, want %q", got, want)
	}
	if err := os.WriteFile(kept, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := MergePerformance(kept, result); err == nil || !strings.Contains(err.Error(), "run make bench") {
		t.Errorf("damaged measurements are overwritten: %v", err)
	}
	if err := MergePerformance(kept, filepath.Join(dir, "absent")); err == nil {
		t.Error("a result that is not there is merged")
	}
}
