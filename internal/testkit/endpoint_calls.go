package testkit

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"time"
)

// Call is one recorded request with what became of it.
type Call struct {
	N      int // from 0, in order of arrival
	Path   string
	Header http.Header
	Body   []byte
	Mode   string

	Model     string
	System    string   // chat: all system texts
	Prompt    string   // chat: all other texts, in order
	Images    [][]byte // chat: decoded pictures
	Schema    json.RawMessage
	Format    string // response_format type
	MaxTokens int    // max_tokens or max_completion_tokens
	Stream    bool

	Inputs   []string // embeddings
	Audio    []byte   // transcription
	Language string   // transcription

	Opened     time.Time // the request was read
	FirstToken time.Time // the first piece of text was written
	Closed     time.Time // the reply ended or the client went away
	Cancelled  bool      // the client went away first
	Reply      string    // text that was meant to be sent

	ending bool // no longer counted as open
}

// Calls are copies of all requests so far, in order of arrival.
func (e *Endpoint) Calls() []Call {
	e.mu.Lock()
	defer e.mu.Unlock()
	out := make([]Call, len(e.calls))
	for i, c := range e.calls {
		out[i] = *c
	}
	return out
}

// Count is the number of requests so far.
func (e *Endpoint) Count() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.calls)
}

// MaxOpen is the largest number of requests that were open at once. A request
// is open until the end of its reply is about to be written: from then on its
// client may have sent the next one.
func (e *Endpoint) MaxOpen() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.maxOpen
}

// Wait returns call n as soon as ok holds for it (nil: as soon as it arrived).
func (e *Endpoint) Wait(ctx context.Context, n int, ok func(Call) bool) (Call, error) {
	for {
		e.mu.Lock()
		changed := e.changed
		if n < len(e.calls) && (ok == nil || ok(*e.calls[n])) {
			c := *e.calls[n]
			e.mu.Unlock()
			return c, nil
		}
		e.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			return Call{}, ctx.Err()
		}
	}
}

// Ended holds for a call whose reply ended or whose client went away.
func Ended(c Call) bool { return !c.Closed.IsZero() }

// Speaking holds for a call whose first token was written.
func Speaking(c Call) bool { return !c.FirstToken.IsZero() }

func (e *Endpoint) opened(c *Call) {
	e.mu.Lock()
	defer e.mu.Unlock()
	c.N, c.Opened = len(e.calls), time.Now()
	e.calls = append(e.calls, c)
	e.open++
	e.maxOpen = max(e.maxOpen, e.open)
	e.tell()
}

// note changes a call's record.
func (e *Endpoint) note(c *Call, change func(*Call)) {
	e.mu.Lock()
	defer e.mu.Unlock()
	change(c)
	e.tell()
}

func (e *Endpoint) closed(c *Call, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	c.Closed, c.Cancelled = time.Now(), err != nil
	e.release(c)
	e.tell()
}

// ending is called before the end of a reply is written.
func (e *Endpoint) ending(c *Call) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.release(c)
}

// release counts a call as open no longer; e.mu is held.
func (e *Endpoint) release(c *Call) {
	if !c.ending {
		c.ending = true
		e.open--
	}
}

// tell wakes the waiting; e.mu is held.
func (e *Endpoint) tell() {
	close(e.changed)
	e.changed = make(chan struct{})
}

// Prompts are the texts of the chat calls, in order of arrival.
func Prompts(calls []Call) []string {
	var out []string
	for _, c := range calls {
		if c.Prompt != "" {
			out = append(out, c.Prompt)
		}
	}
	return slices.Clip(out)
}
