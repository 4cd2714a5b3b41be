package server

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/gorilla/websocket"

	"github.com/reeltree/reeltree/generate"
	"github.com/reeltree/reeltree/tree"
)

var errAbsent = errors.New("absent")

// shelf is a library in memory.
type shelf struct {
	dir     string
	mu      sync.Mutex
	sources map[string]tree.Source
	jobs    map[string]tree.Job
	answers map[string]Answer
	frames  map[string][]byte
}

func newShelf(t testing.TB) *shelf {
	t.Helper()
	return &shelf{dir: t.TempDir(), sources: map[string]tree.Source{}, jobs: map[string]tree.Job{}, answers: map[string]Answer{}, frames: map[string][]byte{}}
}

func get[T any](s *shelf, m map[string]T, key string) (T, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v, ok := m[key]
	if !ok {
		return v, errAbsent
	}
	return v, nil
}

func (s *shelf) Source(_ context.Context, _, id string) (tree.Source, error) {
	return get(s, s.sources, id)
}

func (s *shelf) Job(_ context.Context, _, id string) (tree.Job, error) { return get(s, s.jobs, id) }

func (s *shelf) Answer(_ context.Context, _, id string) (Answer, error) { return get(s, s.answers, id) }

func (s *shelf) Frame(_ context.Context, _, id string) ([]byte, error) { return get(s, s.frames, id) }

func (s *shelf) Sources(context.Context, string) ([]tree.Source, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []tree.Source
	for _, src := range s.sources {
		all = append(all, src)
	}
	return all, nil
}
func (s *shelf) Jobs(context.Context, string) ([]tree.Job, error)  { return nil, nil }
func (s *shelf) Answers(context.Context, string) ([]Answer, error) { return nil, nil }
func (s *shelf) DeleteSource(_ context.Context, _, id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.sources, id)
	return nil
}

func (s *shelf) Tree(_ context.Context, _, id string) (*tree.Tree, error) {
	src, err := get(s, s.sources, id)
	return &tree.Tree{Source: src}, err
}

func (s *shelf) SaveAnswer(_ context.Context, _ string, a Answer) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answers[a.Stream] = a
	return nil
}

func (s *shelf) OpenContent(_ context.Context, _, id string) (*os.File, error) {
	f, err := os.Open(filepath.Join(s.dir, id))
	if err != nil {
		return nil, errAbsent
	}
	return f, nil
}

func (s *shelf) PutContent(_ context.Context, tenant string, r io.Reader, _ int64) (string, int64, error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return "", 0, err
	}
	h := tree.NewIDHash(tenant)
	_, _ = h.Write(data)
	return h.ID(), int64(len(data)), os.WriteFile(filepath.Join(s.dir, h.ID()), data, 0o600)
}

func (s *shelf) SaveSubtitles(context.Context, string, string, string, []byte) error { return nil }

// words answers every question with a fixed text, one word a token.
func words(text string) func(context.Context, generate.Question, generate.Emit) error {
	return func(ctx context.Context, q generate.Question, emit generate.Emit) error {
		if err := q.Validate(); err != nil {
			return err
		}
		events := []generate.Event{generate.Round{Round: 1, Queries: []string{q.Text}, Kept: 1}, generate.Evidence{N: 1, Node: "x", Quote: "q", Frame: "/v1/frames/" + strings.Repeat("f", 52) + ".jpg"}}
		for _, w := range strings.SplitAfter(text, " ") {
			events = append(events, generate.Token{Text: w})
		}
		events = append(events, generate.Citation{N: 1, At: len(text), Support: 1}, generate.Done{Finish: "stop", TextSHA256: sha(text)})
		for _, e := range events {
			if ctx.Err() != nil {
				return emit(generate.Done{Finish: generate.FinishCancelled, TextSHA256: sha("")})
			}
			if err := emit(e); err != nil {
				return err
			}
		}
		return nil
	}
}

// service is a server under test with its library.
type service struct {
	*Server
	shelf *shelf
	http  *httptest.Server
}

func newService(t testing.TB, change func(*Config)) *service {
	t.Helper()
	lib := newShelf(t)
	cfg := Config{
		Answer: words("A ship could see the lamp from eight kilometres."), Catalog: lib, Bytes: lib, Records: lib,
		Submit: func(_ context.Context, u Upload) (tree.Job, error) {
			return tree.Job{ID: strings.Repeat("j", 26), Source: u.ID, Tenant: u.Tenant}, nil
		},
		Act:    func(context.Context, string, string, string, int, int) error { return nil },
		Delete: lib.DeleteSource, NotFound: func(err error) bool { return errors.Is(err, errAbsent) },
		Export:     func(*tree.Tree, string) (string, []byte, error) { return "", nil, ErrFormat },
		CloseGrace: 50 * time.Millisecond, Loopback: true, Page: fstest.MapFS{"assets/app-1a2b.js": {}, "index.html": {Data: []byte("<!doctype html><title>page</title>")}},
	}
	if change != nil {
		change(&cfg)
	}
	s := &service{Server: New(cfg), shelf: lib}
	s.http = httptest.NewServer(s.Server)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := s.Close(ctx); err != nil {
			t.Errorf("close: %v", err)
		}
		s.http.Close()
	})
	return s
}

// dial opens a WebSocket without saying hello.
func (s *service) dial(t testing.TB, header http.Header) *websocket.Conn {
	t.Helper()
	d := websocket.Dialer{Subprotocols: []string{subprotocol}}
	conn, _, err := d.Dial("ws"+strings.TrimPrefix(s.http.URL, "http")+"/v1/ws", header)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if err := conn.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	return conn
}

// hello opens a WebSocket and waits for welcome.
func (s *service) hello(t testing.TB) *websocket.Conn {
	t.Helper()
	conn := s.dial(t, nil)
	say(t, conn, `{"type":"hello"}`)
	if m := hear(t, conn); m["type"] != "welcome" {
		t.Fatalf("instead of welcome: %v", m)
	}
	return conn
}

func say(t testing.TB, conn *websocket.Conn, text string) {
	t.Helper()
	if err := conn.WriteMessage(websocket.TextMessage, []byte(text)); err != nil {
		t.Fatal(err)
	}
}

func hear(t testing.TB, conn *websocket.Conn) map[string]any {
	t.Helper()
	_, data, err := conn.ReadMessage()
	if err != nil {
		t.Fatalf("no message: %v", err)
	}
	var m map[string]any
	if err := json.Unmarshal(data, &m); err != nil {
		t.Fatalf("%s: %v", data, err)
	}
	return m
}

// stream reads one answer to its done.
func stream(t testing.TB, conn *websocket.Conn) (all []map[string]any, text string) {
	t.Helper()
	var b strings.Builder
	for {
		m := hear(t, conn)
		all = append(all, m)
		if m["type"] == "token" {
			b.WriteString(m["text"].(string))
		}
		if m["type"] == "done" || m["type"] == "error" {
			return all, b.String()
		}
	}
}
