package retrieve

import (
	"slices"
	"unicode"
)

// gap is one thing the question asks for that no evidence holds yet: a word
// with its beginning, so that inflected forms close it, or a pair of
// characters where no words can be told apart.
type gap struct {
	shown  string
	keys   []uint64
	weight float64 // confidence: its share of the question's information
}

// gapsOf are the gaps of a question, weights summing to 1 unless there is none.
func gapsOf(q *question) []gap {
	var out []gap
	var sum float64
	pairs := slices.ContainsFunc(q.terms, func(t questionTerm) bool { return t.kind == kindPair })
	for _, t := range q.terms {
		switch t.kind {
		case kindBegin, kindGroup:
			if n := len(out); n > 0 && t.kind == kindBegin {
				out[n-1].keys = append(out[n-1].keys, t.key)
			}
			continue
		case kindChar:
			if pairs {
				continue
			}
		}
		out = append(out, gap{t.shown, []uint64{t.key}, t.weight})
		sum += t.weight
	}
	for i := range out {
		if sum > 0 {
			out[i].weight /= sum
		}
	}
	return out
}

// in reports whether a text with these sorted terms closes the gap.
func (g *gap) in(terms []uint64) bool {
	return slices.ContainsFunc(g.keys, func(k uint64) bool { return has(terms, k) })
}

func has(sorted []uint64, key uint64) bool {
	_, ok := slices.BinarySearch(sorted, key)
	return ok
}

// Confidence of a fact by how many places say it; below sure it is worth
// hearing again.
const (
	onceSaid  = .6
	twiceSaid = .85
	sure      = .70
)

// fact is one entity of the ledger: a name, a number or a thing asked for.
type fact struct {
	confidence float64
	clip       string // the first L2 that held it
}

// ledger is what the chosen evidence holds so far.
type ledger struct {
	gaps   []gap
	facts  map[uint64]fact
	terms  map[uint64]bool
	chosen []*candidate
}

func newLedger(q *question) *ledger {
	return &ledger{gaps: gapsOf(q), facts: map[uint64]fact{}, terms: map[uint64]bool{}}
}

// open are the gaps no evidence closed.
func (l *ledger) open() []gap {
	var out []gap
	for _, g := range l.gaps {
		if !slices.ContainsFunc(g.keys, func(k uint64) bool { return l.terms[k] }) {
			out = append(out, g)
		}
	}
	return out
}

// add books a chosen candidate.
func (l *ledger) add(c *candidate) {
	l.chosen = append(l.chosen, c)
	for _, t := range c.terms {
		l.terms[t] = true
	}
	clip := c.s.clips[c.clip].node.ID
	for _, f := range c.facts {
		switch old, ok := l.facts[f]; {
		case !ok:
			l.facts[f] = fact{onceSaid, clip}
		case old.clip != clip:
			l.facts[f] = fact{twiceSaid, old.clip}
		}
	}
}

// overlaps reports whether a candidate shares units or the same minute's words
// with chosen evidence: same place, same evidence.
func (l *ledger) overlaps(c *candidate) bool {
	return slices.ContainsFunc(l.chosen, func(o *candidate) bool {
		return o.s.tree.Source.ID == c.s.tree.Source.ID && o.s.tree.Source.Tenant == c.s.tree.Source.Tenant && o.lo < c.hi && c.lo < o.hi
	})
}

// read fills what the ledger wants to know about a candidate.
func (c *candidate) read(gaps []gap) {
	if c.vector != nil {
		return
	}
	c.vector = c.s.unitVector(c.lo, c.hi)
	c.quote = c.s.words(c.lo, c.hi)
	scan(c.quote, func(t term) {
		if !t.stop && t.kind != kindGroup {
			c.terms = append(c.terms, t.key)
		}
	})
	for i, t := range c.s.q.terms { // what stands in a description counts as held
		if len(within(c.s.postings[i], c.lo, c.hi)) > 0 {
			c.terms = append(c.terms, t.key)
		}
	}
	c.terms = sorted(c.terms)
	c.facts = names(c.quote)
	for i := range gaps {
		if gaps[i].in(c.terms) {
			c.facts = append(c.facts, gaps[i].keys[0])
		}
	}
	c.facts = sorted(c.facts)
}

func sorted(keys []uint64) []uint64 {
	slices.Sort(keys)
	return slices.Compact(keys)
}

// names are the capitalised words inside sentences and the numbers of a text.
func names(text string) []uint64 {
	var out []uint64
	for _, s := range sentences(text) {
		begins := true
		var word []rune
		flush := func() {
			if len(word) > 1 && (unicode.IsDigit(word[0]) || unicode.IsUpper(word[0]) && !begins) {
				scan(string(word), func(t term) {
					if t.kind == kindWord && !t.stop {
						out = append(out, t.key)
					}
				})
			}
			begins = begins && len(word) == 0
			word = word[:0]
		}
		for _, r := range s.text {
			if unicode.IsLetter(r) || unicode.IsDigit(r) {
				word = append(word, r)
			} else {
				flush()
			}
		}
		flush()
	}
	return out
}

// unitVector is the unit-length mean of the units' vectors.
func (v *view) unitVector(lo, hi int) []float32 {
	if hi-lo == 1 {
		return v.units[lo].vector
	}
	sum := v.sum(lo, hi)
	if n := v.norm(lo, hi); n > 0 {
		for d := range sum {
			sum[d] /= n
		}
	}
	return sum
}

// budgetOf is what evidence costs of a budget.
func budgetOf(items []*candidate) (tokens int) {
	for _, c := range items {
		tokens += c.tokens
	}
	return tokens
}
