package generate

import (
	"encoding/json"

	"github.com/reeltree/reeltree/retrieve"
	"github.com/reeltree/reeltree/tree"
)

// Event is one event of an answer's stream. It marshals to the fields the wire
// protocol gives its type; stream, epoch, seq and type are added by the server.
type Event interface {
	// Type is the wire name: "round", "evidence", "token", "citation", "revised", "done".
	Type() string
}

// Round says what one retrieval round did.
type Round struct {
	Round      int                 `json:"round"`
	Queries    []string            `json:"queries"`
	Considered int                 `json:"considered"`
	Kept       int                 `json:"kept"`
	Replaced   []int               `json:"replaced,omitempty"`
	LeftOut    int                 `json:"left_out,omitempty"`
	Trace      []retrieve.Decision `json:"trace,omitempty"`
}

// Evidence is one numbered piece, sent before any word that cites it.
type Evidence struct {
	N       int       `json:"n"` // from 1, never reused
	Node    string    `json:"node"`
	Level   int       `json:"level"`
	Source  SourceRef `json:"source"`
	Span    tree.Span `json:"span"`
	Quote   string    `json:"quote"`
	Speaker string    `json:"speaker,omitempty"`
	Frame   string    `json:"frame,omitempty"` // address of a picture within the span
	Score   float64   `json:"score"`
	Nearest bool      `json:"nearest,omitempty"`
	frame   *tree.FrameRef
}

// SourceRef names a source for people.
type SourceRef struct {
	ID    string    `json:"id"`
	Title string    `json:"title"`
	Kind  tree.Kind `json:"kind"`
}

// Token is a piece of the answer's text.
type Token struct {
	Text string `json:"text"`
}

// Citation says that the sentence before At rests on evidence N.
type Citation struct {
	N           int     `json:"n"`
	At          int     `json:"at"`      // code points sent before the mark
	Support     float64 `json:"support"` // 0..1: does the evidence hold the sentence
	Unsupported bool    `json:"unsupported,omitempty"`
	// Span is where in the evidence the sentence is said, where that is closer
	// than the evidence itself: the cue, sentence or row.
	Span *tree.Span `json:"span,omitempty"`
}

// Revised says that new nodes changed the evidence; a new text follows.
type Revised struct {
	Because []string `json:"because"`
}

// The reasons an answer ends.
const (
	FinishStop      = "stop"
	FinishLength    = "length"
	FinishCancelled = "cancelled"
	FinishNotFound  = "not_found"
	FinishError     = "error"
)

// Done is the last event of an answer.
type Done struct {
	Finish     string  `json:"finish"`
	Error      *Fault  `json:"error,omitempty"`
	TextSHA256 string  `json:"text_sha256"` // hex, UTF-8 of all token texts joined
	Usage      Usage   `json:"usage"`
	TimingMS   Timing  `json:"timing_ms"`
	Coverage   float64 `json:"coverage"`       // finished L2 milliseconds over all in scope
	Note       string  `json:"note,omitempty"` // what a reader should know of how it was made, one sentence

	// Support is how likely the evidence holds an answer, 0..1, as words and
	// vectors judge it; below a half the answer is refused. 0 where nothing was
	// judged. It is for measuring, not for the wire.
	Support float64 `json:"-"`
}

// Fault is an error inside a stream; the server fills Code from Kind.
type Fault struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Retry   bool   `json:"retry"`
	Kind    Kind   `json:"-"`
}

// Usage is what an answer has cost.
type Usage struct {
	Calls            int `json:"calls"`
	TokensIn         int `json:"tokens_in"`
	TokensOut        int `json:"tokens_out"`
	EvidenceTokens   int `json:"evidence_tokens"`
	Pictures         int `json:"pictures"`
	DroppedCitations int `json:"dropped_citations"`
}

// Timing of an answer in milliseconds since it began to run.
type Timing struct {
	Retrieve   float64 `json:"retrieve"`
	FirstToken float64 `json:"first_token"`
	Total      float64 `json:"total"`
}

// Type implements Event.
func (Round) Type() string { return "round" }

// Type implements Event.
func (Evidence) Type() string { return "evidence" }

// Type implements Event.
func (Token) Type() string { return "token" }

// Type implements Event.
func (Citation) Type() string { return "citation" }

// Type implements Event.
func (Revised) Type() string { return "revised" }

// Type implements Event.
func (Done) Type() string { return "done" }

// Marshal is the event as a JSON object that begins with its type.
func Marshal(e Event) ([]byte, error) {
	body, err := json.Marshal(e)
	if err != nil {
		return nil, err
	}
	head, err := json.Marshal(e.Type())
	if err != nil {
		return nil, err
	}
	out := append([]byte(`{"type":`), head...)
	if len(body) > 2 {
		out = append(out, ',')
	}
	return append(out, body[1:]...), nil
}
