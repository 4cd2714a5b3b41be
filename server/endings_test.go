package server

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/reeltree/reeltree/generate"
)

// TestEveryAnswerEndsOnce: whatever an answerer does, its stream gets exactly
// one done whose hash is that of the text that was sent.
func TestEveryAnswerEndsOnce(t *testing.T) {
	for name, answer := range map[string]func(generate.Emit) error{
		"panics":       func(emit generate.Emit) error { _ = emit(generate.Token{Text: "half "}); panic("broken") },
		"forgets done": func(emit generate.Emit) error { return emit(generate.Token{Text: "half "}) },
		"fails late": func(emit generate.Emit) error {
			_ = emit(generate.Token{Text: "half "})
			return &generate.Error{Kind: generate.KindModel, Message: "the model is gone", Retry: true}
		},
		"fails after a revision": func(emit generate.Emit) error {
			_ = emit(generate.Token{Text: "old"})
			_ = emit(generate.Revised{Because: []string{"x"}})
			_ = emit(generate.Token{Text: "half "})
			return context.DeadlineExceeded
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newService(t, func(c *Config) {
				c.Answer = func(_ context.Context, _ generate.Question, emit generate.Emit) error { return answer(emit) }
			})
			conn := s.hello(t)
			say(t, conn, `{"type":"ask","id":"q","question":"How far?"}`)
			all, _ := stream(t, conn)
			last := all[len(all)-1]
			if last["type"] != "done" || last["finish"] != "error" || last["error"] == nil || last["text_sha256"] != sha("half ") {
				t.Errorf("got %v", last)
			}
			if strings.Contains(fmt.Sprint(last), "goroutine") || strings.Contains(fmt.Sprint(last), "broken") {
				t.Errorf("a client is told %v", last)
			}
			say(t, conn, `{"type":"ping","id":"alive"}`)
			if m := hear(t, conn); m["type"] != "pong" {
				t.Errorf("after the end: %v", m)
			}
		})
	}
}

// TestShutdownRecordsNothingHalf: an answer that the shutdown cut off is asked
// again, one that its client cancelled is kept.
func TestShutdownRecordsNothingHalf(t *testing.T) {
	s := newService(t, func(c *Config) {
		c.Answer = func(ctx context.Context, _ generate.Question, emit generate.Emit) error {
			if err := emit(generate.Token{Text: "x"}); err != nil {
				return err
			}
			<-ctx.Done()
			return emit(generate.Done{Finish: generate.FinishCancelled, TextSHA256: sha("x")})
		}
	})
	conn := s.hello(t)
	say(t, conn, `{"type":"ask","id":"wish","question":"How far?"}`)
	say(t, conn, fmt.Sprintf(`{"type":"cancel","stream":%q}`, hear(t, conn)["stream"]))
	stream(t, conn)
	waitFor(t, func() bool { s.shelf.mu.Lock(); defer s.shelf.mu.Unlock(); return len(s.shelf.answers) == 1 })
	say(t, conn, `{"type":"ask","id":"cut","question":"How heavy?"}`)
	for hear(t, conn)["type"] != "token" {
	}
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := len(s.shelf.answers); n != 1 {
		t.Errorf("%d answers are recorded, want the one that was cancelled by wish", n)
	}
}

// TestShutdownCutsOffWithoutAnEnd: a client that follows a running answer is not
// told that it is done, on either transport, so it resumes.
func TestShutdownCutsOffWithoutAnEnd(t *testing.T) {
	for range 20 { // the end and the close race
		s := newService(t, func(c *Config) {
			c.Answer = func(ctx context.Context, _ generate.Question, emit generate.Emit) error {
				if err := emit(generate.Token{Text: "x"}); err != nil {
					return err
				}
				<-ctx.Done()
				return emit(generate.Done{Finish: generate.FinishCancelled, TextSHA256: sha("x")})
			}
		})
		conn := s.hello(t)
		say(t, conn, `{"type":"ask","id":"q","question":"How far?"}`)
		for hear(t, conn)["type"] != "token" {
		}
		events, whole := make(chan string, 1), make(chan string, 1)
		for accept, out := range map[string]chan string{"text/event-stream": events, "application/json": whole} {
			go func() {
				_, _, body := s.request(t, "POST", "/v1/answers", strings.NewReader(`{"id":"q","question":"How far?"}`), map[string]string{"Content-Type": "application/json", "Accept": accept})
				out <- body
			}()
		}
		if err := s.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if body := <-events; strings.Contains(body, "event: done") {
			t.Fatalf("the event stream ended with %s", body)
		}
		if body := <-whole; !strings.Contains(body, fmt.Sprint(codeStopping)) {
			t.Fatalf("the whole answer is %s", body)
		}
		for {
			_, data, err := conn.ReadMessage()
			if err != nil {
				if !websocket.IsCloseError(err, websocket.CloseGoingAway) {
					t.Fatalf("ended with %v", err)
				}
				break
			}
			if strings.Contains(string(data), `"done"`) {
				t.Fatalf("the connection was told %s", data)
			}
		}
	}
}

// TestFloodsAreCut: every kind of frame counts, control frames too.
func TestFloodsAreCut(t *testing.T) {
	soon := func() time.Time { return time.Now().Add(10 * time.Second) }
	for name, send := range map[string]func(*websocket.Conn) error{
		"messages": func(c *websocket.Conn) error { return c.WriteMessage(websocket.TextMessage, []byte(`{"type":"ping"}`)) },
		"pings":    func(c *websocket.Conn) error { return c.WriteControl(websocket.PingMessage, nil, soon()) },
		"pongs":    func(c *websocket.Conn) error { return c.WriteControl(websocket.PongMessage, nil, soon()) },
	} {
		t.Run(name, func(t *testing.T) {
			s := newService(t, nil)
			conn := s.hello(t)
			for range 2000 {
				if send(conn) != nil {
					break // closed already
				}
			}
			for {
				if _, _, err := conn.ReadMessage(); err != nil {
					if strings.Contains(err.Error(), "timeout") {
						t.Error("the flood goes on")
					}
					return
				}
			}
		})
	}
}

func TestConnectionsAreBounded(t *testing.T) {
	s := newService(t, nil)
	s.mu.Lock()
	s.open = maxSockets
	s.mu.Unlock()
	d := websocket.Dialer{Subprotocols: []string{subprotocol}}
	_, res, err := d.Dial("ws"+strings.TrimPrefix(s.http.URL, "http")+"/v1/ws", nil)
	if err == nil || res == nil || res.StatusCode != 503 || res.Header.Get("Retry-After") == "" {
		t.Fatalf("one connection too many: %v %v", res, err)
	}
	_ = res.Body.Close()
	s.mu.Lock()
	s.open = 0
	s.mu.Unlock()
	s.hello(t)
}

// answerOf is an answer of just these events.
func answerOf(events ...generate.Event) func(context.Context, generate.Question, generate.Emit) error {
	return func(_ context.Context, _ generate.Question, emit generate.Emit) error {
		for _, e := range events {
			if err := emit(e); err != nil {
				return err
			}
		}
		return nil
	}
}
