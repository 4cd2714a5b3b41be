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
	for _, t := range readQuestion(text) {
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

// allWords mark questions about all of something: lists, trends, how often.
var allWords = []string{
	"how often", "how many times", "in all", "list ", "list all", "all the", "every ", "each of", "trend", "enumerate",
	"lista de", "enumera", "cuántas veces", "liste des", "combien de fois", "énumère", "alle ", "wie oft", "quante volte", "quantas vezes",
	"сколько раз", "все ", "перечисли", "列出", "多少次", "几次", "何回", "一覧", "كل ", "جميع", "सभी", "कितनी बार",
}

// countWords ask for a number. In speech and prose it is mostly said
// somewhere; in tables it may have to be made from all rows.
var countWords = []string{
	"how many", "number of", "total", "sum of", "average",
	"cuántos", "cuántas", "cuantos", "cuantas", "combien", "wie viele", "wieviele", "quanti", "quante", "quantos", "quantas",
	"сколько", "多少", "几个", "总共", "いくつ", "كم عدد", "कितने", "कितनी",
}

// summaryWords mark wishes for the whole in short.
var summaryWords = []string{
	"overall", "main points", "main discussion", "main topics", "summarize", "summarise", "summary", "overview", "whole meeting", "whole video", "what is this about",
	"resumen", "résumé", "zusammenfass", "riassunto", "resumo", "总结", "概要", "要約", "ملخص", "सारांश",
}

// aggregate reports whether a question asks for all of something: whole
// stretches are kept then and the budget is filled.
func aggregate(text string, tables bool) bool {
	return marked(text, allWords) || summary(text) || tables && marked(text, countWords)
}

// summary reports whether a question asks for the whole in short.
func summary(text string) bool { return marked(text, summaryWords) }

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
