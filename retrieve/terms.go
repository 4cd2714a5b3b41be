package retrieve

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// terms are the lexical terms of a text: words in small letters without marks,
// lightly stemmed; pairs of characters where words are written without blanks.
func terms(text string) []string {
	var all []string
	fold := norm.NFKD.String(strings.ToLower(text))
	for word := range strings.FieldsFuncSeq(fold, separates) {
		all = appendWord(all, word)
	}
	return all
}

func separates(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.Is(unicode.Mn, r)
}

func appendWord(all []string, word string) []string {
	var runes []rune
	for _, r := range word {
		if !unicode.Is(unicode.Mn, r) {
			runes = append(runes, r)
		}
	}
	if len(runes) == 0 {
		return all
	}
	if !unspaced(runes[0]) {
		return append(all, stem(string(runes)))
	}
	if len(runes) == 1 {
		return append(all, string(runes))
	}
	for i := 0; i+2 <= len(runes); i++ {
		all = append(all, string(runes[i:i+2]))
	}
	return all
}

func unspaced(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer)
}

// suffixes are cut from words of at least five letters so that a plural or a
// verb form meets its stem (after Harman 1991, "How effective is suffixing?").
var suffixes = []string{"ingly", "edly", "ings", "ies", "ing", "ed", "es", "ly", "s"}

func stem(word string) string {
	if utf8.RuneCountInString(word) < 5 {
		return strings.TrimSuffix(word, "s")
	}
	for _, s := range suffixes {
		if rest, ok := strings.CutSuffix(word, s); ok && utf8.RuneCountInString(rest) >= 3 && !strings.HasSuffix(rest, "s") {
			if s == "ies" {
				return rest + "y"
			}
			if rest = strings.TrimSuffix(rest, "e"); utf8.RuneCountInString(rest) < 5 {
				return strings.TrimSuffix(rest, "s") // lenses meets lens
			}
			return rest
		}
	}
	return strings.TrimSuffix(word, "e")
}

// common are function words of questions and speech: they open no gap and
// prove nothing. Other languages rely on inverse document frequency alone.
var common = func() map[string]bool {
	set := map[string]bool{}
	for w := range strings.FieldsSeq(`a about after all am an and any are as at be been before but by can could did do does doing for from
		had has have he her him his how i if in into is it its just me my no not of on or our out over said say see she should so some
		tell than that the their them then there these they this those to too up us was we were what when where which while who whom
		whose why will with would you your und der die das ist wie was wer wo el la los las que de en un una y qué cómo le les des
		est et dans pour video speaker talk thing happen mention discuss`) {
		set[stem(w)] = true
	}
	return set
}()

// contentTerms are the distinct terms of a question that can be evidence, in
// order; of a question of function words alone, all of them.
func contentTerms(text string) []string {
	all := terms(text)
	content := distinct(all, func(t string) bool { return !common[t] })
	if len(content) == 0 {
		return distinct(all, func(string) bool { return true })
	}
	return content
}

func distinct(list []string, keep func(string) bool) []string {
	seen := map[string]bool{}
	var out []string
	for _, t := range list {
		if !seen[t] && keep(t) {
			seen[t] = true
			out = append(out, t)
		}
	}
	return out
}
