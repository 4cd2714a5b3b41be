package model

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/reeltree/reeltree/tree"
)

// rawStream is the one method of go-openai's stream that is used: its own
// decoding hides errors and missing choices.
type rawStream interface{ RecvRaw() ([]byte, error) }

// tail is how long usage may still come after the finish reason.
const tail = 2 * time.Second

var errThoughts = fmt.Errorf("only thoughts and no answer, so %w; allow it more tokens", ErrNoText)

var errTail = errors.New("nothing came after the finish reason")

// streamReader reads one reply.
type streamReader struct {
	client *client
	ex     *exchange
	watch  *watch
	out    *output
	limit  int // bytes of text, 0 = none

	chunks, choices int
	finish          string
	refusal         string
	thoughts        int // bytes of reasoning
	usage           *chunkUsage
}

// readAll reads to the end and decides whether the reply is complete.
func (s *streamReader) readAll(ctx context.Context, stream rawStream) error {
	for {
		raw, err := stream.RecvRaw()
		if err != nil {
			return s.end(ctx, err)
		}
		if err := s.chunk(raw); err != nil {
			return err
		}
	}
}

// chunk takes one event of the stream.
func (s *streamReader) chunk(raw []byte) error {
	s.chunks++
	c, err := parseChunk(raw)
	if err != nil {
		return s.fail(KindBadReply, fmt.Sprintf("not JSON: %.80s", raw))
	}
	if c.failure != "" {
		return s.failInside(c)
	}
	if c.usage != nil {
		s.usage = c.usage
	}
	if !c.hasChoice {
		return nil
	}
	s.choices++
	s.refusal += c.refusal
	s.thoughts += len(c.reasoning)
	if c.text != "" || c.reasoning != "" {
		s.watch.expect("between two tokens", s.client.cfg.BetweenTokens)
	}
	if err := s.out.write(c.text); err != nil {
		return err
	}
	if s.limit > 0 && s.out.size+s.thoughts > s.limit {
		return s.fail(KindTooLarge, fmt.Sprintf("the reply goes on after %d bytes although its tokens are capped", s.limit))
	}
	if c.finish != "" {
		s.finish = c.finish
		s.watch.expire(min(tail, s.client.cfg.BetweenTokens), errTail)
	}
	return nil
}

// end judges the reply when nothing more comes.
func (s *streamReader) end(ctx context.Context, err error) error {
	cause := context.Cause(ctx)
	if s.finish != "" && (cause == nil || errors.Is(cause, errTail)) {
		return s.complete() // usage may be missing, the answer is not
	}
	if !errors.Is(err, io.EOF) || cause != nil {
		return err
	}
	if s.chunks == 0 {
		return s.plain()
	}
	if s.choices == 0 {
		return s.fail(KindBadReply, "no choices in any chunk")
	}
	return s.fail(KindCut, "the stream ended without a finish reason")
}

// plain reads a reply that came whole instead of as a stream.
func (s *streamReader) plain() error {
	body := bytes.TrimSpace(s.ex.body)
	switch {
	case len(body) == 0:
		return s.fail(KindCut, "nothing came at all")
	case body[0] == '<':
		return s.fail(KindBadReply, "a web page; check the path of its address")
	case !json.Valid(body):
		return s.fail(KindBadReply, fmt.Sprintf("neither a stream nor JSON: %.80s", body))
	}
	if err := s.chunk(body); err != nil {
		return err
	}
	if s.choices == 0 {
		return s.fail(KindBadReply, "no choices")
	}
	if s.finish == "" {
		return s.fail(KindCut, "the reply has no finish reason")
	}
	return s.complete()
}

// complete ends a reply whose finish reason was seen.
func (s *streamReader) complete() error {
	if err := s.out.end(); err != nil {
		return err
	}
	switch {
	case s.refusal != "":
		return s.client.fail(KindRefused, s.ex, s.refusal, ErrNoText)
	case s.finish == "content_filter":
		return s.client.fail(KindRefused, s.ex, "content filter", ErrNoText)
	case s.finish != "stop" && s.finish != "length":
		return s.fail(KindBadReply, fmt.Sprintf("finish reason %.40q", s.finish))
	case s.out.spoiled:
		return s.fail(KindBadReply, "its thoughts came as part of the answer; the next try leaves them out")
	case s.out.text.Len() > 0:
		return nil
	case s.thoughts > 0 || s.out.dropped > 0:
		return s.client.fail(KindBadReply, s.ex, errThoughts.Error(), errThoughts)
	}
	return s.client.fail(KindBadReply, s.ex, ErrNoText.Error(), ErrNoText)
}

// reply is what came so far.
func (s *streamReader) reply(estimate int) Reply {
	r := Reply{Text: s.out.text.String(), Finish: s.finish}
	if s.usage != nil {
		r.TokensIn, r.TokensOut, r.UsageKnown = s.usage.PromptTokens, s.usage.CompletionTokens, true
		return r
	}
	if s.choices > 0 {
		r.TokensIn, r.TokensOut = estimate, tree.Tokens(r.Text)+(s.out.dropped+s.thoughts)/4
	}
	return r
}

func (s *streamReader) fail(kind Kind, detail string) *Error {
	return s.client.fail(kind, s.ex, detail, nil)
}

// failInside names an error that came inside a stream with status 200.
func (s *streamReader) failInside(c chunk) *Error {
	kind := kindOfStatus(c.status, c.failure)
	e := s.fail(kind, c.failure)
	if c.status != 0 {
		e.Status = c.status
	}
	return e
}
