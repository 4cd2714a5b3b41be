package generate

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"unicode"

	"github.com/reeltree/reeltree/tree"
)

const (
	mostSentences = 6 // of an extractive answer
	listSentences = 9 // where the question asks for a list
	tokenWords    = 3 // words per token event, so that the answer streams
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
// material, each with its citation.
func extract(ctx context.Context, q Question, w *writer) error {
	points := gatherPoints(w.evidence, keywords(q.Text))
	chosen := pick(points, keywords(q.Text), limitFor(q.Text))
	if len(chosen) == 0 {
		return w.say("The evidence holds no words to quote; see the moments that are shown.")
	}
	list := len(chosen) > 2 && asksForList(q.Text)
	for i, p := range chosen {
		if err := ctx.Err(); err != nil {
			return err
		}
		lead := ""
		switch {
		case list && i > 0:
			lead = "\n- "
		case list:
			lead = "- "
		case i > 0:
			lead = " "
		}
		if err := sayPoint(w, lead, p); err != nil {
			return err
		}
	}
	return nil
}

func sayPoint(w *writer, lead string, p point) error {
	words := strings.SplitAfter(p.text, " ")
	for i := 0; i < len(words); i += tokenWords {
		if err := w.say(lead + strings.Join(words[i:min(i+tokenWords, len(words))], "")); err != nil {
			return err
		}
		lead = ""
	}
	return w.cite(p.n, 1)
}

// gatherPoints cuts the quotes into sentences and scores them against the
// question's words, weighted by how rare a word is in the evidence.
func gatherPoints(evidence []Evidence, question []string) []point {
	var points []point
	rare := map[string]int{}
	for place, e := range inOrder(evidence) {
		for i, s := range cutSentences(e.Quote) {
			p := point{n: e.N, place: place, order: i, text: s, words: map[string]bool{}}
			for _, k := range keywords(s) {
				p.words[k] = true
				rare[k]++
			}
			if len(p.words) > 0 {
				p.score = e.Score / 2
				points = append(points, p)
			}
		}
	}
	total := 0.0
	for _, k := range question {
		total += 1 / (1 + float64(rare[k])/4)
	}
	for i := range points {
		for _, k := range question {
			if points[i].words[k] {
				points[i].hit = true
				points[i].score += 1 / (1 + float64(rare[k])/4) / total
			}
		}
		points[i].score *= shortPenalty(len(points[i].words))
	}
	return points
}

// inOrder is the evidence by source, then time or place.
func inOrder(evidence []Evidence) []Evidence {
	sorted := slices.Clone(evidence)
	slices.SortStableFunc(sorted, func(a, b Evidence) int {
		return cmp.Or(
			cmp.Compare(a.Source.ID, b.Source.ID), cmp.Compare(a.Span.StartMS, b.Span.StartMS), cmp.Compare(a.Span.Page, b.Span.Page),
			cmp.Compare(a.Span.Paragraph, b.Span.Paragraph), cmp.Compare(a.Span.StartChar, b.Span.StartChar), cmp.Compare(a.Span.RowStart, b.Span.RowStart))
	})
	return sorted
}

// shortPenalty keeps fragments ("Yes.", "Right, the lens.") from leading.
func shortPenalty(words int) float64 { return min(1, .4+float64(words)*.1) }

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

// overlap is the largest share of a sentence's words that a chosen one holds.
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

func limitFor(question string) int {
	if asksForList(question) {
		return listSentences
	}
	return mostSentences
}

var listWords = []string{"list", "which", "name all", "what are", "how many", "enumerate", "welche", "nenne", "cuáles", "quels", "quelles"}

func asksForList(question string) bool {
	q := strings.ToLower(strings.TrimSpace(question))
	return slices.ContainsFunc(listWords, func(w string) bool { return strings.HasPrefix(q, w+" ") })
}

// cutSentences cuts at sentence ends of any script; the pieces, joined, are the
// text up to blanks, so each occurs in its evidence.
func cutSentences(text string) []string {
	var out []string
	runes := []rune(text)
	start := 0
	for i, r := range runes {
		last := i+1 == len(runes)
		ends := strings.ContainsRune("。！？", r) ||
			strings.ContainsRune(".!?؟।", r) && (last || unicode.IsSpace(runes[i+1])) && i-start > 2
		if ends || last || i-start > maxSentence && unicode.IsSpace(r) {
			if s := strings.TrimSpace(string(runes[start : i+1])); s != "" {
				out = append(out, s)
			}
			start = i + 1
		}
	}
	return out
}

// maxSentence bounds a sentence of speech that never ends.
const maxSentence = 300

// keywords are the words of a text in small letters without endings, function
// words left out; pairs of characters for scripts without blanks.
func keywords(text string) []string {
	var out []string
	for word := range strings.FieldsFuncSeq(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.Is(unicode.Mn, r)
	}) {
		runes := []rune(word)
		if unicode.In(runes[0], unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai) {
			for i := 0; i+2 <= len(runes); i++ {
				out = append(out, string(runes[i:i+2]))
			}
			continue
		}
		if len(runes) > 2 && !fillers[word] {
			out = append(out, string(runes[:min(len(runes), 6)]))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

var fillers = func() map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(`the and for are was were what when where which who why how did does has have had that this these those
		with from into about they them their there been being will would could should can may not but you your our its his her she him
		could say said tell der die das und ist wie wer los las que con por les des est dans pour`) {
		m[w] = true
	}
	return m
}()

// minSupport is the support below which a citation is flagged.
const minSupport = .25

// support is the share of a sentence's keywords that its evidence holds.
func support(sentence string, e Evidence, it string) float64 {
	words := keywords(sentence)
	if len(words) == 0 {
		return 1
	}
	held := map[string]bool{}
	for _, k := range keywords(e.Quote + " " + it + " " + e.Speaker) {
		held[k] = true
	}
	same := 0
	for _, k := range words {
		if held[k] {
			same++
		}
	}
	return float64(same) / float64(len(words))
}

// spanLabel is a span as a model or a reader sees it.
func spanLabel(s tree.Span) string { return s.String() }
