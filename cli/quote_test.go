package cli

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestQuoteKeepsNothing: a file and an address are quoted as people and
// programs read it, and afterwards the library is as empty as before.
func TestQuoteKeepsNothing(t *testing.T) {
	text := "# Lenses\n\nThe lens weighs four tons.\n"
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/markdown")
		_, _ = w.Write([]byte(text))
	}))
	defer web.Close()
	data, file := t.TempDir(), filepath.Join(t.TempDir(), "lens.md")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, source := range []string{file, web.URL + "/lens.md"} {
		code, out, errs := run(t, "ingest", "--quote", "--json", "--data", data, "--allow-private", source)
		var q struct {
			Quote struct{ Calls struct{ L1, L2, L3, ASR int } }
			Error string
		}
		if err := json.Unmarshal([]byte(out), &q); err != nil || code != exitOK || q.Quote.Calls.L1 != 1 || q.Quote.Calls.L2 != 1 {
			t.Errorf("%s: exit %d, %s%s %v", source, code, out, errs, err)
		}
	}
	if code, out, errs := run(t, "ingest", "--quote", "--data", data, file, filepath.Join(data, "absent")); code != exitFailed || !strings.Contains(out, "2 calls (1 stretch, 1 clip") || !strings.Contains(errs, "cannot be read") {
		t.Errorf("exit %d, %s%s", code, out, errs)
	}
	if code, out, _ := run(t, "list", "--data", data, "--json"); code != exitOK || out != "" {
		t.Errorf("the library holds %s", out)
	}
	left, err := filepath.Glob(filepath.Join(data, "blobs", "content", "*", "*"))
	if err != nil || len(left) != 0 {
		t.Errorf("content %v stays, %v", left, err)
	}
}
