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

// terms of the utility of one candidate.
type utility struct {
	gapCov, corr, nov, red, relQ float64
}

// sum is S.
func (u utility) sum() float64 {
	return weightGap*u.gapCov + weightCorr*u.corr + weightNovel*u.nov - weightRed*u.red + weightRel*u.relQ
}

// utility is the worth of one more candidate given what was chosen.
func (l *ledger) utility(c *candidate) utility {
	u := utility{relQ: c.rel, nov: l.novelty(c), red: l.redundancy(c), corr: l.corroboration(c)}
	var open float64
	for _, g := range l.open() {
		open += g.weight
		if g.in(c.terms) {
			u.gapCov += g.weight
		}
	}
	if open > 0 {
		u.gapCov /= open
	}
	return u
}

// corroboration is the share of unsure facts that the candidate repeats from
// outside the L2 they were found in.
func (l *ledger) corroboration(c *candidate) float64 {
	clip := c.s.clips[c.clip].node.ID
	var unsure, repeated int
	for key, f := range l.facts {
		if f.confidence < sure {
			unsure++
			if f.clip != clip && has(c.facts, key) {
				repeated++
			}
		}
	}
	return share(repeated, unsure)
}

// novelty is the share of the candidate's content words that no evidence holds.
func (l *ledger) novelty(c *candidate) float64 {
	fresh := 0
	for _, t := range c.terms {
		if !l.terms[t] {
			fresh++
		}
	}
	return share(fresh, len(c.terms))
}

// redundancy is the largest cosine to chosen evidence.
func (l *ledger) redundancy(c *candidate) float64 {
	var red float64
	for _, o := range l.chosen {
		red = max(red, dot(c.vector, o.vector))
	}
	return min(1, red)
}

func share(part, whole int) float64 {
	if whole == 0 {
		return 0
	}
	return float64(part) / float64(whole)
}

// keff is the number of candidates worth taking from scores sorted downward:
//
//	K_eff = argmax_i (S_(i) − S_(i+1)) + 2, i from 1, at most all
//
// the first of equal drops; with fewer than two scores, all.
func keff(scores []float64) int {
	if len(scores) < 2 {
		return len(scores)
	}
	at, drop := 1, scores[0]-scores[1]
	for i := 1; i+1 < len(scores); i++ {
		if d := scores[i] - scores[i+1]; d > drop {
			at, drop = i+1, d
		}
	}
	return min(len(scores), at+2)
}

// mostRead is how many candidates, the most relevant first, are read for what
// they would add where only some are wanted: of the hundreds after them none
// has been seen to win, and reading them took half of a question's time.
const mostRead = 64

// limits of one choice.
type limits struct {
	tokens int          // what the evidence may cost, earlier rounds included
	items  int          // most pieces of this choice
	all    bool         // K_eff is off: whole units until the budget is full
	plain  bool         // by relevance, not by utility
	lead   []*candidate // taken first, whatever else there is
}

// choose takes candidates by utility, looking again at the rest after each.
// What does not fit is skipped, not a stop; leftOut counts what would have been
// taken but for the budget. Candidates come best first, so equals keep that order.
func (l *ledger) choose(candidates []*candidate, lim limits) (kept []*candidate, leftOut int) {
	if !lim.all {
		candidates = candidates[:min(len(candidates), mostRead)]
	}
	rest := make([]*candidate, 0, len(candidates))
	for _, c := range candidates {
		if l.overlaps(c) || l.repeats(c) {
			continue
		}
		if c.utility = c.rel; !lim.plain {
			c.read(l.gaps)
			c.utility = l.utility(c).sum()
		}
		rest = append(rest, c)
	}
	take := min(lim.items, len(rest))
	if !lim.all {
		take = min(take, keff(utilities(rest)))
	}
	room := lim.tokens - budgetOf(l.chosen)
	for len(rest) > 0 && len(kept) < take {
		at := 0 // the most relevant is evidence whatever else there is
		if len(kept) < len(lim.lead) {
			at = max(0, slices.Index(rest, lim.lead[len(kept)]))
		} else if len(l.chosen) > 0 {
			at = best(rest)
		}
		c := rest[at]
		rest = slices.Delete(rest, at, at+1)
		if c.tokens > room {
			leftOut++
			continue
		}
		room -= c.tokens
		c.read(l.gaps)
		l.add(c)
		kept = append(kept, c)
		rest = slices.DeleteFunc(rest, c.copies)
		if lim.plain {
			continue
		}
		for _, o := range rest {
			o.utility = l.utility(o).sum()
		}
	}
	return kept, leftOut
}

func best(all []*candidate) int {
	at := 0
	for i, c := range all {
		if c.utility > all[at].utility {
			at = i
		}
	}
	return at
}

func utilities(all []*candidate) []float64 {
	out := make([]float64, len(all))
	for i, c := range all {
		out[i] = c.utility
	}
	slices.SortFunc(out, func(a, b float64) int { return cmp.Compare(b, a) })
	return out
}
