package tree

import "unicode"

// Words counts words as the benchmark scorer does: runs of non-blank
// characters, and every Thai, Japanese, Chinese or Hangul character as a word
// of its own, since those scripts are written without blanks or densely.
func Words(text string) int {
	n, inWord := 0, false
	for _, r := range text {
		switch {
		case dense(r):
			n, inWord = n+1, false
		case blank(r):
			inWord = false
		case !inWord:
			n, inWord = n+1, true
		}
	}
	return n
}

// Tokens estimates what a text costs in a model's window without asking any
// tokenizer: words x 4/3, rounded up. Budgets everywhere use this one measure,
// so they mean the same with every model.
func Tokens(text string) int { return (Words(text)*4 + 2) / 3 }

// dense reports whether r counts as one word by itself.
func dense(r rune) bool {
	switch {
	case r < 0x0e00:
		return false
	case r <= 0x0e7f, // Thai
		r >= 0x3040 && r <= 0x30ff, // kana
		r >= 0x3400 && r <= 0x9fff, // Han
		r >= 0xac00 && r <= 0xd7af: // Hangul
		return true
	}
	return false
}

// blank is white space as the scorer's language has it: Unicode's and the four
// information separators.
func blank(r rune) bool { return unicode.IsSpace(r) || (r >= 0x1c && r <= 0x1f) }
