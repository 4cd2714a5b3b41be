package model

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"syscall"
)

// name turns whatever a try failed with into an *Error. What the caller caused
// itself (its own cancel, its own callback) is passed on as it is.
func (c *client) name(caller, once context.Context, ex *exchange, err error) error {
	var late *deadline
	var known *Error
	var own *callbackError
	switch {
	case errors.As(err, &own):
		return own.error
	case errors.As(context.Cause(once), &late):
		return c.fail(KindTimeout, ex, late.Error(), late)
	case errors.Is(caller.Err(), context.DeadlineExceeded):
		return c.fail(KindTimeout, ex, "over the time its caller gave", context.DeadlineExceeded)
	case caller.Err() != nil:
		return caller.Err()
	case errors.Is(err, ErrBudget):
		return c.fail(KindBudget, ex, strings.TrimPrefix(err.Error(), ErrBudget.Error()+": "), err)
	case errors.As(err, &known):
		return err
	case ex.tooLarge:
		return c.fail(KindTooLarge, ex, fmt.Sprintf("reply over %d bytes", c.cfg.MaxReply), errTooLarge)
	case ex.status == 0:
		return c.fail(KindUnreachable, ex, whyUnreachable(err), err)
	case ex.status < 200 || ex.status > 299:
		return c.failStatus(ex)
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF), errors.Is(err, syscall.ECONNRESET):
		return c.fail(KindCut, ex, "the connection was closed", err)
	}
	return c.fail(KindBadReply, ex, err.Error(), err)
}

// fail makes an error about this client's model. detail is cleaned here, so
// that no caller can forget it.
func (c *client) fail(kind Kind, ex *exchange, detail string, cause error) *Error {
	e := &Error{
		Op: c.op, Kind: kind, Model: c.cfg.Model, Endpoint: c.host,
		Detail: clean(c.cfg.Key.scrub(detail)), Cause: cause,
	}
	if ex != nil {
		e.Status, e.RetryAfter = ex.status, ex.retryAfter
	}
	return e
}

// failStatus names a failure by its HTTP status and the endpoint's words.
func (c *client) failStatus(ex *exchange) *Error {
	words := failureWords(ex.body)
	detail := fmt.Sprintf("status %d", ex.status)
	if words != "" {
		detail += ": " + words
	}
	return c.fail(kindOfStatus(ex.status, words), ex, detail, nil)
}

func kindOfStatus(status int, words string) Kind {
	words = strings.ToLower(words)
	switch {
	case status == 401, status == 403:
		return KindAuth
	case status == 404:
		return KindNoModel
	case status == 429:
		return KindRateLimited
	case status == 413:
		return KindTooLarge
	case status >= 300 && status < 400:
		return KindBadReply // a redirect is not followed
	case status == 400 && strings.Contains(words, "model") &&
		(strings.Contains(words, "not found") || strings.Contains(words, "does not exist")):
		return KindNoModel
	case blind(words):
		return KindRefused // asking again shows it no more
	case strings.Contains(words, "content_filter"), strings.Contains(words, "content management policy"):
		return KindRefused
	}
	return KindUpstream
}

// blind reports whether an endpoint says that its model takes no pictures, in
// the words of llama.cpp, Ollama, LM Studio, vLLM and OpenAI.
func blind(words string) bool {
	for _, s := range []string{
		"image input is not supported", "does not support image", "not support image", "not a multimodal model", "is not multimodal",
		"does not support vision", "missing data required for image input", "image_url is only supported",
	} {
		if strings.Contains(words, s) {
			return true
		}
	}
	return false
}

// failureWords finds the message in the shapes servers use: {"error":{"message",
// "code"}}, {"error":"…"}, {"message":…}, {"detail":…}; of a web page nothing
// but that it is one.
func failureWords(body []byte) string {
	text := strings.TrimSpace(string(body))
	if strings.HasPrefix(text, "<") {
		return "a web page"
	}
	var shape struct {
		Error   json.RawMessage `json:"error"`
		Message json.RawMessage `json:"message"`
		Detail  json.RawMessage `json:"detail"`
	}
	if json.Unmarshal(body, &shape) != nil {
		return text
	}
	for _, raw := range []json.RawMessage{shape.Error, shape.Message, shape.Detail} {
		if words := errorWords(raw); words != "" {
			return words
		}
	}
	return text
}

// errorWords reads an error value that is a text or an object; empty for null.
func errorWords(raw json.RawMessage) string {
	var text string
	if len(raw) == 0 || string(raw) == "null" || json.Unmarshal(raw, &text) == nil {
		return text
	}
	var object struct {
		Message string `json:"message"`
		Code    any    `json:"code"`
	}
	if json.Unmarshal(raw, &object) != nil || object.Message == "" {
		return string(raw)
	}
	if code, ok := object.Code.(string); ok && code != "" {
		return object.Message + ", " + code
	}
	return object.Message
}

// whyUnreachable is a short reason without addresses and without the request
// line that net/http puts in front.
func whyUnreachable(err error) string {
	var dns *net.DNSError
	var timeout net.Error
	switch {
	case errors.As(err, &dns):
		return "its host name is not known"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "connection refused"
	case errors.As(err, &timeout) && timeout.Timeout():
		return "no connection in time"
	case errors.Is(err, io.EOF), errors.Is(err, syscall.ECONNRESET):
		return "connection closed without an answer"
	}
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err.Error()
		}
		err = inner
	}
}
