package retrieve

import (
	"strings"
	"unicode"
)

// piece is one sentence with its code point range in the text it was cut from.
type piece struct {
	text       string
	start, end int
}

// Sentences longer than this many code points are cut at a blank, or anywhere
// at twice the length: nobody reads them as one.
const longSentence = 600

const (
	wideEnds   = "。！？｡۔।॥"
	narrowEnds = ".!?؟"
	closers    = "\"'”’»)]」』）】"
)

// sentences cuts a text at sentence ends of any script. The pieces are in
// order, without blanks at their ends, and hold every other character.
func sentences(text string) []piece {
	r := []rune(text)
	var out []piece
	start := 0
	emit := func(end int) {
		a, b := start, end
		for a < b && unicode.IsSpace(r[a]) {
			a++
		}
		for b > a && unicode.IsSpace(r[b-1]) {
			b--
		}
		if b > a {
			out = append(out, piece{string(r[a:b]), a, b})
		}
		start = end
	}
	for i := 0; i < len(r); i++ {
		switch {
		case sentenceEnds(r, start, i):
			for i+1 < len(r) && strings.ContainsRune(wideEnds+narrowEnds+closers, r[i+1]) {
				i++
			}
			emit(i + 1)
		case i-start >= 2*longSentence, i-start >= longSentence && unicode.IsSpace(r[i]):
			emit(i + 1)
		}
	}
	emit(len(r))
	return out
}

// sentenceEnds reports whether the sentence that began at start ends with r[i].
func sentenceEnds(r []rune, start, i int) bool {
	if strings.ContainsRune(wideEnds, r[i]) {
		return true
	}
	if !strings.ContainsRune(narrowEnds, r[i]) {
		return r[i] == '\n' && i+1 < len(r) && r[i+1] == '\n'
	}
	end := i + 1
	for end < len(r) && strings.ContainsRune(narrowEnds+closers, r[end]) {
		end++
	}
	if end < len(r) && !unicode.IsSpace(r[end]) {
		return false
	}
	for end < len(r) && unicode.IsSpace(r[end]) {
		end++
	}
	if end < len(r) && unicode.IsLower(r[end]) {
		return false // "e.g. this", "approx. ten"
	}
	return r[i] != '.' || !initial(r[start:i])
}

// initial reports whether a sentence would end in a lone capital or a title,
// as names have them.
func initial(r []rune) bool {
	i := len(r)
	for i > 0 && !unicode.IsSpace(r[i-1]) {
		i--
	}
	word := string(r[i:])
	if n := len(r) - i; n == 1 && unicode.IsUpper(r[i]) && word != "I" {
		return true
	}
	switch word {
	case "Mr", "Mrs", "Ms", "Dr", "Prof", "St", "No", "Fig", "vs", "U.S":
		return true
	}
	return false
}
