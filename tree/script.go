package tree

import "unicode"

// DroppedMark reports whether r is an accent or vowel sign that people leave
// out when they type: Latin, Greek and Cyrillic accents, Hebrew points, Arabic
// vowels and the Arabic stretching stroke. Signs of Indic scripts are parts of
// letters and stay. The text must be decomposed (NFKD).
func DroppedMark(r rune) bool {
	return r >= 0x300 && r <= 0x36f || r >= 0x591 && r <= 0x5c7 || r >= 0x64b && r <= 0x65f || r == 0x670 || r == 0x640
}

// Unblanked reports whether r belongs to a script written without blanks
// between words. All of them lie at or above U+0E00, which settles most text
// without a table.
func Unblanked(r rune) bool {
	return r >= 0xe00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}
