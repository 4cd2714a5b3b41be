package retrieve

import (
	"strings"
	"unicode"
)

const (
	sameQuery = .7 // Jaccard overlap at which two query texts are one
	mostMicro = 3  // micro-queries of one round
	smallGap  = .1 // share of the question's information below which a gap is not worth a query
)

// followUps are the query texts of the next round: the sources that names lead
// on to, unless one round was asked for; then, where rounds are left, one
// micro-query per open gap that is worth one; empty when there is no gap, when
// all of the question is one, or when they would repeat earlier ones.
func (s *search) followUps(left bool) (out []ask) {
	if s.bridges() && s.q.Rounds != 1 {
		out = s.leads()
	}
	open := s.ledger.open()
	if len(out) > 0 || !left || len(open) == len(s.ledger.gaps) {
		return out
	}
	for _, g := range open {
		if g.weight < smallGap || !s.held(g) {
			continue
		}
		if len(out) < mostMicro && !repeats(g.shown, append(s.asked, texts(out)...)) {
			out = append(out, ask{text: g.shown, share: g.weight})
		}
	}
	return out
}

// held reports whether any candidate of the first round's trees holds the gap:
// a word that stands nowhere is not looked for again.
func (s *search) held(g gap) bool {
	for _, c := range s.near {
		for _, k := range g.keys {
			if len(c.s.view.postings[k]) > 0 {
				return true
			}
		}
	}
	return false
}

// repeats reports whether text says what an earlier query text said.
func repeats(text string, earlier []string) bool {
	own := termSet(text)
	for _, e := range earlier {
		if jaccard(own, termSet(e)) >= sameQuery {
			return true
		}
	}
	return false
}

func termSet(text string) map[uint64]bool {
	set := map[uint64]bool{}
	for _, t := range libraryTerms(text) {
		set[t.key] = true
	}
	return set
}

func jaccard(a, b map[uint64]bool) float64 {
	both := 0
	for k := range a {
		if b[k] {
			both++
		}
	}
	return share(both, len(a)+len(b)-both)
}

// marked reports whether one of words stands in text, at the beginning of a
// word in scripts that have blanks.
func marked(text string, words []string) bool {
	text = " " + strings.Join(strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r)
	}), " ") + " "
	for _, w := range words {
		if strings.Contains(text, " "+w) || w[0] >= 0x80 && strings.Contains(text, w) {
			return true
		}
	}
	return false
}
