package retrieve

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/reeltree/reeltree/tree"
)

const (
	mostRounds  = 3
	mostItems   = 12      // pieces of evidence one round chooses
	mostNearest = 3       // moments shown where there is no answer
	maxQuestion = 2 << 20 // bytes of a question that is looked at at all
)

// Query answers one question with evidence. onRound gets every round as it
// ends, so that evidence can be shown while the next one runs; nil means nobody
// listens; its error stops the query and is returned. A question that cannot
// be searched is refused with an error that wraps ErrQuestion.
func (e *Engine) Query(ctx context.Context, q Query, onRound func(Round) error) (Result, error) {
	text, err := validate(q)
	if err != nil {
		return Result{}, err
	}
	s := e.newSearch(q, text)
	rounds := min(mostRounds, orDefault(q.Rounds, e.cfg.Rounds))
	if q.Fill {
		rounds = 1
	}
	asks := []ask{{text: text, share: 1}}
	for n := 1; n <= mostRounds && len(asks) > 0; n++ {
		round, err := s.round(ctx, n, asks)
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
		asks = s.followUps(n < rounds)
	}
	s.finish()
	return s.result, nil
}

// validate gives the question as it is searched: valid text without control
// characters.
func validate(q Query) (string, error) {
	switch {
	case q.Scope.Tenant == "":
		return "", fmt.Errorf("%w: no tenant is given", ErrQuestion)
	case len(q.Text) > maxQuestion:
		return "", fmt.Errorf("%w: it has %d bytes and %d are the most; shorten it", ErrQuestion, len(q.Text), maxQuestion)
	case q.Scope.Span != nil && (q.Scope.Span.Unit != tree.UnitMS || q.Scope.Span.StartMS < 0 || q.Scope.Span.EndMS <= q.Scope.Span.StartMS):
		return "", fmt.Errorf("%w: its span must be a stretch of time that ends after it begins", ErrQuestion)
	}
	text := strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(q.Text, " "))
	if text = strings.TrimSpace(text); text == "" {
		return "", fmt.Errorf("%w: it is empty; ask for something", ErrQuestion)
	}
	return text, nil
}

// search is the state of one query over its rounds.
type search struct {
	e      *Engine
	q      Query
	text   string
	budget int
	scope  []*listed
	asked  []string // query texts so far
	ledger *ledger
	whole  bool // an aggregate question: no K_eff

	pairing *pairing
	looked  map[string]bool // sources that were looked into

	near   []*candidate // the best of the first round
	result Result
}

func (e *Engine) newSearch(q Query, text string) *search {
	return &search{e: e, q: q, text: text, budget: orDefault(q.Budget, e.cfg.Budget), scope: e.catalog.in(q.Scope), looked: map[string]bool{}}
}

// round is entry, walk, refinement and choice for some query texts.
func (s *search) round(ctx context.Context, n int, asks []ask) (Round, error) {
	round := Round{Round: n, Queries: texts(asks)}
	var all []*candidate
	for _, a := range asks {
		s.asked = append(s.asked, a.text)
		found, err := s.find(ctx, a, &round)
		if err != nil {
			return round, err
		}
		for _, c := range found {
			c.rel *= a.share
		}
		all = append(all, found...)
	}
	all = distinct(all)
	round.Considered = len(all)
	of, lim := all, s.limits()
	if s.bridges() {
		of, lim.lead = s.joined(all, &round)
	}
	kept, leftOut := s.ledger.choose(of, lim)
	round.LeftOut = leftOut
	for _, c := range kept {
		round.Kept = append(round.Kept, s.item(c))
	}
	if n == 1 {
		s.near = all
	}
	s.traceChoice(&round, all, kept)
	return round, nil
}

// bridges reports whether sources are paired: not where all of something is
// wanted, of whatever source.
func (s *search) bridges() bool {
	return s.pairing != nil && !s.whole && !s.q.Fill && !s.e.cfg.Switches.Bridge
}

func (s *search) limits() limits {
	lim := limits{tokens: s.budget, items: mostItems, all: s.whole || s.q.Fill || s.e.cfg.Switches.Keff, plain: s.whole || s.q.Fill}
	if lim.all {
		lim.items = s.budget // until the budget is full
	}
	return lim
}

// find is entry, walk and refinement for one query text.
func (s *search) find(ctx context.Context, a ask, round *Round) ([]*candidate, error) {
	text := a.text
	q := &question{text: text, terms: readQuestion(text)}
	vectors, err := embedChecked(ctx, s.e.cfg.Embed, []string{clip(text)}, s.e.cfg.Dim)
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil: // a model that is down must not take keyword search along
		s.e.cfg.Log.Error("the question could not be embedded and is searched by words alone", "err", err)
		q.vector = make([]float32, s.e.cfg.Dim)
	default:
		q.vector = vectors[0]
	}
	hits, err := s.enter(ctx, q, a.source)
	if err != nil {
		return nil, err
	}
	for _, v := range q.trees {
		s.looked[v.tree.Source.ID] = true
	}
	entry := map[string]float64{}
	for _, h := range hits {
		entry[h.Node] = h.Score
	}
	hits = hits[:min(len(hits), max(entryShown, s.e.cfg.EntryNodes))]
	f := &finder{
		q: q, span: s.q.Scope.Span, weights: s.e.cfg.Weights, refiner: s.e.cfg.Refiner,
		most: min(maxRegion, s.budget), off: s.e.cfg.Switches, entry: entry, fill: s.q.Fill, compare: marked(text, compareWords), trace: s.tracer(round),
	}
	for _, h := range hits {
		f.trace("entry", "hit", h.Node, h.Score)
	}
	q.weigh()
	if f.whole = Aggregate(s.text, hasTables(q.trees)); f.whole {
		s.whole, f.most = true, min(maxQuote, s.budget)
	}
	if s.ledger == nil {
		s.ledger, s.pairing = newLedger(q), s.newPairing(q)
	}
	return f.candidates(hits[:min(len(hits), orDefault(s.e.cfg.EntryNodes, entryNodes))]), nil
}

// enter finds the nodes to begin at and lays out the trees they lie in, or just
// the one source that is asked.
func (s *search) enter(ctx context.Context, q *question, source *listed) (hits []Hit, err error) {
	tenant := s.q.Scope.Tenant
	if source != nil {
		q.trees, err = s.e.trees(ctx, tenant, []string{source.src.ID})
		return nil, err
	}
	if hits, err = s.e.enter(ctx, q, s.q.Scope); err != nil {
		return nil, err
	}
	most := orDefault(s.q.Trees, orDefault(s.e.cfg.EntryNodes, entryTrees))
	if len(s.scope) <= most {
		q.trees, err = s.e.trees(ctx, tenant, enterable(hits, s.scope, most))
	} else {
		q.trees, err = s.e.unlike(ctx, tenant, hits, most)
	}
	return hits, err
}

// clip is as much of a question as an embedder should get.
func clip(text string) string {
	if len(text) <= maxUnit {
		return text
	}
	return strings.ToValidUTF8(text[:maxUnit], "")
}

// distinct drops regions that two query texts both found; the better score stays.
func distinct(all []*candidate) []*candidate {
	slices.SortStableFunc(all, func(a, b *candidate) int {
		switch {
		case a.rel > b.rel:
			return -1
		case a.rel < b.rel:
			return 1
		}
		return a.before(b)
	})
	seen := map[string]bool{}
	return slices.DeleteFunc(all, func(c *candidate) bool {
		key := fmt.Sprint(c.s.tree.Source.ID, c.lo, c.hi)
		old := seen[key]
		seen[key] = true
		return old
	})
}

// item is a candidate as evidence of its listed source, whose title and
// collections are newer than those the tree was stored with.
func (s *search) item(c *candidate) Item {
	src := c.s.tree.Source
	if l := s.e.catalog.get(s.q.Scope.Tenant, src.ID); l != nil {
		src = l.src
	}
	return c.item(src)
}

func (s *search) tracer(r *Round) func(stage, action, node string, score float64) {
	if !s.q.Trace {
		return func(string, string, string, float64) {}
	}
	return func(stage, action, node string, score float64) {
		r.Trace = append(r.Trace, Decision{Stage: stage, Node: node, Action: action, Score: score})
	}
}

func (s *search) traceChoice(r *Round, all, kept []*candidate) {
	if !s.q.Trace {
		return
	}
	for _, c := range all {
		d := Decision{Stage: "choose", Node: c.s.name(c.lo, c.hi), Action: "dropped", Score: c.utility, Why: "others were worth more, or stand for the same place"}
		switch {
		case slices.Contains(kept, c):
			d.Action, d.Why = "kept", ""
		case c.tokens > s.budget:
			d.Why = "too long for the budget"
		}
		r.Trace = append(r.Trace, d)
	}
}

// finish orders the evidence by source, then place, and judges it.
func (s *search) finish() {
	r := &s.result
	for _, round := range r.Rounds {
		r.Items = append(r.Items, round.Kept...)
	}
	sortItems(r.Items)
	r.Coverage = coverage(s.scope, s.q.Scope.Span)
	if r.Weak = s.weak(); r.Weak {
		for _, c := range s.near[:min(len(s.near), mostNearest)] {
			r.Nearest = append(r.Nearest, s.item(c))
		}
	}
}
