package retrieve

import (
	"slices"
	"strings"
)

// mostLeads is how many sources that names lead to are looked into at once.
const mostLeads = 3

// ask is one query text of a round.
type ask struct {
	text   string
	source *listed // looked into instead of what the indexes find; nil: those
	share  float64 // of the question's information that it stands for
}

func texts(asks []ask) (out []string) {
	for _, a := range asks {
		out = append(out, a.text)
	}
	return out
}

// leads are the sources nobody has looked into yet that the question names, or
// the evidence where it leaves something open: each is asked for what is open.
func (s *search) leads() (out []ask) {
	p := s.pairing
	open, share := p.open()
	add := func(words []token, share float64) {
		for _, l := range s.e.catalog.named(s.q.Scope.Tenant, words) {
			if len(out) == mostLeads || s.looked[l.src.ID] || !s.q.Scope.admits(&l.facts) || !l.touches(s.q.Scope.Span) || !p.rarity.tells(&l.name) {
				continue
			}
			s.looked[l.src.ID] = true
			text := strings.Join(append([]string{l.src.Title}, open...), " ")
			if repeats(text, append(s.asked, texts(out)...)) {
				text = l.src.Title
			}
			out = append(out, ask{text, l, share})
		}
	}
	add(p.words, 1)
	if share < smallGap {
		return out
	}
	for _, x := range p.evidence() {
		c := &x.s.clips[x.clip]
		for _, u := range x.s.units[c.lo:c.hi] {
			add(u.words, share)
		}
	}
	return out
}

// evidence are the sources that were chosen, or the best where none was told.
func (p *pairing) evidence() []*party {
	if p.a != nil {
		return []*party{p.a, p.b}
	}
	return p.parties[:min(len(p.parties), 2)]
}

// open are the words of the question that the chosen sources do not hold, and
// their share of its information.
func (p *pairing) open() (words []string, share float64) {
	of := p.evidence()
	for i, t := range p.terms {
		if p.weights[i] == 0 || slices.ContainsFunc(of, func(x *party) bool { return x.held[i] }) {
			continue
		}
		share += float64(p.weights[i])
		if t.kind == kindWord || t.kind == kindPair {
			words = append(words, t.shown)
		}
	}
	return words, share
}
