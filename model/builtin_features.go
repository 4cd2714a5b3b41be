package model

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/reeltree/reeltree/tree"
)

// Kinds of features, mixed into their hashes; train/embedder/features.py is
// the twin of this file and must read every text alike.
const (
	kindWord  = 1 // a word, or a symbol that stands for one
	kindGroup = 3 // a group of characters of a word, its bounds counted in
	kindChar  = 5 // a character of a script without blanks
	kindPair  = 6 // two of them side by side
)

// longestWord bounds a word in runes; what goes on longer is cut.
const longestWord = 64

// features reads texts into words and characters. It is scratch space: read
// forgets the text before.
type features struct {
	emit func(kind uint64, runes []rune)
	word []rune
	pair [2]rune // the character before in a run of a script without blanks, and this one
}

// read hands every feature of text to emit, in order. The runes are valid
// during the call.
func (f *features) read(text string, emit func(kind uint64, runes []rune)) {
	f.emit, f.word, f.pair[0] = emit, f.word[:0], 0
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			text = norm.NFKD.String(text)
			break
		}
	}
	for _, r := range text {
		f.rune(r)
	}
	f.endWord()
	f.emit = nil
}

func (f *features) rune(r rune) {
	if r < utf8.RuneSelf {
		f.ascii(r)
		return
	}
	switch {
	case tree.DroppedMark(r):
	case tree.Unblanked(r):
		f.endWord()
		f.character(r)
	case unicode.IsMark(r) && len(f.word) == 0: // belongs to no letter of a word
	case unicode.IsLetter(r), unicode.IsDigit(r), unicode.IsMark(r):
		f.letter(unicode.ToLower(r))
	case unicode.Is(unicode.So, r) && r != utf8.RuneError: // a symbol; broken bytes are none
		f.endRun()
		f.word = append(f.word, r)
		f.endRun()
	default:
		f.endRun()
	}
}

func (f *features) ascii(r rune) {
	switch {
	case 'a' <= r && r <= 'z', '0' <= r && r <= '9':
		f.letter(r)
	case 'A' <= r && r <= 'Z':
		f.letter(r + 'a' - 'A')
	default:
		f.endRun()
	}
}

func (f *features) letter(r rune) {
	if len(f.word) == longestWord {
		f.endWord()
	}
	f.pair[0] = 0
	f.word = append(f.word, r)
}

// character emits one character of a script without blanks and its pair with
// the one before.
func (f *features) character(r rune) {
	f.pair[1] = r
	f.emit(kindChar, f.pair[1:])
	if f.pair[0] != 0 {
		f.emit(kindPair, f.pair[:])
	}
	f.pair[0] = r
}

// endWord emits the word read so far.
func (f *features) endWord() {
	if len(f.word) > 0 {
		f.emit(kindWord, f.word)
		f.word = f.word[:0]
	}
}

// endRun ends the word and the run of characters.
func (f *features) endRun() {
	f.endWord()
	f.pair[0] = 0
}

// hash mixes the kind of a feature and its characters (FNV-1a, then the
// finalizer of SplitMix64, so that all bits depend on all characters).
func hash(kind uint64, runes ...rune) uint64 {
	h := 14695981039346656037 ^ kind
	for _, r := range runes {
		h = (h ^ uint64(uint32(r))) * 1099511628211
	}
	h ^= h >> 30
	h *= 0xbf58476d1ce4e5b9
	h ^= h >> 27
	h *= 0x94d049bb133111eb
	return h ^ h>>31
}
