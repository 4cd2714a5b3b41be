package testkit

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"strings"
)

// chat answers a chat or vision request.
func (e *Endpoint) chat(p *reply) error {
	s := p.say()
	e.note(p.c, func(c *Call) { c.Reply = s.text })
	switch {
	case p.mode.has("hang"):
		return p.hang()
	case p.mode.has("huge"), p.mode.has("gzip-bomb"):
		return p.huge()
	case !p.c.Stream || p.mode.has("nonstream-json"):
		return p.whole(s)
	}
	return p.stream(s)
}

// usage counts words: good enough to be added up.
func (p *reply) usage(s said) map[string]any {
	in, out := len(strings.Fields(p.c.System+" "+p.c.Prompt)), len(strings.Fields(s.text))
	return map[string]any{"prompt_tokens": in, "completion_tokens": out, "total_tokens": in + out}
}

// whole sends a reply in one piece.
func (p *reply) whole(s said) error {
	if p.mode.has("hang-headers") {
		p.w.WriteHeader(http.StatusOK)
		p.flush()
		return p.hang()
	}
	message := map[string]any{"role": "assistant", "content": s.text}
	if s.null {
		message["content"] = nil
	}
	if s.refusal != "" {
		message["content"], message["refusal"] = nil, s.refusal
	}
	if s.thoughts != "" {
		message["reasoning_content"] = s.thoughts
	}
	choices := []any{map[string]any{"index": 0, "message": message, "finish_reason": s.finish}}
	if p.mode.has("nochoices") {
		choices = []any{}
	}
	body := map[string]any{"id": "scripted", "object": "chat.completion", "model": p.c.Model, "choices": choices}
	if !p.mode.has("no-usage") {
		body["usage"] = p.usage(s)
	}
	p.e.ending(p.c)
	writeJSON(p.w, http.StatusOK, body)
	return nil
}

func (p *reply) flush() { _ = http.NewResponseController(p.w).Flush() } // a client that went away is seen by its context

// huge sends 100 MB of one JSON text, in gzip-bomb compressed.
func (p *reply) huge() error {
	pack := func(s string) []byte { return []byte(s) }
	p.w.Header().Set("Content-Type", "application/json")
	if p.mode.has("gzip-bomb") {
		p.w.Header().Set("Content-Encoding", "gzip")
		pack = packed
	}
	block := pack(strings.Repeat("a", 1<<20))
	parts := [][]byte{pack(`{"choices":[{"finish_reason":"stop","message":{"content":"`)}
	for range 100 {
		parts = append(parts, block)
	}
	for _, part := range append(parts, pack(`"}}]}`)) {
		if _, err := p.w.Write(part); err != nil {
			return errGone
		}
	}
	return nil
}

// packed is one gzip member. Members may follow each other, so a large body is
// the same small one many times and costs nothing to make.
func packed(s string) []byte {
	var b bytes.Buffer
	zip := gzip.NewWriter(&b)
	_, _ = io.WriteString(zip, s) // a buffer never fails
	_ = zip.Close()
	return b.Bytes()
}
