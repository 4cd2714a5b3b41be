package retrieve

import (
	"cmp"
	"slices"
)

// Weights of the utility (DESIGN 4.4), every term in [0, 1]:
//
//	S = .35 GapCov + .20 Corr + .15 Nov − .15 Red + .15 RelQ
const (
	weightGap   = .35
	weightCorr  = .20
	weightNovel = .15
	weightRed   = .15
	weightRel   = .15
)

// candidate is a region that may become evidence.
type candidate struct {
	view    *view
	lo, hi  int // units
	rel     float64
	terms   []string
	vector  []float32
	tokens  int
	utility float64
}

// ledger is what the chosen evidence covers so far.
type ledger struct {
	question weighted
	facts    map[string]int // term -> distinct clips that hold it
	clips    map[*view]map[int]bool
	chosen   []*candidate
}

func newLedger(q weighted) *ledger {
	return &ledger{question: q, facts: map[string]int{}, clips: map[*view]map[int]bool{}}
}

// gaps are the weights of the question's terms no evidence holds yet.
func (l *ledger) gaps() (terms []string, share float64) {
	for i, t := range l.question.terms {
		if l.facts[t] == 0 {
			terms = append(terms, t)
			share += l.question.weights[i]
		}
	}
	return terms, share
}

// utility is the worth of one more candidate given what was chosen.
func (l *ledger) utility(c *candidate) float64 {
	holds := map[string]bool{}
	for _, t := range c.terms {
		holds[t] = true
	}
	_, open := l.gaps()
	var gap, corr, known float64
	for i, t := range l.question.terms {
		switch w := l.question.weights[i]; l.facts[t] {
		case 0:
			if holds[t] {
				gap += w
			}
		case 1: // said once so far: a second place confirms it
			known += w
			if holds[t] {
				corr += w
			}
		}
	}
	if open > 0 {
		gap /= open
	}
	if known > 0 {
		corr /= known
	}
	return weightGap*gap + weightCorr*corr + weightNovel*l.novelty(c) - weightRed*l.redundancy(c) + weightRel*c.rel
}

// novelty is the share of the candidate's terms that no evidence holds.
func (l *ledger) novelty(c *candidate) float64 {
	fresh := 0
	for _, t := range c.terms {
		if l.facts[t] == 0 {
			fresh++
		}
	}
	return float64(fresh) / float64(max(1, len(c.terms)))
}

// redundancy is the largest cosine to chosen evidence.
func (l *ledger) redundancy(c *candidate) float64 {
	var red float64
	for _, o := range l.chosen {
		red = max(red, dot(c.vector, o.vector))
	}
	return min(1, red)
}

func (l *ledger) add(c *candidate) {
	l.chosen = append(l.chosen, c)
	for _, t := range c.terms {
		l.facts[t]++
	}
}

// overlaps reports whether a candidate shares units with chosen evidence:
// same place, same evidence.
func (l *ledger) overlaps(c *candidate) bool {
	return slices.ContainsFunc(l.chosen, func(o *candidate) bool {
		return o.view == c.view && o.lo < c.hi && c.lo < o.hi
	})
}

// keff is the number of candidates to take from scores sorted downward: the
// place of the largest drop plus 2, at most all; with fewer than two, all.
func keff(scores []float64) int {
	if len(scores) < 2 {
		return len(scores)
	}
	at, drop := 0, -1.0
	for i := 0; i+1 < len(scores); i++ {
		if d := scores[i] - scores[i+1]; d > drop {
			at, drop = i, d
		}
	}
	return min(len(scores), at+1+2)
}

// choose takes candidates by utility under the budget, looking again at the
// rest after each. What does not fit is skipped, not a stop; leftOut counts it.
func choose(l *ledger, candidates []*candidate, budget, most int) (kept []*candidate, leftOut int) {
	for _, o := range l.chosen {
		budget -= o.tokens
	}
	rest := slices.Clone(candidates)
	limit := most
	for i := 0; len(rest) > 0 && i < limit; {
		for _, c := range rest {
			c.utility = l.utility(c)
		}
		slices.SortStableFunc(rest, func(a, b *candidate) int {
			return cmp.Or(cmp.Compare(b.utility, a.utility), cmp.Compare(b.rel, a.rel), cmp.Compare(a.view.units[a.lo].node, b.view.units[b.lo].node), cmp.Compare(a.lo, b.lo))
		})
		if len(kept) == 0 && i == 0 {
			limit = min(most, keff(relevances(rest)))
		}
		c := rest[0]
		rest = rest[1:]
		switch {
		case l.overlaps(c):
		case c.tokens > budget:
			leftOut++
		default:
			budget -= c.tokens
			l.add(c)
			kept = append(kept, c)
			i++
		}
	}
	return kept, leftOut
}

// relevances are the utilities of candidates in order, the scores keff reads.
func relevances(sorted []*candidate) []float64 {
	scores := make([]float64, len(sorted))
	for i, c := range sorted {
		scores[i] = c.utility
	}
	return scores
}
