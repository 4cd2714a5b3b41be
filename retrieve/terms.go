package retrieve

import (
	"slices"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/reeltree/reeltree/tree"
)

// The kinds of terms a text is read into. Kinds never meet: the beginning
// "light" of lighthouse is another term than the word light.
const (
	kindWord  = 'w' // a stemmed word
	kindBegin = 'b' // the first letters of a longer word: inflected forms meet there
	kindGroup = 'g' // three letters of a word, its ends among them: spellings of one word meet there
	kindChar  = 'c' // one character of a script without blanks
	kindPair  = 'p' // two of them
	kindSign  = 's' // a symbol such as an emoji
)

const (
	beginRunes  = 4
	longestWord = 64 // runes; what goes on longer is read as several words
)

// term is one term of a text: its key, and the characters while a visit lasts.
type term struct {
	key     uint64
	kind    byte
	stop    bool // a function word
	digit   bool // a word that holds a digit
	capital bool // a word that begins with a capital letter
	latin   bool // in Latin letters or digits
	parted  bool // a pair with blanks between
	runes   []rune
	weight  float64 // what it counts in a question against a whole word
}

// whole reports whether the term counts in the length of a text: as a word, or
// as a pair of characters where no blanks are written. What a blank parts is
// found as a pair all the same, and counts as none.
func (t *term) whole() bool { return t.kind == kindWord || t.kind == kindPair && !t.parted }

// What kinds of terms count in a question.
var kindWeight = map[byte]float64{kindWord: 1, kindBegin: .5, kindGroup: .6, kindChar: .4, kindPair: 1, kindSign: 1}

// scanner reads texts into terms. It is scratch space for one goroutine.
type scanner struct {
	word  []rune
	ends  []rune // the word between its ends
	large bool   // the word begins with a capital letter
	prev  rune   // the character before in a script without blanks
	blank bool   // and blanks after it
	visit func(term)
}

// scan calls visit for the terms of text, in order of their ends. term.runes
// is valid during the call only.
func scan(text string, visit func(term)) {
	s := scanner{visit: visit}
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			text = norm.NFKD.String(text)
			break
		}
	}
	for _, r := range text {
		s.read(r)
	}
	s.endWord()
}

func (s *scanner) read(r rune) {
	switch {
	case 'a' <= r && r <= 'z', '0' <= r && r <= '9':
		s.letter(r)
	case 'A' <= r && r <= 'Z':
		s.large = s.large || len(s.word) == 0
		s.letter(r + 'a' - 'A')
	case r == ' ' && unicode.Is(unicode.Han, s.prev): // set for the looks, not between words
		s.blank = true
	case r < utf8.RuneSelf:
		s.endWord()
		s.prev = 0
	case tree.DroppedMark(r):
	case tree.Unblanked(r):
		s.endWord()
		s.character(r)
	case unicode.IsLetter(r), unicode.IsDigit(r), unicode.IsMark(r):
		s.large = s.large || len(s.word) == 0 && unicode.IsUpper(r)
		s.letter(unicode.ToLower(r))
	default:
		s.endWord()
		if s.prev = 0; unicode.Is(unicode.So, r) {
			s.emit(kindSign, []rune{r}, false)
		}
	}
}

func (s *scanner) letter(r rune) {
	if len(s.word) == longestWord {
		s.endWord()
	}
	s.prev = 0
	s.word = append(s.word, r)
}

func (s *scanner) character(r rune) {
	s.emit(kindChar, []rune{r}, unicode.Is(unicode.Hiragana, r) || functionChar(r))
	if s.prev != 0 {
		s.emit(kindPair, []rune{s.prev, r}, asksOnly(s.prev) || asksOnly(r) || functionChar(s.prev) && functionChar(r))
	}
	s.prev, s.blank = r, false
}

func (s *scanner) endWord() {
	w := s.word
	if s.word = s.word[:0]; len(w) == 0 {
		return
	}
	defer func() { s.large = false }()
	if stop := stopWord(w); stop {
		s.emit(kindWord, w, true)
		return
	}
	stem := stemOf(w)
	s.emit(kindWord, stem, false)
	if len(stem) > beginRunes {
		s.emit(kindBegin, stem[:beginRunes], false)
	}
	s.groups(w)
}

// groups emits the groups of letters of a word, and of its ends.
func (s *scanner) groups(w []rune) {
	s.ends = append(append(append(s.ends[:0], wordBegins), w...), wordEnds)
	for i := 0; i+3 <= len(s.ends); i++ {
		s.emit(kindGroup, s.ends[i:i+3], false)
	}
}

// What stands for the ends of a word in its groups of letters.
const (
	wordBegins = '<'
	wordEnds   = '>'
)

// firstNotLatin is the first letter after the Latin blocks.
const firstNotLatin = 0x250

func (s *scanner) emit(kind byte, runes []rune, stop bool) {
	t := term{key: termKey(kind, runes), kind: kind, stop: stop, runes: runes, weight: kindWeight[kind], latin: runes[len(runes)/2] < firstNotLatin, parted: s.blank && kind == kindPair}
	if kind == kindWord {
		t.capital, t.digit = s.large, slices.ContainsFunc(runes, unicode.IsDigit)
	}
	s.visit(t)
}

// termKey mixes kind and characters into 64 bits (FNV-1a and the finalizer of
// SplitMix64), so that terms are compared without keeping their text.
func termKey(kind byte, runes []rune) uint64 {
	h := 14695981039346656037 ^ uint64(kind)
	for _, r := range runes {
		h = (h ^ uint64(uint32(r))) * 1099511628211
	}
	h ^= h >> 30
	h *= 0xbf58476d1ce4e5b9
	h ^= h >> 27
	h *= 0x94d049bb133111eb
	return h ^ h>>31
}
