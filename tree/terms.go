package tree

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
)

// term is one content word: how it is compared and how it is shown.
type term struct {
	key, shown string
	name       bool // capitalised inside a sentence: probably a name
}

// terms are the content words of a text in order: words without function
// words; of kana and Han, runs of one script, since a run is closest to a word
// where no blanks are written.
func terms(text string) []term {
	var out []term
	begins := true // of a sentence: a capital says nothing there
	for len(text) > 0 {
		run, class := nextRun(text)
		text = text[len(run):]
		switch class {
		case classWord:
			if t, ok := wordTerm(run, begins); ok {
				out = append(out, t)
			}
			begins = false
		case classHan, classKatakana:
			if n := len([]rune(run)); n >= 2 && n <= 8 {
				out = append(out, term{key: run, shown: run})
			}
			begins = false
		case classOther:
			begins = begins || strings.ContainsAny(run, ".!?:;\n")
		}
	}
	return out
}

func wordTerm(run string, begins bool) (term, bool) {
	word := strings.Trim(run, "'’-_")
	if i := strings.LastIndexAny(word, "'’"); i > 0 {
		word = word[:i]
	}
	key := strings.ToLower(word)
	r := []rune(word)
	if len(r) < 2 || (len(r) == 2 && !unicode.Is(unicode.Hangul, r[0])) {
		return term{}, false
	}
	if number := strings.Trim(word, "0123456789") == ""; number && len(r) < 4 || stopWord(key) {
		return term{}, false
	}
	return term{key: key, shown: word, name: !begins && unicode.IsUpper(r[0])}, true
}

type runClass int

const (
	classOther runClass = iota
	classWord
	classHan
	classKatakana
	classDense // hiragana and Thai: no words can be told apart
)

// nextRun is the longest beginning of text that is of one class.
func nextRun(text string) (string, runClass) {
	class := classify(firstRune(text))
	for i, r := range text {
		inner := class == classWord && (strings.ContainsRune("'’-_", r) || unicode.IsMark(r))
		if !inner && classify(r) != class {
			return text[:i], class
		}
	}
	return text, class
}

func classify(r rune) runClass {
	switch {
	case unicode.Is(unicode.Han, r):
		return classHan
	case unicode.Is(unicode.Katakana, r) || r == 'ー':
		return classKatakana
	case unicode.Is(unicode.Hiragana, r) || unicode.Is(unicode.Thai, r):
		return classDense
	case unicode.IsLetter(r) || unicode.IsDigit(r):
		return classWord
	}
	return classOther
}

// grams are the terms of a text for comparing sentences; scripts without
// blanks also give pairs of characters, so they compare at all.
func grams(text string) []string {
	var out []string
	for _, t := range terms(text) {
		out = append(out, t.key)
	}
	var prev rune
	for _, r := range text {
		if dense(r) && dense(prev) && !unicode.Is(unicode.Hangul, r) {
			out = append(out, string([]rune{prev, r}))
		}
		prev = r
	}
	return out
}

// keyTerms are the n most telling terms of several texts: those that stand in
// most of them and most often, names before others, then in order of reading.
func keyTerms(texts []string, n int) []string {
	type stat struct {
		term
		count, texts, last, first int
	}
	byKey := map[string]*stat{}
	var all []*stat
	for i, text := range texts {
		for _, t := range terms(text) {
			s := byKey[t.key]
			if s == nil {
				s = &stat{term: t, last: -1, first: len(all)}
				byKey[t.key] = s
				all = append(all, s)
			}
			if s.count++; s.last != i {
				s.texts, s.last = s.texts+1, i
			}
			s.name = s.name || t.name
		}
	}
	weight := func(s *stat) int {
		w := 2*s.texts + s.count
		if s.name {
			w += 2
		}
		return w
	}
	all = slices.DeleteFunc(all, func(s *stat) bool { return s.count < 2 && !s.name })
	slices.SortFunc(all, func(a, b *stat) int { return cmp.Or(weight(b)-weight(a), a.first-b.first) })
	var out []string
	for _, s := range all[:min(n, len(all))] {
		out = append(out, s.shown)
	}
	return out
}
