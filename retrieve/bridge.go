package retrieve

import (
	"cmp"
	"math"
	"slices"
)

// A question of several steps rests on two sources: both are named in it, or
// one names the other, which holds what the first leaves open. What each counts
// was chosen on 300 questions over encyclopaedia passages, clean, with copies
// and damaged; five-fold cross-validation by question costs .005 of F1 at most.
const (
	pairWords  = 1    // BM25 share of the question, over the whole tenant, that the best L2 of each holds
	pairCosine = .5   // its cosine
	pairLabel  = .75  // share of the source's own name that stands in its words: else it is mislabelled or damaged
	pairNamed  = 1    // the question names it
	pairCover  = 1.25 // share of the question's words that stand in one or the other
	pairBridge = 1.25 // one names the other, which the question does not
)

// mostPaired is how many sources, the best first, are tried with one another.
const mostPaired = 12

// party is one source that may be part of a pair, by its best L2.
type party struct {
	s      *scored
	clip   int
	name   name
	first  *candidate // its most relevant one
	worth  float64    // what it counts by itself
	held   []bool     // for each term of the question: it or its name holds it
	lo, hi int        // where the question names it; equal where it does not
	inner  bool       // inside the name of another party
}

func (x *party) named() bool { return x.lo < x.hi }

// asks reports whether the question's words for o are among those for x.
func (x *party) asks(o *party) bool { return o.named() && x.lo <= o.lo && o.hi <= x.hi }

// pairing finds the two sources a question rests on.
type pairing struct {
	q       *question
	terms   []questionTerm
	weights []float32 // shares of the question's information in the tenant's texts
	rarity  func(key uint64) float64
	parties []*party
}

// joined are the candidates of the two sources the question rests on, and the
// most relevant of either; all of them and none where no name tells which.
func (s *search) joined(q *question, all []*candidate, round *Round) (of, lead []*candidate) {
	a, b := s.pairing(q, all).best()
	if a == nil {
		return all, nil
	}
	trace := s.tracer(round)
	for _, x := range [...]*party{a, b} {
		trace("bridge", "kept", x.s.clips[x.clip].node.ID, x.worth)
	}
	of = slices.DeleteFunc(slices.Clone(all), func(c *candidate) bool { return c.s.view != a.s.view && c.s.view != b.s.view })
	return of, []*candidate{a.first, b.first}
}

// pairing makes the sources of candidates, which come best first, ready.
func (s *search) pairing(q *question, all []*candidate) *pairing {
	tenant := s.q.Scope.Tenant
	p := &pairing{q: q, terms: readQuestion(q.text), rarity: s.e.words.rarity(tenant)}
	p.weights = s.e.words.weights(tenant, p.terms)
	of := map[*view]*party{}
	for _, c := range all {
		x := of[c.s.view]
		if x == nil {
			l := s.e.catalog.get(tenant, c.s.tree.Source.ID)
			if l == nil {
				continue
			}
			x = &party{s: c.s, clip: -1, name: l.name, first: c, worth: math.Inf(-1)}
			of[c.s.view], p.parties = x, append(p.parties, x)
		}
		p.consider(x, c.clip)
	}
	p.call(tokensOf(q.text))
	return p
}

// call finds where the question names the sources, and keeps the best.
func (p *pairing) call(words []token) {
	for _, x := range p.parties {
		x.worth += pairLabel * x.name.saidBy(x.s.view, p.rarity)
		if at := x.name.in(words); at >= 0 {
			x.lo, x.hi = at, at+len(x.name.words)
		}
	}
	slices.SortStableFunc(p.parties, func(a, b *party) int { return cmp.Compare(b.worth, a.worth) })
	p.parties = p.parties[:min(len(p.parties), mostPaired)]
	p.largestNames()
}

// consider makes clip the one a source is judged by if it is better.
func (p *pairing) consider(x *party, clip int) {
	if clip == x.clip {
		return
	}
	share, held := p.share(x.s, &x.name, clip)
	if worth := pairWords*share + pairCosine*x.s.clipCosine[clip]; worth > x.worth {
		x.clip, x.worth, x.held = clip, worth, held
	}
}

// share is the BM25 share of the question that a clip under its source's name
// holds, and which terms.
func (p *pairing) share(s *scored, n *name, clip int) (sum float64, held []bool) {
	c := &s.clips[clip]
	var length float64
	for u := c.lo; u < c.hi; u++ {
		length += float64(s.units[u].length)
	}
	held = make([]bool, len(p.terms))
	for i, t := range p.terms {
		var count float64
		for _, x := range within(s.view.postings[t.key], c.lo, c.hi) {
			count += float64(x.count)
		}
		if has(n.keys, t.key) {
			count++
		}
		held[i] = count > 0
		sum += float64(p.weights[i]) * saturatedIn(count, length, p.q.clipLength)
	}
	return sum, held
}

// largestNames marks names that stand inside longer ones: who asks for a team of
// one year does not ask for the team.
func (p *pairing) largestNames() {
	for _, x := range p.parties {
		x.inner = slices.ContainsFunc(p.parties, func(o *party) bool { return o.asks(x) && o.hi-o.lo > x.hi-x.lo })
	}
}

// best is the pair that counts most, nil where the best is no better for any name.
func (p *pairing) best() (a, b *party) {
	most, told := math.Inf(-1), false
	for i, x := range p.parties {
		for _, y := range p.parties[i+1:] {
			worth, names := p.worth(x, y)
			if worth > most {
				a, b, most, told = x, y, worth, names > 0
			}
		}
	}
	if !told {
		return nil, nil
	}
	if b.worth > a.worth {
		a, b = b, a
	}
	return a, b
}

// worth is what two sources count together, and what names add to that.
func (p *pairing) worth(x, y *party) (worth, names float64) {
	var cover float64
	for i, w := range p.weights {
		if x.held[i] || y.held[i] {
			cover += float64(w)
		}
	}
	names = pairNamed * p.distinct(x, y)
	if p.bridges(x, y) || p.bridges(y, x) {
		names += pairBridge
	}
	return x.worth + y.worth + pairCover*cover + names, names
}

// distinct is how many names of the two the question asks for: two sources of
// one name are asked for once.
func (p *pairing) distinct(x, y *party) (n float64) {
	for _, z := range [...]*party{x, y} {
		if z.named() && !z.inner {
			n++
		}
	}
	if x.asks(y) || y.asks(x) {
		n = min(n, 1)
	}
	return n
}

// bridges reports whether x leads to y: it names y, which the question does not.
func (p *pairing) bridges(x, y *party) bool {
	if y.named() || y.name.within(&x.name) {
		return false
	}
	c := &x.s.clips[x.clip]
	return slices.ContainsFunc(x.s.units[c.lo:c.hi], func(u unit) bool { return y.name.in(u.words) >= 0 })
}
