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
	share  float64    // BM25 share of the question that the L2 holds
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
	words   []token // of the question, in order
	terms   []questionTerm
	weights []float32 // shares of the question's information in the tenant's texts
	rarity  rarity
	parties []*party
	a, b    *party // the pair; nil where no name tells which
	most    float64
}

func (s *search) newPairing(q *question) *pairing {
	p := &pairing{q: q, words: tokensOf(q.text), terms: libraryTerms(q.text), rarity: s.e.words.rarity(s.q.Scope.Tenant)}
	p.weights = p.rarity.weights(p.terms)
	return p
}

// joined are the candidates of the two sources the question rests on, and the
// most relevant of either, without those that evidence was taken from before;
// all of them and none where no name tells which.
func (s *search) joined(all []*candidate, round *Round) (of, lead []*candidate) {
	p := s.pairing
	known := [...]*party{p.a, p.b}
	p.join(all, func(v *view) *listed { return s.e.catalog.get(s.q.Scope.Tenant, v.tree.Source.ID) })
	if p.best(); p.a == nil {
		return all, nil
	}
	trace := s.tracer(round)
	for _, x := range [...]*party{p.a, p.b} {
		if slices.Contains(known[:], x) {
			continue
		}
		trace("bridge", "kept", x.s.clips[x.clip].node.ID, x.worth)
		lead = append(lead, x.first)
		for _, c := range all {
			if c.s.view == x.s.view {
				of = append(of, c)
			}
		}
	}
	slices.SortStableFunc(of, func(a, b *candidate) int { return cmp.Compare(b.rel, a.rel) })
	return of, lead
}

// join adds the sources of candidates, which come best first, and keeps the best.
func (p *pairing) join(all []*candidate, source func(*view) *listed) {
	of := map[*view]*party{}
	for _, x := range p.parties {
		of[x.s.view] = x
	}
	fresh := map[*party]bool{}
	for _, c := range all {
		x := of[c.s.view]
		if x == nil {
			l := source(c.s.view)
			if l == nil {
				continue
			}
			x = &party{s: c.s, clip: -1, name: l.name, first: c, worth: math.Inf(-1)}
			of[c.s.view], fresh[x], p.parties = x, true, append(p.parties, x)
		}
		if fresh[x] {
			p.consider(x, c.clip)
		}
	}
	for x := range fresh {
		p.call(x)
	}
	slices.SortStableFunc(p.parties, func(a, b *party) int { return cmp.Compare(b.worth, a.worth) })
	p.parties = p.parties[:min(len(p.parties), mostPaired)]
	p.largestNames()
}

// call finds where the question names a source, and whether it names itself.
func (p *pairing) call(x *party) {
	x.worth += pairLabel * x.name.saidBy(x.s.view, p.rarity)
	if at := x.name.in(p.words); at >= 0 {
		x.lo, x.hi = at, at+len(x.name.words)
	}
}

// consider makes clip the one a source is judged by if it is better.
func (p *pairing) consider(x *party, clip int) {
	if clip == x.clip {
		return
	}
	share, held := p.share(x.s, &x.name, clip)
	if worth := pairWords*share + pairCosine*max(0, dot(p.q.vector, x.s.clips[clip].vector)); worth > x.worth {
		x.clip, x.worth, x.held, x.share = clip, worth, held, share
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

// best finds the pair that counts most, where names add to it; a later one
// must count more than the one before.
func (p *pairing) best() {
	var a, b *party
	most, told := math.Inf(-1), false
	for i, x := range p.parties {
		for _, y := range p.parties[i+1:] {
			worth, names := p.worth(x, y)
			if worth > most {
				a, b, most, told = x, y, worth, names > 0
			}
		}
	}
	if !told || p.a != nil && most <= p.most {
		return
	}
	if b.worth > a.worth {
		a, b = b, a
	}
	p.a, p.b, p.most = a, b, most
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
	names += pairBridge * max(p.bridges(x, y), p.bridges(y, x))
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

// bridges is how far x leads to y, in [0, 1]: it names y, which the question does
// not. What holds less than half as much of the question as the best source
// leads less far.
func (p *pairing) bridges(x, y *party) float64 {
	if y.named() || y.name.within(&x.name) {
		return 0
	}
	c := &x.s.clips[x.clip]
	if !slices.ContainsFunc(x.s.units[c.lo:c.hi], func(u unit) bool { return y.name.in(u.words) >= 0 }) {
		return 0
	}
	most := slices.MaxFunc(p.parties, func(a, b *party) int { return cmp.Compare(a.share, b.share) }).share
	return min(1, 2*x.share/max(most, math.SmallestNonzeroFloat64))
}
