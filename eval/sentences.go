package eval

import (
	"strings"
	"unicode"

	"github.com/reeltree/reeltree/tree"
)

// sentenceLeaves are the sentences of a paragraph as leaves, their places in
// code points; paragraph counts from 1. A paragraph without any is one leaf.
func sentenceLeaves(text string, paragraph int) []tree.Leaf {
	r := []rune(text)
	var out []tree.Leaf
	from := 0
	add := func(end int) {
		a, b := from, end
		for a < b && unicode.IsSpace(r[a]) {
			a++
		}
		for b > a && unicode.IsSpace(r[b-1]) {
			b--
		}
		if from = end; a == b {
			return
		}
		span := tree.Span{Unit: tree.UnitText, Paragraph: paragraph, StartChar: a, EndChar: b}
		out = append(out, tree.Leaf{Span: span, Evidence: tree.Evidence{Passage: string(r[a:b])}})
	}
	for i := range r {
		if endsSentence(r, i) {
			add(i + 1)
		}
	}
	add(len(r))
	return out
}

// endsSentence reports whether a sentence ends with r[i]: at a wide mark, or at
// a narrow one before a blank and no small letter, except after an initial.
func endsSentence(r []rune, i int) bool {
	if strings.ContainsRune("。！？।", r[i]) {
		return true
	}
	if !strings.ContainsRune(".!?؟", r[i]) || i+1 >= len(r) || !unicode.IsSpace(r[i+1]) {
		return false
	}
	if i > 1 && r[i] == '.' && unicode.IsUpper(r[i-1]) && !unicode.IsLetter(r[i-2]) {
		return false
	}
	for _, next := range r[i+1:] {
		if !unicode.IsSpace(next) {
			return !unicode.IsLower(next)
		}
	}
	return true
}

// paragraphClip is a paragraph as a clip of sentences.
func paragraphClip(text string, paragraph int) tree.Clip {
	span := tree.Span{Unit: tree.UnitText, Paragraph: paragraph, EndChar: len([]rune(text))}
	return tree.Clip{Span: span, Leaves: sentenceLeaves(text, paragraph)}
}
