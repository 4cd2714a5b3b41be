package cli

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/reeltree/reeltree/internal/testkit"
)

// run runs one command line in this process.
func run(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = Run(t.Context(), Process{Args: args, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs})
	return code, out.String(), errs.String()
}

func TestAllMistakesAreToldAtOnce(t *testing.T) {
	code, _, errs := run(t, "list", "--answer-ttl", "soon", "--l3-fps", "none", "--listen", "nowhere", "--upload-limit", "much", "--llm-url", "ftp://x", "--log", "loud", "--rounds", "7")
	if code != exitUsage {
		t.Errorf("exit %d", code)
	}
	for _, want := range []string{"--answer-ttl", "--l3-fps", "--listen", "--upload-limit", "--llm-url", "--log", "--rounds", "REELTREE_L3_FPS"} {
		if !strings.Contains(errs, want) {
			t.Errorf("%s is not named in: %s", want, errs)
		}
	}
}

// TestEveryFlagOfACommandIsChecked, with those of the settings and at once,
// whichever type it has.
func TestEveryFlagOfACommandIsChecked(t *testing.T) {
	t.Setenv("REELTREE_INDEX", "tree")
	code, _, errs := run(t, "ingest", "--from", "-5s", "--to", "soon", "--audio-track", "-1", "--keep", "all", "--listen", "bar", "--", "-9.mp4")
	if code != exitUsage {
		t.Errorf("exit %d", code)
	}
	for _, want := range []string{"6 settings", `"-5s"`, "--to", `"-1"`, "media, frames", "--listen", "exact, hnsw, coder-hnsw", "REELTREE_INDEX"} {
		if !strings.Contains(errs, want) {
			t.Errorf("%s is not named in: %s", want, errs)
		}
	}
	if code, _, errs := run(t, "ask", "--mode", "song", "--answerer", "me", "why?"); code != exitUsage || !strings.Contains(errs, "--mode") || !strings.Contains(errs, "--answerer") {
		t.Errorf("exit %d: %s", code, errs)
	}
}

func TestEnvironmentIsATwin(t *testing.T) {
	t.Setenv("REELTREE_L3_FPS", "0")
	if code, _, errs := run(t, "list"); code != exitUsage || !strings.Contains(errs, "--l3-fps") {
		t.Errorf("exit %d: %s", code, errs)
	}
}

func TestSettingsPageIsCurrent(t *testing.T) {
	var b bytes.Buffer
	if err := writeConfigDoc(&b); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(testkit.ModuleRoot(t), "docs", "config.md"))
	if err != nil || string(page) != b.String() {
		t.Errorf("docs/config.md is stale, run make docs (%v)", err)
	}
}

// TestTableMatchesTheFlags compares the table's names with those kong parses.
func TestTableMatchesTheFlags(t *testing.T) {
	parser, _, err := newParser(Process{})
	if err != nil {
		t.Fatal(err)
	}
	var flags, table []string
	for _, f := range parser.Model.Flags {
		if f.Name != "help" {
			flags = append(flags, f.Name+" "+strings.Join(f.Envs, ","))
		}
	}
	walkSettings(reflect.ValueOf(&Settings{}).Elem(), "", func(s setting) { table = append(table, s.flag+" "+s.env) })
	slices.Sort(flags)
	slices.Sort(table)
	if !slices.Equal(flags, table) {
		t.Errorf("flags %v\ntable %v", flags, table)
	}
}

func TestSecretsDoNotPrintThemselves(t *testing.T) {
	_, out, errs := run(t, "list", "--token", "canary-token", "--llm-key", "canary-key", "--log", "bad")
	if strings.Contains(out+errs, "canary") {
		t.Errorf("%s%s", out, errs)
	}
}

func TestHelpAndVersion(t *testing.T) {
	if code, out, _ := run(t, "--help"); code != exitOK || !strings.Contains(out, "serve") {
		t.Errorf("help: exit %d, %s", code, out)
	}
	if code, out, _ := run(t, "version", "--json"); code != exitOK || !strings.Contains(out, `"version"`) {
		t.Errorf("version: exit %d, %s", code, out)
	}
}

func TestPublicListenNeedsAToken(t *testing.T) {
	code, _, errs := run(t, "serve", "--data", t.TempDir(), "--listen", "0.0.0.0:0")
	if code != exitUsage || !strings.Contains(errs, "--token") {
		t.Errorf("exit %d: %s", code, errs)
	}
}

func TestSidecarsAreFoundByBaseName(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a.mp4", "a.en.srt", "a.vtt", "ab.srt", "b.mp4", "c.srt", "d.mkv", "d.part.two.srt", "e.md", "e.srt"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for file, want := range map[string]string{"a.mp4": "a.en.srt", "b.mp4": "", "c.srt": "", "d.mkv": "", "e.md": ""} {
		got := sidecar(filepath.Join(dir, file))
		if got != "" {
			got = filepath.Base(got)
		}
		if got != want {
			t.Errorf("%s: %q, want %q", file, got, want)
		}
	}
}

// TestAFailureIsToldOnce: by the command, and not by the log of its service too.
func TestAFailureIsToldOnce(t *testing.T) {
	file := filepath.Join(t.TempDir(), "bad.docx")
	if err := os.WriteFile(file, []byte("no document"), 0o600); err != nil {
		t.Fatal(err)
	}
	code, out, errs := run(t, "ingest", "--data", t.TempDir(), file)
	if code != exitFailed || out != "" || strings.Count(errs, "\n") != 1 || !strings.Contains(errs, "is not what its name says") {
		t.Errorf("exit %d, %q, %q", code, out, errs)
	}
}

// TestTextIsIngestedAskedAndDeleted drives the whole service in this process
// with a document, which needs no child process.
func TestTextIsIngestedAskedAndDeleted(t *testing.T) {
	data, file := t.TempDir(), filepath.Join(t.TempDir(), "lens.md")
	if err := os.WriteFile(file, []byte("# Lenses\n\nThe lens weighs four tons.\n\n# Bread\n\nBake it in a hot oven.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	code, out, errs := run(t, "ingest", "--data", data, "--json", file, filepath.Join(t.TempDir(), "absent.mp4"))
	if code != exitFailed || strings.Count(out, "\n") != 2 || !strings.Contains(out, `"state":"done"`) || !strings.Contains(out, `"state":"failed"`) {
		t.Fatalf("ingest: exit %d, %s%s", code, out, errs)
	}
	_, rest, _ := strings.Cut(out, `"source":"`)
	id, _, _ := strings.Cut(rest, `"`)
	if code, out, errs := run(t, "ask", "--data", data, "How many tons does the lens weigh?"); code != exitOK || !strings.Contains(out, "four tons") || !strings.Contains(out, "¶") {
		t.Errorf("ask: exit %d, %s%s", code, out, errs)
	}
	if code, out, _ := run(t, "show", "--data", data, id); code != exitOK || !strings.Contains(out, "four tons") {
		t.Errorf("show: exit %d, %s", code, out)
	}
	if code, _, errs := run(t, "ask", "--data", data, " "); code != exitFailed || !strings.Contains(errs, "empty") {
		t.Errorf("empty question: exit %d, %s", code, errs)
	}
	if code, _, errs := run(t, "rm", "--data", data, id); code != exitOK {
		t.Errorf("rm: exit %d, %s", code, errs)
	}
	if code, out, _ := run(t, "list", "--data", data, "--json"); code != exitOK || out != "" {
		t.Errorf("list after rm: exit %d, %s", code, out)
	}
}

func TestStoppedCommandSaysSo(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var errs bytes.Buffer
	if code := Run(ctx, Process{Args: []string{"list", "--server", "http://127.0.0.1:1"}, Stdout: &bytes.Buffer{}, Stderr: &errs}); code != exitFailed || !strings.Contains(errs.String(), "stopped") {
		t.Errorf("exit %d: %s", code, errs.String())
	}
}

func TestHealthIsTheExitCode(t *testing.T) {
	status := http.StatusOK
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/healthz" {
			t.Errorf("asked for %s", r.URL.Path)
		}
		w.WriteHeader(status)
	}))
	defer web.Close()
	if code, out, errs := run(t, "health", "--server", web.URL); code != exitOK || out != "ok\n" {
		t.Errorf("exit %d, %s%s", code, out, errs)
	}
	status = http.StatusServiceUnavailable
	if code, _, errs := run(t, "health", "--server", web.URL); code != exitFailed || !strings.Contains(errs, "503") {
		t.Errorf("exit %d, %s", code, errs)
	}
	if code, _, errs := run(t, "health"); code != exitFailed || !strings.Contains(errs, "--server") {
		t.Errorf("exit %d, %s", code, errs)
	}
}

// TestEveryIndexAnswers: the same question finds the same with each index, also
// when another one opens the folder.
func TestEveryIndexAnswers(t *testing.T) {
	data, file := t.TempDir(), filepath.Join(t.TempDir(), "lens.md")
	if err := os.WriteFile(file, []byte("# Lenses\n\nThe lens weighs four tons.\n\n# Bread\n\nBake it in a hot oven.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, out, errs := run(t, "ingest", "--data", data, file); code != exitOK {
		t.Fatalf("exit %d, %s%s", code, out, errs)
	}
	for _, index := range []string{"exact", "hnsw", "hnsw", "coder-hnsw", "exact"} {
		if code, out, errs := run(t, "ask", "--data", data, "--index", index, "How many tons does the lens weigh?"); code != exitOK || !strings.Contains(out, "four tons") {
			t.Errorf("%s: exit %d, %s%s", index, code, out, errs)
		}
	}
	if code, _, errs := run(t, "list", "--index", "magic"); code != exitUsage || !strings.Contains(errs, "hnsw") {
		t.Errorf("exit %d, %s", code, errs)
	}
}
