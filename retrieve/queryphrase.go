package retrieve

import (
	"math"
	"math/bits"
)

// token is one word of a unit in its place, or one pair of characters where no
// blanks are written: the beginning of its term's key, and what it looks like
// in the two lowest bits.
type token uint32

const (
	tokenNumber token = 1 << iota // holds a digit
	tokenName                     // begins with a capital inside a sentence
	tokenKey    = ^(tokenNumber | tokenName)
)

// tokensOf are the words of a text in order, function words among them.
func tokensOf(text string) []token {
	var out []token
	scan(text, func(t term) {
		if t.whole() {
			out = append(out, t.token(len(out) == 0))
		}
	})
	return out
}

// token is a whole term in its place; a capital of the first word says nothing.
func (t *term) token(first bool) token {
	k := token(t.key) & tokenKey
	if t.digit {
		k |= tokenNumber
	}
	if t.capital && !first {
		k |= tokenName
	}
	return k
}

// phrases are what a question says in a row, and what its words are, at most
// mostPhrases of them.
type phrases struct {
	first   map[token]uint64 // a word that begins some of the pairs: which ones
	second  []token          // of each pair
	weights []float64        // of each pair, its share of their information
	asked   map[token]bool
}

const mostPhrases = 64

func readPhrases(text string) *phrases {
	p := &phrases{first: map[token]uint64{}, asked: map[token]bool{}}
	words := tokensOf(text)
	for i, w := range words {
		w &= tokenKey
		p.asked[w] = true
		if i+1 < len(words) && len(p.second) < mostPhrases {
			p.first[w] |= 1 << len(p.second)
			p.second = append(p.second, words[i+1]&tokenKey)
		}
	}
	p.weights = make([]float64, len(p.second))
	return p
}

// heldBy are the pairs that stand in words, and whether there are numbers or
// names among them that the question does not name itself.
func (p *phrases) heldBy(words []token) (pairs uint64, looks token) {
	for i, w := range words {
		if looks&w&^tokenKey != w&^tokenKey && !p.asked[w&tokenKey] {
			looks |= w &^ tokenKey
		}
		if i+1 == len(words) {
			break
		}
		for m := p.first[w&tokenKey]; m != 0; m &= m - 1 {
			if at := bits.TrailingZeros64(m); p.second[at] == words[i+1]&tokenKey {
				pairs |= 1 << at
			}
		}
	}
	return pairs, looks
}

// weigh gives the pairs their share of information: in units many of held
// stand in.
func (p *phrases) weigh(held [][]uint64) {
	df, units := make([]float64, len(p.second)), 0.0
	for _, view := range held {
		units += float64(len(view))
		for _, m := range view {
			for ; m != 0; m &= m - 1 {
				df[bits.TrailingZeros64(m)]++
			}
		}
	}
	var sum float64
	for i, d := range df {
		p.weights[i] = math.Log1p((units - d + .5) / (d + .5))
		sum += p.weights[i]
	}
	for i := range p.weights {
		p.weights[i] /= sum
	}
}

// share is how much of the question the pairs are.
func (p *phrases) share(pairs uint64) (sum float64) {
	for ; pairs != 0; pairs &= pairs - 1 {
		sum += p.weights[bits.TrailingZeros64(pairs)]
	}
	return sum
}
