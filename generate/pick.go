package generate

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/reeltree/reeltree/tree"
)

// pick takes the best sentences for relevance and variety (maximal marginal
// relevance, Carbonell & Goldstein 1998), in the order of the material.
func pick(points []point, question []string, most int) []point {
	var chosen []point
	rest := slices.Clone(points)
	if slices.ContainsFunc(rest, func(p point) bool { return p.hit }) {
		rest = slices.DeleteFunc(rest, func(p point) bool { return !p.hit })
	}
	for len(rest) > 0 && len(chosen) < most {
		at, best := 0, -1.0
		for i, p := range rest {
			if s := p.score*(1-overlap(p, chosen)) + freshWorth*freshShare(p, question, chosen); s > best {
				at, best = i, s
			}
		}
		if len(chosen) > 0 && (best <= 0 || best < chosen[0].score*.4 && freshShare(rest[at], question, chosen) == 0) {
			break
		}
		chosen = append(chosen, rest[at])
		rest = slices.Delete(rest, at, at+1)
	}
	slices.SortStableFunc(chosen, func(a, b point) int { return cmp.Or(cmp.Compare(a.place, b.place), cmp.Compare(a.order, b.order)) })
	return chosen
}

// freshWorth is what answering a further part of the question counts.
const freshWorth = .3

// freshShare is the share of the question's words that a sentence holds and no
// chosen one does: a question of several parts wants each answered.
func freshShare(p point, question []string, chosen []point) float64 {
	fresh := 0
	for _, k := range question {
		if p.words[k] && !slices.ContainsFunc(chosen, func(c point) bool { return c.words[k] }) {
			fresh++
		}
	}
	return float64(fresh) / float64(max(1, len(question)))
}

// overlap is the largest share of a sentence's words that a chosen one holds,
// squared, so that only near repetitions count.
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
	return most * most
}

func sortedKeys(set map[string]bool) []string { return slices.Sorted(maps.Keys(set)) }

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
