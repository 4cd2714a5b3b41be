package server

import (
	"bytes"
	"context"
	"io"
	"mime/multipart"
	"net/http"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/reeltree/reeltree/generate"
	"github.com/reeltree/reeltree/tree"
)

// TestNamesNeverBecomePaths: what a file is called is for people only.
func TestNamesNeverBecomePaths(t *testing.T) {
	var names []string
	s := newService(t, nil)
	submit := s.cfg.Submit
	s.cfg.Submit = func(ctx context.Context, u Upload) (tree.Job, error) {
		names = append(names, u.Name)
		return submit(ctx, u)
	}
	evil := []string{"../../etc/passwd", `..\..\boot.ini`, "/etc/passwd", "%2e%2e%2fx", "-i.mp4", "concat:x", "file:///x", ".", "..", "CON", strings.Repeat("n", 5000), "a\r\nSet-Cookie: x", "\xff\xfe", "\u202e4pm.exe"}
	for _, name := range evil {
		body, header := upload(t, name, []byte("same bytes"))
		if status, _, reply := s.request(t, "POST", "/v1/sources", body, header); status != http.StatusAccepted {
			t.Errorf("%.40q: %d %s", name, status, reply)
		}
	}
	for _, n := range names {
		if strings.ContainsAny(n, "\x00\r\n") || len([]rune(n)) > 300 {
			t.Errorf("the name %.60q was kept", n)
		}
	}
	files, err := os.ReadDir(s.shelf.dir)
	if err != nil || len(files) != 1 || !tree.ValidID(files[0].Name()) {
		t.Errorf("stored: %v %v", files, err)
	}
}

func TestUnfitFormsAreRefused(t *testing.T) {
	s := newService(t, nil)
	form := func(parts ...string) (io.Reader, map[string]string) {
		var b bytes.Buffer
		w := multipart.NewWriter(&b)
		for _, p := range parts {
			name, value, _ := strings.Cut(p, "=")
			part, err := w.CreateFormFile(name, "x")
			if err != nil {
				t.Fatal(err)
			}
			_, _ = io.WriteString(part, value)
		}
		_ = w.Close()
		return &b, map[string]string{"Content-Type": w.FormDataContentType()}
	}
	for name, parts := range map[string][]string{
		"no file": {"collection=c"}, "two files": {"file=a", "file=b"}, "unknown part": {"file=a", "colour=red"}, "bad options": {`options={"x":1}`, "file=a"},
		"endless parts": strings.Split(strings.Repeat("collection=c ", 40)+"file=a", " "), "options twice in one": {`options={"keep":"media","keep":"frames"}`, "file=a"},
	} {
		body, header := form(parts...)
		if status, _, reply := s.request(t, "POST", "/v1/sources", body, header); status != http.StatusBadRequest || !strings.Contains(reply, `"code":1001`) {
			t.Errorf("%s: %d %s", name, status, reply)
		}
	}
}

// TestBrokenUploadIsTheClientsFault: a body that ends early is no error of ours.
func TestBrokenUploadIsTheClientsFault(t *testing.T) {
	s := newService(t, nil)
	body := "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"x\"\r\n\r\nhalf a fil"
	status, _, reply := s.request(t, "POST", "/v1/sources", strings.NewReader(body), map[string]string{"Content-Type": "multipart/form-data; boundary=b"})
	if status != http.StatusBadRequest || !strings.Contains(reply, "ended before") {
		t.Errorf("%d %s", status, reply)
	}
	if files, _ := os.ReadDir(s.shelf.dir); len(files) != 0 {
		t.Errorf("left behind: %v", files)
	}
}

func TestTheTenantStaysInside(t *testing.T) {
	s := newService(t, nil)
	id := s.put(t, "bytes", "video/mp4")
	for _, path := range []string{"/v1/sources", "/v1/sources/" + id, "/v1/sources/" + id + "/tree"} {
		if status, _, body := s.request(t, "GET", path, nil, nil); status != http.StatusOK || strings.Contains(body, `"default"`) {
			t.Errorf("%s: %d %s", path, status, body)
		}
	}
}

func TestEventStreamOfAnotherEpochStartsOver(t *testing.T) {
	s := newService(t, nil)
	_, h, _ := s.request(t, "POST", "/v1/answers", strings.NewReader(`{"question":"How far?"}`), nil)
	path := "/v1/answers/" + h.Get("X-Reeltree-Stream")
	_, _, body := s.request(t, "GET", path, nil, map[string]string{"Last-Event-ID": "0123456789abcdef:3"})
	if gap := strings.Index(body, "event: gap"); gap < 0 || strings.Index(body, "event: round") < gap {
		t.Errorf("%s", body)
	}
	if status, _, _ := s.request(t, "GET", path, nil, map[string]string{"Last-Event-ID": "nonsense"}); status != http.StatusBadRequest {
		t.Errorf("nonsense: %d", status)
	}
}

// TestSlowFragmentsAreCut: a message that comes byte by byte, each in a frame of
// its own, does not hold the reader for ever.
func TestSlowFragmentsAreCut(t *testing.T) {
	s := newService(t, nil)
	conn := s.hello(t)
	raw := conn.NetConn()
	frame := func(op byte) []byte { return []byte{op, 0x81, 0, 0, 0, 0, 'x'} }
	_, _ = raw.Write(frame(0x01)) // text, not the last
	go func() {
		for range 2000 + 100 {
			if _, err := raw.Write(frame(0x00)); err != nil {
				return
			}
		}
	}()
	wantClose(t, conn, closeTooMany)
}

// TestCloseLeavesNothing: idle sockets, followed feeds, event streams and
// answers that do not end are all gone after Close.
func TestCloseLeavesNothing(t *testing.T) {
	s := newService(t, func(c *Config) {
		c.Answer = func(ctx context.Context, _ generate.Question, _ generate.Emit) error { <-ctx.Done(); return ctx.Err() }
	})
	for range 3 {
		conn := s.hello(t)
		say(t, conn, `{"type":"subscribe","stream":"library"}`)
		hear(t, conn)
	}
	conn := s.hello(t)
	say(t, conn, `{"type":"ask","id":"q","question":"How far?"}`)
	hear(t, conn)
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	waitFor(t, func() bool {
		stacks := make([]byte, 1<<20)
		text := string(stacks[:runtime.Stack(stacks, true)])
		return !strings.Contains(text, "server.(*socket)") && !strings.Contains(text, "server.(*Server).runAnswer") && !strings.Contains(text, "sweepStreams")
	})
}

// TestCloseLetsAnswersEnd: who is being answered gets the rest before 1001.
func TestCloseLetsAnswersEnd(t *testing.T) {
	going := make(chan struct{})
	s := newService(t, func(c *Config) {
		c.CloseGrace = time.Minute
		answer := c.Answer
		c.Answer = func(ctx context.Context, q generate.Question, emit generate.Emit) error {
			<-going
			return answer(ctx, q, emit)
		}
	})
	conn := s.hello(t)
	say(t, conn, `{"type":"ask","id":"q","question":"How far?"}`)
	hear(t, conn)
	closed := make(chan error, 1)
	go func() { closed <- s.Close(context.Background()) }()
	waitFor(t, func() bool { s.mu.Lock(); defer s.mu.Unlock(); return s.closing })
	close(going)
	all, _ := stream(t, conn)
	if last := all[len(all)-1]; last["finish"] != "stop" {
		t.Errorf("%v", last)
	}
	wantClose(t, conn, websocket.CloseGoingAway)
	if err := <-closed; err != nil {
		t.Error(err)
	}
}
