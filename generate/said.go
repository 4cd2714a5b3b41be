package generate

import (
	"strings"

	"github.com/reeltree/reeltree/retrieve"
	"github.com/reeltree/reeltree/tree"
)

// spoken are the words of some parts in order, made equal, with the part of each.
type spoken struct {
	parts []retrieve.Part
	words []string
	of    []int // the part of each word
}

func spokenOf(parts []retrieve.Part) spoken {
	s := spoken{parts: parts}
	for i, p := range parts {
		for _, w := range plainWords(p.Text) {
			s.words, s.of = append(s.words, w), append(s.of, i)
		}
	}
	return s
}

// mostBetween is how many words may stand between two that follow each other in
// a sentence: marks of transcribers ("{pause}") are left out of it.
const mostBetween = 1

// find is the place where a sentence is said word for word, and the number of its
// first word; ok is false where it is not. Of several places it is the first.
func (s spoken) find(sentence string) (span tree.Span, at int, ok bool) {
	wanted := plainWords(sentence)
	if len(wanted) == 0 {
		return span, 0, false
	}
	for between := range mostBetween + 1 {
		for from := range s.words {
			if to, held := s.follow(from, wanted, between); held {
				span = s.parts[s.of[from]].Span
				for _, p := range s.parts[s.of[from] : s.of[to]+1] {
					span = joinPlace(span, p.Span)
				}
				return span, from, true
			}
		}
	}
	return span, 0, false
}

// follow is where the last of some words stands that begin at a place, with at
// most so many others between two of them.
func (s spoken) follow(at int, wanted []string, between int) (last int, held bool) {
	if s.words[at] != wanted[0] {
		return at, false
	}
	for _, w := range wanted[1:] {
		next := at + 1
		for next < len(s.words) && next <= at+1+between && s.words[next] != w {
			next++
		}
		if next == len(s.words) || next > at+1+between {
			return at, false
		}
		at = next
	}
	return at, true
}

// plainWords are the words of a text in small letters; single characters in
// scripts without blanks, where a cue may end anywhere.
func plainWords(text string) []string {
	var out []string
	for word := range wordsOf(text) {
		from := 0
		for i, r := range word {
			if !tree.Unblanked(r) {
				continue
			}
			if i > from {
				out = append(out, word[from:i])
			}
			from = i + len(string(r))
			out = append(out, word[i:from])
		}
		if from < len(word) {
			out = append(out, word[from:])
		}
	}
	return out
}

// sameWords is a text as it is compared with another one.
func sameWords(text string) string {
	if words := plainWords(text); len(words) > 0 {
		return strings.Join(words, " ")
	}
	return oneLine(text)
}
