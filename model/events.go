package model

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// eventBody rewrites a stream of server-sent events into the one form that
// go-openai reads without losing anything: one "data: " line per event. It
// drops comments and other fields (400 keep-alive lines would end the stream
// there), ends the last line (an event without a newline would be lost), and
// keeps what is no event at all for the fallback to a plain body.
type eventBody struct {
	io.Closer
	lines *bufio.Reader
	ex    *exchange
	seen  bool   // an event came
	rest  []byte // of the line that is being read
	err   error
}

func newEventBody(body io.ReadCloser, ex *exchange) *eventBody {
	return &eventBody{Closer: body, lines: bufio.NewReader(body), ex: ex}
}

// Read gives whole lines, split only by the size of p.
func (b *eventBody) Read(p []byte) (int, error) {
	for len(b.rest) == 0 {
		if b.err != nil {
			return 0, b.err
		}
		var line []byte
		line, b.err = b.lines.ReadBytes('\n')
		if b.err != nil && !errors.Is(b.err, io.EOF) {
			return 0, b.err // half a line proves nothing
		}
		b.rest = b.rewrite(line)
	}
	n := copy(p, b.rest)
	b.rest = b.rest[n:]
	return n, nil
}

func (b *eventBody) rewrite(line []byte) []byte {
	field, ok := bytes.CutPrefix(bytes.TrimSpace(line), []byte("data:"))
	if !ok {
		if !b.seen && !isField(line) {
			b.ex.body = append(b.ex.body, line...)
		}
		return nil
	}
	b.seen = true
	field = bytes.TrimSpace(field)
	if len(field) == 0 {
		return nil
	}
	// go-openai swallows an event that begins with an error; the blank hands
	// it over raw like every other event.
	if rest, ok := bytes.CutPrefix(field, []byte("{")); ok {
		field = append([]byte("{ "), rest...)
	}
	return append(append([]byte("data: "), field...), '\n')
}

// isField tells comments and the fields other than data from foreign text.
func isField(line []byte) bool {
	for _, prefix := range [][]byte{[]byte(":"), []byte("event:"), []byte("id:"), []byte("retry:")} {
		if bytes.HasPrefix(line, prefix) {
			return true
		}
	}
	return false
}
