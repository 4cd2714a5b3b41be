package client_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/reeltree/reeltree/client"
	"github.com/reeltree/reeltree/generate"
	"github.com/reeltree/reeltree/server"
	"github.com/reeltree/reeltree/tree"
)

var errAbsent = errors.New("absent")

// empty is a library without sources.
type empty struct{}

func (empty) Source(context.Context, string, string) (tree.Source, error) {
	return tree.Source{}, errAbsent
}

func (empty) Sources(context.Context, string) ([]tree.Source, error) {
	return []tree.Source{{ID: strings.Repeat("a", 26), Title: "talk"}}, nil
}
func (empty) DeleteSource(context.Context, string, string) error       { return errAbsent }
func (empty) Tree(context.Context, string, string) (*tree.Tree, error) { return nil, errAbsent }
func (empty) Job(context.Context, string, string) (tree.Job, error)    { return tree.Job{}, errAbsent }
func (empty) Jobs(context.Context, string) ([]tree.Job, error)         { return nil, nil }

// answerText is long enough to be cut many times on its way.
var answerText = strings.Repeat("A ship could see the lamp from eight kilometres. ", 400)

func answer(ctx context.Context, q generate.Question, emit generate.Emit) error {
	for _, w := range strings.SplitAfter(answerText, " ") {
		if err := emit(generate.Token{Text: w}); err != nil {
			return err
		}
	}
	sum := sha256.Sum256([]byte(answerText))
	return emit(generate.Done{Finish: "stop", TextSHA256: hex.EncodeToString(sum[:])})
}

func start(t *testing.T, change func(*server.Config)) *httptest.Server {
	t.Helper()
	cfg := server.Config{Answer: answer, Catalog: empty{}, Loopback: true, NotFound: func(err error) bool { return errors.Is(err, errAbsent) }}
	if change != nil {
		change(&cfg)
	}
	s := server.New(cfg)
	web := httptest.NewServer(s)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := s.Close(ctx); err != nil {
			t.Error(err)
		}
		web.Close()
	})
	return web
}

// cutter is a connection that breaks after a number of bytes came through it.
type cutter struct {
	net.Conn
	mu   sync.Mutex
	left int
}

func (c *cutter) Read(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.left <= 0 {
		_ = c.Close()
		return 0, io.ErrUnexpectedEOF
	}
	n, err := c.Conn.Read(p[:min(len(p), c.left)])
	c.left -= n
	return n, err
}

// TestAnswerSurvivesCuts breaks the connection at random bytes; the joined text
// must equal the whole, which Ask checks by its hash.
func TestAnswerSurvivesCuts(t *testing.T) {
	web := start(t, nil)
	r := rand.New(rand.NewPCG(5, 6))
	for range 25 {
		cuts := 0
		var d net.Dialer
		c := client.New(client.Config{URL: web.URL, Dial: func(ctx context.Context) (net.Conn, error) {
			conn, err := d.DialContext(ctx, "tcp", web.Listener.Addr().String())
			if cuts++; cuts > 4 || err != nil { // the fifth connection holds
				return conn, err
			}
			return &cutter{Conn: conn, left: 600 + r.IntN(40_000)}, nil
		}})
		var text strings.Builder
		var last client.Event
		err := c.Ask(t.Context(), client.Question{Question: "How far?"}, func(e client.Event) error {
			if e.Type == "gap" {
				text.Reset()
			}
			text.WriteString(e.Text)
			last = e
			return nil
		})
		if err != nil || text.String() != answerText || last.Type != "done" {
			t.Fatalf("after %d connections: %v, %d of %d bytes", cuts, err, text.Len(), len(answerText))
		}
		c.Close()
	}
}

func TestChangedTextIsNoticed(t *testing.T) {
	web := start(t, func(c *server.Config) {
		c.Answer = func(_ context.Context, _ generate.Question, emit generate.Emit) error {
			if err := emit(generate.Token{Text: "one"}); err != nil {
				return err
			}
			return emit(generate.Done{Finish: "stop", TextSHA256: "0"})
		}
	})
	err := client.New(client.Config{URL: web.URL}).Ask(t.Context(), client.Question{Question: "How far?"}, func(client.Event) error { return nil })
	if !errors.Is(err, client.ErrText) {
		t.Errorf("got %v", err)
	}
}

func TestRefusalsKeepTheirNumber(t *testing.T) {
	web := start(t, nil)
	c := client.New(client.Config{URL: web.URL})
	var refusal *client.Error
	if err := c.Ask(t.Context(), client.Question{Question: " "}, func(client.Event) error { return nil }); !errors.As(err, &refusal) || refusal.Code != 1301 {
		t.Errorf("empty question: %v", err)
	}
	if _, err := c.Source(t.Context(), strings.Repeat("b", 26)); !errors.As(err, &refusal) || refusal.Code != 1201 || refusal.Status != 404 {
		t.Errorf("no source: %v", err)
	}
	if all, err := c.Sources(t.Context(), ""); err != nil || len(all) != 1 || all[0].Title != "talk" {
		t.Errorf("%+v %v", all, err)
	}
}

func TestWrongTokenIsFinal(t *testing.T) {
	web := start(t, func(c *server.Config) { c.Token = "sesame" })
	if err := client.New(client.Config{URL: web.URL, Token: "no"}).Ask(t.Context(), client.Question{Question: "x"}, func(client.Event) error { return nil }); err == nil || !strings.Contains(err.Error(), "token") {
		t.Errorf("got %v", err)
	}
	if _, err := client.New(client.Config{URL: web.URL, Token: "sesame"}).Sources(t.Context(), ""); err != nil {
		t.Error(err)
	}
}

func TestUnreachableServiceIsNamed(t *testing.T) {
	_, err := client.New(client.Config{URL: "http://127.0.0.1:1"}).Sources(t.Context(), "")
	if err == nil || !strings.Contains(err.Error(), "reeltree serve") {
		t.Errorf("got %v", err)
	}
}
