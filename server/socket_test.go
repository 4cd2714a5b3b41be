package server

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/reeltree/reeltree/generate"
	"github.com/reeltree/reeltree/tree"
)

func sha(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

func TestAnswerStreamsInOrder(t *testing.T) {
	s := newService(t, nil)
	conn := s.hello(t)
	say(t, conn, `{"type":"ask","id":"q1","question":"How far?"}`)
	all, text := stream(t, conn)
	if all[0]["type"] != "accepted" || all[0]["id"] != "q1" {
		t.Fatalf("first %v", all[0])
	}
	next := 1.0
	for _, m := range all[1:] {
		from, coalesced := m["from"].(float64)
		if !coalesced {
			from = m["seq"].(float64)
		}
		if from != next || m["epoch"] != all[0]["epoch"] || m["stream"] != all[0]["stream"] {
			t.Fatalf("event %v after %v", m, next-1)
		}
		next = m["seq"].(float64) + 1
	}
	last := all[len(all)-1]
	if last["type"] != "done" || last["text_sha256"] != sha(text) || !strings.HasSuffix(text, "kilometres.") {
		t.Errorf("%q ends with %v", text, last)
	}
}

func TestReplayEqualsLive(t *testing.T) {
	s := newService(t, nil)
	conn := s.hello(t)
	say(t, conn, `{"type":"ask","id":"q1","question":"How far?"}`)
	live, text := stream(t, conn)
	id, epoch := live[0]["stream"], live[0]["epoch"]
	for after := range 4 {
		other := s.hello(t)
		say(t, other, fmt.Sprintf(`{"type":"subscribe","id":"r","stream":%q,"epoch":%q,"after":%d}`, id, epoch, after))
		replayed, rest := stream(t, other)
		if first := replayed[1]; first["seq"].(float64) < float64(after+1) || !strings.HasSuffix(text, rest) {
			t.Errorf("after %d: first %v, text %q", after, first, rest)
		}
		if !reflect.DeepEqual(replayed[len(replayed)-1], live[len(live)-1]) {
			t.Errorf("after %d: another done", after)
		}
	}
	other := s.hello(t)
	say(t, other, fmt.Sprintf(`{"type":"subscribe","stream":%q,"epoch":"0000000000000000","after":3}`, id))
	if m := hear(t, other); m["type"] != "accepted" {
		t.Fatalf("%v", m)
	}
	if m := hear(t, other); m["type"] != "gap" || m["first"] != 1.0 {
		t.Errorf("another epoch: %v", m)
	}
}

func TestFinishedAnswersOutliveTheProcess(t *testing.T) {
	s := newService(t, nil)
	conn := s.hello(t)
	say(t, conn, `{"type":"ask","id":"q1","question":"How far?"}`)
	live, text := stream(t, conn)
	waitFor(t, func() bool { s.shelf.mu.Lock(); defer s.shelf.mu.Unlock(); return len(s.shelf.answers) == 1 })
	s.hub.sweep(func(*eventStream) bool { return true }) // as a restart forgets
	again := s.hello(t)
	say(t, again, fmt.Sprintf(`{"type":"subscribe","stream":%q,"epoch":%q,"after":0}`, live[0]["stream"], live[0]["epoch"]))
	if _, replayed := stream(t, again); replayed != text {
		t.Errorf("replayed %q", replayed)
	}
}

// waitFor polls a condition that another goroutine will make true.
func waitFor(t *testing.T, met func() bool) {
	t.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	limit := time.After(10 * time.Second)
	for !met() {
		select {
		case <-limit:
			t.Fatal("the condition was not met within 10 s")
		case <-tick.C:
		}
	}
}

func TestSameRequestIsSameAnswer(t *testing.T) {
	runs := make(chan struct{}, 10)
	s := newService(t, func(c *Config) {
		answer := c.Answer
		c.Answer = func(ctx context.Context, q generate.Question, emit generate.Emit) error {
			runs <- struct{}{}
			return answer(ctx, q, emit)
		}
	})
	var first string
	for range 3 {
		conn := s.hello(t)
		say(t, conn, `{"type":"ask","id":"same","question":"How far?"}`)
		all, _ := stream(t, conn)
		if id := fmt.Sprint(all[0]["stream"]); first == "" {
			first = id
		} else if id != first {
			t.Errorf("another stream %s", id)
		}
	}
	if len(runs) != 1 {
		t.Errorf("answered %d times", len(runs))
	}
	conn := s.hello(t)
	say(t, conn, `{"type":"ask","id":"same","question":"How heavy?"}`)
	if m := hear(t, conn); m["code"] != float64(codeIDReused) {
		t.Errorf("another body: %v", m)
	}
}

// TestWrongMessages: refusals keep the connection, protocol errors close it.
func TestWrongMessages(t *testing.T) {
	s := newService(t, nil)
	refused := map[string]int{
		`{"type":"sing"}`: codeUnknownType, `{}`: codeUnknownType, `{"type":7}`: codeBadRequest,
		`{"type":"ask"}`: codeBadRequest, `{"type":"ask","id":"a"}`: codeBadQuestion, `{"type":"ask","id":"a","question":" "}`: codeBadQuestion,
		`{"type":"ask","id":"a","question":3}`: codeBadRequest, `{"type":"ask","id":"a","question":"x","colour":1}`: codeBadRequest,
		`{"type":"ask","id":"a","question":"x","mode":"poem"}`: codeBadQuestion, `{"type":"ask","id":"a","question":"x","options":{"rounds":9}}`: codeBadQuestion,
		`{"type":"ask","id":"a","question":"x","span":{}}`: codeBadRequest, `{"type":"ask","id":"a","question":"x","sources":"y"}`: codeBadRequest,
		`{"type":"ask","id":"` + strings.Repeat("i", 300) + `","question":"x"}`: codeBadRequest, `{"type":"ask","id":"a","question":"a\u0000b"}`: codeBadQuestion,
		`{"type":"ask","id":"a","question":"` + strings.Repeat("🙂", 4001) + `"}`: codeBadQuestion,
		`{"type":"cancel"}`: codeNoStream, `{"type":"cancel","stream":"nope"}`: codeNoStream, `{"type":"cancel","stream":1}`: codeBadRequest,
		`{"type":"subscribe"}`: codeNoStream, `{"type":"subscribe","stream":"../../etc"}`: codeNoStream, `{"type":"subscribe","stream":"library","after":-1}`: codeBadRequest,
		`{"type":"subscribe","stream":"library","after":1.5}`: codeBadRequest, `{"type":"subscribe","stream":"` + strings.Repeat("a", 26) + `"}`: codeNoStream,
		`{"type":"ingest","id":"i"}`: codeBadRequest, `{"type":"ingest","id":"i","url":""}`: codeBadRequest, `{"type":"ingest","id":"i","url":5}`: codeBadRequest,
		`{"type":"ping","id":"p","x":1}`: codeBadRequest, `{"type":"hello"}`: codeUnknownType, `{"type":"unsubscribe","stream":[]}`: codeBadRequest,
	}
	conn := s.hello(t)
	for message, code := range refused {
		say(t, conn, message)
		m := hear(t, conn)
		if m["type"] != "error" || m["code"] != float64(code) || strings.Contains(fmt.Sprint(m["message"]), "\n") {
			t.Errorf("%.80s: %v, want code %d", message, m, code)
		}
	}
	say(t, conn, `{"type":"ping","id":"still"}`)
	if m := hear(t, conn); m["type"] != "pong" || m["id"] != "still" {
		t.Errorf("after the refusals: %v", m)
	}
	for _, c := range []struct {
		kind    int
		message string
		code    int
	}{
		{websocket.TextMessage, `not json`, closeProtocol},
		{websocket.TextMessage, `[1]`, closeProtocol},
		{websocket.BinaryMessage, `{"type":"ping"}`, closeProtocol},
		{websocket.TextMessage, "{\"type\":\"\xff\"}", websocket.CloseInvalidFramePayloadData},
		{websocket.TextMessage, strings.Repeat(" ", readLimit+1), websocket.CloseMessageTooBig},
		{websocket.TextMessage, `{"type":"ask","id":"q","question":"` + strings.Repeat("a", 1<<20) + `"}`, websocket.CloseMessageTooBig},
	} {
		conn := s.hello(t)
		if err := conn.WriteMessage(c.kind, []byte(c.message)); err != nil {
			t.Fatal(err)
		}
		wantClose(t, conn, c.code)
	}
	early := s.dial(t, nil)
	say(t, early, `{"type":"ping"}`)
	wantClose(t, early, closeProtocol)
}

// TestRefusalsSpeakTheWordsOfTheWire: what is wrong is said in JSON's words and
// with the names that clients write.
func TestRefusalsSpeakTheWordsOfTheWire(t *testing.T) {
	s := newService(t, nil)
	conn := s.hello(t)
	for message, want := range map[string]string{
		`{"type":5}`:                                             `the field "type" must be a string, not a number`,
		`{"type":"ask","id":["q"]}`:                              `the field "id" must be a string, not an array`,
		`{"type":"ask","id":"q","question":5}`:                   `the field "question" must be a string, not a number`,
		`{"type":"ask","question":"q","options":{"rounds":"3"}}`: `the field "options.rounds" must be a whole number that is not too large, not a string`,
		`{"type":"ask","question":"q","options":{"follow":1}}`:   `the field "options.follow" must be true or false, not a number`,
		`{"type":"ask","question":"q","sources":{}}`:             `the field "sources" must be an array, not an object`,
		`{"type":"ask","question":"q","options":true}`:           `the field "options" must be an object, not true or false`,
		`{"type":"subscribe","stream":"library","after":1.5}`:    `the field "after" must be a whole number that is not too large, not a number`,
		`{"type":"hello"}`:                                       "hello was said already: it opens a connection once",
		`{"type":"sing"}`:                                        `the message type "sing" is unknown: send ask, ingest, cancel, subscribe, unsubscribe or ping`,
	} {
		say(t, conn, message)
		if m := hear(t, conn); m["type"] != "error" || m["message"] != want {
			t.Errorf("%s: %v, want %s", message, m["message"], want)
		}
	}
}

func wantClose(t *testing.T, conn *websocket.Conn, code int) {
	t.Helper()
	for {
		_, _, err := conn.ReadMessage()
		if closed, ok := errors.AsType[*websocket.CloseError](err); ok {
			if closed.Code != code || closed.Text == "" {
				t.Errorf("closed with %d %s, want %d", closed.Code, closed.Text, code)
			}
			return
		}
		if err != nil {
			t.Errorf("ended with %v, want close code %d", err, code)
			return
		}
	}
}

func TestHelloMustComeInTime(t *testing.T) {
	s := newService(t, func(c *Config) { c.HelloWait = 50 * time.Millisecond })
	wantClose(t, s.dial(t, nil), closeNoHello)
}

func TestTokenOpensTheSocket(t *testing.T) {
	s := newService(t, func(c *Config) { c.Token = "sesame"; c.LocalToken = "local" })
	for _, token := range []string{"", "wrong", "sesam"} {
		conn := s.dial(t, nil)
		say(t, conn, fmt.Sprintf(`{"type":"hello","token":%q}`, token))
		wantClose(t, conn, closeBadToken)
	}
	for _, token := range []string{"sesame", "local"} {
		conn := s.dial(t, nil)
		say(t, conn, fmt.Sprintf(`{"type":"hello","token":%q}`, token))
		if m := hear(t, conn); m["type"] != "welcome" || m["media_ticket"] == nil {
			t.Errorf("%v", m)
		}
	}
}

func TestForeignPagesAreKeptOut(t *testing.T) {
	s := newService(t, nil)
	for origin, open := range map[string]bool{"": true, s.http.URL: true, "null": false, "http://evil.example": false, strings.Replace(s.http.URL, "http", "https", 1): false, "http://127.0.0.1:1": false} {
		h := http.Header{}
		if origin != "" {
			h.Set("Origin", origin)
		}
		d := websocket.Dialer{Subprotocols: []string{subprotocol}}
		conn, res, err := d.Dial("ws"+strings.TrimPrefix(s.http.URL, "http")+"/v1/ws", h)
		if (err == nil) != open {
			t.Errorf("origin %q: %v %v", origin, res, err)
		}
		if conn != nil {
			_ = conn.Close()
		}
	}
}

func TestCancelEndsTheAnswer(t *testing.T) {
	s := newService(t, func(c *Config) {
		c.Answer = func(ctx context.Context, _ generate.Question, emit generate.Emit) error {
			if err := emit(generate.Token{Text: "well "}); err != nil {
				return err
			}
			<-ctx.Done()
			return emit(generate.Done{Finish: generate.FinishCancelled, TextSHA256: sha("well ")})
		}
	})
	conn := s.hello(t)
	say(t, conn, `{"type":"ask","id":"q","question":"?!x"}`)
	id := hear(t, conn)["stream"]
	say(t, conn, fmt.Sprintf(`{"type":"cancel","stream":%q}`, id))
	all, _ := stream(t, conn)
	if last := all[len(all)-1]; last["finish"] != "cancelled" {
		t.Errorf("%v", last)
	}
}

func TestQueueTellsPositions(t *testing.T) {
	release := make(chan struct{})
	s := newService(t, func(c *Config) {
		c.MaxAnswers = 1
		answer := c.Answer
		c.Answer = func(ctx context.Context, q generate.Question, emit generate.Emit) error {
			<-release
			return answer(ctx, q, emit)
		}
	})
	first, second := s.hello(t), s.hello(t)
	say(t, first, `{"type":"ask","id":"one","question":"How far?"}`)
	hear(t, first)
	say(t, second, `{"type":"ask","id":"two","question":"How far?"}`)
	hear(t, second)
	if m := hear(t, second); m["type"] != "queued" || m["position"] != 1.0 {
		t.Errorf("%v", m)
	}
	close(release)
	stream(t, first)
	stream(t, second)
}

// slowLog is a log that tells when a slow client was closed.
type slowLog struct {
	slog.Handler
	closed chan slog.Record
}

// Enabled implements slog.Handler.
func (slowLog) Enabled(context.Context, slog.Level) bool { return true }

// Handle implements slog.Handler.
func (l slowLog) Handle(_ context.Context, r slog.Record) error {
	if strings.Contains(r.Message, "slow client") {
		l.closed <- r
	}
	return nil
}

// TestSlowReaderIsClosedAlone: one client stops reading an answer that is larger
// than its queue and every socket buffer; another reads it to the end. The slow
// one is told why once it reads again.
func TestSlowReaderIsClosedAlone(t *testing.T) {
	long := strings.Repeat(strings.Repeat("w", 32_000)+" ", 400)
	log := slowLog{slog.DiscardHandler, make(chan slog.Record, 8)}
	s := newService(t, func(c *Config) { c.Answer, c.WriteWait, c.Log = words(long), 2*time.Second, slog.New(log) })
	slow, normal := s.hello(t), s.hello(t)
	say(t, slow, `{"type":"ask","id":"long","question":"How far?"}`)
	<-log.closed // it has read nothing at all
	say(t, normal, `{"type":"ask","id":"long","question":"How far?"}`)
	n, last := 0, map[string]any{}
	for last["type"] != "done" {
		if err := normal.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
			t.Fatal(err)
		}
		last = hear(t, normal)
		text, _ := last["text"].(string)
		n += len(text)
	}
	if n != len(long) || last["text_sha256"] != sha(long) {
		t.Errorf("the normal reader got %d of %d bytes and %v", n, len(long), last)
	}
}

// TestSlowReaderIsToldWhy: a client that reads again before its write gave up
// finds the close code behind what was sent.
func TestSlowReaderIsToldWhy(t *testing.T) {
	long := strings.Repeat(strings.Repeat("w", 32_000)+" ", 400)
	log := slowLog{slog.DiscardHandler, make(chan slog.Record, 8)}
	s := newService(t, func(c *Config) { c.Answer, c.WriteWait, c.Log = words(long), 3*time.Second, slog.New(log) })
	slow := s.hello(t)
	say(t, slow, `{"type":"ask","id":"long","question":"How far?"}`)
	r := <-log.closed
	dropped := int64(0)
	r.Attrs(func(a slog.Attr) bool {
		if a.Key == "queued_bytes" {
			dropped = a.Value.Int64()
		}
		return true
	})
	if dropped <= queueBytes/2 || dropped > queueBytes+64<<10 {
		t.Errorf("the queue held %d bytes, its limit is %d", dropped, queueBytes)
	}
	wantClose(t, slow, closeTooSlow)
}

func TestJobStreamsEnd(t *testing.T) {
	s := newService(t, nil)
	id := strings.Repeat("j", 26)
	s.Report(tree.Job{ID: id, Tenant: "default"}, tree.Progress{Stage: "describe", Done: 1, Total: 2})
	conn := s.hello(t)
	say(t, conn, fmt.Sprintf(`{"type":"subscribe","stream":%q}`, id))
	hear(t, conn)
	if m := hear(t, conn); m["type"] != "progress" || m["stage"] != "describe" {
		t.Errorf("%v", m)
	}
	s.shelf.mu.Lock()
	s.shelf.jobs[id] = tree.Job{ID: id, Tenant: "default", Source: strings.Repeat("s", 26), State: tree.StateFailed, Error: "It is empty."}
	s.shelf.mu.Unlock()
	s.SourceChanged("changed", tree.Source{ID: strings.Repeat("s", 26), Tenant: "default", Job: id, State: tree.StateFailed, Error: "It is empty."})
	if m := hear(t, conn); m["type"] != "done" || m["state"] != "failed" || !strings.Contains(fmt.Sprint(m["error"]), "It is empty.") {
		t.Errorf("%v", m)
	}
}

// TestJobEndsWithItsSource: a job record may say failed a moment before its
// source does; a follower must not be told until both do.
func TestJobEndsWithItsSource(t *testing.T) {
	s := newService(t, nil)
	job, source := strings.Repeat("j", 26), strings.Repeat("s", 26)
	s.shelf.mu.Lock()
	s.shelf.jobs[job] = tree.Job{ID: job, Tenant: "default", Source: source, State: tree.StateFailed, Error: "It is empty."}
	s.shelf.sources[source] = tree.Source{ID: source, Tenant: "default", Job: job, State: tree.StateQueued}
	s.shelf.mu.Unlock()
	conn := s.hello(t)
	say(t, conn, fmt.Sprintf(`{"type":"subscribe","stream":%q}`, job))
	hear(t, conn)
	say(t, conn, `{"type":"ping","id":"p"}`)
	if m := hear(t, conn); m["type"] != "pong" {
		t.Fatalf("before the source has ended: %v", m)
	}
	s.SourceChanged("changed", tree.Source{ID: source, Tenant: "default", Job: job, State: tree.StateFailed, Error: "It is empty."})
	if m := hear(t, conn); m["type"] != "done" || m["state"] != "failed" {
		t.Errorf("%v", m)
	}
}

// TestJobOutlastsTheStateOfItsSource: a source that was finished before says
// done all through its next ingest, whose stream ends with the state of the job;
// so does the stream of a fetch that the ingest goes on in.
func TestJobOutlastsTheStateOfItsSource(t *testing.T) {
	s := newService(t, nil)
	job, fetch, source := strings.Repeat("j", 26), strings.Repeat("f", 26), strings.Repeat("s", 26)
	src := tree.Source{ID: source, Tenant: "default", Job: job, State: tree.StateDone}
	ingest := tree.Job{ID: job, Tenant: "default", Source: source, State: tree.StateRunning}
	s.shelf.jobs[job], s.shelf.sources[source] = ingest, src
	s.shelf.jobs[fetch] = tree.Job{ID: fetch, Tenant: "default", Source: source, URL: "https://example.org/a.mp4", State: tree.StateDone}
	conn := s.hello(t)
	for _, id := range []string{job, fetch} {
		say(t, conn, fmt.Sprintf(`{"type":"subscribe","stream":%q}`, id))
		hear(t, conn)
	}
	s.SourceChanged("changed", src)
	say(t, conn, `{"type":"ping","id":"p"}`)
	if m := hear(t, conn); m["type"] != "pong" {
		t.Fatalf("while the job runs: %v", m)
	}
	ingest.State, ingest.Error = tree.StateFailed, "The part lies outside."
	s.shelf.mu.Lock()
	s.shelf.jobs[job] = ingest
	s.shelf.mu.Unlock()
	s.SourceChanged("changed", src)
	if m := hear(t, conn); m["type"] != "done" || m["stream"] != job || m["state"] != "failed" {
		t.Errorf("at the end of the job: %v", m)
	}
	late := s.hello(t)
	say(t, late, fmt.Sprintf(`{"type":"subscribe","stream":%q}`, fetch))
	hear(t, late)
	if m := hear(t, late); m["type"] != "done" || m["state"] != "failed" || !strings.Contains(fmt.Sprint(m["error"]), "outside") {
		t.Errorf("the fetch that went on as the job: %v", m)
	}
}

// hasty ends a job, stream and record, right after somebody has read that it runs.
type hasty struct {
	*shelf
	end func()
}

func (h *hasty) Job(ctx context.Context, tenant, id string) (tree.Job, error) {
	job, err := h.shelf.Job(ctx, tenant, id)
	if end := h.end; end != nil && job.State == tree.StateRunning {
		h.end = nil
		end()
	}
	return job, err
}

// TestJobThatEndsWhileItIsLookedUp: its follower is told of the end, although
// the record it was looked up by did not know of it.
func TestJobThatEndsWhileItIsLookedUp(t *testing.T) {
	h := &hasty{}
	s := newService(t, func(c *Config) { h.shelf = c.Catalog.(*shelf); c.Catalog = h })
	job := tree.Job{ID: strings.Repeat("j", 26), Tenant: "default", URL: "rtsp://x/y", State: tree.StateRunning}
	s.Report(job, tree.Progress{Stage: "fetch"})
	s.shelf.jobs[job.ID] = job
	h.end = func() {
		job.State, job.Error = tree.StateFailed, "It is no address."
		s.shelf.mu.Lock()
		s.shelf.jobs[job.ID] = job
		s.shelf.mu.Unlock()
		s.JobEnded(job)
	}
	conn := s.hello(t)
	say(t, conn, fmt.Sprintf(`{"type":"subscribe","stream":%q}`, job.ID))
	all, _ := stream(t, conn)
	if last := all[len(all)-1]; last["type"] != "done" || last["state"] != "failed" {
		t.Errorf("%v", all)
	}
}

func TestCloseSaysGoingAway(t *testing.T) {
	s := newService(t, nil)
	conn := s.hello(t)
	done := make(chan struct{})
	go func() { defer close(done); wantClose(t, conn, websocket.CloseGoingAway) }()
	if err := s.Close(t.Context()); err != nil {
		t.Error(err)
	}
	<-done
}
