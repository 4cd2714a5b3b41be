//go:build e2e

package e2e

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reeltree/reeltree/internal/testkit"
)

const demoQuestion = "From how many kilometres could the light be seen?"

// covers reports whether one of the cited spans holds the time.
func covers(events []event, ms int64) bool {
	for _, e := range events {
		if e.Span.StartMS <= ms && ms < e.Span.EndMS {
			return true
		}
	}
	return false
}

// The two facts of the demo question, by the times of demo/talk.srt: "about
// eight kilometres" is said until 0:27.6, "seen from thirty kilometres" until 1:36.
func checkDemoAnswer(t *testing.T, events []event) {
	t.Helper()
	hits := cited(events)
	if !covers(hits, 24_000) || !covers(hits, 92_000) {
		t.Errorf("the cited spans %+v miss 0:24 or 1:32", hits)
	}
	text := ""
	for _, e := range events {
		if e.Type == "token" {
			text += e.Text
		}
	}
	last := events[len(events)-1]
	sum := sha256.Sum256([]byte(text))
	if last.Type != "done" || last.Finish != "stop" || last.TextSHA256 != hex.EncodeToString(sum[:]) {
		t.Errorf("the stream ends with %+v", last)
	}
	if !strings.Contains(text, "eight kilometres") || !strings.Contains(text, "thirty kilometres") {
		t.Errorf("the answer %q lacks a distance", text)
	}
}

func TestDemoIsAnsweredWithRightTimes(t *testing.T) {
	data := t.TempDir()
	got := ingestOne(t, data, demo(t))
	if got.State != "done" || got.DurationMS < 155_000 || got.DurationMS > 156_000 || got.Nodes.L1 < 1 || got.Nodes.L3 < 10 {
		t.Errorf("ingest says %+v", got)
	}
	checkDemoAnswer(t, ask(t, data, demoQuestion))
}

// TestDemoWithoutNetwork runs in a network namespace without any interface.
func TestDemoWithoutNetwork(t *testing.T) {
	if out, err := exec.Command("unshare", "-n", "true").CombinedOutput(); err != nil {
		t.Skipf("this machine does not let us make a network namespace: %s", out)
	}
	data := t.TempDir()
	out, code := runIn(t, testTime, "unshare", "-n", binary, "ingest", "--data", data, "--json", demo(t))
	if code != 0 {
		t.Fatalf("ingest: %s", out)
	}
	out, code = runIn(t, testTime, "unshare", "-n", binary, "ask", "--data", data, "--json", demoQuestion)
	if code != 0 {
		t.Fatalf("ask: %s", out)
	}
	checkDemoAnswer(t, lines[event](t, out))
}

// TestAnswersOutliveTheFile: with --keep frames the content is dropped after
// the ingest; answers and frames stay.
func TestAnswersOutliveTheFile(t *testing.T) {
	data, copied := t.TempDir(), filepath.Join(t.TempDir(), "talk.mp4")
	content, err := os.ReadFile(demo(t))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(copied, content, 0o600); err != nil {
		t.Fatal(err)
	}
	ingestOne(t, data, "--keep", "frames", copied)
	if err := os.Remove(copied); err != nil {
		t.Fatal(err)
	}
	s := serve(t, data)
	events := askAt(t, s, demoQuestion)
	checkDemoAnswer(t, events)
	for _, e := range cited(events) {
		if e.Frame == "" {
			t.Errorf("evidence %d has no frame", e.N)
			continue
		}
		body := get(t, s.addr+e.Frame)
		if !bytes.HasPrefix(body, []byte{0xff, 0xd8}) {
			t.Errorf("frame %s is not a JPEG", e.Frame)
		}
	}
}

func askAt(t *testing.T, s *service, question string, args ...string) []event {
	t.Helper()
	out, code := run(t, append(append([]string{"ask", "--server", s.addr, "--json"}, args...), "--", question)...)
	if code != 0 {
		t.Fatalf("ask: exit %d, %s", code, out)
	}
	return lines[event](t, out)
}

func get(t *testing.T, url string) []byte {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	reply, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	body, err := io.ReadAll(reply.Body)
	if err != nil || reply.StatusCode != http.StatusOK {
		t.Fatalf("GET %s: %d %s %v", url, reply.StatusCode, body, err)
	}
	return body
}

// TestRealClipWithSidecar: Tears of Steel with Sintel's subtitles beside it, as
// `make run VIDEO=… SUBTITLES=…` does.
func TestRealClipWithSidecar(t *testing.T) {
	video := testkit.Shared(t, "media", "real", "tears-of-steel-battle.webm")
	subtitles := testkit.Shared(t, "media", "real", "sintel-en.vtt")
	data := t.TempDir()
	got := ingestOne(t, data, "--subtitles", subtitles, video)
	if got.State != "done" {
		t.Fatalf("ingest says %+v", got)
	}
	hits := cited(ask(t, data, "What brings you to the land of the gatekeepers, and what is said about the blade?"))
	starts := map[int64]bool{}
	for _, e := range hits {
		starts[e.Span.StartMS] = true
		if e.Span.EndMS > got.DurationMS {
			t.Errorf("cited span %+v passes the end %d", e.Span, got.DurationMS)
		}
	}
	if len(starts) < 2 {
		t.Errorf("cited %d different times, want at least 2: %+v", len(starts), hits)
	}
}

func TestTreeExportImports(t *testing.T) {
	data := t.TempDir()
	got := ingestOne(t, data, demo(t))
	out, code := run(t, "export", "--data", data, "--format", "tree", got.Source)
	if code != 0 {
		t.Fatalf("export: exit %d", code)
	}
	var original map[string]json.RawMessage
	if err := json.Unmarshal([]byte(out), &original); err != nil || len(original) != 3 || original["roots"] == nil || original["metadata"] == nil || original["embed_dim"] == nil {
		t.Fatalf("the export has the fields %v, %v", original, err)
	}
	file := filepath.Join(t.TempDir(), "tree.json")
	if err := os.WriteFile(file, []byte(out), 0o600); err != nil {
		t.Fatal(err)
	}
	other := t.TempDir()
	if out, code := run(t, "import", "--data", other, "--json", file); code != 0 {
		t.Fatalf("import: exit %d, %s", code, out)
	}
	if hits := cited(ask(t, other, demoQuestion)); len(hits) == 0 {
		t.Error("an imported tree answers without citations")
	}
}
