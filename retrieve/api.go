package retrieve

import (
	"context"

	"github.com/reeltree/reeltree/tree"
)

// Embed turns texts into vectors: one per text, in order, each of unit length
// and of one dimension for the life of the embedder. The caller owns the
// result. A text without any known feature gives the zero vector.
type Embed func(ctx context.Context, texts []string) ([][]float32, error)

// Trees loads the tree of a source as far as it is finished; it may be called
// concurrently and its result is read only.
type Trees func(ctx context.Context, tenant, source string) (*tree.Tree, error)

// Scope is what a question may see. Tenant is never empty; the rest narrows.
type Scope struct {
	Tenant     string
	Sources    []string // empty: all
	Collection string
	Kinds      []tree.Kind
	Span       *tree.Span // media span inside the sources
}

// Query is one question with its limits. Zero values mean the engine's defaults.
type Query struct {
	Text   string
	Scope  Scope
	Rounds int  // 1..3
	Budget int  // evidence tokens, default 3000
	Trees  int  // sources to look into, default 5; a scope of no more is looked into whole
	Fill   bool // the most relevant pieces until the budget is full, whatever they repeat; one round
	Trace  bool // fill Round.Trace
}

// Item is one chosen piece of evidence.
type Item struct {
	Node    string // id of the stored node it lies in
	Level   tree.Level
	Source  tree.Source
	Span    tree.Span // may be narrower than the node: cues, sentences, rows
	Quote   string    // the raw words (speech, passage, rows), else the description
	Text    string    // the node's description
	Speaker string
	Frame   *tree.FrameRef
	Score   float64 // 0..1, comparable inside one result
	Tokens  int     // tree.Tokens of what it costs in the budget
	Parts   []Part  // of the quote, in its order
}

// Part is a piece of an item's quote with a place of its own: a cue, a sentence,
// a row.
type Part struct {
	Span tree.Span
	Text string
}

// Round is what one round of the loop did.
type Round struct {
	Round      int
	Queries    []string
	Considered int
	Kept       []Item // chosen in this round
	LeftOut    int    // fitting candidates the budget had no room for
	Trace      []Decision
}

// Decision is one traced step: which stage did what to which node, and why.
type Decision struct {
	Stage  string  `json:"stage"` // "entry", "flat", "walk", "refine", "bridge", "choose", and "cost" with a source
	Node   string  `json:"node"`
	Action string  `json:"action"` // "hit", "step", "kept", "split", "dropped"; of a cost "rounds", "scored" (nodes of a walk), "pieces" (ranked after it), "leaves" (flat)
	Score  float64 `json:"score"`
	Why    string  `json:"why,omitempty"`
}

// Result is everything a question found, in final order: source, then time.
type Result struct {
	Rounds   []Round
	Items    []Item
	Nearest  []Item  // when Items is weak or empty: the closest moments
	Weak     bool    // nothing in scope supports an answer
	Coverage float64 // finished L2 milliseconds over all in scope, 0..1
}
