package client_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/reeltree/reeltree/client"
	"github.com/reeltree/reeltree/generate"
	"github.com/reeltree/reeltree/server"
)

// TestRestartInTheMiddle: the service is replaced by another that knows nothing
// of the answer; the client is told of the gap, asks again and gets the whole.
func TestRestartInTheMiddle(t *testing.T) {
	reached := make(chan struct{})
	first := server.New(server.Config{
		Catalog: empty{}, Loopback: true, NotFound: func(error) bool { return true },
		Answer: func(ctx context.Context, _ generate.Question, emit generate.Emit) error {
			if err := emit(generate.Token{Text: "only half "}); err != nil {
				return err
			}
			close(reached)
			<-ctx.Done()
			return ctx.Err()
		},
	})
	second := server.New(server.Config{Answer: answer, Catalog: empty{}, Loopback: true, NotFound: func(error) bool { return true }})
	now := make(chan *server.Server, 1)
	now <- first
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s := <-now
		now <- s
		s.ServeHTTP(w, r)
	}))
	defer web.Close()
	defer func() { _ = second.Close(context.Background()) }()
	go func() {
		<-reached
		<-now
		now <- second
		_ = first.Close(context.Background()) // says 1001
	}()
	gaps, text := 0, ""
	err := client.New(client.Config{URL: web.URL}).Ask(t.Context(), client.Question{Question: "How far?"}, func(e client.Event) error {
		switch e.Type {
		case "gap":
			gaps++
			text = ""
		case "token":
			text += e.Text
		}
		return nil
	})
	if err != nil || text != answerText || gaps > 1 {
		t.Errorf("%v: %d bytes of %d after %d gaps", err, len(text), len(answerText), gaps)
	}
}

// TestEndOfContextCancelsTheAnswer: who does not want an answer any more does
// not pay for it.
func TestEndOfContextCancelsTheAnswer(t *testing.T) {
	ended := make(chan error, 1)
	web := start(t, func(c *server.Config) {
		c.Answer = func(ctx context.Context, _ generate.Question, emit generate.Emit) error {
			if err := emit(generate.Token{Text: "a"}); err != nil {
				return err
			}
			<-ctx.Done()
			ended <- ctx.Err()
			return emit(generate.Done{Finish: generate.FinishCancelled})
		}
	})
	ctx, cancel := context.WithCancel(t.Context())
	err := client.New(client.Config{URL: web.URL}).Ask(ctx, client.Question{Question: "How far?"}, func(e client.Event) error {
		if e.Type == "token" {
			cancel()
		}
		return nil
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("Ask returned %v", err)
	}
	select {
	case <-ended:
	case <-time.After(10 * time.Second):
		t.Error("the answer goes on")
	}
}

// TestCallbackErrorsAreFinal: what the caller's function says is not retried.
func TestCallbackErrorsAreFinal(t *testing.T) {
	web, full := start(t, nil), errors.New("the disk is full")
	calls := 0
	err := client.New(client.Config{URL: web.URL}).Ask(t.Context(), client.Question{Question: "How far?"}, func(e client.Event) error {
		if e.Type == "token" {
			calls++
			return full
		}
		return nil
	})
	if !errors.Is(err, full) || calls != 1 {
		t.Errorf("%v after %d calls", err, calls)
	}
}

// TestEverySingleCut breaks the first connection after each of many byte counts
// and lets the second one live: the answer is whole each time.
func TestEverySingleCut(t *testing.T) {
	web := start(t, nil)
	addr := strings.TrimPrefix(web.URL, "http://")
	for i := range 50 {
		dials := 0
		c := client.New(client.Config{URL: "http://127.0.0.1", Dial: func(ctx context.Context) (net.Conn, error) {
			conn, err := new(net.Dialer).DialContext(ctx, "tcp", addr)
			if dials++; dials > 1 || err != nil {
				return conn, err
			}
			return &cutter{Conn: conn, left: 1 + i*i*12}, nil
		}})
		text := ""
		err := c.Ask(t.Context(), client.Question{Question: fmt.Sprint("How far, ", i, "?")}, func(e client.Event) error {
			text += e.Text
			return nil
		})
		if err != nil || text != answerText {
			t.Fatalf("cut after %d bytes: %v, %d bytes of %d", 1+i*i*12, err, len(text), len(answerText))
		}
		c.Close()
	}
}
