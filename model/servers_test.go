package model_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/reeltree/reeltree/internal/testkit"
	"github.com/reeltree/reeltree/model"
)

// complaint is an endpoint that refuses what a real server refuses, in its
// words, and answers everything else.
type complaint struct {
	mu       sync.Mutex
	requests []string
}

func (c *complaint) serve(t *testing.T, refuse func(body string) (status int, reply string)) model.Config {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		c.mu.Lock()
		c.requests = append(c.requests, string(body))
		c.mu.Unlock()
		if status, reply := refuse(string(body)); status != 0 {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status)
			_, _ = io.WriteString(w, reply)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, `data: {"choices":[{"index":0,"delta":{"content":"Seen."},"finish_reason":"stop"}]}`+"\n\ndata: [DONE]\n\n")
	}))
	t.Cleanup(s.Close)
	return model.Config{URL: s.URL, Model: "m", Retries: 2, Backoff: time.Millisecond}
}

func (c *complaint) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.requests)
}

func (c *complaint) last() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.requests[len(c.requests)-1]
}

func pictures(n int) [][]byte {
	var out [][]byte
	for i := range n {
		out = append(out, []byte{0xFF, 0xD8, byte(i)})
	}
	return out
}

// TestPictureLimitsAreLearned in the words of the servers that have them: one
// refused call, then no request has more.
func TestPictureLimitsAreLearned(t *testing.T) {
	for words, limit := range map[string]int{
		"At most 2 image(s) may be provided in one request.":                     2,
		"You may provide at most 1 image(s) in one prompt":                       1,
		"Too many images: this model takes a maximum of 4 images per request":    4,
		"Invalid request: number of images exceeds limit of 3 images per prompt": 3,
	} {
		server := &complaint{}
		cfg := server.serve(t, func(body string) (int, string) {
			if strings.Count(body, "data:image/jpeg") > limit {
				return 400, fmt.Sprintf(`{"object":"error","message":%q,"type":"BadRequestError","code":400}`, words)
			}
			return 0, ""
		})
		chat := newChat(t, cfg)
		for i := range 3 {
			r := model.Request{Messages: []model.Message{{Text: "What is there?", Images: pictures(6)}}}
			if _, err := chat.Complete(t.Context(), r, nil); err != nil {
				t.Fatalf("%q: %v", words, err)
			}
			if server.count() != i+2 || strings.Count(server.last(), "data:image/jpeg") != limit {
				t.Errorf("%q: %d calls, %d pictures", words, server.count(), strings.Count(server.last(), "data:image/jpeg"))
			}
		}
		if !strings.Contains(server.last(), "/9gA") || limit > 1 && !strings.Contains(server.last(), "/9gF") {
			t.Errorf("%q: the first and the last picture are not among those sent: %s", words, server.last())
		}
	}
}

// TestPicturesOfAListAreNotThinnedOut: a reply that answers picture by picture
// would be about pictures nobody sent.
func TestPicturesOfAListAreNotThinnedOut(t *testing.T) {
	server := &complaint{}
	cfg := server.serve(t, func(body string) (int, string) {
		if strings.Count(body, "data:image/jpeg") > 1 {
			return 400, `{"error":{"message":"At most 1 image(s) may be provided in one request."}}`
		}
		return 0, ""
	})
	chat := newChat(t, cfg)
	r := model.Request{Messages: []model.Message{{Text: "Describe each.", Images: pictures(3)}}, JSONSchema: json.RawMessage(`{"type":"array"}`)}
	var named *model.Error
	if _, err := chat.Complete(t.Context(), r, nil); !errors.As(err, &named) || !strings.Contains(err.Error(), "At most 1 image") || server.count() != 1 {
		t.Errorf("%v after %d calls", err, server.count())
	}
}

// TestModelsWithoutEyesAreNamedAtOnce: asking again shows them no more.
func TestModelsWithoutEyesAreNamedAtOnce(t *testing.T) {
	for _, reply := range []string{
		`{"error":{"code":500,"message":"image input is not supported - hint: if this is unexpected, you may need to provide the mmproj","type":"server_error"}}`,
		`{"error":"this model does not support images"}`,
		`{"object":"error","message":"smol is not a multimodal model","code":400}`,
	} {
		server := &complaint{}
		chat := newChat(t, server.serve(t, func(body string) (int, string) {
			if strings.Contains(body, "data:image/jpeg") {
				return 500, reply
			}
			return 0, ""
		}))
		_, err := chat.Complete(t.Context(), model.Request{Messages: []model.Message{{Text: "What?", Images: pictures(1)}}}, nil)
		var named *model.Error
		if !errors.As(err, &named) || named.Kind != model.KindRefused || errors.Is(err, model.ErrNoText) || server.count() != 1 {
			t.Errorf("%v after %d calls", err, server.count())
		}
	}
}

// TestRefusalsOfServers names failures in the words of the servers people run.
func TestRefusalsOfServers(t *testing.T) {
	for _, c := range []struct {
		server string
		status int
		reply  string
		kind   model.Kind
		calls  int
	}{
		{"Ollama", 404, `{"error":{"message":"model \"smol\" not found, try pulling it first","type":"api_error","param":null,"code":null}}`, model.KindNoModel, 1},
		{"llama.cpp while it loads", 503, `{"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}`, model.KindUpstream, 3},
		{"vLLM", 404, `{"object":"error","message":"The model ` + "`m`" + ` does not exist.","type":"NotFoundError","code":404}`, model.KindNoModel, 1},
		{"LM Studio", 400, `{"error":"model 'm' not found"}`, model.KindNoModel, 1},
		{"OpenAI without credit", 429, `{"error":{"message":"You exceeded your current quota","type":"insufficient_quota","code":"insufficient_quota"}}`, model.KindRateLimited, 1},
		{"OpenAI", 401, `{"error":{"message":"Incorrect API key provided","code":"invalid_api_key"}}`, model.KindAuth, 1},
		{"a context that is too small", 400, `{"error":{"message":"This model's maximum context length is 4096 tokens.","code":"context_length_exceeded"}}`, model.KindUpstream, 1},
		{"a proxy", 413, `<html>too large</html>`, model.KindTooLarge, 1},
	} {
		server := &complaint{}
		chat := newChat(t, server.serve(t, func(string) (int, string) { return c.status, c.reply }))
		_, err := chat.Complete(t.Context(), question(), nil)
		var named *model.Error
		if !errors.As(err, &named) || named.Kind != c.kind || server.count() != c.calls || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v after %d calls", c.server, err, server.count())
		}
	}
}

// TestTranscribeWithoutSegments: servers that send the words alone.
func TestTranscribeWithoutSegments(t *testing.T) {
	for _, c := range []struct {
		media, body string
		text        string // empty: an error
	}{
		{"text/plain; charset=utf-8", " The light was seen.\n", "The light was seen."},
		{"application/json", `"The light was seen."`, "The light was seen."},
		{"application/json", `{"text":"The light was seen."}`, "The light was seen."},
		{"text/plain", `{"text":"The light was seen."}`, "The light was seen."},
		{"text/plain", "1\n00:00:00,000 --> 00:00:01,000\nThe light", ""},
		{"text/plain", "<html>sign in</html>", ""},
		{"text/html", "The light was seen.", ""},
		{"application/octet-stream", "The light was seen.", ""},
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			w.Header().Set("Content-Type", c.media)
			_, _ = io.WriteString(w, c.body)
		}))
		t.Cleanup(s.Close)
		tr, err := model.NewTranscriber(model.Config{URL: s.URL, Model: "m", Retries: -1})
		if err != nil {
			t.Fatal(err)
		}
		cues, err := tr.Transcribe(t.Context(), testkit.WAV(3), "")
		switch {
		case c.text == "" && err == nil:
			t.Errorf("%s %q was taken for %+v", c.media, c.body, cues)
		case c.text != "" && (err != nil || len(cues) != 1 || cues[0].Text != c.text || cues[0].StartMS != 0 || cues[0].EndMS != 3000):
			t.Errorf("%s %q: %+v, %v", c.media, c.body, cues, err)
		}
	}
}

// TestTranscribeIsTriedAgain after a rate limit in each spelling, and counts
// every try against the budget.
func TestTranscribeIsTriedAgain(t *testing.T) {
	for _, mode := range []string{"429-bare", "500"} {
		e := testkit.NewEndpoint(t)
		e.Next(mode)
		tr, err := model.NewTranscriber(testConfig(e))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(tr.Close)
		budget := model.NewBudget(model.Limits{Calls: 3}, model.Spent{})
		cues, err := tr.Transcribe(model.WithBudget(t.Context(), budget), testkit.WAV(2), "de")
		if err != nil || len(cues) != 2 || e.Count() != 2 || budget.Spent().Calls != 2 || budget.Spent().Retries != 1 {
			t.Errorf("%s: %d cues, %v, %d calls, %+v", mode, len(cues), err, e.Count(), budget.Spent())
		}
	}
	e := testkit.NewEndpoint(t)
	e.Always("500")
	tr, err := model.NewTranscriber(testConfig(e))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(tr.Close)
	budget := model.NewBudget(model.Limits{Calls: 2}, model.Spent{})
	if _, err = tr.Transcribe(model.WithBudget(t.Context(), budget), testkit.WAV(2), "de"); !errors.Is(err, model.ErrBudget) || e.Count() != 2 {
		t.Errorf("%v after %d calls", err, e.Count())
	}
}

// TestEveryModeOfTheEndpointEnds: whatever a server does, a call ends within
// its deadline with a whole reply that saw a finish reason, or a named error.
func TestEveryModeOfTheEndpointEnds(t *testing.T) {
	for _, mode := range testkit.Modes() {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			e := testkit.NewEndpoint(t)
			e.Always(mode)
			c := testConfig(e)
			c.Retries, c.Total, c.MaxReply = 1, 5*time.Second, 1<<18
			budget := model.NewBudget(model.Limits{Calls: 3}, model.Spent{})
			ctx := model.WithBudget(t.Context(), budget)
			chat, em := newChat(t, c), newEmbedder(t, c)
			reply, err := chat.Complete(ctx, question(), nil)
			var named *model.Error
			if err == nil && (reply.Finish != "stop" && reply.Finish != "length" || reply.Text == "") || err != nil && !errors.As(err, &named) {
				t.Errorf("chat: %+v, %v", reply, err)
			}
			if e.Count() > 3 {
				t.Errorf("%d calls on a budget of 3", e.Count())
			}
			budget = model.NewBudget(model.Limits{Calls: 3}, model.Spent{})
			if _, err := em.Embed(model.WithBudget(t.Context(), budget), []string{"one", "two"}); err != nil && !errors.As(err, &named) {
				t.Errorf("embeddings: %v", err)
			}
			for _, text := range []string{reply.Text, fmt.Sprint(err)} {
				if strings.Contains(text, testKey) {
					t.Errorf("the key is shown: %q", text)
				}
			}
		})
	}
}
