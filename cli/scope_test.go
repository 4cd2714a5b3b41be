package cli

import (
	"encoding/json"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reeltree/reeltree/server"
)

// filled is a data folder with two documents, of the collections old and new.
func filled(t *testing.T) (data string, ids []string) {
	t.Helper()
	data = t.TempDir()
	dir := shelfOf(t, "old/lamps.md", "new/lamps.md")
	for _, name := range []string{"old", "new"} {
		code, out, errs := run(t, "ingest", "--data", data, "--json", "--collection", name, filepath.Join(dir, name, "lamps.md"))
		var got outcome
		if err := json.Unmarshal([]byte(out), &got); err != nil || code != exitOK {
			t.Fatalf("exit %d, %s%s", code, out, errs)
		}
		ids = append(ids, got.Source)
	}
	return data, ids
}

// TestWhatIsNotThereIsNotSearched: an unknown source or collection is refused,
// however it is asked of; that nothing was found in it would be no answer.
func TestWhatIsNotThereIsNotSearched(t *testing.T) {
	data, ids := filled(t)
	broken := filepath.Join(shelfOf(t, "broken.docx"), "broken.docx")
	_, out, _ := run(t, "ingest", "--data", data, "--json", broken)
	var failed outcome
	if err := json.Unmarshal([]byte(out), &failed); err != nil {
		t.Fatalf("%s: %v", out, err)
	}
	for _, c := range []struct {
		want string
		args []string
	}{
		{"there is no source", []string{"--source", "nope"}},
		{"there is no source", []string{"--source", ids[0], "--source", "nope"}},
		{"is not here", []string{"--source", "nope", "--mode", "summary"}},
		{"there is no source in the collection", []string{"--collection", "newest"}},
		{"ended as failed", []string{"--source", failed.Source}},
	} {
		args := append(append([]string{"ask", "--data", data}, c.args...), "what are some words?")
		if code, out, errs := run(t, args...); code != exitFailed || strings.Contains(out, "not in what was searched") || !strings.Contains(errs, c.want) {
			t.Errorf("%v: exit %d, %q %q", c.args, code, out, errs)
		}
	}
	for _, args := range [][]string{{"--source", ids[0]}, {"--collection", "new"}, {}} {
		if code, _, errs := run(t, append(append([]string{"ask", "--data", data}, args...), "what are some words of lamps?")...); code != exitOK {
			t.Errorf("%v: exit %d, %s", args, code, errs)
		}
	}
}

// TestAnswersNameTheirSources: with more than one a place says nothing without.
func TestAnswersNameTheirSources(t *testing.T) {
	data, ids := filled(t)
	_, out, errs := run(t, "ask", "--data", data, "--mode", "summary", "--source", ids[0], "--source", ids[1])
	text, from, _ := strings.Cut(out, "\nfrom\n")
	for _, id := range ids { // both have the same title
		if !strings.Contains(text, " [lamps.md ("+id+") ") || !strings.Contains(from, "  lamps.md ("+id+")  ") {
			t.Errorf("%s is not named in %s%s", id, out, errs)
		}
	}
	_, out, errs = run(t, "ask", "--data", data, "--mode", "summary", "--source", ids[0])
	text, from, _ = strings.Cut(out, "\nfrom\n")
	if strings.Contains(text, "[lamps.md") || !strings.HasPrefix(from, "  lamps.md  ¶ 1") {
		t.Errorf("of one source: %s%s", out, errs)
	}
}

// TestRefusalsSpeakOfCommands and not of requests.
func TestRefusalsSpeakOfCommands(t *testing.T) {
	data := t.TempDir()
	id := strings.Repeat("a", 26)
	guarded := httptest.NewServer(server.New(server.Config{Token: "sesame"}))
	defer guarded.Close()
	for want, args := range map[string][]string{
		"reeltree list shows them": {"show", "--data", data, "nope"},
		"reeltree list":            {"rm", "--data", data, id},
		"reeltree jobs shows them": {"jobs", "--data", data, "cancel", id},
		"--token":                  {"list", "--server", guarded.URL},
		"with --token":             {"ingest", "--server", guarded.URL, filepath.Join(shelfOf(t, "a.md"), "a.md")},
	} {
		code, out, errs := run(t, args...)
		if code != exitFailed || !strings.Contains(errs+out, want) || strings.Contains(errs, "/v1/") || strings.Contains(errs, "Authorization") {
			t.Errorf("%v: exit %d, %s%s", args, code, out, errs)
		}
	}
}

// TestEmptyTreesAreNotImported, in either format.
func TestEmptyTreesAreNotImported(t *testing.T) {
	for _, text := range []string{`{"roots":[]}`, `{"roots":[{"id":"a","summary":" ","children":[]}]}`, `{"metadata":{"format":1,"source":{"id":"` + strings.Repeat("a", 26) + `"}},"roots":[]}`} {
		data, file := t.TempDir(), filepath.Join(t.TempDir(), "tree.json")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if code, out, errs := run(t, "import", "--data", data, file); code != exitFailed || out != "" || strings.Count(errs, "\n") != 1 {
			t.Errorf("%s: exit %d, %q %q", text, code, out, errs)
		}
		if _, out, _ := run(t, "list", "--data", data); out != "" {
			t.Errorf("%s: the library holds %s", text, out)
		}
	}
}

// TestImpossibleWishesAreRefused before anything is kept for them.
func TestImpossibleWishesAreRefused(t *testing.T) {
	data, file := t.TempDir(), filepath.Join(shelfOf(t, "a.md"), "a.md")
	for _, source := range []string{file, "https://example.org/a.mp4"} {
		for _, more := range [][]string{nil, {"--quote"}} {
			args := append([]string{"ingest", "--data", data, "--from", "2m", "--to", "1m"}, more...)
			if code, out, errs := run(t, append(args, source)...); code != exitFailed || out != "" || !strings.Contains(errs, "not after its beginning") {
				t.Errorf("%v %s: exit %d, %q %q", more, source, code, out, errs)
			}
		}
	}
	for _, kind := range []string{"list", "jobs"} {
		if _, out, _ := run(t, kind, "--data", data); out != "" {
			t.Errorf("%s: %s", kind, out)
		}
	}
	left, err := filepath.Glob(filepath.Join(data, "blobs", "content", "*", "*"))
	if err != nil || len(left) != 0 {
		t.Errorf("content %v stays, %v", left, err)
	}
}
