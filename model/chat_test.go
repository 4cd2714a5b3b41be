package model_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/reeltree/reeltree/internal/testkit"
	"github.com/reeltree/reeltree/model"
)

const testKey = "canary-key-0123456789"

// testConfig has deadlines short enough to wait for.
func testConfig(e *testkit.Endpoint) model.Config {
	return model.Config{
		URL: e.URL, Model: "scripted", Key: model.NewSecret(testKey),
		Retries: 2, Backoff: time.Millisecond,
		Connect: time.Second, FirstToken: time.Second,
		BetweenTokens: time.Second, Total: 10 * time.Second,
		MaxReply: 1 << 20,
	}
}

func newChat(t *testing.T, c model.Config) *model.Chat {
	t.Helper()
	chat, err := model.NewChat(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(chat.Close)
	return chat
}

func question() model.Request {
	return model.Request{
		System:    "You answer from numbered evidence.",
		Messages:  []model.Message{{Text: "Evidence:\n[1] The fox jumps over the lazy dog at noon.\n[2] The cat sleeps in the garden.\n\nWho jumps?"}},
		MaxTokens: 200,
	}
}

const goodAnswer = "The fox jumps over the lazy dog at noon [1]. The cat sleeps in the garden [2]."

// collect joins what was streamed.
func collect(into *strings.Builder) func(string) error {
	return func(s string) error {
		into.WriteString(s)
		return nil
	}
}

// TestChatModes: every mode of the endpoint ends in the right text or in a
// named error, within its deadline.
func TestChatModes(t *testing.T) {
	good := []string{
		"ok", "ok-slow:2ms", "ok-jitter", "usage-last", "no-usage", "nonstream-json", "keepalive400", "crlf",
		"no-blank-after-data", "no-last-newline", "reasoning_content", "think", "think-json",
		"no-max-tokens", "no-stream-options", "length-valid",
	}
	for _, mode := range good {
		t.Run(mode, func(t *testing.T) {
			reply, streamed, _, err := ask(t, mode)
			if err != nil || reply.Text != goodAnswer || streamed != goodAnswer {
				t.Fatalf("reply %q, streamed %q, error %v", reply.Text, streamed, err)
			}
			if want := finishOf(mode); reply.Finish != want {
				t.Errorf("finish %q, want %q", reply.Finish, want)
			}
			if reply.TokensIn == 0 || reply.TokensOut == 0 || reply.UsageKnown == (mode == "no-usage") {
				t.Errorf("usage %+v", reply)
			}
		})
	}
	bad := []struct {
		mode  string
		kind  model.Kind
		calls int
		words string
	}{
		{"cut", model.KindCut, 1, "broke off"},
		{"cut-clean", model.KindCut, 1, "finish reason"},
		{"cut:0", model.KindCut, 3, "broke off"},
		{"cut-clean:0", model.KindCut, 3, "nothing came"},
		{"hang", model.KindTimeout, 1, "until the first token"},
		{"hang-headers", model.KindTimeout, 1, "until the first token"},
		{"hang-3", model.KindTimeout, 1, "between two tokens"},
		{"nochoices", model.KindBadReply, 1, "no choices"},
		{"nochoices+nonstream-json", model.KindBadReply, 1, "no choices"},
		{"html200", model.KindBadReply, 1, "web page"},
		{"html403", model.KindAuth, 1, "web page"},
		{"503-html", model.KindUpstream, 3, "status 503"},
		{"500", model.KindUpstream, 3, "the server had an error"},
		{"401", model.KindAuth, 1, "[secret]"},
		{"404-model", model.KindNoModel, 1, "does not exist"},
		{"429-bare", model.KindRateLimited, 3, "rate limit"},
		{"redirect", model.KindBadReply, 1, "status 307"},
		{"errevent", model.KindUpstream, 3, "out of memory"},
		{"errevent-spaced", model.KindUpstream, 3, "out of memory"},
		{"errevent:3", model.KindUpstream, 1, "out of memory"},
		{"errevent-spaced:3", model.KindUpstream, 1, "out of memory"},
		{"keepalive400+errevent", model.KindUpstream, 3, "out of memory"},
		{"null-content", model.KindBadReply, 1, "no text"},
		{"null-content+nonstream-json", model.KindBadReply, 1, "no text"},
		{"empty-content", model.KindBadReply, 1, "no text"},
		{"reasoning_content+empty-content", model.KindBadReply, 1, "only thoughts"},
		{"refusal", model.KindRefused, 1, "cannot help"},
		{"refusal+nonstream-json", model.KindRefused, 1, "cannot help"},
		{"content_filter", model.KindRefused, 1, "content filter"},
		{"runaway", model.KindTooLarge, 1, "tokens are capped"},
		{"huge", model.KindTooLarge, 1, "1048576 bytes"},
		{"gzip-bomb", model.KindTooLarge, 1, "1048576 bytes"},
		{"think-close-only", model.KindBadReply, 1, "thoughts"},
	}
	for _, c := range bad {
		t.Run(c.mode, func(t *testing.T) {
			_, streamed, e, err := ask(t, c.mode)
			var named *model.Error
			if !errors.As(err, &named) || named.Kind != c.kind || e.Count() != c.calls {
				t.Fatalf("error %v (kind %v), calls %d, want %s after %d", err, named, e.Count(), c.kind, c.calls)
			}
			if text := err.Error(); !strings.Contains(text, c.words) || !strings.Contains(text, `"scripted"`) ||
				strings.Contains(text, testKey) || strings.Contains(text, "\n") {
				t.Errorf("sentence %q, want it to hold %q, the model and no key", text, c.words)
			}
			if noText := c.kind == model.KindRefused || strings.Contains(c.mode, "-content"); errors.Is(err, model.ErrNoText) != noText {
				t.Errorf("no text at all: %v, want %v", !noText, noText)
			}
			if (strings.HasSuffix(c.mode, "-3") || strings.HasSuffix(c.mode, ":3")) && streamed == "" {
				t.Error("the tokens before the failure were not handed over")
			}
		})
	}
}

func finishOf(mode string) string {
	if mode == "length-valid" {
		return "length"
	}
	return "stop"
}

// ask asks the test question in one mode, within five seconds.
func ask(t *testing.T, mode string) (model.Reply, string, *testkit.Endpoint, error) {
	t.Helper()
	e := testkit.NewEndpoint(t)
	e.Always(mode)
	chat := newChat(t, testConfig(e))
	var streamed strings.Builder
	start := time.Now()
	reply, err := chat.Complete(t.Context(), question(), collect(&streamed))
	if d := time.Since(start); d > 5*time.Second {
		t.Errorf("took %s", d)
	}
	return reply, streamed.String(), e, err
}

// TestCutIsTriedAgainUnheard: without a listener nothing was handed over, so a
// cut reply is asked for again.
func TestCutIsTriedAgainUnheard(t *testing.T) {
	e := testkit.NewEndpoint(t)
	e.Next("cut", "cut-clean")
	reply, err := newChat(t, testConfig(e)).Complete(t.Context(), question(), nil)
	if err != nil || reply.Text != goodAnswer || e.Count() != 3 {
		t.Fatalf("reply %q, error %v, calls %d", reply.Text, err, e.Count())
	}
}

// TestPartialReply: what came before the failure is in the reply.
func TestPartialReply(t *testing.T) {
	reply, streamed, _, err := ask(t, "hang-3")
	if err == nil || reply.Text != "The fox jumps" || streamed != reply.Text || reply.Finish != "" {
		t.Fatalf("reply %+v, streamed %q, error %v", reply, streamed, err)
	}
}

func TestSplitCharactersAreJoined(t *testing.T) {
	reply, streamed, _, err := ask(t, "split-utf8")
	if want := "Ünï–cödé 😀 " + goodAnswer; err != nil || reply.Text != want || streamed != want {
		t.Fatalf("reply %q, streamed %q, error %v", reply.Text, streamed, err)
	}
}

// TestCloseOnlyThoughtsAreLearned: the first answer ends in an error that says
// so, later ones are clean; without a listener even the first is.
func TestCloseOnlyThoughtsAreLearned(t *testing.T) {
	e := testkit.NewEndpoint(t)
	e.Always("think-close-only")
	chat := newChat(t, testConfig(e))
	var streamed strings.Builder
	if _, err := chat.Complete(t.Context(), question(), collect(&streamed)); err == nil {
		t.Fatal("thoughts in the answer were not noticed")
	}
	streamed.Reset()
	reply, err := chat.Complete(t.Context(), question(), collect(&streamed))
	if err != nil || reply.Text != goodAnswer || streamed.String() != goodAnswer {
		t.Fatalf("reply %q, streamed %q, error %v", reply.Text, streamed.String(), err)
	}
	reply, err = newChat(t, testConfig(e)).Complete(t.Context(), question(), nil)
	if err != nil || reply.Text != goodAnswer {
		t.Fatalf("reply %q, error %v", reply.Text, err)
	}
	e.Always("ok")
	if reply, err = chat.Complete(t.Context(), question(), nil); err != nil || reply.Text != goodAnswer {
		t.Fatalf("a reply without thoughts: %q, error %v", reply.Text, err)
	}
}

// TestEchoedKeyIsTakenOut also when it is split over tokens.
func TestEchoedKeyIsTakenOut(t *testing.T) {
	for _, mode := range []string{"echo-secret", "echo-secret+nonstream-json", "echo-secret+split-utf8"} {
		reply, streamed, _, err := ask(t, mode)
		if err != nil || strings.Contains(reply.Text+streamed, testKey) || !strings.Contains(streamed, "[secret]") {
			t.Errorf("%s: reply %q, streamed %q, error %v", mode, reply.Text, streamed, err)
		}
	}
}

// TestCancelClosesUpstream at every stage of a reply within 200 ms.
func TestCancelClosesUpstream(t *testing.T) {
	for _, mode := range []string{"hang", "hang-headers", "hang-3", "ok-slow:20ms", "runaway+ok-slow:1ms"} {
		t.Run(mode, func(t *testing.T) {
			e := testkit.NewEndpoint(t)
			e.Always(mode)
			c := testConfig(e)
			c.FirstToken, c.BetweenTokens = time.Minute, time.Minute
			chat := newChat(t, c)
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan error, 1)
			go func() {
				_, err := chat.Complete(ctx, question(), func(string) error { return nil })
				done <- err
			}()
			ready := testkit.Speaking
			if mode == "hang" || mode == "hang-headers" {
				ready = nil
			}
			if _, err := e.Wait(t.Context(), 0, ready); err != nil {
				t.Fatal(err)
			}
			cancelled := time.Now()
			cancel()
			call, err := e.Wait(t.Context(), 0, testkit.Ended)
			if err != nil || !call.Cancelled || call.Closed.Sub(cancelled) > 200*time.Millisecond {
				t.Errorf("closed %s after the cancel, cancelled %v", call.Closed.Sub(cancelled), call.Cancelled)
			}
			if err := <-done; !errors.Is(err, context.Canceled) {
				t.Errorf("error %v", err)
			}
		})
	}
}

// TestListenerEndsCall: the error of the callback comes back as it is.
func TestListenerEndsCall(t *testing.T) {
	e := testkit.NewEndpoint(t)
	e.Always("runaway+ok-slow:1ms")
	stop := errors.New("enough")
	_, err := newChat(t, testConfig(e)).Complete(t.Context(), question(), func(string) error { return stop })
	if err != stop { //nolint:errorlint // the very same error is promised
		t.Fatalf("error %v", err)
	}
	if call, err := e.Wait(t.Context(), 0, testkit.Ended); err != nil || !call.Cancelled {
		t.Fatalf("upstream not closed: %+v, %v", call, err)
	}
}

// TestDialects: a refused field costs one call once, then it is remembered.
func TestDialects(t *testing.T) {
	object := json.RawMessage(`{"type":"object","properties":{"texts":{"type":"array","items":{"type":"string"},"minItems":2}}}`)
	list := json.RawMessage(`{"type":"array","items":{"type":"string"},"minItems":2}`)
	for _, c := range []struct {
		mode   string
		schema json.RawMessage
		calls  int
		format string
	}{
		{"ok", object, 1, "json_schema"},
		{"no-schema", object, 2, "json_object"},
		{"no-json", object, 3, ""},
		{"no-schema", list, 2, ""},
		{"no-json+no-max-tokens+no-stream-options", object, 5, ""},
	} {
		t.Run(c.mode, func(t *testing.T) {
			e := testkit.NewEndpoint(t)
			e.Always(c.mode)
			chat := newChat(t, testConfig(e))
			r := question()
			r.JSONSchema = c.schema
			budget := model.NewBudget(model.Limits{}, model.Spent{})
			for i := range 2 {
				if _, err := chat.Complete(model.WithBudget(t.Context(), budget), r, nil); err != nil {
					t.Fatal(err)
				}
				if want := c.calls + i; e.Count() != want {
					t.Fatalf("%d calls, want %d", e.Count(), want)
				}
			}
			calls := e.Calls()
			if got := calls[len(calls)-1]; got.Format != c.format || got.MaxTokens != 200 {
				t.Errorf("format %q, max tokens %d", got.Format, got.MaxTokens)
			}
			if s := budget.Spent(); s.Fallbacks != c.calls-1 || s.Calls != c.calls+1 || s.Retries != 0 {
				t.Errorf("spent %+v", s)
			}
		})
	}
}

// TestImagesAndRequest: pictures arrive as they were sent, text stays a text.
func TestImagesAndRequest(t *testing.T) {
	e := testkit.NewEndpoint(t)
	jpeg := []byte{0xFF, 0xD8, 1, 2, 3}
	r := model.Request{System: "Describe.", Messages: []model.Message{{Text: "Two pictures.", Images: [][]byte{jpeg, jpeg}}}}
	reply, err := newChat(t, testConfig(e)).Complete(t.Context(), r, nil)
	if err != nil || reply.Text == "" {
		t.Fatal(reply, err)
	}
	call := e.Calls()[0]
	if len(call.Images) != 2 || string(call.Images[0]) != string(jpeg) || call.Prompt != "Two pictures." ||
		call.System != "Describe." || call.Header.Get("Authorization") != "Bearer "+testKey {
		t.Fatalf("call %+v", call)
	}
	if !strings.Contains(string(call.Body), `"content":"Describe."`) {
		t.Errorf("a plain text is sent as parts: %s", call.Body)
	}
}
