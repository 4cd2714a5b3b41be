package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/reeltree/reeltree/internal/testkit"
	"github.com/reeltree/reeltree/model"
)

// watchedLog is a log that tells when a line of it holds some words.
type watchedLog struct {
	mu    sync.Mutex
	words string
	text  bytes.Buffer
	said  chan struct{}
}

func newWatchedLog(words string) *watchedLog {
	return &watchedLog{words: words, said: make(chan struct{})}
}

func (w *watchedLog) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	before := strings.Contains(w.text.String(), w.words)
	w.text.Write(b)
	if !before && strings.Contains(w.text.String(), w.words) {
		close(w.said)
	}
	return len(b), nil
}

// gate stands before an endpoint and holds back the renewal of the document
// with a word until it is opened: its two nodes, where a tree that is laid out
// for a question has three texts.
func gate(t *testing.T, to, word string) (address string, reached <-chan struct{}, open func()) {
	t.Helper()
	target, err := url.Parse(to)
	if err != nil {
		t.Fatal(err)
	}
	held, opened := make(chan struct{}), make(chan struct{})
	var once sync.Once
	proxy := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: target.Scheme, Host: target.Host})
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		var asked struct{ Input []string }
		if err := json.Unmarshal(body, &asked); err != nil {
			t.Error(err)
		}
		if len(asked.Input) == 2 && bytes.Contains(body, []byte(word)) {
			once.Do(func() { close(held) })
			select {
			case <-opened:
			case <-r.Context().Done():
				return
			}
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(web.Close)
	return web.URL + "/v1", held, func() { close(opened) }
}

// serveData serves a data folder in this process until stop is called.
func serveData(t *testing.T, log io.Writer, args ...string) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var serving sync.WaitGroup
	serving.Go(func() {
		if code := Run(ctx, Process{Args: append([]string{"serve", "--listen", "127.0.0.1:0"}, args...), Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: log}); code != exitOK {
			t.Errorf("serve ended with %d", code)
		}
	})
	return func() { cancel(); serving.Wait() }
}

// ingestDocuments ingests three documents and gives their ids by file name.
func ingestDocuments(t *testing.T, data string, texts map[string]string, args ...string) map[string]string {
	t.Helper()
	ids := map[string]string{}
	for _, name := range []string{"lens.md", "bread.md", "zebra.md"} {
		file := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(file, []byte(texts[name]), 0o600); err != nil {
			t.Fatal(err)
		}
		code, out, errs := run(t, append([]string{"ingest", "--data", data, "--json", file}, args...)...)
		var o outcome
		if err := json.Unmarshal([]byte(out), &o); err != nil || code != exitOK {
			t.Fatalf("exit %d, %s%s", code, out, errs)
		}
		ids[name] = o.Source
	}
	return ids
}

var threeDocuments = map[string]string{
	"lens.md":  "# Lenses\n\nThe lens weighs four tons.\n",
	"bread.md": "# Bread\n\nBake it in a hot oven.\n",
	"zebra.md": "# Animals\n\nThe zebra sleeps on its feet.\n",
}

// TestAnotherEmbedderIsTakenInWhileQuestionsAreAnswered: with another embedder
// the service answers at once, goes on with the vectors where it was stopped,
// and asks no vision model anything.
func TestAnotherEmbedderIsTakenInWhileQuestionsAreAnswered(t *testing.T) {
	data, end := t.TempDir(), testkit.NewEndpoint(t)
	vision := []string{"--vlm-url", end.URL, "--vlm-model", "seer"}
	ids := ingestDocuments(t, data, threeDocuments, vision...)
	described := len(end.Calls())
	if described == 0 {
		t.Fatal("nothing was described")
	}
	address, reached, open := gate(t, end.URL, "zebra")
	settings := append([]string{"--data", data, "--embed-url", address, "--embed-model", "words"}, vision...)
	ask := func(name, question, want string) {
		t.Helper()
		if code, out, errs := run(t, "ask", "--data", data, "--source", ids[name], question); code != exitOK || !strings.Contains(out, want) {
			t.Errorf("exit %d, %s%s", code, out, errs)
		}
	}

	log := newWatchedLog(`msg="the vectors of a source are made anew" source=` + ids["bread.md"])
	stop := serveData(t, log, append([]string{"--log", "debug"}, settings...)...)
	<-log.said
	<-reached
	ask("lens.md", "How many tons does the lens weigh?", "four tons")
	stop() // in the middle

	log = newWatchedLog(`msg="vectors are made anew" sources=1`)
	open()
	stop = serveData(t, log, settings...)
	<-log.said // the two that were done before are not made again
	ask("zebra.md", "How does the zebra sleep?", "on its feet")
	ask("bread.md", "How is it baked?", "hot oven")
	stop()
	for _, c := range end.Calls()[described:] {
		if !strings.HasSuffix(c.Path, "/embeddings") {
			t.Errorf("a change of embedder asked %s", c.Path)
		}
	}
}

// await waits for a channel to be closed, and shows the log where it is not.
func await(t *testing.T, c <-chan struct{}, log *watchedLog) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(time.Minute):
		log.mu.Lock()
		defer log.mu.Unlock()
		t.Fatalf("after a minute: %s", log.text.String())
	}
}

// TestGraphsOfOtherEmbeddersGo: a graph stays for as long as a source waits, and
// goes when none does, so that nothing deleted later is kept in it.
func TestGraphsOfOtherEmbeddersGo(t *testing.T) {
	data, end := t.TempDir(), testkit.NewEndpoint(t)
	ingestDocuments(t, data, threeDocuments, "--index", "hnsw")
	address, reached, open := gate(t, end.URL, "zebra")
	graphs := func(want ...string) {
		t.Helper()
		found, err := os.ReadDir(filepath.Join(data, "index", "graph"))
		var names []string
		for _, f := range found {
			names = append(names, f.Name())
		}
		if err != nil || !slices.Equal(names, want) {
			t.Errorf("there are the graphs %v, want %v, %v", names, want, err)
		}
	}
	builtin := model.NewBuiltin().Name()
	graphs(builtin)
	log := newWatchedLog(`msg="vectors are made anew" sources=3`)
	stop := serveData(t, log, "--data", data, "--index", "hnsw", "--embed-url", address, "--embed-model", "words/2")
	await(t, reached, log)
	graphs(builtin, "words%2F2")
	open()
	await(t, log.said, log)
	stop()
	graphs("words%2F2")
	if code, _, errs := run(t, "list", "--data", data, "--embed-url", end.URL, "--embed-model", "words/2"); code != exitOK {
		t.Errorf("exit %d, %s", code, errs)
	}
	graphs("words%2F2") // a scan meanwhile leaves the embedder's own
}

// TestMiniLMAnswers changes to the sentence encoder and back.
func TestMiniLMAnswers(t *testing.T) {
	if _, err := os.Stat(filepath.Join(model.DefaultMiniLMDir(), "libonnxruntime.so")); err != nil {
		t.Skipf("the encoder is not there, run make minilm: %v", err)
	}
	data := t.TempDir()
	ingestDocuments(t, data, threeDocuments)
	for _, embedder := range []string{"minilm", "minilm", "builtin"} {
		if code, out, errs := run(t, "ask", "--data", data, "--embedder", embedder, "How many tons does the lens weigh?"); code != exitOK || !strings.Contains(out, "four tons") {
			t.Errorf("%s: exit %d, %s%s", embedder, code, out, errs)
		}
	}
}
