package model

import (
	"strings"

	"golang.org/x/text/unicode/norm"
)

// stemLen is the length of a small-letter word without a common English
// ending. It only has to send forms of one word to the same place, not to be a
// word itself.
func stemLen(w []rune) int {
	n := len(w)
	for _, r := range w {
		if r > 'z' || r < 'a' {
			return n
		}
	}
	switch {
	case n > 5 && ends(w, "ing"):
		n -= 3
	case n > 5 && ends(w, "ies"):
		return n - 3
	case n > 4 && ends(w, "ed"):
		n -= 2
	case n > 5 && ends(w, "ly"):
		return n - 2
	case n > 4 && (ends(w, "sses") || ends(w, "ches") || ends(w, "shes") || ends(w, "xes")):
		return n - 2
	case n > 3 && w[n-1] == 's' && w[n-2] != 's' && w[n-2] != 'u':
		n--
		if w[n-1] == 'e' && n > 4 {
			n--
		}
		return n
	case n > 4 && w[n-1] == 'y', n > 4 && w[n-1] == 'e':
		return n - 1
	default:
		return n
	}
	if n > 3 && w[n-1] == w[n-2] && w[n-1] != 'l' && w[n-1] != 's' { // running, planned
		n--
	}
	return n
}

func ends(w []rune, s string) bool {
	n := len(w) - len(s)
	for i, r := range s {
		if w[n+i] != r {
			return false
		}
	}
	return true
}

// stopWords holds the hashes of the function words of common languages.
var stopWords = func() map[uint64]bool {
	m := map[uint64]bool{}
	for w := range strings.FieldsSeq(norm.NFKD.String(stopList)) {
		m[hash(1, []rune(w)...)] = true
	}
	return m
}()

// longestStop is the length of the longest of them in runes.
const longestStop = 6

const stopList = `
a an the and or but if then than so of in on at to for from by with about into onto over under out up down off as is are was were be been being am
do does did done doing have has had having can could will would shall should may might must i you he she it we they me him her us them my your his
its our their this that these those there here what which who whom whose when where why how not no yes nor all any both each few more most other
some such only own same too very just also again ok okay oh uh um yeah well s t re ve ll d m don
el la los las un una unos unas y o de del al en por para con sin que se su sus lo le les es son fue era ser como mas pero si ya esta este esto
le les des une et ou du dans pour sur avec par plus mais ne pas est sont ce cette ces il elle ils elles nous vous je tu qui qu au aux
der die das den dem des ein eine einen einem einer und oder zu zum zur von mit auf fur im ist sind war nicht sich auch als wie es er sie wir ihr ich
o os as um uma e do da dos das no na nos nas em ao com nao
il lo gli i di che non per della dei delle nel alla
het een van niet zijn dat met voor op te
и в на с по к у не что это как из за от для то он она они мы вы я бы же
في من على الى عن ان هذا هذه التي الذي كان كانت هو هي ما مع او و لا
के का की को में से है हैं था थे थी और एक यह वह ने पर कि जो भी इस उस लिए हो गया कर
`
