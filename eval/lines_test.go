package eval

import (
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestDecodeLines(t *testing.T) {
	rows, err := decodeLines[hopPassage](strings.NewReader("{\"title\":\"a\",\"text\":\"b\"}\n\n  {\"title\":\"c\",\"text\":\"d\",\"more\":1}\n"))
	if err != nil || len(rows) != 2 || rows[1] != (hopPassage{"c", "d"}) {
		t.Errorf("%v, %v", rows, err)
	}
	for in, want := range map[string]string{
		"{\"title\":\"a\",\"text\":\"b\"}\n{\"title\":": "line 2 is not the JSON object",
		"{\"title\":7}":                       "line 1 is not the JSON object",
		"{\"id\":\"q\"}":                      "line 1 has no title",
		"{\"title\":\"a\"}":                   "line 1 has no text",
		strings.Repeat("x", maxLine+1) + "\n": "line 1 cannot be read",
	} {
		if _, err := decodeLines[hopPassage](strings.NewReader(in)); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%.40q: %v, want %q", in, err, want)
		}
	}
}

func TestReadLines(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	f, err := os.Create(filepath.Join(dir, "good.jsonl.gz"))
	if err != nil {
		t.Fatal(err)
	}
	z := gzip.NewWriter(f)
	_, _ = z.Write([]byte(`{"title":"a","text":"b"}`))
	_, _ = z.Close(), f.Close()
	if rows, err := readLines[hopPassage](f.Name()); err != nil || len(rows) != 1 {
		t.Errorf("gzip: %v, %v", rows, err)
	}
	for path, want := range map[string]string{
		filepath.Join(dir, "absent"):  "cannot be read (no such file or directory)",
		write("empty.jsonl", "\n \n"): "holds no line",
		write("plain.gz", "{}"):       "is not a gzip file",
		write("bad.jsonl", "{}x"):     "bad.jsonl, line 1",
	} {
		if _, err := readLines[hopPassage](path); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
	}
	if err := writeLines(filepath.Join(dir, "no", "such"), nil); err == nil || !strings.Contains(err.Error(), "cannot be written") {
		t.Errorf("writing: %v", err)
	}
}

func TestEveryTaskRefusesLinesOfAnother(t *testing.T) {
	files := map[string]string{"moments": "moments", "meetings": "meetings", "passages": "passages", "tables": "tables", "multihop": "multihop", "answers": "meetings"}
	for task, own := range files {
		for _, other := range []string{"moments", "meetings", "passages", "tables", "multihop"} {
			if other == own {
				continue
			}
			_, err := Run(t.Context(), testConfig(t), task, Files{Data: "testdata/" + other + ".jsonl", Pool: "testdata/multihop-pool.jsonl"}, false)
			if err == nil || !strings.Contains(err.Error(), "check the task's name") {
				t.Errorf("%s given lines of %s: %v", task, other, err)
			}
		}
	}
}
