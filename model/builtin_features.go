package model

import (
	"slices"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/reeltree/reeltree/tree"
)

// Weights of the features of a text, chosen by hand: a word counts whole, its
// beginning lets inflected forms meet, groups of characters do so in scripts
// that inflect inside the word or write no blanks.
const (
	wordWeight   = 1.0
	stopWeight   = 0.06
	beginWeight  = 0.6
	groupWeight  = 0.6
	singleWeight = 0.6
	pairWeight   = 1.0
	beginRunes   = 5
	longestWord  = 64 // runes; what goes on longer is cut into words of this length
)

// feature is one hashed property of a text with its weight.
type feature struct {
	hash   uint64
	weight float32
}

// features reads texts into hashed properties. It is scratch space: read
// forgets the text before.
type features struct {
	all  []feature
	word []rune
	prev rune // the character before in a run of a script without blanks
}

// read collects the features of text.
func (f *features) read(text string) {
	f.all, f.word, f.prev = f.all[:0], f.word[:0], 0
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
	case unicode.IsLetter(r), unicode.IsDigit(r), unicode.IsMark(r):
		f.letter(unicode.ToLower(r))
	case unicode.Is(unicode.So, r):
		f.endWord()
		f.add(hash(7, r), wordWeight)
	default:
		f.endWord()
	}
}

func (f *features) ascii(r rune) {
	switch {
	case 'a' <= r && r <= 'z', '0' <= r && r <= '9':
		f.letter(r)
	case 'A' <= r && r <= 'Z':
		f.letter(r + 'a' - 'A')
	case r == '\'' && len(f.word) > 0: // what follows is an ending: speaker's, don't
		f.endWord()
	default:
		f.endWord()
	}
}

func (f *features) letter(r rune) {
	if len(f.word) == longestWord {
		f.endWord()
	}
	f.prev = 0
	f.word = append(f.word, r)
}

// character adds one character of a script without blanks and its pair with
// the one before.
func (f *features) character(r rune) {
	f.add(hash(5, r), singleWeight)
	if f.prev != 0 {
		f.add(hash(6, f.prev, r), pairWeight)
	}
	f.prev = r
}

// endWord adds the features of the word read so far.
func (f *features) endWord() {
	w := f.word
	if f.word = f.word[:0]; len(w) == 0 {
		f.prev = 0
		return
	}
	if h := hash(1, w...); (len(w) <= longestStop && stopWords[h]) || (len(w) == 1 && !unicode.IsDigit(w[0])) {
		f.add(h, stopWeight)
		return
	}
	stem := w[:stemLen(w)]
	f.add(hash(1, stem...), wordWeight)
	if len(stem) > beginRunes {
		f.add(hash(2, stem[:beginRunes]...), beginWeight)
	}
	if w[0] < 0x250 { // Latin words are told apart well enough by their beginnings
		return
	}
	for i := 0; i+3 <= len(w); i++ {
		f.add(hash(3, w[i:i+3]...), groupWeight)
	}
}

func (f *features) add(h uint64, weight float32) {
	f.all = append(f.all, feature{h, weight})
}

// growth is 1 + ln(count): how much more a repeated feature weighs. A table,
// since math functions differ in the last bit between machines.
var growth = [...]float32{0, 1, 1.6931, 2.0986, 2.3863, 2.6094, 2.7918, 2.9459, 3.0794, 3.1972, 3.3026}

// project writes the unit vector of the features into v, which is zero. Every
// feature stands at four places, so two texts that clash in one still differ
// in the others.
func (f *features) project(v []float32) {
	slices.SortFunc(f.all, func(a, b feature) int {
		if a.hash < b.hash {
			return -1
		}
		return 1
	})
	for i := 0; i < len(f.all); {
		j := i
		for j < len(f.all) && f.all[j].hash == f.all[i].hash {
			j++
		}
		w := f.all[i].weight * growth[min(j-i, len(growth)-1)]
		h := f.all[i].hash
		for range 4 {
			if h&256 == 0 {
				v[h&255] += w
			} else {
				v[h&255] -= w
			}
			h >>= 9
		}
		i = j
	}
	toUnit(v)
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
