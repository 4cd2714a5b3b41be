package testkit

import (
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// stream sends a reply as server-sent events.
func (p *reply) stream(s said) error {
	p.w.Header().Set("Content-Type", "text/event-stream")
	p.w.WriteHeader(http.StatusOK)
	p.flush()
	if p.mode.has("hang-headers") {
		return p.hang()
	}
	if p.mode.has("keepalive400") {
		_, _ = io.WriteString(p.w, strings.Repeat(": keep-alive\n\n", 400))
	}
	before := p.tokensBefore()
	if before != 0 && !p.mode.has("nochoices") {
		p.delta(map[string]any{"role": "assistant", "content": ""}, nil)
	}
	if s.thoughts != "" {
		p.delta(map[string]any{"reasoning_content": s.thoughts}, nil)
	}
	if s.refusal != "" {
		p.delta(map[string]any{"refusal": s.refusal}, nil)
	}
	tokens := p.pieces(s.text)
	for i := 0; p.mode.has("runaway") || i < len(tokens); i++ {
		if i == before {
			break
		}
		if err := p.token(tokens, i); err != nil {
			return err
		}
	}
	if before >= 0 {
		return p.breakOff()
	}
	return p.finish(s)
}

// tokensBefore is after how many tokens a mode breaks the stream, -1 for never.
func (p *reply) tokensBefore() int {
	for _, name := range []string{"hang-3", "cut", "cut-clean", "errevent", "errevent-spaced"} {
		if !p.mode.has(name) {
			continue
		}
		if n, err := strconv.Atoi(p.mode[name]); err == nil {
			return n
		}
		if strings.HasPrefix(name, "errevent") {
			return 0
		}
		return 3
	}
	return -1
}

// token sends one piece of text.
func (p *reply) token(tokens []string, i int) error {
	if d := p.mode.wait("ok-slow", 5*time.Millisecond); d > 0 {
		if err := p.pause(d); err != nil {
			return err
		}
	}
	select {
	case <-p.r.Context().Done():
		return errGone
	case <-p.e.quit:
		return nil
	default:
	}
	text := " more and more"
	if i < len(tokens) {
		text = tokens[i]
	}
	if p.mode.has("nochoices") {
		p.event(`{"id":"scripted","object":"chat.completion.chunk","choices":[]}`)
		return nil
	}
	if i == 0 {
		p.e.note(p.c, func(c *Call) { c.FirstToken = time.Now() })
	}
	p.delta(map[string]any{"content": text}, nil)
	return nil
}

// breakOff ends a stream as its mode says.
func (p *reply) breakOff() error {
	switch {
	case p.mode.has("hang-3"):
		return p.hang()
	case p.mode.has("cut"):
		p.reset()
	case p.mode.has("errevent"):
		p.event(`{"error":{"message":"the engine ran out of memory","type":"server_error","code":500}}`)
		p.event("[DONE]")
	case p.mode.has("errevent-spaced"):
		p.event(`{ "error": {"message": "the engine ran out of memory", "type": "server_error", "code": 500} }`)
		p.event("[DONE]")
	}
	return nil // cut-clean: the end of the body is the end
}

// reset breaks the TCP connection.
func (p *reply) reset() { breakConnection(p.w) }

// finish sends finish reason, usage and [DONE].
func (p *reply) finish(s said) error {
	p.e.ending(p.c)
	if p.mode.has("nochoices") {
		p.event("[DONE]")
		return nil
	}
	usage := p.usage(s)
	switch {
	case p.mode.has("no-usage"):
		p.delta(map[string]any{}, map[string]any{"finish": s.finish})
	case p.mode.has("usage-last"):
		p.delta(map[string]any{}, map[string]any{"finish": s.finish})
		p.event(mustJSON(map[string]any{"id": "scripted", "choices": []any{}, "usage": usage}))
	default:
		p.delta(map[string]any{}, map[string]any{"finish": s.finish, "usage": usage})
	}
	if !p.mode.has("no-last-newline") {
		p.event("[DONE]")
	}
	return nil
}

// delta sends one chunk.
func (p *reply) delta(delta map[string]any, end map[string]any) {
	choice := map[string]any{"index": 0, "delta": delta, "finish_reason": end["finish"]}
	body := map[string]any{"id": "scripted", "object": "chat.completion.chunk", "model": p.c.Model, "choices": []any{choice}}
	if u := end["usage"]; u != nil {
		body["usage"] = u
	}
	p.event(mustRaw(body))
}

// event writes one server-sent event in the spelling of the mode.
func (p *reply) event(data string) {
	start, line := "data: ", "\n"
	if p.mode.has("no-blank-after-data") {
		start = "data:"
	}
	if p.mode.has("crlf") {
		line = "\r\n"
	}
	text := start + data + line + line
	if p.mode.has("no-last-newline") && strings.Contains(data, `"finish_reason":"`) {
		text = start + data
	}
	_, _ = io.WriteString(p.w, text) // a client that went away is seen by its context
	p.flush()
}

var piece = regexp.MustCompile(`\s*\S+\s*?`)

// pieces cuts a text into tokens: words with the blank before them, or, with
// split-utf8, halves of characters as well.
func (p *reply) pieces(text string) []string {
	tokens := piece.FindAllString(text, -1)
	if joined := strings.Join(tokens, ""); len(joined) < len(text) {
		tokens = append(tokens, text[len(joined):])
	}
	if !p.mode.has("split-utf8") {
		return tokens
	}
	var out []string
	for _, r := range "Ünï–cödé 😀 " + text {
		if s := string(r); utf8.RuneLen(r) > 1 {
			out = append(out, s[:1], s[1:])
		} else {
			out = append(out, s)
		}
	}
	return out
}

// mustRaw is mustJSON that keeps half characters as the bytes they are, which
// json.Marshal would replace.
func mustRaw(v map[string]any) string {
	choice := v["choices"].([]any)[0].(map[string]any)
	delta := choice["delta"].(map[string]any)
	text, _ := delta["content"].(string)
	if utf8.ValidString(text) {
		return mustJSON(v)
	}
	delta["content"] = "\x00half\x00"
	return strings.Replace(mustJSON(v), `\u0000half\u0000`, text, 1)
}
