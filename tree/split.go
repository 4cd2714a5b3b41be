package tree

import (
	"slices"
	"strings"
	"unicode"
)

// Sentence ends. A wide end needs nothing after it; a narrow one must be
// followed by a blank, and by something that can begin a sentence.
const (
	wideEnds   = "。！？｡…。।॥؟۔።։᠃"
	narrowEnds = ".!?"
	closers    = "\"'”’»)]」』）】"
)

// splitSentences cuts a text into sentences, in any script. What is left
// without an end is the last sentence.
func splitSentences(text string) []string {
	r := []rune(text)
	var out []string
	start := 0
	add := func(end int) {
		if s := strings.TrimSpace(string(r[start:end])); s != "" {
			out = append(out, s)
		}
		start = end
	}
	for i := 0; i < len(r); i++ {
		wide, narrow := strings.ContainsRune(wideEnds, r[i]), strings.ContainsRune(narrowEnds, r[i])
		if !wide && !narrow {
			continue
		}
		end := i + 1
		for end < len(r) && strings.ContainsRune(wideEnds+narrowEnds+closers, r[end]) {
			end++
		}
		if wide || (opensSentence(r[end:]) && !abbreviation(r[start:i+1])) {
			add(end)
		}
		i = end - 1
	}
	add(len(r))
	return out
}

// opensSentence reports whether rest is empty or goes on with a blank and
// something else than a small letter.
func opensSentence(rest []rune) bool {
	if len(rest) == 0 {
		return true
	}
	if !blank(rest[0]) {
		return dense(rest[0])
	}
	for _, r := range rest {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return !unicode.IsLower(r)
		}
	}
	return true
}

// abbreviation reports whether the text up to a full stop ends in one that
// usually goes on: an initial or a title.
func abbreviation(r []rune) bool {
	if r[len(r)-1] != '.' {
		return false
	}
	i := len(r) - 1
	for i > 0 && !blank(r[i-1]) {
		i--
	}
	word := string(r[i : len(r)-1])
	if w := []rune(word); len(w) == 1 && unicode.IsUpper(w[0]) && w[0] != 'I' {
		return true
	}
	return slices.Contains(abbreviations, word)
}

var abbreviations = []string{
	"Mr", "Mrs", "Ms", "Dr", "Prof", "Hon", "Rev", "Gen", "Col", "Capt", "Lt", "Sgt", "Sen", "Rep", "Gov",
	"Jr", "Mme", "Hr", "Fr", "St", "No", "Fig", "vs", "e.g", "i.e", "z.B",
}

// cutWords cuts a text into parts of at most n words (as Words counts). A part
// ends at a blank, or anywhere in a script without blanks.
func cutWords(text string, n int) []string {
	if Words(text) <= n {
		return []string{text}
	}
	var out []string
	count, inWord, start := 0, false, 0
	for i, r := range text {
		begins := dense(r) || (!blank(r) && !inWord)
		if begins {
			if count++; count > n {
				out = append(out, strings.TrimSpace(text[start:i]))
				count, start = 1, i
			}
		}
		inWord = !dense(r) && !blank(r)
	}
	return append(out, strings.TrimSpace(text[start:]))
}

// roomy is a limit of n words for this text: twice as many where most words
// are single characters.
func roomy(text string, n int) int {
	dens, other := 0, 0
	for _, r := range text {
		if dense(r) {
			dens++
		} else if !blank(r) {
			other++
		}
	}
	if dens > other {
		return 2 * n
	}
	return n
}

// shorten is text cut to n words, with an ellipsis where something is missing.
// A "word" without end, as damaged text has them, is cut as well.
func shorten(text string, n int) string {
	n = roomy(text, n)
	cut := text
	if most := n * longWord; len(cut) > most {
		cut = strings.ToValidUTF8(cut[:most], "")
	}
	if cut = cutWords(cut, n)[0]; cut == text {
		return text
	}
	return strings.TrimRight(cut, ",;:、， ") + "…"
}

// longWord is the mean length in bytes that no real text's words have.
const longWord = 40

// tail is the end of a clip's transcript, at most n words.
func tail(c Clip, n int) string {
	var all string
	for _, s := range clipSentences(c) {
		all = joinText(all, s.String())
	}
	total := Words(all)
	if total <= n {
		return all
	}
	rest := cutWords(all, total-n)
	return "…" + strings.Join(rest[1:], " ")
}
