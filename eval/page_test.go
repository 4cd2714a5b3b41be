package eval

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// wellFormed fails unless a picture is XML with one svg element around it.
func wellFormed(t *testing.T, name string, picture []byte) {
	t.Helper()
	dec := xml.NewDecoder(strings.NewReader(string(picture)))
	roots, depth := 0, 0
	for {
		token, err := dec.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("%s: %v\n%s", name, err, picture)
		}
		switch token.(type) {
		case xml.StartElement:
			if depth++; depth == 1 {
				roots++
			}
		case xml.EndElement:
			depth--
		}
	}
	if roots != 1 || strings.Contains(string(picture), "NaN") || strings.Contains(string(picture), "Inf") {
		t.Errorf("%s: %s", name, picture)
	}
}

func TestCharts(t *testing.T) {
	bars := Bars("a < b & c", []Bar{{"first", .5, .4, .6, false}, {"zero", 0, 0, 0, true}})
	wellFormed(t, "bars", bars)
	wellFormed(t, "no bars", Bars("", nil))
	for _, want := range []string{"a &lt; b &amp; c", ">first<", ">0.5<", "#9aa4ae"} {
		if !strings.Contains(string(bars), want) {
			t.Errorf("%q is not in %s", want, bars)
		}
	}
	lines := Lines("curve", "x", "y", []Series{{"one", []float64{0, 1}, []float64{1, 0}}, {"none", nil, nil}})
	wellFormed(t, "lines", lines)
	if want := `points="60.0,40.0 490.0,360.0"`; !strings.Contains(string(lines), want) {
		t.Errorf("%s is not in %s", want, lines)
	}
	if short(1234.5) != "1234" || short(.12345) != "0.123" {
		t.Error(short(1234.5), short(.12345))
	}
}

func TestPageIsWrittenBetweenItsMarks(t *testing.T) {
	dir := t.TempDir()
	reports := filepath.Join(dir, "reports")
	if err := os.Mkdir(reports, 0o700); err != nil {
		t.Fatal(err)
	}
	for task, ablate := range map[string]bool{"passages": true, "answers": false} {
		rep, err := Run(t.Context(), testConfig(t), task, files(task, ""), ablate)
		if err != nil {
			t.Fatal(err)
		}
		rep.Version = "v1-test"
		data, err := json.Marshal(rep)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(reports, task+".json"), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	all, err := ReadReports(reports)
	if err != nil || len(all) != 2 {
		t.Fatalf("%v %v", all, err)
	}
	page := filepath.Join(dir, "results.md")
	if err := os.WriteFile(page, []byte("above\n"+pageBegin+"\nstale figure\n"+pageEnd+"\nbelow\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var texts [2]string
	older := all[1]
	older.Version = "v0-test"
	all = append(all, older) // its ablation is kept, its metrics are not
	for i := range texts {   // a second time over the first
		if err := WritePage(page, all); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		texts[i] = string(data)
	}
	if texts[0] != texts[1] || !strings.HasPrefix(texts[0], "above\n"+pageBegin) || !strings.HasSuffix(texts[0], pageEnd+"\nbelow\n") || strings.Contains(texts[0], "stale figure") {
		t.Errorf("%s", texts[1])
	}
	for _, want := range []string{
		"## passages\n", "## answers-meetings\n", "`reeltree eval passages --data passages.jsonl --ablate` at v1-test", "| controller | ",
		"| flat top-k at equal words | ", "| all_paragraph_R1 | ", "(images/ablation-passages.svg)", "(images/refusal-answers-meetings.svg)", "| garden | ",
	} {
		if !strings.Contains(texts[0], want) {
			t.Errorf("%q is not in\n%s", want, texts[0])
		}
	}
	if n := strings.Count(texts[0], "| en_paragraph_R5 | "); n != 1 || strings.Count(texts[0], "## passages") != 1 || !strings.Contains(texts[0], "at v0-test") {
		t.Errorf("an older ablation repeats the metrics %d times\n%s", n, texts[0])
	}
	for _, name := range []string{"ablation-passages.svg", "refusal-answers-meetings.svg"} {
		picture, err := os.ReadFile(filepath.Join(dir, "images", name))
		if err != nil {
			t.Fatal(err)
		}
		wellFormed(t, name, picture)
	}
}

func TestPageRefusals(t *testing.T) {
	dir := t.TempDir()
	if _, err := ReadReports(dir); err == nil || !strings.Contains(err.Error(), "holds no reports") {
		t.Errorf("%v", err)
	}
	bad := filepath.Join(dir, "bad.json")
	if err := os.WriteFile(bad, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadReports(dir); err == nil || !strings.Contains(err.Error(), "is not a report") {
		t.Errorf("%v", err)
	}
	if err := WritePage(filepath.Join(dir, "absent.md"), nil); err == nil || !strings.Contains(err.Error(), "cannot be read") {
		t.Errorf("%v", err)
	}
	if err := WritePage(bad, nil); err == nil || !strings.Contains(err.Error(), "two marks") {
		t.Errorf("%v", err)
	}
}
