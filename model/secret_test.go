package model

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestSecretNeverPrints(t *testing.T) {
	const key = "sk-canary-123456"
	var s Secret
	if err := s.UnmarshalText([]byte(" " + key + "\n")); err != nil || s.reveal() != key || !s.Set() {
		t.Fatalf("key %q, error %v", s.reveal(), err)
	}
	client, err := newClient("chat", Config{URL: "http://h:1", Model: "m", Key: s})
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	log := slog.New(slog.NewJSONHandler(&out, nil))
	log.Info("x", "key", s, "pointer", &s, "config", Config{Key: s}, "client", client)
	for _, v := range []any{s, &s, Config{Key: s}, client, client.http.Transport, map[Secret]int{s: 1}, []Secret{s}} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
			fmt.Fprintf(&out, verb+"\n", v)
		}
	}
	for _, v := range []any{s, Config{Key: s}, map[string]any{"a": &s}} {
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		out.Write(b)
	}
	if strings.Contains(out.String(), "canary") || strings.Contains(out.String(), fmt.Sprintf("%x", key)) {
		t.Fatalf("the key is printed: %s", out.String())
	}
	if got := fmt.Sprint(s) + fmt.Sprint(Secret{}); got != "[secret]" {
		t.Errorf("printed as %q", got)
	}
}

// TestRetryAfterHoldsForAll: one call that is told to wait makes all wait.
func TestRetryAfterHoldsForAll(t *testing.T) {
	c, err := newClient("chat", Config{URL: "http://h:1", Model: "m"})
	if err != nil {
		t.Fatal(err)
	}
	now := time.Unix(1000, 0)
	var waited []time.Duration
	c.now = func() time.Time { return now }
	c.jitter = func() float64 { return 1 }
	c.wait = func(_ context.Context, d time.Duration) error {
		waited = append(waited, d)
		now = now.Add(d)
		return nil
	}
	ctx := t.Context()
	if !c.backOff(ctx, &Error{RetryAfter: 7 * time.Second}, 0) || len(waited) != 0 {
		t.Fatalf("waited %v", waited)
	}
	for range 2 { // this call and any other
		if err := c.untilAllowed(ctx); err != nil {
			t.Fatal(err)
		}
	}
	for tries := range 3 {
		c.backOff(ctx, &Error{}, tries)
	}
	want := []time.Duration{7 * time.Second, 500 * time.Millisecond, time.Second, 2 * time.Second}
	if !slices.Equal(waited, want) {
		t.Errorf("waited %v, want %v", waited, want)
	}
}

func TestBaseAddress(t *testing.T) {
	for in, want := range map[string]string{
		"http://127.0.0.1:11434":               "http://127.0.0.1:11434/v1",
		"http://h:1/":                          "http://h:1/v1",
		" https://api.example.com/v1/ ":        "https://api.example.com/v1",
		"https://h/openai/v1/chat/completions": "https://h/openai/v1",
		"http://h/v1/embeddings":               "http://h/v1",
		"http://h/v1/audio/transcriptions/":    "http://h/v1",
		"http://[::1]:8000/api":                "http://[::1]:8000/api",
	} {
		if got, _, err := baseAddress(in); err != nil || got != want {
			t.Errorf("%q: %q, %v, want %q", in, got, err, want)
		}
	}
	for _, in := range []string{"", "h:1", "ftp://h", "http://", "http://u:pw@h", "http://h?key=pw", "file:///x", "http://h/#f", "http://u:pw@h:bad"} {
		if _, _, err := baseAddress(in); err == nil || strings.Contains(err.Error(), "pw") {
			t.Errorf("%q: error %v", in, err)
		}
	}
	if _, err := newClient("chat", Config{URL: "http://h"}); err == nil || !strings.Contains(err.Error(), "no model is named") {
		t.Errorf("error %v", err)
	}
	if got := (Config{PriceIn: 2, PriceOut: 10}).Cost(1000, 100); got != 0.003 {
		t.Errorf("cost %g", got)
	}
}
