package cli

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
)

func TestBenchServesItsCommands(t *testing.T) {
	var out, errs bytes.Buffer
	texts := filepath.Join("..", "demo", "talk.txt")
	p := Process{Args: []string{"bench", "embedder", "--texts", texts}, Stdin: strings.NewReader("embed 0 2\n"), Stdout: &out, Stderr: &errs}
	if code := Run(t.Context(), p); code != exitOK || !strings.Contains(out.String(), `"op":"embed","n":2`) {
		t.Errorf("exit %d: %s%s", code, out.String(), errs.String())
	}
	for _, engine := range []string{"exact", "hnsw", "coder-hnsw"} {
		errs.Reset()
		p := Process{Args: []string{"bench", engine, "--vectors", "absent"}, Stdin: strings.NewReader("build\n"), Stdout: &out, Stderr: &errs}
		if code := Run(t.Context(), p); code != exitFailed || !strings.Contains(errs.String(), "the vectors cannot be read") {
			t.Errorf("%s: exit %d, %s", engine, code, errs.String())
		}
	}
}

func TestBenchRefuses(t *testing.T) {
	if code, _, errs := run(t, "bench", "exact", "--dim", "0"); code != exitUsage || !strings.Contains(errs, "--dim") {
		t.Errorf("exit %d: %s", code, errs)
	}
	if code, _, errs := run(t, "bench", "page", "--result", "absent", "--kept", filepath.Join(t.TempDir(), "k.json"), "--out", filepath.Join(t.TempDir(), "p.md")); code != exitFailed || !strings.Contains(errs, "cannot be read") {
		t.Errorf("exit %d: %s", code, errs)
	}
	if code, _, errs := run(t, "bench", "nope"); code != exitUsage || !strings.Contains(errs, "exact") {
		t.Errorf("exit %d: %s", code, errs)
	}
}
