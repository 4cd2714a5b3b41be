package generate

import (
	"slices"
	"strings"

	"github.com/reeltree/reeltree/tree"
)

// Shares of the first sentence's worth that a further one needs: one that holds
// a content word of the question may answer another part of it.
const (
	leastShare = .1
	leastOff   = .2 // of one that holds none
)

func (p *point) least() float64 {
	if p.subject {
		return leastShare
	}
	return leastOff
}

// pick takes the best sentences for relevance and variety (maximal marginal
// relevance, Carbonell & Goldstein 1998), best first, until there are so many
// sentences or words.
func pick(points []point, sentences, words int) []point {
	var chosen []point
	rest := slices.Clone(points)
	said := 0
	for len(rest) > 0 && len(chosen) < sentences && said < words {
		at, best := 0, -1.0
		for i, p := range rest {
			s := p.score * (1 - overlap(p, chosen))
			if s > best && (len(chosen) == 0 || s > 0 && s >= chosen[0].score*p.least()) {
				at, best = i, s
			}
		}
		if best < 0 {
			break
		}
		p := rest[at]
		rest = slices.Delete(rest, at, at+1)
		if len(chosen) > 0 && said+p.length > words*5/4 {
			continue // a shorter one may still fit
		}
		chosen = append(chosen, p)
		said += p.length
	}
	return chosen
}

// repeats is the share of a sentence's words from which it only repeats another.
const repeats = .8

// overlap is the largest share of a sentence's words that a chosen one holds,
// squared, so that near repetitions count most, and 1 for a repetition.
func overlap(p point, chosen []point) float64 {
	most := 0.0
	for _, c := range chosen {
		same := 0
		for k := range p.words {
			if c.words[k] {
				same++
			}
		}
		most = max(most, float64(same)/float64(len(p.words)))
	}
	if most >= repeats {
		return 1
	}
	return most * most
}

var listWords = []string{
	"list", "which", "name", "what are", "what were", "how many", "enumerate", "welche", "nenne", "wie viele", "cuáles", "cuántos", "cuántas",
	"quels", "quelles", "combien", "哪些", "列出", "有多少", "どの", "いくつ",
}

// asksForList reports whether a question wants several things.
func asksForList(question string) bool {
	q := strings.ToLower(strings.TrimSpace(question))
	return slices.ContainsFunc(listWords, func(w string) bool {
		rest, ok := strings.CutPrefix(q, w)
		return ok && (rest == "" || tree.Unblanked([]rune(w)[0]) || strings.HasPrefix(rest, " "))
	})
}
