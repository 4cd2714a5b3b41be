package generate

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"log/slog"
	"time"
	"unicode/utf8"

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
	Trees    Trees    // nil: no summaries
	Chat     Chat     // nil: answers are made of the evidence's sentences
	Pictures Pictures // nil: a chat model sees no pictures
	Frames   int      // pictures a chat model gets per answer unless the question says so
	Now      func() time.Time
	Log      *slog.Logger
}

// Answer streams one answer: rounds and evidence first, then tokens and
// citations, exactly one Done last. The error is that of emit, or a refusal of
// the question before anything was sent; every other failure is inside Done.
func (a *Answerer) Answer(ctx context.Context, q Question, emit Emit) error {
	if err := q.Validate(); err != nil {
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

func (a *Answerer) write(ctx context.Context, q Question, w *writer) (finish string, err error) {
	q, err = a.overview(ctx, q)
	if err != nil {
		return FinishError, findError(err)
	}
	if q.mode() != ModeAnswer {
		return a.summarise(ctx, q, w)
	}
	result, err := a.Find(ctx, q.query(), w.round)
	if err != nil {
		return FinishError, findError(err)
	}
	w.coverage = result.Coverage
	w.retrieved()
	if result.Weak {
		return a.notFound(result, w)
	}
	if a.Chat != nil && q.Options.Answerer != "extractive" {
		finish, err := a.ask(ctx, q, w)
		if err == nil || w.points > 0 || q.Options.Answerer == "model" || ctx.Err() != nil {
			return finish, err
		}
		a.log().Warn("the chat model failed before its first word, the evidence answers instead", "error", err)
	} else if q.Options.Answerer == "model" {
		return FinishError, &Error{Kind: KindModel, Message: "no chat model is configured: set --llm-url and --llm-model, or ask with answerer auto"}
	}
	return FinishStop, extract(ctx, q, w)
}

func findError(err error) error {
	if errors.Is(err, retrieve.ErrQuestion) {
		return &Error{Kind: KindBadQuestion, Message: err.Error(), Cause: err}
	}
	return &Error{Kind: KindRetrieval, Message: "the evidence could not be searched: try again", Retry: true, Cause: err}
}

func (a *Answerer) log() *slog.Logger {
	if a.Log != nil {
		return a.Log
	}
	return slog.New(slog.DiscardHandler)
}

// notFound shows the nearest moments and says so.
func (a *Answerer) notFound(result retrieve.Result, w *writer) (string, error) {
	if len(w.evidence) == 0 {
		for _, it := range result.Nearest {
			if err := w.prove(it, true); err != nil {
				return FinishError, err
			}
		}
	}
	text := "This is not in what was searched."
	if len(w.evidence) > 0 {
		text = "This is not in what was searched; the nearest moments are shown."
	}
	return FinishNotFound, w.say(text)
}

// writer owns the order of one answer's events and its sums.
type writer struct {
	emit     Emit
	now      func() time.Time
	began    time.Time
	failed   error // of emit: nobody listens any more
	evidence []Evidence
	items    []retrieve.Item
	hash     hash.Hash
	points   int // code points sent
	usage    Usage
	timing   Timing
	coverage float64
}

func newWriter(emit Emit, now func() time.Time) *writer {
	return &writer{emit: emit, now: now, began: now(), hash: sha256.New()}
}

func (w *writer) since() float64 { return float64(w.now().Sub(w.began).Microseconds()) / 1000 }

func (w *writer) send(e Event) error {
	if w.failed == nil {
		w.failed = w.emit(e)
	}
	return w.failed
}

// round sends a retrieval round with its evidence.
func (w *writer) round(r retrieve.Round) error {
	if err := w.send(Round{Round: r.Round, Queries: r.Queries, Considered: r.Considered, Kept: len(r.Kept), LeftOut: r.LeftOut, Trace: r.Trace}); err != nil {
		return err
	}
	for _, it := range r.Kept {
		if err := w.prove(it, false); err != nil {
			return err
		}
	}
	return nil
}

// prove sends one piece of evidence under the next number.
func (w *writer) prove(it retrieve.Item, nearest bool) error {
	e := NewEvidence(len(w.evidence)+1, it)
	e.Nearest = nearest
	w.evidence, w.items = append(w.evidence, e), append(w.items, it)
	w.usage.EvidenceTokens += it.Tokens
	w.retrieved()
	return w.send(e)
}

// NewEvidence is a retrieved item as numbered evidence.
func NewEvidence(n int, it retrieve.Item) Evidence {
	e := Evidence{
		N: n, Node: it.Node, Level: int(it.Level), Span: it.Span, Quote: it.Quote, Speaker: it.Speaker,
		Source: SourceRef{ID: it.Source.ID, Title: it.Source.Title, Kind: it.Source.Kind}, Score: it.Score, frame: it.Frame,
	}
	if it.Frame != nil {
		e.Frame = "/v1/frames/" + it.Frame.ID + ".jpg"
	}
	return e
}

// retrieved notes when the first evidence went out.
func (w *writer) retrieved() {
	if w.timing.Retrieve == 0 {
		w.timing.Retrieve = w.since()
	}
}

// say sends text.
func (w *writer) say(text string) error {
	if text == "" {
		return nil
	}
	if w.points == 0 {
		w.timing.FirstToken = w.since()
	}
	if err := w.send(Token{Text: text}); err != nil {
		return err
	}
	w.hash.Write([]byte(text))
	w.points += utf8.RuneCountInString(text)
	return nil
}

func (w *writer) cite(n int, support float64) error {
	return w.send(Citation{N: n, At: w.points, Support: support, Unsupported: support < minSupport})
}

// done sends the last event.
func (w *writer) done(ctx context.Context, finish string, err error) error {
	w.timing.Total = w.since()
	d := Done{Finish: finish, TextSHA256: hex.EncodeToString(w.hash.Sum(nil)), Usage: w.usage, TimingMS: w.timing, Coverage: w.coverage}
	switch fault := (*Error)(nil); {
	case ctx.Err() != nil:
		d.Finish = FinishCancelled
	case errors.As(err, &fault):
		d.Finish, d.Error = FinishError, &Fault{Kind: fault.Kind, Message: fault.Message, Retry: fault.Retry}
	case err != nil:
		d.Finish, d.Error = FinishError, &Fault{Kind: KindRetrieval, Message: fmt.Sprintf("the answer could not be finished: %v", err), Retry: true}
	}
	return w.send(d)
}
