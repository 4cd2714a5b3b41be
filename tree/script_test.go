package tree

import (
	"testing"
	"unicode"
)

func TestScripts(t *testing.T) {
	for r, want := range map[rune]bool{'a': false, 'é': false, 'я': false, 'ع': false, '한': false, 'क': false, '光': true, 'の': true, 'ト': true, 'ก': true, 'ລ': true, 'ខ': true, 'မ': true} {
		if Unblanked(r) != want {
			t.Errorf("Unblanked(%c) = %v", r, !want)
		}
	}
	for r, want := range map[rune]bool{'a': false, 0x301: true, 0x5b0: true, 0x64e: true, 0x640: true, 0x94d: false} {
		if DroppedMark(r) != want {
			t.Errorf("DroppedMark(%U) = %v", r, !want)
		}
	}
	// The bound may cut nothing off.
	for r := range rune(0xe00) {
		if unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar) {
			t.Fatalf("%U lies below the bound", r)
		}
	}
}
