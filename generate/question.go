package generate

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/reeltree/reeltree/retrieve"
	"github.com/reeltree/reeltree/tree"
)

// Question is what is asked, without its transport.
type Question struct {
	Tenant       string      `json:"-"`
	Text         string      `json:"question"`
	Sources      []string    `json:"sources,omitempty"`
	Collection   string      `json:"collection,omitempty"`
	Kinds        []tree.Kind `json:"kinds,omitempty"`
	Span         *tree.Span  `json:"span,omitempty"`
	Conversation string      `json:"conversation,omitempty"`
	Mode         string      `json:"mode,omitempty"` // "", "answer", "summary", "chapters", "highlights"
	Options      Options     `json:"options,omitzero"`
}

// Options of one question; zero values mean the service's defaults.
type Options struct {
	Rounds       int    `json:"rounds,omitempty"`
	BudgetTokens int    `json:"budget_tokens,omitempty"`
	Frames       int    `json:"frames,omitempty"`
	Answerer     string `json:"answerer,omitempty"` // "", "auto", "extractive", "model"
	Trace        bool   `json:"trace,omitempty"`
	Language     string `json:"language,omitempty"`
	Follow       bool   `json:"follow,omitempty"`
}

// maxQuestion is the most code points of a question.
const maxQuestion = 4000

// Kind of an Error; the server maps it to a wire number.
type Kind string

// The kinds of errors of this room.
const (
	KindBadQuestion Kind = "bad_question" // asking it again does not help
	KindModel       Kind = "model"        // the chat model failed
	KindRetrieval   Kind = "retrieval"    // evidence could not be searched
)

// Error is a refusal or failure in one sentence.
type Error struct {
	Kind    Kind
	Message string
	Retry   bool // the same request may succeed later
	Cause   error
}

// Error is the sentence.
func (e *Error) Error() string { return e.Message }

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Cause }

func refuse(format string, args ...any) error {
	return &Error{Kind: KindBadQuestion, Message: fmt.Sprintf(format, args...)}
}

// Validate refuses what cannot be asked, in one sentence.
func (q Question) Validate() error {
	switch {
	case !utf8.ValidString(q.Text):
		return refuse("the question is not valid UTF-8 text: send it as text")
	case strings.ContainsRune(q.Text, 0):
		return refuse("the question holds a NUL character: send it as plain text")
	case strings.TrimSpace(q.Text) == "" && q.mode() == ModeAnswer:
		return refuse("the question is empty: write what you want to know")
	case utf8.RuneCountInString(q.Text) > maxQuestion:
		return refuse("the question has more than %d characters: shorten it", maxQuestion)
	}
	switch q.mode() {
	case ModeAnswer, ModeSummary, ModeChapters, ModeHighlights:
	default:
		return refuse("the mode %.40q is unknown: use answer, summary, chapters or highlights", q.Mode)
	}
	switch q.Options.Answerer {
	case "", "auto", "extractive", "model":
	default:
		return refuse("the answerer %.40q is unknown: use auto, extractive or model", q.Options.Answerer)
	}
	if q.Options.Rounds < 0 || q.Options.Rounds > 3 {
		return refuse("rounds is %d: use 1 to 3", q.Options.Rounds)
	}
	if q.Options.BudgetTokens < 0 || q.Options.Frames < 0 {
		return refuse("budget_tokens and frames cannot be negative")
	}
	return nil
}

// The modes of a question.
const (
	ModeAnswer     = "answer"
	ModeSummary    = "summary"
	ModeChapters   = "chapters"
	ModeHighlights = "highlights"
)

func (q Question) mode() string {
	if q.Mode == "" {
		return ModeAnswer
	}
	return q.Mode
}

func (q Question) query() retrieve.Query {
	return retrieve.Query{
		Text: q.Text, Rounds: q.Options.Rounds, Budget: q.Options.BudgetTokens, Trace: q.Options.Trace,
		Scope: retrieve.Scope{Tenant: q.Tenant, Sources: q.Sources, Collection: q.Collection, Kinds: q.Kinds, Span: q.Span},
	}
}
