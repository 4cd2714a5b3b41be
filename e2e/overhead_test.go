//go:build e2e

package e2e

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/reeltree/reeltree/internal/testkit"
)

// BenchmarkFirstToken measures what the service adds between a chat model and
// the person who waits: from the moment the endpoint writes its first token to
// the moment the client has the token event, beside a plain relay that hands
// every line of the endpoint on over WebSocket without reading it. One answer
// at a time, and 50 at once, whose models begin at times of their own.
//
//	go test -tags e2e -run '^$' -bench FirstToken -benchtime 1x ./e2e
func BenchmarkFirstToken(b *testing.B) {
	e, data := testkit.NewEndpoint(b), b.TempDir()
	ingestOne(b, data, demo(b))
	s := serve(b, data, "--llm-url", e.URL, "--llm-model", "scripted", "--answers", "50")
	e.Always("ok-slow:3ms+ok-jitter:200ms")
	relay := newRelay(b, e.URL)
	for _, run := range []struct{ answers, at int }{{300, 1}, {1000, 50}} {
		b.Run(fmt.Sprintf("%d-at-once", run.at), func(b *testing.B) {
			for range b.N {
				ours := firstTokens(b, e, run.answers, run.at, s.answer)
				plain := firstTokens(b, e, run.answers, run.at, relay.answer)
				report(b, "", ours)
				report(b, "relay-", plain)
			}
		})
	}
}

// firstTokens asks a number of questions, some at once, and gives the delays
// of their first tokens, in order of length.
func firstTokens(b *testing.B, e *testkit.Endpoint, answers, at int, answer func(b *testing.B, question string) time.Time) []time.Duration {
	b.Helper()
	from := e.Count()
	heard := make(map[string]time.Time, answers)
	var mu sync.Mutex
	var wg sync.WaitGroup
	for worker := range at {
		wg.Go(func() {
			for i := worker; i < answers; i += at {
				question := fmt.Sprintf("%s (%d-%d)", demoQuestion, from, i)
				t := answer(b, question)
				mu.Lock()
				heard[question] = t
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	var out []time.Duration
	for _, c := range e.Calls()[from:] {
		if c.FirstToken.IsZero() || (!answering(c) && c.System != "") {
			continue
		}
		for question, t := range heard {
			if strings.Contains(c.Prompt, question) {
				out = append(out, t.Sub(c.FirstToken))
				delete(heard, question)
				break
			}
		}
	}
	if len(out) != answers {
		b.Fatalf("%d of %d answers were found at the endpoint", len(out), answers)
	}
	slices.Sort(out)
	return out
}

func report(b *testing.B, who string, delays []time.Duration) {
	b.Helper()
	for _, share := range []int{50, 99} {
		d := delays[len(delays)*share/100]
		b.ReportMetric(float64(d.Microseconds())/1000, fmt.Sprintf("%sp%d-ms", who, share))
	}
}

// answer asks the service and gives the time of the first token event.
func (s *service) answer(b *testing.B, question string) (first time.Time) {
	b.Helper()
	c := dial(b, s)
	defer c.conn.Close()
	c.say(asking(question, fmt.Sprintf("q%x", sha256.Sum256([]byte(question)))[:24], map[string]any{"rounds": 1}))
	c.until("done", func(f frame) {
		if f.Type == "token" && first.IsZero() {
			first = f.Heard
		}
	})
	return first
}

// relay hands the lines of a chat endpoint on.
type relay struct {
	url string
}

func newRelay(b *testing.B, endpoint string) *relay {
	b.Helper()
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}
	upgrader := websocket.Upgrader{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, err := upgrader.Upgrade(w, r, nil)
		if err != nil {
			return
		}
		defer conn.Close()
		_, question, err := conn.ReadMessage()
		if err != nil {
			return
		}
		body := fmt.Sprintf(`{"model":"scripted","stream":true,"messages":[{"role":"user","content":%q}]}`, question)
		reply, err := client.Post(endpoint+"/chat/completions", "application/json", strings.NewReader(body))
		if err != nil {
			return
		}
		defer reply.Body.Close()
		for lines := bufio.NewScanner(reply.Body); lines.Scan(); {
			if conn.WriteMessage(websocket.TextMessage, lines.Bytes()) != nil {
				return
			}
		}
	}))
	b.Cleanup(server.Close)
	return &relay{strings.Replace(server.URL, "http", "ws", 1)}
}

// answer asks through the relay and gives the time of the first text.
func (r *relay) answer(b *testing.B, question string) (first time.Time) {
	b.Helper()
	conn, _, err := websocket.DefaultDialer.Dial(r.url, nil)
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close()
	if err := conn.WriteMessage(websocket.TextMessage, []byte(question)); err != nil {
		b.Fatal(err)
	}
	for {
		_, data, err := conn.ReadMessage()
		if err != nil {
			return first
		}
		if first.IsZero() && bytes.Contains(data, []byte(`"content":"`)) && !bytes.Contains(data, []byte(`"content":""`)) {
			first = time.Now()
		}
	}
}
