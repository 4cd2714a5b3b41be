package generate

import (
	"context"
	"slices"
	"strings"

	"github.com/reeltree/reeltree/retrieve"
	"github.com/reeltree/reeltree/tree"
)

// Critic reads the question with all evidence so far and says whether that is
// enough, or what to search for next. An error ends the rounds, not the answer.
type Critic func(ctx context.Context, s Standing) (Verdict, error)

// Standing is where the rounds of an answer stand.
type Standing struct {
	Question string
	Evidence []Evidence
	Items    []retrieve.Item // of Evidence, in the same order
	Queries  []string        // searched for so far
	Known    []string        // facts that the evidence holds, as earlier verdicts named them
	Tried    []string        // facts that were missing and searched for before
	Budget   int             // tokens of evidence the critic may read, 0 means 3000
}

// Verdict is what a critic says. Usage is counted also when it comes with an error.
type Verdict struct {
	Enough   bool
	Known    []string // facts that the evidence holds
	Missing  []string // facts
	FollowUp string   // one query
	Usage    Usage
}

// gather finds the evidence and sends it. Without a critic retrieval's own
// coverage rule decides about further rounds; with one each round is a search
// of its own and the critic chooses the next query.
func (a *Answerer) gather(ctx context.Context, q Question, w *writer) (retrieve.Result, error) {
	query := q.query()
	if a.Critic == nil || !a.asksModel(q) || q.Options.Rounds == 1 {
		return a.Find(ctx, query, w.round)
	}
	rounds := q.Options.Rounds
	if rounds == 0 {
		rounds = maxRounds
	}
	budget := query.Budget
	if budget == 0 {
		budget = defaultBudget
	}
	query.Rounds = 1
	result, err := a.Find(ctx, query, w.round)
	if err != nil {
		return result, err
	}
	at := Standing{Question: q.Text, Queries: []string{query.Text}, Budget: q.Options.BudgetTokens}
	for n := 2; n <= rounds && ctx.Err() == nil; n++ {
		query.Text = a.next(ctx, &at, w)
		query.Budget = budget - w.usage.EvidenceTokens
		if query.Text == "" || query.Budget <= 0 {
			break
		}
		more, fresh, err := a.again(ctx, query, n, w)
		if err != nil {
			return result, err
		}
		result.Weak = result.Weak && (more.Weak || fresh == 0)
		result.Coverage = min(result.Coverage, more.Coverage)
		if fresh == 0 {
			break // what is known already needs no further verdict
		}
	}
	return result, ctx.Err()
}

// next asks the critic for the next query; "" means that the rounds are over.
func (a *Answerer) next(ctx context.Context, at *Standing, w *writer) string {
	at.Evidence, at.Items = w.evidence, w.items
	v, err := a.Critic(ctx, *at)
	w.usage.Calls += v.Usage.Calls
	w.usage.TokensIn += v.Usage.TokensIn
	w.usage.TokensOut += v.Usage.TokensOut
	if err != nil {
		a.log().Warn("the critic of the evidence failed, the answer goes on without", "error", err)
		return ""
	}
	w.sufficient = v.Enough
	text := oneLine(v.FollowUp)
	if runes := []rune(text); len(runes) > longestQuery {
		text = string(runes[:longestQuery])
	}
	if v.Enough || !visible(text) || slices.ContainsFunc(at.Queries, func(old string) bool { return similar(old, text) >= sameQuery }) {
		return ""
	}
	at.Queries = append(at.Queries, text)
	at.Tried = append(at.Tried, v.Missing...)
	for _, f := range v.Known {
		if !slices.Contains(at.Known, f) {
			at.Known = append(at.Known, f)
		}
	}
	return text
}

const (
	longestQuery = 300 // code points of a critic's query
	sameQuery    = .7  // overlap (Jaccard) from which a query is an old one
)

// again runs a further round and sends what it finds that is not known yet.
func (a *Answerer) again(ctx context.Context, query retrieve.Query, n int, w *writer) (retrieve.Result, int, error) {
	fresh := 0
	result, err := a.Find(ctx, query, func(r retrieve.Round) error {
		r.Round = n
		r.Kept = slices.DeleteFunc(slices.Clone(r.Kept), func(it retrieve.Item) bool { return w.knows(it) })
		fresh += len(r.Kept)
		return w.round(r)
	})
	return result, fresh, err
}

// knows reports whether an item was sent already, or lies mostly in one that was.
func (w *writer) knows(it retrieve.Item) bool {
	return slices.ContainsFunc(w.items, func(old retrieve.Item) bool {
		if old.Source.ID != it.Source.ID {
			return false
		}
		if it.Span.Unit == tree.UnitMS && it.Span.Duration() > 0 {
			return old.Span.Overlap(it.Span)*2 > it.Span.Duration()
		}
		return old.Span == it.Span && old.Node == it.Node
	})
}

// similar is the share of words two queries have in common.
func similar(a, b string) float64 {
	left, right := keywords(a), keywords(b)
	same := 0
	for _, k := range left {
		if slices.Contains(right, k) {
			same++
		}
	}
	if len(left)+len(right) == 0 {
		if strings.EqualFold(oneLine(a), oneLine(b)) {
			return 1
		}
		return 0
	}
	return float64(same) / float64(len(left)+len(right)-same)
}
