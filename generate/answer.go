package generate

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/reeltree/reeltree/retrieve"
	"github.com/reeltree/reeltree/tree"
)

// Find is retrieve.Engine.Query.
type Find func(ctx context.Context, q retrieve.Query, onRound func(retrieve.Round) error) (retrieve.Result, error)

// Trees loads a tree for summaries; read only.
type Trees func(ctx context.Context, tenant, source string) (*tree.Tree, error)

// Pictures loads the JPEG of a frame for a vision-capable chat model.
type Pictures func(ctx context.Context, tenant, frame string) ([]byte, error)

// Emit takes the events of an answer in order; its error ends the answer.
type Emit func(Event) error

// Answerer answers questions. Only Find is needed.
type Answerer struct {
	Find     Find
	Trees    Trees          // nil: no summaries
	Chat     Chat           // nil: answers are made of the evidence's sentences
	Critic   Critic         // nil: retrieval alone decides about further rounds
	Turns    Turns          // nil: every question stands alone
	Embed    retrieve.Embed // nil: citations are judged by words alone; must be a local one, it runs between two tokens
	Pictures Pictures       // nil: a chat model sees no pictures
	Frames   int            // pictures a chat model gets per answer unless the question says so
	Longest  int            // code points of a question, 0 means 4,000
	Now      func() time.Time
	Log      *slog.Logger
}

// Answer streams one answer: rounds and evidence first, then tokens and
// citations, exactly one Done last. The error is that of emit, or a refusal of
// the question before anything was sent; every other failure is inside Done.
func (a *Answerer) Answer(ctx context.Context, q Question, emit Emit) error {
	if err := q.validate(a.Longest); err != nil {
		return err
	}
	w := newWriter(emit, a.now)
	finish, err := a.write(ctx, q, w)
	if w.failed != nil {
		return w.failed
	}
	return w.done(ctx, finish, err)
}

func (a *Answerer) now() time.Time {
	if a.Now != nil {
		return a.Now()
	}
	return time.Now()
}

func (a *Answerer) log() *slog.Logger {
	if a.Log != nil {
		return a.Log
	}
	return slog.New(slog.DiscardHandler)
}

func (a *Answerer) write(ctx context.Context, q Question, w *writer) (finish string, err error) {
	q = a.resolve(ctx, q)
	q, err = a.overview(ctx, q)
	if err != nil {
		return FinishError, findError(err)
	}
	if q.mode() != ModeAnswer {
		return a.summarise(ctx, q, w)
	}
	if q.Options.Answerer == "model" && a.Chat == nil {
		return FinishError, &Error{Kind: KindModel, Message: "no chat model is configured: set --llm-url and --llm-model, or ask with answerer auto"}
	}
	result, err := a.gather(ctx, q, w)
	if err != nil {
		return FinishError, findError(err)
	}
	w.coverage = result.Coverage
	w.retrieved()
	if ok, elsewhere := a.supported(ctx, q, result.Weak, w); !ok && ctx.Err() == nil {
		return a.notFound(result, elsewhere, w)
	}
	if !a.asksModel(q) {
		return FinishStop, extract(ctx, q, w)
	}
	finish, err = a.ask(ctx, q, w)
	if err == nil || w.points > 0 || q.Options.Answerer == "model" || ctx.Err() != nil || w.failed != nil {
		return finish, err
	}
	// Nothing was said yet, so nothing is contradicted: the evidence answers,
	// and done says why.
	a.log().Warn("the chat model failed before its first word, the evidence answers instead", "error", err)
	w.note = "The chat model failed before its first word, so the evidence answers in its own words: " + oneSentence(err)
	return FinishStop, extract(ctx, q, w)
}

func (a *Answerer) asksModel(q Question) bool {
	return a.Chat != nil && q.Options.Answerer != "extractive"
}

func findError(err error) error {
	if errors.Is(err, retrieve.ErrQuestion) {
		return &Error{Kind: KindBadQuestion, Message: err.Error(), Cause: err}
	}
	return &Error{Kind: KindRetrieval, Message: "the evidence could not be searched: try again", Retry: true, Cause: err}
}
