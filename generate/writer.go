package generate

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/reeltree/reeltree/retrieve"
	"github.com/reeltree/reeltree/tree"
)

// writer owns the order of one answer's events and its sums.
type writer struct {
	emit       Emit
	now        func() time.Time
	began      time.Time
	failed     error // of emit: nobody listens any more
	evidence   []Evidence
	items      []retrieve.Item // of evidence, in the same order
	rounds     int             // the last round that was sent
	sufficient bool            // the critic read the evidence and found it enough
	hash       hash.Hash
	points     int // code points sent
	usage      Usage
	timing     Timing
	coverage   float64
	note       string
	support    float64 // of the evidence, 0..1
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
	queries := r.Queries
	if queries == nil {
		queries = []string{} // a list on the wire, never null
	}
	w.rounds = r.Round
	if err := w.send(Round{Round: r.Round, Queries: queries, Considered: r.Considered, Kept: len(r.Kept), LeftOut: r.LeftOut, Trace: r.Trace}); err != nil {
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
	if !nearest {
		w.usage.EvidenceTokens += it.Tokens
	}
	w.retrieved()
	return w.send(e)
}

// withdraw takes back all evidence that was sent.
func (w *writer) withdraw() error {
	if len(w.evidence) == 0 {
		return nil
	}
	r := Round{Round: w.rounds, Queries: []string{}}
	for _, e := range w.evidence {
		r.Replaced = append(r.Replaced, e.N)
	}
	w.usage.EvidenceTokens = 0
	return w.send(r)
}

// NewEvidence is a retrieved item as numbered evidence.
func NewEvidence(n int, it retrieve.Item) Evidence {
	e := Evidence{
		N: n, Node: it.Node, Level: int(it.Level), Span: it.Span, Quote: it.Quote, Speaker: it.Speaker,
		Source: SourceRef{ID: it.Source.ID, Title: it.Source.Title, Kind: it.Source.Kind}, Score: max(0, min(1, it.Score)), frame: it.Frame,
	}
	e.Frame = frameAddress(it)
	return e
}

// frameAddress is where the picture of an item is to be had, "" where it has
// none. A kept picture may be older than the item, since one that has not
// changed is kept once; then the address names a time within the item instead.
func frameAddress(it retrieve.Item) string {
	switch f := it.Frame; {
	case f == nil:
		return ""
	case it.Source.Kind == tree.KindVideo && it.Span.Unit == tree.UnitMS && (f.TimeMS < it.Span.StartMS || f.TimeMS >= it.Span.EndMS):
		return fmt.Sprintf("/v1/sources/%s/frames/%d.jpg", it.Source.ID, it.Span.StartMS+min(intoItem, it.Span.Duration()/2))
	default:
		return "/v1/frames/" + f.ID + ".jpg"
	}
}

// intoItem is how far into an item its picture is taken, so that a fade at its
// start is over.
const intoItem = 1000 // ms

// retrieved notes when the first evidence went out.
func (w *writer) retrieved() {
	if w.timing.Retrieve == 0 {
		w.timing.Retrieve = w.since()
	}
}

// say sends text. Blanks before the first word are left out: a reply of nothing
// else has said nothing.
func (w *writer) say(text string) error {
	if w.points == 0 {
		text = strings.TrimLeftFunc(text, func(r rune) bool { return !seen(r) })
	}
	if text == "" {
		return nil
	}
	if w.points == 0 && w.timing.FirstToken == 0 {
		w.timing.FirstToken = w.since()
	}
	if err := w.send(Token{Text: text}); err != nil {
		return err
	}
	w.hash.Write([]byte(text))
	w.points += utf8.RuneCountInString(text)
	return nil
}

// cite sends a citation of a sentence with the place where it is said.
func (w *writer) cite(n int, support float64, sentence string) error {
	c := Citation{N: n, At: w.points, Support: support, Unsupported: support < minSupport}
	for i, e := range w.evidence {
		if e.N == n && !c.Unsupported {
			c.Span = placeOf(w.items[i], sentence)
		}
	}
	return w.send(c)
}

// done sends the last event. Who cancels at any event before it is told so, even
// where only the last words were under way.
func (w *writer) done(ctx context.Context, finish string, err error) error {
	w.timing.Total = w.since()
	d := Done{
		Finish: finish, TextSHA256: hex.EncodeToString(w.hash.Sum(nil)), Usage: w.usage,
		TimingMS: w.timing, Coverage: w.coverage, Note: w.note, Support: w.support,
	}
	switch fault := (*Error)(nil); {
	case errors.Is(ctx.Err(), context.Canceled):
		d.Finish = FinishCancelled
	case err == nil:
	case ctx.Err() != nil:
		d.Finish, d.Error = FinishError, &Fault{Kind: w.kind(), Message: "the answer took longer than it may: ask for less at once, or try again", Retry: true}
	case errors.As(err, &fault):
		d.Finish, d.Error = FinishError, &Fault{Kind: fault.Kind, Message: oneSentence(fault), Retry: fault.Retry}
	default:
		d.Finish, d.Error = FinishError, &Fault{Kind: w.kind(), Message: "the answer could not be finished: " + oneSentence(err), Retry: true}
	}
	return w.send(d)
}

// kind is whose failure an error without a kind of its own is.
func (w *writer) kind() Kind {
	if w.usage.Calls > 0 {
		return KindModel
	}
	return KindRetrieval
}

// longestSentence bounds what another server's error may put into ours.
const longestSentence = 400

// oneSentence is an error as one line of bounded length.
func oneSentence(err error) string {
	text := []rune(strings.Join(strings.Fields(strings.ToValidUTF8(err.Error(), "")), " "))
	if len(text) > longestSentence {
		text = append(text[:longestSentence-1], '…')
	}
	return string(text)
}
