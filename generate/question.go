package generate

import (
	"fmt"
	"strings"
	"unicode"
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

	search  string // what is searched for: the text, with what earlier turns add
	history []Turn // of the conversation, oldest first
	implied bool   // the sources are those of the turn before, not a wish
	placed  bool   // asks for what stands at a place, whatever that is
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

// Limits of a question.
const (
	maxQuestion = 4000 // code points, where the Answerer sets none
	maxName     = 128  // bytes of a conversation id
	maxSources  = 1000
	maxRounds   = 3
	maxBudget   = 32_000
	maxFrames   = 32
	maxLanguage = 35 // RFC 5646, section 4.4.1
)

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
func (q Question) Validate() error { return q.validate(maxQuestion) }

func (q Question) validate(longest int) error {
	if longest <= 0 {
		longest = maxQuestion
	}
	switch {
	case !utf8.ValidString(q.Text):
		return refuse("the question is not valid UTF-8 text: send it as text")
	case strings.ContainsRune(q.Text, 0):
		return refuse("the question holds a NUL character: send it as plain text")
	case !visible(q.Text) && q.mode() == ModeAnswer:
		return refuse("the question is empty: write what you want to know")
	case utf8.RuneCountInString(q.Text) > longest:
		return refuse("the question has more than %d characters: shorten it", longest)
	case len(q.Conversation) > maxName || !plain(q.Conversation):
		return refuse("the conversation id is longer than %d bytes or not plain text: use a short one", maxName)
	case len(q.Sources) > maxSources:
		return refuse("the question names %d sources and %d are the most: ask a collection instead", len(q.Sources), maxSources)
	}
	for _, k := range q.Kinds {
		switch k {
		case tree.KindVideo, tree.KindAudio, tree.KindDocument, tree.KindImage:
		default:
			return refuse("the kind %.40q is unknown: use video, audio, document or image", string(k))
		}
	}
	switch q.mode() {
	case ModeAnswer, ModeSummary, ModeChapters, ModeHighlights:
	default:
		return refuse("the mode %.40q is unknown: use answer, summary, chapters or highlights", q.Mode)
	}
	return q.Options.validate()
}

func (o Options) validate() error {
	switch o.Answerer {
	case "", "auto", "extractive", "model":
	default:
		return refuse("the answerer %.40q is unknown: use auto, extractive or model", o.Answerer)
	}
	switch {
	case o.Rounds < 0 || o.Rounds > maxRounds:
		return refuse("rounds is %d: use 1 to %d", o.Rounds, maxRounds)
	case o.BudgetTokens < 0 || o.BudgetTokens > maxBudget:
		return refuse("budget_tokens is %d: use 1 to %d", o.BudgetTokens, maxBudget)
	case o.Frames < 0 || o.Frames > maxFrames:
		return refuse("frames is %d: use 0 to %d", o.Frames, maxFrames)
	case len(o.Language) > maxLanguage || strings.ContainsFunc(o.Language, notInLanguage):
		return refuse("the language %.40q is not a language tag: use one like en, de or pt-BR", o.Language)
	}
	return nil
}

// notInLanguage keeps orders to a model out of a language tag.
func notInLanguage(r rune) bool {
	return r != '-' && r != '_' && (r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r))
}

// visible reports whether a text holds anything a reader sees.
func visible(s string) bool { return strings.ContainsFunc(s, seen) }

func seen(r rune) bool { return unicode.IsGraphic(r) && !unicode.IsSpace(r) }

func plain(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, unicode.IsControl)
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
	text := q.search
	if text == "" {
		text = q.Text
	}
	return retrieve.Query{
		Text: text, Rounds: q.Options.Rounds, Budget: q.Options.BudgetTokens, Trace: q.Options.Trace,
		Scope: retrieve.Scope{Tenant: q.Tenant, Sources: q.Sources, Collection: q.Collection, Kinds: q.Kinds, Span: q.Span},
	}
}
