package generate

import (
	"regexp"
	"strings"
)

// telling is how well a sentence of speech tells what was said to who was not
// there: the share of its words that an account of the talk would use, foreseen
// from four shares of its words. An account joins whole statements ("of", "the",
// "which"), leaves out hesitation, speaks of nobody as "I" or "you", and uses
// the words of the question. The word lists are English; of other languages the
// question's words alone count.
type telling struct{ joining, halting, speaking, asked float64 }

// Weights of the shares, fitted by least squares on the train part of public
// meetings (TestFitTelling): what share of a sentence's words stands in the
// answer that a person wrote.
var accounted = struct {
	telling
	base float64
}{telling{.345, -.213, -.219, .440}, .123}

// leastTelling keeps a sentence that tells nothing apart from one that is not there.
const leastTelling = .01

// worth is the share of a sentence's words that an account would use.
func (t telling) worth() float64 {
	w := accounted
	return max(leastTelling, w.base+w.joining*t.joining+w.halting*t.halting+w.speaking*t.speaking+w.asked*t.asked)
}

// aside is what a transcript puts in brackets: a noise, a pause, a word broken off.
var aside = regexp.MustCompile(`\{[^{}]*\}|\[[^\[\]]*\]`)

// tellingOf counts the words of a sentence; asked are those of the question,
// function words too.
func tellingOf(sentence string, asked map[string]bool) telling {
	var t telling
	asides := float64(len(aside.FindAllString(sentence, -1)))
	words := terms(aside.ReplaceAllString(sentence, " "))
	all := max(1, asides+float64(len(words)))
	for _, w := range words {
		if joiners[w] {
			t.joining++
		}
		if halts[w] {
			t.halting++
		}
		if speakers[w] {
			t.speaking++
		}
		if asked[w] {
			t.asked++
		}
	}
	return telling{t.joining / all, (t.halting + asides) / all, t.speaking / all, t.asked / all}
}

var (
	joiners  = wordSet(`the of to a an in and or that which for on is are be was were with as by at from it this would will has have not can should`)
	halts    = wordSet(`uh um hmm mm mmm mhm er erm oh ah eh huh yeah yep okay ok right well like mean know so just kind sort`)
	speakers = wordSet(`i you me my your we us our im`)
)

func wordSet(list string) map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(list) {
		m[w] = true
	}
	return m
}
