package model

import (
	"encoding/json"
	"strings"
)

// chunk is one event of a stream, or a whole reply: the union of the shapes
// that servers send.
type chunk struct {
	hasChoice bool
	text      string // bytes as sent: a character may be split over two chunks
	reasoning string
	refusal   string
	finish    string
	usage     *chunkUsage
	failure   string // the words of an error inside the chunk
	status    int    // its code, if it is a number
}

type chunkUsage struct {
	PromptTokens     int `json:"prompt_tokens"`
	CompletionTokens int `json:"completion_tokens"`
}

type wireChunk struct {
	Error   json.RawMessage `json:"error"`
	Object  string          `json:"object"`
	Message json.RawMessage `json:"message"` // beside object "error"
	Choices []wireChoice    `json:"choices"`
	Usage   *chunkUsage     `json:"usage"`
}

type wireChoice struct {
	Delta        *wireMessage    `json:"delta"`
	Message      *wireMessage    `json:"message"`
	Text         json.RawMessage `json:"text"`
	FinishReason *string         `json:"finish_reason"`
	Index        int             `json:"index"`
}

type wireMessage struct {
	Content          json.RawMessage `json:"content"`
	Refusal          *string         `json:"refusal"`
	ReasoningContent *string         `json:"reasoning_content"`
	Reasoning        *string         `json:"reasoning"`
}

// parseChunk decodes leniently what varies and strictly what must be there.
func parseChunk(raw []byte) (chunk, error) {
	var w wireChunk
	if err := json.Unmarshal(raw, &w); err != nil {
		return chunk{}, err
	}
	c := chunk{usage: w.Usage, failure: errorWords(w.Error), status: errorStatus(w.Error)}
	if c.failure == "" && w.Object == "error" {
		c.failure = errorWords(w.Message) + " "
	}
	for _, choice := range w.Choices {
		if choice.Index == 0 {
			c.choose(choice)
		}
	}
	return c, nil
}

func (c *chunk) choose(w wireChoice) {
	c.hasChoice = true
	if w.FinishReason != nil {
		c.finish = *w.FinishReason
	}
	c.text += contentText(w.Text)
	for _, m := range []*wireMessage{w.Delta, w.Message} {
		if m == nil {
			continue
		}
		c.text += contentText(m.Content)
		for _, s := range []*string{m.ReasoningContent, m.Reasoning} {
			if s != nil {
				c.reasoning += *s
			}
		}
		if m.Refusal != nil {
			c.refusal += *m.Refusal
		}
	}
}

// contentText reads a content that is a text, null, or a list of parts.
func contentText(raw json.RawMessage) string {
	if len(raw) == 0 || raw[0] == 'n' {
		return ""
	}
	if raw[0] == '"' {
		return rawString(raw)
	}
	var parts []struct {
		Type string          `json:"type"`
		Text json.RawMessage `json:"text"`
	}
	if json.Unmarshal(raw, &parts) != nil {
		return ""
	}
	var b strings.Builder
	for _, p := range parts {
		b.WriteString(contentText(p.Text))
	}
	return b.String()
}

// rawString undoes the escapes of a JSON text but keeps bytes that are no
// UTF-8, which encoding/json would replace: they may be half a character whose
// other half is in the next chunk.
func rawString(raw json.RawMessage) string {
	var b strings.Builder
	rest := raw[1 : len(raw)-1]
	for len(rest) > 0 {
		plain := 0
		for plain < len(rest) && rest[plain] != '\\' {
			plain++
		}
		b.Write(rest[:plain])
		rest = rest[plain:]
		n := escapes(rest)
		var text string
		if n > 0 && json.Unmarshal([]byte(`"`+string(rest[:n])+`"`), &text) == nil {
			b.WriteString(text)
		}
		rest = rest[n:]
	}
	return b.String()
}

// escapes is the length of the run of escapes that s begins with; a run is
// undone as a whole, since two of them may be one character.
func escapes(s []byte) int {
	n := 0
	for n+1 < len(s) && s[n] == '\\' {
		if n += 2; s[n-1] == 'u' {
			n = min(n+4, len(s))
		}
	}
	return n
}

// errorStatus is the numeric code of an error object, 0 without one.
func errorStatus(raw json.RawMessage) int {
	var object struct {
		Code any `json:"code"`
	}
	if len(raw) == 0 || json.Unmarshal(raw, &object) != nil {
		return 0
	}
	code, _ := object.Code.(float64)
	if code < 100 || code > 599 {
		return 0
	}
	return int(code)
}
