package model_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/reeltree/reeltree/internal/testkit"
	"github.com/reeltree/reeltree/model"
)

// TestRetryAfterIsHonoured in both spellings: the next request comes no
// earlier than asked for, and not much later.
func TestRetryAfterIsHonoured(t *testing.T) {
	for _, mode := range []string{"429:1", "429-date:1"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			e := testkit.NewEndpoint(t)
			e.Next(mode)
			if _, err := newChat(t, testConfig(e)).Complete(t.Context(), question(), nil); err != nil {
				t.Fatal(err)
			}
			calls := e.Calls()
			// A date counts whole seconds, so it may ask for up to one more.
			if d := calls[1].Opened.Sub(calls[0].Opened); len(calls) != 2 || d < time.Second || d > 2500*time.Millisecond {
				t.Fatalf("%d calls, %s apart", len(calls), d)
			}
		})
	}
}

// TestRetryAfterBeyondDeadline fails at once and says how long.
func TestRetryAfterBeyondDeadline(t *testing.T) {
	e := testkit.NewEndpoint(t)
	e.Always("429:3600")
	start := time.Now()
	_, err := newChat(t, testConfig(e)).Complete(t.Context(), question(), nil)
	var named *model.Error
	if !errors.As(err, &named) || named.RetryAfter != time.Hour || e.Count() != 1 || time.Since(start) > time.Second {
		t.Fatalf("error %v, calls %d, after %s", err, e.Count(), time.Since(start))
	}
	if !strings.Contains(err.Error(), "wait 1h0m0s") {
		t.Errorf("sentence %q", err)
	}
}

// TestConcurrencyIsCapped: never more requests open than allowed.
func TestConcurrencyIsCapped(t *testing.T) {
	e := testkit.NewEndpoint(t)
	e.Always("ok-slow:1ms")
	c := testConfig(e)
	c.Concurrency, c.Total = 3, time.Minute
	chat := newChat(t, c)
	var wg sync.WaitGroup
	for range 12 {
		wg.Go(func() {
			if _, err := chat.Complete(t.Context(), question(), nil); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if e.MaxOpen() != 3 || e.Count() != 12 {
		t.Fatalf("%d open at once, %d calls", e.MaxOpen(), e.Count())
	}
}

// TestCallBudgetIsNeverPassed, whatever runs at once and however often a call fails.
func TestCallBudgetIsNeverPassed(t *testing.T) {
	for _, mode := range []string{"ok", "500", "cut-clean", "no-json"} {
		t.Run(mode, func(t *testing.T) {
			e := testkit.NewEndpoint(t)
			e.Always(mode)
			chat := newChat(t, testConfig(e))
			budget := model.NewBudget(model.Limits{Calls: 7}, model.Spent{Calls: 2})
			ctx := model.WithBudget(t.Context(), budget)
			r := question()
			r.JSONSchema = []byte(`{"type":"object"}`)
			var wg sync.WaitGroup
			for range 10 {
				wg.Go(func() {
					_, err := chat.Complete(ctx, r, nil)
					var named *model.Error
					if err != nil && !errors.As(err, &named) {
						t.Error(err)
					}
				})
			}
			wg.Wait()
			if e.Count() != 5 || budget.Spent().Calls != 7 {
				t.Fatalf("%d calls, spent %+v", e.Count(), budget.Spent())
			}
			_, err := chat.Complete(ctx, r, nil)
			if !errors.Is(err, model.ErrBudget) || !strings.Contains(err.Error(), "7 calls") {
				t.Fatalf("error %v", err)
			}
		})
	}
}

// TestTokenBudget: what running calls really cost decides; nothing is refused
// while a reservation may still be given back.
func TestTokenBudget(t *testing.T) {
	e := testkit.NewEndpoint(t)
	e.Always("ok-slow:1ms")
	chat := newChat(t, testConfig(e))
	// One call may cost 200 tokens of output and costs about 50 in all.
	budget := model.NewBudget(model.Limits{Tokens: 500}, model.Spent{})
	ctx := model.WithBudget(t.Context(), budget)
	var wg sync.WaitGroup
	var mu sync.Mutex
	var refused int
	for range 20 {
		wg.Go(func() {
			if _, err := chat.Complete(ctx, question(), nil); errors.Is(err, model.ErrBudget) {
				mu.Lock()
				refused++
				mu.Unlock()
			} else if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	s := budget.Spent()
	if s.Tokens() > 500 || s.Tokens() < 250 || refused == 0 || refused+s.Calls != 20 {
		t.Fatalf("spent %+v, refused %d", s, refused)
	}
}

// TestTotalDeadline holds over all tries.
func TestTotalDeadline(t *testing.T) {
	e := testkit.NewEndpoint(t)
	e.Always("ok-slow:50ms")
	c := testConfig(e)
	c.Total = 200 * time.Millisecond
	_, err := newChat(t, c).Complete(t.Context(), question(), nil)
	var named *model.Error
	if !errors.As(err, &named) || named.Kind != model.KindTimeout || !strings.Contains(err.Error(), "over 200ms in all") {
		t.Fatalf("error %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	_, err = newChat(t, testConfig(e)).Complete(ctx, question(), nil)
	if !errors.As(err, &named) || named.Kind != model.KindTimeout || !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("the caller's deadline: %v", err)
	}
}

func TestUnreachable(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	_ = l.Close()
	c := model.Config{URL: "http://" + address, Model: "m", Retries: 1, Backoff: time.Millisecond}
	for address, words := range map[string]string{
		c.URL: "connection refused", "http://no-such-host.invalid": "host name is not known",
	} {
		c.URL = address
		_, err := newChat(t, c).Complete(t.Context(), question(), nil)
		var named *model.Error
		if !errors.As(err, &named) || named.Kind != model.KindUnreachable || !strings.Contains(err.Error(), words) {
			t.Errorf("error %v", err)
		}
	}
}

// TestKeyStaysSecret: no log at any level and no error holds the key.
func TestKeyStaysSecret(t *testing.T) {
	var logs bytes.Buffer
	for _, mode := range testkit.Modes() {
		if strings.HasPrefix(mode, "429") || strings.HasPrefix(mode, "hang") || mode == "huge" || mode == "gzip-bomb" {
			continue // slow, and they carry no text of the endpoint
		}
		e := testkit.NewEndpoint(t)
		e.Always(mode)
		c := testConfig(e)
		c.Log = slog.New(slog.NewTextHandler(&logs, &slog.HandlerOptions{Level: slog.LevelDebug}))
		c.Log.Info("settings", "config", c)
		reply, err := newChat(t, c).Complete(t.Context(), question(), nil)
		if strings.Contains(reply.Text, testKey) || (err != nil && strings.Contains(err.Error(), testKey)) {
			t.Errorf("%s shows the key", mode)
		}
	}
	if strings.Contains(logs.String(), testKey) || !strings.Contains(logs.String(), "model call failed") {
		t.Error("the log shows the key, or nothing at all")
	}
}
