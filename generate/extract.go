package generate

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/reeltree/reeltree/tree"
)

const (
	mostSentences = 6 // of an extractive answer
	listSentences = 9 // where the question asks for a list
)

// point is one sentence that may stand in an extractive answer. It occurs as
// it is in the quote of its evidence.
type point struct {
	n     int  // evidence
	place int  // of the evidence in the order of the material
	order int  // within the evidence
	hit   bool // holds a word of the question
	text  string
	words map[string]bool
	score float64
}

// extract answers with the best sentences of the evidence in the order of the
// material, each with its citation: one paragraph per moment, or a list where
// the question asks for one. Only blanks, line ends and "- " stand between the
// sentences, so everything else is the material's own words.
func extract(ctx context.Context, q Question, w *writer) error {
	question := keywords(q.query().Text)
	list := asksForList(q.Text)
	most := mostSentences
	if list {
		most = listSentences
	}
	chosen := pick(gatherPoints(w.evidence, question), question, most)
	if len(chosen) == 0 {
		return w.say("The evidence holds no words to quote; see the moments that are shown.")
	}
	list = list && len(chosen) > 2
	for i, p := range chosen {
		if err := sayPoint(ctx, w, leadOf(chosen, i, list), p); err != nil {
			return err
		}
	}
	return nil
}

// leadOf is what stands before a sentence.
func leadOf(chosen []point, i int, list bool) string {
	switch {
	case list && i == 0:
		return "- "
	case i == 0:
		return ""
	case chosen[i].place == chosen[i-1].place:
		return " "
	case list:
		return "\n- "
	}
	return "\n"
}

func sayPoint(ctx context.Context, w *writer, lead string, p point) error {
	for _, piece := range pieces(p.text) {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := w.say(lead + piece); err != nil {
			return err
		}
		lead = ""
	}
	return w.cite(p.n, 1)
}

const (
	tokenWords = 3  // per token event, so that the answer streams
	tokenRunes = 12 // where words are written without blanks
)

// pieces cuts a sentence into token events.
func pieces(text string) []string {
	var out []string
	words, runes, start := 0, 0, 0
	for i, r := range text {
		if unicode.IsSpace(r) {
			words++
		}
		if words == tokenWords || runes >= tokenRunes && tree.Unblanked(r) {
			next := i + len(string(r))
			out = append(out, text[start:next])
			words, runes, start = 0, 0, next
		}
		runes++
	}
	if start < len(text) {
		out = append(out, text[start:])
	}
	return out
}

// gatherPoints cuts the quotes into sentences and scores them against the
// question's words, weighted by how rare a word is in the evidence.
func gatherPoints(evidence []Evidence, question []string) []point {
	var points []point
	seen := map[string]bool{}
	held := map[string]int{}
	for place, e := range inOrder(evidence) {
		for i, s := range cutSentences(e.Quote) {
			p := point{n: e.N, place: place, order: i, text: s, words: map[string]bool{}, score: e.Score / 2}
			for _, k := range keywords(s) {
				p.words[k] = true
				held[k]++
			}
			if key := strings.ToLower(oneLine(s)); len(p.words) > 0 && !seen[key] {
				seen[key] = true
				points = append(points, p)
			}
		}
	}
	total := 0.0
	for _, k := range question {
		total += rarity(held[k])
	}
	for i := range points {
		p := &points[i]
		for _, k := range question {
			if p.words[k] {
				p.hit = true
				p.score += rarity(held[k]) / total
			}
		}
		p.score *= substance(p, held, len(points))
	}
	return points
}

func rarity(held int) float64 { return 1 / (1 + float64(held)/4) }

// substance keeps fragments ("Yes.", "Right, the lens.") from leading: it grows
// with the number of words and with those that other sentences take up too.
func substance(p *point, held map[string]int, sentences int) float64 {
	shared := 0.0
	for _, k := range sortedKeys(p.words) { // a sum of floats depends on its order
		shared += math.Min(1, float64(held[k]-1)/math.Max(1, float64(sentences)/10))
	}
	return math.Min(1, .3+float64(len(p.words))*.07) * (1 + .2*shared/float64(len(p.words)))
}

// inOrder is the evidence by source, then time or place.
func inOrder(evidence []Evidence) []Evidence {
	sorted := slices.Clone(evidence)
	slices.SortStableFunc(sorted, func(a, b Evidence) int {
		return cmp.Or(
			cmp.Compare(a.Source.ID, b.Source.ID), cmp.Compare(a.Span.StartMS, b.Span.StartMS), cmp.Compare(a.Span.Page, b.Span.Page),
			cmp.Compare(a.Span.Paragraph, b.Span.Paragraph), cmp.Compare(a.Span.StartChar, b.Span.StartChar),
			cmp.Compare(a.Span.Table, b.Span.Table), cmp.Compare(a.Span.RowStart, b.Span.RowStart))
	})
	return sorted
}
