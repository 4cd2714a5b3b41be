package tree

import "testing"

func TestTokensByHand(t *testing.T) {
	cases := []struct {
		name, text    string
		words, tokens int
	}{
		{"empty", "", 0, 0},
		{"blanks only", " \t\n\u00a0\u3000\x1c", 0, 0},
		{"one word", "silo", 1, 2},
		{"three words", "dry the maize", 3, 4},
		{"four words round up", "it 's dry now", 4, 6},
		{"punctuation sticks to its word", "well, yes.", 2, 3},
		{"punctuation alone is a word", "well , yes .", 4, 6},
		{"information separator splits", "a\x1fb", 2, 3},
		{"Han: one word a character", "今天天气", 4, 6},
		{"kana and Han, full stop of its own", "水を飲む。", 5, 7},
		{"Han beside Latin", "用Go写", 3, 4},
		{"Hangul syllables", "안녕 하세요", 5, 7},
		{"Thai with vowel signs", "น้ำ", 3, 4},
		{"Thai sentence", "ฉันกินข้าว", 10, 14},
		{"Arabic by blanks", "مرحبا بالعالم", 2, 3},
		{"emoji", "👍🏽 ok", 2, 3},
		{"edges of the ranges", "\u0dff\u0e00\u0e7f\u0e80", 4, 6},
		{"CJK extension B is not counted by character", "𠀀𠀁", 1, 2},
		{"invalid bytes", "a\xff\xfe b", 2, 3},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := Words(c.text); got != c.words {
				t.Errorf("Words(%q) = %d, want %d", c.text, got, c.words)
			}
			if got := Tokens(c.text); got != c.tokens {
				t.Errorf("Tokens(%q) = %d, want %d", c.text, got, c.tokens)
			}
		})
	}
}
