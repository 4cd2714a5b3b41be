package generate

import (
	"cmp"
	"context"
	"slices"
	"unicode"

	"github.com/reeltree/reeltree/tree"
)

// Limits of an extractive answer. Answers of people to questions about public
// meetings have 67 words; whole sentences of speech need a little more room.
// A few sentences say more than many (chosen on the train part of those meetings).
const (
	mostSentences       = 5
	mostSentencesOfList = 9  // where the question asks for a list
	mostWords           = 80 // after which no further sentence begins
	mostWordsOfList     = 120
	fewestWords         = 5 // of a sentence: shorter ones are fragments of talk
)

// point is one sentence that may stand in an extractive answer. It occurs as
// it is in the quote of its evidence.
type point struct {
	n       int // evidence
	place   int // of the evidence in the order of the material
	order   int // within the evidence
	text    string
	words   map[string]bool // content words
	length  int             // words
	weight  float64         // score of its evidence, 0..1
	subject bool            // holds a content word of the question
	spoken  bool            // stands in a recording
	score   float64
}

// extract answers with the best sentences of the evidence, each with its
// citation: the best one first, then a list of further points in the order of
// the material, one for each moment; a list alone where the question asks for
// one. Only blanks, line ends and "- " stand between the sentences, so
// everything else is the material's own words.
func extract(ctx context.Context, q Question, w *writer) error {
	question := q.query().Text
	list := asksForList(q.Text)
	sentences, words := mostSentences, mostWords
	if list {
		sentences, words = mostSentencesOfList, mostWordsOfList
	}
	points := scorePoints(gatherPoints(w.evidence), question)
	if list {
		points = onSubject(points)
	}
	chosen := pick(points, sentences, words)
	if len(chosen) == 0 {
		return w.say("The evidence holds no words to quote; see the moments that are shown.")
	}
	lead := chosen[0] // the best one
	list = list && len(chosen) > 2
	if !list {
		chosen = chosen[1:]
	}
	inPlace(chosen)
	if !list {
		if err := sayPoint(ctx, w, "", lead); err != nil {
			return err
		}
	}
	for i, p := range chosen {
		before := "\n- "
		switch {
		case i > 0 && p.place == chosen[i-1].place:
			before = " "
		case i == 0 && list:
			before = "- "
		case i == 0:
			before = "\n\n- "
		}
		if err := sayPoint(ctx, w, before, p); err != nil {
			return err
		}
	}
	return nil
}

// inPlace sorts points by the order of the material.
func inPlace(points []point) {
	slices.SortStableFunc(points, func(a, b point) int { return cmp.Or(cmp.Compare(a.place, b.place), cmp.Compare(a.order, b.order)) })
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
	return w.cite(p.n, 1, p.text)
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
