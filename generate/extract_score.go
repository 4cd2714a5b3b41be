package generate

import (
	"math"
	"slices"
	"strings"

	"github.com/reeltree/reeltree/tree"
)

// gatherPoints cuts the quotes into sentences, each once; fragments only where
// there is nothing else.
func gatherPoints(evidence []Evidence) []point {
	var points, fragments []point
	seen := map[string]bool{}
	for place, e := range inOrder(evidence) {
		for i, s := range cutSentences(e.Quote) {
			p := point{n: e.N, place: place, order: i, text: s, words: map[string]bool{}, length: tree.Words(s), weight: e.Score, spoken: !writtenKind(e.Source.Kind)}
			for _, k := range keywords(s) {
				p.words[k] = true
			}
			key := strings.ToLower(oneLine(s))
			if len(p.words) == 0 || seen[key] {
				continue
			}
			seen[key] = true
			if p.length < fewestWords {
				fragments = append(fragments, p)
			} else {
				points = append(points, p)
			}
		}
	}
	if len(points) == 0 {
		return fragments
	}
	return points
}

// BM25 over the sentences of the evidence (Robertson & Zaragoza 2009). Length
// counts less than usual: a longer sentence of speech says more.
const (
	bm25K1 = 1.2
	bm25B  = .4
)

// shareEvidence is what the score of the evidence, the best being 1, counts
// beside the share of the question that a sentence holds.
const shareEvidence = 1

// offSubject is what a sentence counts that holds no content word of the question.
const offSubject = .6

// scorePoints scores sentences by the question's words, function words too,
// which cost nothing where they stand everywhere, and by their evidence; those
// of talk also by how well they tell it. Squared, since a point has to be on the
// subject and to be told (chosen on the train part of public meetings).
func scorePoints(points []point, question string) []point {
	counts, lengths := make([]map[string]int, len(points)), make([]float64, len(points))
	held, total := map[string]int{}, 0.0
	for i, p := range points {
		counts[i] = map[string]int{}
		for _, w := range terms(p.text) {
			counts[i][w]++
			lengths[i]++
		}
		total += lengths[i]
		for w := range counts[i] {
			held[w]++
		}
	}
	n := float64(len(points))
	mean := total / max(1, n)
	wanted := slices.Compact(slices.Sorted(slices.Values(terms(question))))
	subject, top := keywords(question), 1e-9
	for _, p := range points {
		top = max(top, p.weight)
	}
	var all float64
	for _, w := range wanted {
		rarity := math.Log1p((n - float64(held[w]) + .5) / (float64(held[w]) + .5))
		all += rarity
		for i := range points {
			if tf := float64(counts[i][w]); tf > 0 {
				points[i].score += rarity * tf * (bm25K1 + 1) / (tf + bm25K1*(1-bm25B+bm25B*lengths[i]/mean))
			}
		}
	}
	asked := map[string]bool{}
	for _, w := range wanted {
		asked[w] = true
	}
	for i := range points {
		p := &points[i]
		p.score = p.score/max(all, 1e-9) + shareEvidence*p.weight/top
		if p.spoken {
			worth := tellingOf(p.text, asked).worth()
			p.score *= worth * worth
		}
		p.subject = slices.ContainsFunc(subject, func(k string) bool { return p.words[k] })
		if !p.subject {
			p.score *= offSubject
		}
	}
	return points
}

// onSubject are the sentences that hold a content word of the question; all of
// them where none does, as in another language.
func onSubject(points []point) []point {
	on := slices.DeleteFunc(slices.Clone(points), func(p point) bool { return !p.subject })
	if len(on) == 0 {
		return points
	}
	return on
}
