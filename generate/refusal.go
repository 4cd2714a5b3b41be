package generate

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/reeltree/reeltree/retrieve"
	"github.com/reeltree/reeltree/tree"
)

// signals are what a search says about whether its evidence holds an answer.
// The first two judge the evidence by itself; the others compare it with what
// the rest of the tenant's library holds for the same question, which is the
// better judge by far: an answer stands where the question's words meet best.
type signals struct {
	best  float64 // score of the best spoken piece, 0..1; neutralBest where nothing is spoken
	whole float64 // share of the question's words in the best piece, rare ones counting more, 0..1

	lead  float64 // whole less the best share of a piece outside, -1..1
	ratio float64 // logarithm of the best score in scope over the best one outside; a ratio, since a subject that is spoken of everywhere lifts both
	edge  float64 // mean score of the best three entry nodes of a source in scope, less that of a source outside, both in one search of the library, -1..1

	spoken bool // evidence of a recording
}

// neutralBest is said of what is written, which is scored on another scale than
// speech: such evidence says nothing by its score alone.
const neutralBest = .1

// leastScore is added to both scores of the ratio: below it they are noise.
const leastScore = .02

// Weights of the signals and the sum from which a question is answered. They
// were fitted by logistic regression on the train part of public meetings
// (TestFitRefusal), each question once asked of its own recording and once of
// another one, in libraries of all, a half and a third of the recordings, since
// what competes with a source grows with the library. Compared with a library
// as many right questions are answered as wrong ones refused, on the dev part,
// which has series that train has not; evidence that stands alone says less
// about what is missing, so there 85 of 100 right questions are answered.
var (
	alone    = judgement{[]float64{16.495, 4.646}, 2.582}
	compared = judgement{[]float64{3.239, 3.012, 0.727, 0.082, 22.596}, -0.892}
)

// judgement is a linear rule over signals.
type judgement struct {
	weights   []float64 // of the first signals, in their order
	threshold float64
}

func (j judgement) sum(s signals) float64 {
	sum := -j.threshold
	for i, v := range s.list()[:len(j.weights)] {
		sum += j.weights[i] * v
	}
	return sum
}

func (s signals) list() []float64 {
	return []float64{s.best, s.whole, s.lead, s.ratio, s.edge}
}

// support is the sum as a probability.
func (j judgement) support(s signals) float64 { return 1 / (1 + math.Exp(-j.sum(s))) }

// holds reports whether the evidence of a search can hold an answer. Without a
// model it is judged by words and vectors: where the question is asked of a part
// of the library, against what the rest of it would answer. support is how
// likely, answered from a half; elsewhere is the best source outside.
func (a *Answerer) holds(ctx context.Context, q Question, own []item, weak bool) (support float64, elsewhere string) {
	if len(own) == 0 {
		return 0, ""
	}
	query := q.query()
	s := ownSignals(query.Text, own)
	if q.implied || !narrower(query.Scope) {
		return s.byItself(weak), ""
	}
	query.Scope, query.Rounds, query.Trace = retrieve.Scope{Tenant: q.Tenant}, 1, true
	library, err := a.Find(ctx, query, func(retrieve.Round) error { return nil })
	if err != nil {
		a.log().Warn("the rest of the library cannot be searched, the evidence is judged alone", "error", err)
		return s.byItself(weak), ""
	}
	outside, found := s.compare(q, own, library)
	if !found {
		return s.byItself(weak), ""
	}
	return min(compared.support(s), s.floor(weak)), outside
}

// leastAlone is the support by itself below which speech is no evidence,
// however little the rest of the library has to say.
const leastAlone = .2

// floor keeps a comparison of nothing with nothing from being won: the weights
// of one were learned where both sides speak of something. What is written is
// nothing where retrieval calls it weak.
func (s signals) floor(weak bool) float64 {
	if support := s.byItself(weak && !s.spoken); support < .5 && (!s.spoken || support < leastAlone) {
		return support
	}
	return 1
}

// byItself is the support of evidence that is compared with nothing. Retrieval
// knows how much of the question its best passage holds: weak is that it is too
// little, in any script.
func (s signals) byItself(weak bool) float64 {
	support := .75
	if s.spoken {
		support = alone.support(s)
	}
	if weak {
		return min(support, .25)
	}
	return support
}

// narrower reports whether a scope leaves out sources of its tenant.
func narrower(s retrieve.Scope) bool {
	return len(s.Sources) > 0 || s.Collection != "" || len(s.Kinds) > 0
}

// within reports whether a question is asked of a source.
func (q Question) within(src item) bool {
	return (len(q.Sources) == 0 || slices.Contains(q.Sources, src.Source.ID)) &&
		(q.Collection == "" || slices.Contains(src.Source.Collections, q.Collection)) &&
		(len(q.Kinds) == 0 || slices.Contains(q.Kinds, src.Source.Kind))
}

// ownSignals judge evidence by itself.
func ownSignals(question string, items []item) signals {
	words := newShares(question, items)
	s := signals{best: neutralBest, whole: words.best(items)}
	if spoken := slices.DeleteFunc(slices.Clone(items), isWritten); len(spoken) > 0 {
		s.spoken, s.best = true, bestScore(spoken)
	}
	return s
}

// compare adds what a search of the whole library says; own is the evidence in
// scope. found is false where nothing lies outside the scope, so that there is
// nothing to compare with.
func (s *signals) compare(q Question, own []item, library retrieve.Result) (outside string, found bool) {
	inside := map[string]bool{}
	for _, id := range q.Sources {
		inside[id] = true
	}
	var others []item // outside the scope
	foreign := map[string]bool{}
	for _, it := range append(slices.Clone(library.Items), library.Nearest...) {
		switch {
		case q.within(it):
			inside[it.Source.ID] = true
		case isWritten(it) == s.spoken: // scores of speech and of writing do not compare
			foreign[it.Source.ID] = true
		default:
			others = append(others, it)
		}
	}
	entrance := entryScores(library.Rounds)
	maps.DeleteFunc(entrance, func(id string, _ []float64) bool { return foreign[id] })
	s.edge, found = entrance.standing(inside)
	if len(others) == 0 && !found {
		return "", false
	}
	s.ratio = math.Log((bestScore(own) + leastScore) / (bestScore(others) + leastScore))
	words := newShares(q.query().Text, append(slices.Clone(own), others...))
	s.whole = words.best(own)
	s.lead = s.whole - words.best(others)
	for _, it := range others {
		if it.Score == bestScore(others) {
			outside = it.Source.Title
		}
	}
	return outside, true
}

func isWritten(it item) bool { return writtenKind(it.Source.Kind) }

func writtenKind(k tree.Kind) bool { return k == tree.KindDocument || k == tree.KindImage }

func bestScore(items []item) float64 {
	best := 0.0
	for _, it := range items {
		best = max(best, it.Score)
	}
	return best
}

// entrance is the scores of the nodes a search of the library entered by, by
// source, best first.
type entrance map[string][]float64

// entryScores reads them from the first round: a later one asks something else.
func entryScores(rounds []retrieve.Round) entrance {
	e := entrance{}
	for _, r := range rounds[:min(1, len(rounds))] {
		for _, step := range r.Trace {
			if step.Stage == "entry" {
				id, _, _ := strings.Cut(step.Node, "/")
				e[id] = append(e[id], step.Score)
			}
		}
	}
	for _, scores := range e {
		slices.SortFunc(scores, func(a, b float64) int { return cmp.Compare(b, a) })
	}
	return e
}

// crowd is how many entry nodes of a source are compared: one alone may stand
// there by chance.
const crowd = 3

// standing is the lead of the best source inside over the best one outside, by
// the mean of their best nodes. parted is false where all nodes, or none, lie
// inside.
func (e entrance) standing(inside map[string]bool) (edge float64, parted bool) {
	mean, nodes := map[bool]float64{}, map[bool]int{}
	for id, scores := range e {
		var sum float64
		for _, v := range scores[:min(crowd, len(scores))] {
			sum += v
		}
		in := inside[id]
		mean[in] = max(mean[in], sum/crowd)
		nodes[in] += len(scores)
	}
	return mean[true] - mean[false], nodes[true] > 0 && nodes[false] > 0
}
