package testkit

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// Endpoint is a scripted OpenAI-style server: chat and vision (streaming and
// not), embeddings and transcription. Its replies are functions of the request
// alone, so runs can be compared byte for byte; its modes (Modes) misbehave in
// the ways real servers do. Every request is recorded.
type Endpoint struct {
	URL string // base address with /v1

	server *http.Server
	served chan struct{} // closed when the server has stopped
	quit   chan struct{} // closed by Close: hanging replies end

	mu      sync.Mutex
	calls   []*Call
	changed chan struct{} // closed and replaced whenever a call opens or closes
	open    int
	maxOpen int
	next    []string
	script  func(Call) string
	look    func(jpeg []byte) string
	always  string
}

// NewEndpoint starts an endpoint on loopback that answers in mode "ok" and is
// closed with the test.
func NewEndpoint(tb testing.TB) *Endpoint {
	tb.Helper()
	e, err := StartEndpoint("127.0.0.1:0")
	if err != nil {
		tb.Fatalf("scripted endpoint: %v", err)
	}
	tb.Cleanup(e.Close)
	return e
}

// StartEndpoint starts an endpoint outside a test; the caller closes it.
func StartEndpoint(addr string) (*Endpoint, error) {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, err
	}
	e := &Endpoint{
		URL: "http://" + l.Addr().String() + "/v1", always: "ok",
		served: make(chan struct{}), quit: make(chan struct{}), changed: make(chan struct{}),
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/chat/completions", e.handle(parseChat, e.chat))
	mux.HandleFunc("POST /v1/embeddings", e.handle(parseEmbeddings, e.embeddings))
	mux.HandleFunc("POST /v1/audio/transcriptions", e.handle(parseAudio, e.transcription))
	mux.HandleFunc("GET /v1/models", models)
	e.server = &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	go func() {
		defer close(e.served)
		_ = e.server.Serve(l) // ends with Close
	}()
	return e, nil
}

// Serve runs an endpoint in one mode until ctx ends; ready gets its address.
// It is what a stand-alone tool calls.
func Serve(ctx context.Context, addr, mode string, ready func(url string)) error {
	if err := CheckMode(mode); err != nil {
		return err
	}
	e, err := StartEndpoint(addr)
	if err != nil {
		return err
	}
	e.Always(mode)
	ready(e.URL)
	<-ctx.Done()
	e.Close()
	return nil
}

// Close ends hanging replies and waits for the server.
func (e *Endpoint) Close() {
	select {
	case <-e.quit:
	default:
		close(e.quit)
	}
	_ = e.server.Close()
	<-e.served
}

// Always sets the mode of all further requests.
func (e *Endpoint) Always(mode string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.always = mode
}

// Next sets the modes of the next requests, one each, before Script and Always.
func (e *Endpoint) Next(modes ...string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.next = append(e.next, modes...)
}

// Script chooses a mode per request; "" leaves it to Always. It is called
// without locks, from several goroutines.
func (e *Endpoint) Script(choose func(Call) string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.script = choose
}

// See gives the endpoint eyes: its descriptions of pictures are what look says
// of each, instead of made-up sentences. It is called from several goroutines.
func (e *Endpoint) See(look func(jpeg []byte) string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.look = look
}

func (e *Endpoint) eyes() func(jpeg []byte) string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.look
}

// modeOf is the mode of a request: its own wish (header X-Mode, or a model
// name of the form "mode:NAME", which reaches through a whole product), else
// Next, Script, Always.
func (e *Endpoint) modeOf(c Call) string {
	if m := c.Header.Get("X-Mode"); m != "" {
		return m
	}
	if m, ok := strings.CutPrefix(c.Model, "mode:"); ok {
		return m
	}
	e.mu.Lock()
	choose, mode := e.script, e.always
	if len(e.next) > 0 {
		mode, e.next, choose = e.next[0], e.next[1:], nil
	}
	e.mu.Unlock()
	if choose != nil {
		if m := choose(c); m != "" {
			return m
		}
	}
	return mode
}

var errGone = errors.New("the client went away")
