package retrieve

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/reeltree/reeltree/tree"
)

const (
	walkRounds   = 5  // paths of one walk per tree
	flatUnits    = 24 // flat best units that join the candidates
	mostEvidence = 12 // pieces of evidence of one answer
	smooth       = .5 // weight of the neighbours of a unit
	shareLexical = .6 // of the relevance; the rest is cosine
	refineMargin = 0.02
)

// Query answers one question with evidence. onRound (nil means nobody
// listens) gets every round as it ends; its error stops the query.
func (e *Engine) Query(ctx context.Context, q Query, onRound func(Round) error) (Result, error) {
	if err := validate(q); err != nil {
		return Result{}, err
	}
	s, err := e.begin(ctx, q)
	if err != nil {
		return Result{}, err
	}
	rounds := min(3, orDefault(q.Rounds, e.cfg.Rounds))
	for n := 1; n <= rounds; n++ {
		text := q.Text
		if n > 1 {
			gaps, _ := s.ledger.gaps()
			if len(gaps) == 0 || len(gaps) == len(s.ledger.question.terms) {
				break // nothing open, or nothing of the question is there at all
			}
			text = strings.Join(gaps, " ")
		}
		round, err := e.round(ctx, s, n, text)
		if err != nil {
			return Result{}, err
		}
		if n > 1 && len(round.Kept) == 0 {
			break
		}
		s.result.Rounds = append(s.result.Rounds, round)
		if onRound != nil {
			if err := onRound(round); err != nil {
				return Result{}, err
			}
		}
	}
	return s.finish(), nil
}

func validate(q Query) error {
	switch {
	case q.Scope.Tenant == "":
		return fmt.Errorf("%w: no tenant is given", ErrQuestion)
	case strings.TrimSpace(q.Text) == "":
		return fmt.Errorf("%w: it is empty", ErrQuestion)
	case len(q.Text) > maxQuestion:
		return fmt.Errorf("%w: it has %d bytes and %d are the most", ErrQuestion, len(q.Text), maxQuestion)
	case !utf8.ValidString(q.Text):
		return fmt.Errorf("%w: it is not valid UTF-8 text", ErrQuestion)
	}
	return nil
}

// search is the state of one query over its rounds.
type search struct {
	q      Query
	budget int
	ledger *ledger
	result Result
	views  []*view
	nearby []*candidate // the best of the first round, for Nearest
	corpus corpus
}

func (e *Engine) begin(ctx context.Context, q Query) (*search, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return &search{q: q, budget: orDefault(q.Budget, e.cfg.Budget)}, nil
}

// round is entry, walk, refine and choose for one query text.
func (e *Engine) round(ctx context.Context, s *search, n int, text string) (Round, error) {
	round := Round{Round: n, Queries: []string{text}}
	vectors, err := e.cfg.Embed(ctx, []string{text})
	if err != nil {
		return round, fmt.Errorf("the question cannot be embedded: %w", err)
	}
	hits, err := e.enter(ctx, text, vectors[0], s.q.Scope)
	if err != nil {
		return round, err
	}
	if s.views, err = e.load(ctx, s.q.Scope.Tenant, enteredTrees(hits)); err != nil {
		return round, err
	}
	s.note(&round, "entry", "hit", hits[:min(len(hits), entryNodes)])
	s.prepare()
	if n == 1 {
		s.ledger = newLedger(s.corpus.weigh(contentTerms(s.q.Text)))
	}
	r := &ranker{s: s, question: s.corpus.weigh(contentTerms(text)), vector: vectors[0], round: &round}
	candidates := r.candidates(hits)
	round.Considered = len(candidates)
	if n == 1 {
		s.nearby = candidates[:min(3, len(candidates))]
	}
	kept, leftOut := choose(s.ledger, candidates, s.budget, mostEvidence)
	round.LeftOut = leftOut
	for _, c := range kept {
		round.Kept = append(round.Kept, s.item(c))
	}
	s.traceChoice(&round, candidates, kept)
	return round, nil
}

// prepare gathers the statistics of the entered trees.
func (s *search) prepare() {
	var units []*unit
	for _, v := range s.views {
		units = append(units, v.units...)
	}
	s.corpus = newCorpus(units)
}

func (s *search) note(r *Round, stage, action string, hits []Hit) {
	if !s.q.Trace {
		return
	}
	for _, h := range hits {
		r.Trace = append(r.Trace, Decision{Stage: stage, Node: h.Node, Action: action, Score: h.Score})
	}
}

func (s *search) traceChoice(r *Round, all, kept []*candidate) {
	if !s.q.Trace {
		return
	}
	for _, c := range all {
		d := Decision{Stage: "choose", Node: c.view.units[c.lo].node, Action: "dropped", Score: c.utility, Why: "utility or overlap"}
		if slices.Contains(kept, c) {
			d.Action, d.Why = "kept", ""
		}
		r.Trace = append(r.Trace, d)
	}
}

// finish orders the evidence by source, then place, and judges it.
func (s *search) finish() Result {
	for _, c := range s.nearby {
		s.result.Nearest = append(s.result.Nearest, s.item(c))
	}
	for _, r := range s.result.Rounds {
		s.result.Items = append(s.result.Items, r.Kept...)
	}
	slices.SortStableFunc(s.result.Items, compareItems)
	s.result.Coverage = s.coverage()
	s.result.Weak = s.weak()
	return s.result
}

func compareItems(a, b Item) int {
	return cmp.Or(
		cmp.Compare(a.Source.ID, b.Source.ID), cmp.Compare(a.Span.StartMS, b.Span.StartMS),
		cmp.Compare(a.Span.Page, b.Span.Page), cmp.Compare(a.Span.Paragraph, b.Span.Paragraph),
		cmp.Compare(a.Span.StartChar, b.Span.StartChar), cmp.Compare(a.Span.Table, b.Span.Table),
		cmp.Compare(a.Span.RowStart, b.Span.RowStart), cmp.Compare(a.Node, b.Node))
}

// coverage is finished L2 milliseconds over the duration of the entered trees.
func (s *search) coverage() float64 {
	var done, total int64
	for _, v := range s.views {
		total += v.tree.Source.DurationMS
		for _, c := range v.clips {
			done += c.node.Span.Duration()
		}
	}
	if total == 0 {
		return 1
	}
	return min(1, float64(done)/float64(total))
}

// weakShare is the share of the question's information the chosen evidence
// must hold for the question to count as answerable. On 12 public meetings .5
// answers 87 % of the questions asked of the right meeting and refuses 74 % of
// those asked of a wrong one.
const weakShare = .5

// weak reports that nothing in scope supports the question.
func (s *search) weak() bool {
	if len(s.result.Items) == 0 {
		return true
	}
	held := 0.0
	for i, t := range s.ledger.question.terms {
		if s.ledger.facts[t] > 0 {
			held += s.ledger.question.weights[i]
		}
	}
	return held < weakShare
}

// item is a candidate as evidence: the tightest stored node, the words, the place.
func (s *search) item(c *candidate) Item {
	first, last := c.view.units[c.lo], c.view.units[c.hi-1]
	it := Item{
		Node: first.node, Level: tree.L3, Source: c.view.tree.Source, Span: first.span,
		Speaker: first.speaker, Frame: first.frame, Score: max(0, min(1, c.rel)), Tokens: c.tokens,
	}
	var quote []string
	for _, u := range c.view.units[c.lo:c.hi] {
		quote = append(quote, u.quote)
		if u.speaker != first.speaker {
			it.Speaker = ""
		}
		it.Span = join(it.Span, u.span)
	}
	if last.node != first.node {
		it.Node, it.Level = parentID(first.node), tree.L2
	}
	it.Quote = strings.Join(quote, " ")
	if n := c.view.tree.Find([]int{first.at[0], first.at[1], first.at[2]}); n != nil {
		it.Text = n.Text
	}
	return it
}

// join is the smallest span over two; places that cannot be joined keep a.
func join(a, b tree.Span) tree.Span {
	switch {
	case a.Unit != b.Unit:
	case a.Unit == tree.UnitMS:
		a.StartMS, a.EndMS = min(a.StartMS, b.StartMS), max(a.EndMS, b.EndMS)
	case a.Unit == tree.UnitRows && a.Table == b.Table:
		a.RowStart, a.RowEnd = min(a.RowStart, b.RowStart), max(a.RowEnd, b.RowEnd)
	case a.Unit == tree.UnitText && a.Page == b.Page && a.Paragraph == b.Paragraph:
		a.StartChar, a.EndChar = min(a.StartChar, b.StartChar), max(a.EndChar, b.EndChar)
	}
	return a
}

func parentID(node string) string { return node[:max(0, strings.LastIndexByte(node, '.'))] }
