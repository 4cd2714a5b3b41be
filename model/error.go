package model

import (
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
)

// Kind says what went wrong with a call, so that callers can choose a wire
// code and whether trying again makes sense.
type Kind string

// The kinds of errors.
const (
	KindUnreachable Kind = "unreachable"     // no connection, or closed before any answer
	KindAuth        Kind = "auth"            // the key was refused
	KindNoModel     Kind = "not_found_model" // the endpoint does not know the model or the path
	KindRateLimited Kind = "rate_limited"    // 429; RetryAfter says how long, where it was told
	KindBadReply    Kind = "bad_reply"       // an answer came, but none that can be used
	KindCut         Kind = "cut"             // the reply ended before a finish reason
	KindTimeout     Kind = "timeout"         // one of the deadlines passed
	KindTooLarge    Kind = "too_large"       // reply or request over a size limit
	KindRefused     Kind = "refused"         // the model or a content filter declined
	KindBudget      Kind = "budget"          // the cap of the job or answer is reached
	KindUpstream    Kind = "upstream"        // the endpoint reported a failure of its own
)

// ErrBudget is the cause of every error of KindBudget.
var ErrBudget = errors.New("budget used up")

// ErrNoText is the cause when a model did answer but without anything to use:
// no text, only thoughts, a refusal, a filtered reply. Callers that can do
// without the model go on; other errors mean that nothing would answer.
var ErrNoText = errors.New("no text")

// Error is the failure of a call. Its text is one sentence that names the
// model, the reason and what to do; it never holds the key.
type Error struct {
	Op         string // "chat", "embedding", "transcription", or the role in the settings, such as "vision"
	Kind       Kind
	Model      string        // as configured
	Endpoint   string        // host and port
	Status     int           // HTTP status, 0 when none came
	RetryAfter time.Duration // what the endpoint asked for, 0 = nothing
	Detail     string        // the endpoint's own words or the measured figure, cleaned and short
	Cause      error
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Cause }

// Error is the sentence.
func (e *Error) Error() string {
	who := fmt.Sprintf("the %s model %q at %s", e.Op, e.Model, e.Endpoint)
	detail := ""
	if e.Detail != "" {
		detail = " (" + e.Detail + ")"
	}
	switch e.Kind {
	case KindUnreachable:
		return who + " cannot be reached" + detail + "; check that its server runs and its address is right"
	case KindAuth:
		return who + " refused the key" + detail + "; check its key setting"
	case KindNoModel:
		return who + " is not known there" + detail + "; check its name and the path of its address"
	case KindRateLimited:
		if e.RetryAfter > 0 {
			detail += fmt.Sprintf(", which asks to wait %s", e.RetryAfter.Round(time.Second))
		}
		return who + " is over its rate limit" + detail + "; try again later"
	case KindBudget:
		return who + " was not asked because the budget is used up" + detail + "; raise it to go on"
	}
	return who + sentences[e.Kind] + detail
}

var sentences = map[Kind]string{
	KindBadReply: " sent a reply that cannot be used",
	KindCut:      " broke off before its reply was complete",
	KindTimeout:  " took too long",
	KindTooLarge: " went over a size limit",
	KindRefused:  " declined to answer",
	KindUpstream: " failed",
}

// Sentence is Error: what people are told of a failure wherever it is wrapped.
func (e *Error) Sentence() string { return e.Error() }

// Permanent reports that the same call cannot succeed before somebody changes a
// setting or the endpoint.
func (e *Error) Permanent() bool {
	return e.Kind == KindAuth || e.Kind == KindNoModel || e.Kind == KindRefused
}

// temporary reports whether the same call may succeed a moment later.
func (e *Error) temporary() bool {
	switch e.Kind {
	case KindUnreachable, KindCut:
		return true
	case KindRateLimited:
		return !strings.Contains(e.Detail, "insufficient_quota")
	case KindUpstream:
		return e.Status == 0 || e.Status == 408 || e.Status == 409 || e.Status >= 500
	}
	return false
}

// clean makes the words of an endpoint fit for one sentence: one line, no
// control or direction characters, at most 200 code points, no markup.
func clean(text string) string {
	text = strings.ToValidUTF8(text, "")
	text = strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || unicode.IsControl(r) || unicode.Is(unicode.Cf, r) {
			return ' '
		}
		return r
	}, text)
	text = strings.Trim(strings.Join(strings.Fields(text), " "), " .")
	if r := []rune(text); len(r) > 200 {
		text = string(r[:200]) + "…"
	}
	return text
}
