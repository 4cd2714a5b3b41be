package cli

import (
	"strings"
	"testing"
)

func TestEmbedderWithoutItsFilesIsOneSentence(t *testing.T) {
	dir := t.TempDir()
	code, _, errs := run(t, "list", "--data", dir, "--embedder", "minilm", "--minilm-dir", dir)
	if code != exitFailed || strings.Count(errs, "\n") != 1 || !strings.Contains(errs, "make minilm") || !strings.Contains(errs, dir) {
		t.Errorf("exit %d: %s", code, errs)
	}
}

func TestTwoEmbeddersAreRefused(t *testing.T) {
	code, _, errs := run(t, "list", "--embedder", "minilm", "--embed-url", "http://127.0.0.1:1/v1", "--embed-model", "m")
	if code != exitUsage || !strings.Contains(errs, "REELTREE_EMBEDDER") {
		t.Errorf("exit %d: %s", code, errs)
	}
	if code, _, errs := run(t, "list", "--embedder", "word2vec"); code != exitUsage || !strings.Contains(errs, "builtin") {
		t.Errorf("exit %d: %s", code, errs)
	}
}

func TestDoctorTriesTheEmbedderThatIsSet(t *testing.T) {
	code, out, _ := run(t, "doctor", "--data", t.TempDir(), "--embedder", "minilm", "--minilm-dir", t.TempDir())
	if code != exitFailed || !strings.Contains(out, "failed") || !strings.Contains(out, "MiniLM") || !strings.Contains(out, "make minilm") {
		t.Errorf("exit %d: %s", code, out)
	}
}
