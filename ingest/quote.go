package ingest

import (
	"context"
	"fmt"

	"github.com/reeltree/reeltree/tree"
)

// QuotedCalls are the model calls per level of the fault-free path.
type QuotedCalls struct {
	L1  int `json:"l1"`
	L2  int `json:"l2"`
	L3  int `json:"l3"`
	ASR int `json:"asr"`
}

// Quote says what a vision model would have to do for a source. Retries and
// fallbacks are not in it.
type Quote struct {
	Calls      QuotedCalls `json:"calls"`
	Images     int         `json:"images"` // pictures sent, each as often as it is sent
	Tokens     int         `json:"tokens"` // text sent and asked for, an estimate; pictures count apart
	DurationMS int64       `json:"duration_ms"`
}

// What prompts and replies weigh in tokens.
const (
	promptTokens = 250 // the fixed part of one call
	textTokens   = 60  // one description
	clipImages   = 10  // frames in the call for an L2
)

// QuoteMaterial counts what describing one stretch costs: a call per L2 with at
// most ten of its frames, a call per batch of frames for its L3, one for the L1.
func QuoteMaterial(m tree.Material, s Settings) Quote {
	q := Quote{Calls: QuotedCalls{L1: 1}, Tokens: promptTokens + 2*textTokens + len(m.Clips)*textTokens}
	if m.Span.Unit == tree.UnitMS {
		q.DurationMS = m.Span.Duration()
	}
	for _, c := range m.Clips {
		frames, words := 0, 0
		for _, l := range c.Leaves {
			if l.Evidence.Frame != nil || len(l.JPEG) > 0 {
				frames++
			}
			for _, cue := range l.Evidence.Cues {
				words += tree.Words(cue.Text)
			}
			words += tree.Words(l.Evidence.Passage)
		}
		calls := leafCalls(c.Leaves, s.batch())
		said := words * 4 / 3
		q.Calls.L2++
		q.Calls.L3 += calls
		q.Images += min(frames, clipImages) + frames
		q.Tokens += promptTokens + said + textTokens // L2
		if calls > 0 {
			q.Tokens += calls*(promptTokens+textTokens) + said + frames*textTokens // L3
		}
	}
	return q
}

// leafCalls is how many calls the L3 of a clip need: only pictures are asked about.
func leafCalls(leaves []tree.Leaf, batch int) int {
	frames := 0
	for _, l := range leaves {
		if len(l.JPEG) > 0 {
			frames++
		}
	}
	return (frames + batch - 1) / batch
}

// Add sums two quotes.
func (q Quote) Add(o Quote) Quote {
	return Quote{
		Calls:  QuotedCalls{q.Calls.L1 + o.Calls.L1, q.Calls.L2 + o.Calls.L2, q.Calls.L3 + o.Calls.L3, q.Calls.ASR + o.Calls.ASR},
		Images: q.Images + o.Images, Tokens: q.Tokens + o.Tokens, DurationMS: q.DurationMS + o.DurationMS,
	}
}

// Quote probes, cuts and samples a source whose content is stored, without any
// model call and without recording anything.
func (w *Worker) Quote(ctx context.Context, src tree.Source, opt tree.IngestOptions) (Quote, error) {
	defer w.texts.forget(src.Tenant, src.ID)
	p, err := w.makePlan(ctx, src, opt, w.countSpeech)
	if err != nil {
		return Quote{}, err
	}
	q := Quote{Calls: QuotedCalls{ASR: p.Calls.ASR}}
	for i := range p.Stretches {
		m, err := w.material(ctx, p, i, opt)
		if err != nil {
			return Quote{}, fmt.Errorf("cannot quote stretch %d: %w", i, err)
		}
		q = q.Add(QuoteMaterial(m, w.Settings))
	}
	return q, nil
}
