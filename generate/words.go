package generate

import (
	"iter"
	"slices"
	"strings"
	"unicode"

	"github.com/reeltree/reeltree/tree"
)

// maxSentence bounds a sentence of speech that never ends, in code points.
const maxSentence = 300

// cutSentences cuts at sentence ends of any script; each piece is a part of the
// text as it stands there.
func cutSentences(text string) []string {
	var out []string
	runes := []rune(text)
	start := 0
	for i, r := range runes {
		if i+1 < len(runes) && !endsSentence(runes, start, i) && (i-start < maxSentence || !unicode.IsSpace(r) && i-start < 2*maxSentence) {
			continue
		}
		if s := strings.TrimSpace(string(runes[start : i+1])); s != "" {
			out = append(out, s)
		}
		start = i + 1
	}
	return out
}

// endsSentence reports whether a sentence that begins at start ends with rune i.
func endsSentence(runes []rune, start, i int) bool {
	switch r := runes[i]; {
	case strings.ContainsRune("。！？｡", r):
		return true
	case !strings.ContainsRune(".!?؟।۔…", r) || !unicode.IsSpace(runes[i+1]) || i-start < 3:
		return false
	case r != '.':
		return true
	}
	return !abbreviates(runes[start:i])
}

// abbreviates reports whether a full stop belongs to the word before it: an
// initial ("J."), or one of a few abbreviations.
func abbreviates(before []rune) bool {
	from := len(before)
	for from > 0 && !unicode.IsSpace(before[from-1]) {
		from--
	}
	word := before[from:]
	if len(word) == 1 && unicode.IsUpper(word[0]) && from > 0 {
		return true
	}
	return abbreviations[strings.ToLower(string(word))]
}

var abbreviations = map[string]bool{
	"mr": true, "mrs": true, "ms": true, "dr": true, "prof": true, "st": true, "vs": true, "e.g": true, "i.e": true, "etc": true, "z.b": true, "bzw": true, "ca": true,
}

// terms are all words of a text in small letters, in order; pairs of characters
// for scripts without blanks.
func terms(text string) []string {
	var out []string
	for word := range wordsOf(text) {
		if runes := []rune(word); tree.Unblanked(runes[0]) {
			for i := 0; i+2 <= len(runes); i++ {
				out = append(out, string(runes[i:i+2]))
			}
			continue
		}
		out = append(out, word)
	}
	return out
}

// wordsOf are the runs of letters, digits and their marks, in small letters.
func wordsOf(text string) iter.Seq[string] {
	return strings.FieldsFuncSeq(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.Is(unicode.Mn, r) && !unicode.Is(unicode.Mc, r)
	})
}

// keywords are the distinct words of a text in small letters without endings,
// function words left out; numbers; pairs of characters for scripts without
// blanks. Sorted.
func keywords(text string) []string {
	var out []string
	for word := range wordsOf(text) {
		runes := []rune(word)
		switch {
		case tree.Unblanked(runes[0]):
			for i := 0; i+2 <= len(runes); i++ {
				out = append(out, string(runes[i:i+2]))
			}
		case unicode.IsDigit(runes[0]):
			out = append(out, word)
		case len(runes) > 2 && !fillers[word]:
			out = append(out, string(runes[:min(len(runes), 6)]))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// fillers say nothing about a subject.
var fillers = func() map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(`the and for are was were what when where which while who whom whose why how did does doing done has have had having
		that this these those with from into about they them their theirs there here been being will would could should can may might must not but you your yours
		our ours its his her hers she him him say said says tell told just like really very well yeah okay then than also some any all more most much many
		such other others only own same too out over under again because through during before after between both each few get got going
		der die das den dem des und ist sind war wie wer was wann warum nicht ein eine einer einem einen mit auf für von zum zur auch sich
		los las que con por para una uno del como pero les des est dans pour pas plus sur avec une qui sont`) {
		m[w] = true
	}
	return m
}()
