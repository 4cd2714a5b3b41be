//go:build e2e

package e2e

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

// TestRealChatServer asks through a real llama.cpp server. Its model is far too
// small to answer or judge well, so only the protocol is looked at: an answer
// streams word by word and ends as the engine said, a JSON-schema reply is JSON,
// a cancel reaches the engine.
func TestRealChatServer(t *testing.T) {
	tap := newWiretap(t, pythonPeer(t, "llama", "/health"))
	data := t.TempDir()
	ingestOne(t, data, demo(t))
	s := serve(t, data, "--llm-url", tap.URL+"/v1", "--llm-model", "smollm2")
	c := dial(t, s)
	answerReal(t, c, tap)
	cancelReal(t, c, tap)
}

// realOptions keep prompts short: the engine reads some thirty tokens a second.
// With a second round a critic is asked whether it is needed.
func realOptions() map[string]any {
	return map[string]any{"answerer": "model", "budget_tokens": 120, "rounds": 2}
}

// call is one request of the product with the engine's whole reply.
type call struct {
	format, said, finish string
}

// settled waits until the n counted calls have passed and reads them.
func settled(t *testing.T, tap *wiretap, n int) (calls []call) {
	t.Helper()
	waitFor(t, "the counted calls to be over", func() bool { return len(tap.passed()) == n })
	for _, x := range tap.passed() {
		var request struct {
			Stream bool
			Format struct{ Type string } `json:"response_format"`
		}
		if err := json.Unmarshal([]byte(x.Body), &request); err != nil || !request.Stream || x.Status != 200 || !strings.HasPrefix(x.Reply, "data:") {
			t.Errorf("a call got status %d: %.300s", x.Status, x.Reply)
		}
		said, finish := spoken(t, x.Reply)
		calls = append(calls, call{request.Format.Type, said, finish})
	}
	return calls
}

// answerReal: the critic's verdict is JSON by schema, and the words of the
// answer are the engine's, in several frames.
func answerReal(t *testing.T, c *socket, tap *wiretap) {
	t.Helper()
	c.say(asking(demoQuestion, "real", realOptions()))
	all := c.until("done", nil)
	if err := ordered(all); err != nil {
		t.Error(err)
	}
	text, last, frames := textOf(t, all), all[len(all)-1], 0
	for _, f := range all {
		if f.Type == "token" {
			frames++
		}
	}
	calls := settled(t, tap, last.Usage.Calls)
	if len(calls) != 2 || calls[0].format != "json_schema" || calls[1].format != "" {
		t.Fatalf("the calls are %+v, done says %+v", calls, last)
	}
	checkVerdict(t, calls[0])
	if calls[1].finish != last.Finish || last.Finish != "stop" && last.Finish != "length" {
		t.Errorf("the engine ended with %q, done says %+v", calls[1].finish, last)
	}
	if word := strings.Fields(calls[1].said)[0]; frames < 2 || !strings.HasPrefix(text, word) {
		t.Errorf("%d token frames, %q stands for %q", frames, text, calls[1].said)
	}
}

// checkVerdict: a verdict that ended by itself follows the schema. The model may
// ramble inside a text until its tokens are used up; then what there is begins
// as the schema says.
func checkVerdict(t *testing.T, c call) {
	t.Helper()
	var verdict struct {
		Sufficient *bool
		Missing    []string
		FollowUp   *string `json:"follow_up"`
	}
	err := json.Unmarshal([]byte(c.said), &verdict)
	whole := err == nil && verdict.Sufficient != nil && verdict.FollowUp != nil
	begun := c.finish == "length" && strings.HasPrefix(strings.Join(strings.Fields(c.said), ""), `{"sufficient":`)
	if !whole && !begun {
		t.Errorf("the verdict ended with %q and is %.300q: %v", c.finish, c.said, err)
	}
}

// cancelReal cancels at the first word; the engine's request is closed.
func cancelReal(t *testing.T, c *socket, tap *wiretap) {
	t.Helper()
	before := len(tap.passed())
	c.say(asking(demoQuestion, "cancelled", realOptions()))
	var cancelled time.Time
	all := c.until("done", func(f frame) {
		if f.Type == "token" && cancelled.IsZero() {
			cancelled = time.Now()
			c.say(map[string]any{"type": "cancel", "stream": f.Stream})
		}
	})
	if last := all[len(all)-1]; last.Finish != "cancelled" {
		t.Errorf("done says %+v", last)
	}
	waitFor(t, "the engine's requests to end", func() bool { return len(tap.passed()) == before+2 })
	if x := tap.passed()[before+1]; !x.Closed || x.Ended.Sub(cancelled) > time.Second {
		t.Errorf("the request ended %v after the cancel, closed by us: %v", x.Ended.Sub(cancelled), x.Closed)
	}
}

// spoken joins the pieces of a streamed reply and gives its finish reason.
func spoken(t *testing.T, stream string) (text, finish string) {
	t.Helper()
	for line := range strings.Lines(stream) {
		data, ok := strings.CutPrefix(strings.TrimSpace(line), "data: ")
		if !ok || data == "[DONE]" {
			continue
		}
		var chunk struct {
			Choices []struct {
				Delta  struct{ Content string }
				Finish string `json:"finish_reason"`
			}
		}
		if err := json.Unmarshal([]byte(data), &chunk); err != nil {
			t.Fatalf("chunk %q: %v", data, err)
		}
		for _, choice := range chunk.Choices {
			text, finish = text+choice.Delta.Content, finish+choice.Finish
		}
	}
	return text, finish
}
