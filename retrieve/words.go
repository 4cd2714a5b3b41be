package retrieve

import (
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// stemOf is a word in small letters without the endings and prefixes that
// change with its place in a sentence: forms of one word get one stem.
func stemOf(w []rune) []rune {
	switch r := w[0]; {
	case r <= 'z':
		return w[:stemLen(w)]
	case unicode.Is(unicode.Arabic, r):
		return arabicStem(w)
	case unicode.Is(unicode.Devanagari, r):
		return hindiStem(w)
	}
	return w
}

// arabicStem takes off the article with what is written before it, and the
// endings of gender, number and possession: the light stemmer of Larkey,
// Ballesteros and Connell (2007) by its table 10.
func arabicStem(w []rune) []rune {
	begin := longestPrefix(w, arabicBegins, 2)
	if w = w[begin:]; begin == 0 && len(w) > 3 && w[0] == 'و' {
		w = w[1:]
	}
	for _, e := range arabicEnds {
		if n := len(w) - len(e); n >= 3 && slices.Equal(w[n:], e) {
			w = w[:n]
		}
	}
	return w
}

// longestPrefix is the length of the first of all that w begins with, so that
// rest runes are left.
func longestPrefix(w []rune, all [][]rune, rest int) int {
	for _, p := range all {
		if len(w) >= len(p)+rest && slices.Equal(w[:len(p)], p) {
			return len(p)
		}
	}
	return 0
}

// hindiStem takes off the longest ending of case, number, gender or tense: the
// lightweight stemmer of Ramanathan and Rao (2003).
func hindiStem(w []rune) []rune {
	for _, e := range hindiEnds {
		if n := len(w) - len(e); n >= 2 && slices.Equal(w[n:], e) {
			return w[:n]
		}
	}
	return w
}

var (
	arabicBegins = affixes("وال بال كال فال ال لل")
	arabicEnds   = affixes("ها ان ات ون ين يه ية ه ة ي")
	hindiEnds    = affixes(`
		ाएंगी ाएंगे ाऊंगी ाऊंगा ाइयाँ ाइयों ाइयां
		ाएगी ाएगा ाओगी ाओगे एंगी ेंगी एंगे ेंगे ूंगी ूंगा ातीं नाओं नाएं ताओं ताएं ियाँ ियों ियां
		ाकर ाइए ाईं ाया ेगी ेगा ोगी ोगे ाने ाना ाते ाती ाता तीं ाओं ाएं ुओं ुएं ुआं
		कर ाओ िए ाई ाए ने नी ना ते ीं ती ता ाँ ां ों ें
		ो े ू ु ी ि ा`)
)

// affixes are the words of a list as texts are read, in its order.
func affixes(list string) (out [][]rune) {
	for a := range strings.FieldsSeq(norm.NFKD.String(list)) {
		out = append(out, []rune(a))
	}
	return out
}

// functionChar reports whether a Chinese character mostly is a function word of
// its own, and asksOnly whether it stands in words that ask.
func functionChar(r rune) bool { return asksOnly(r) || strings.ContainsRune(functionChars, r) }

func asksOnly(r rune) bool { return strings.ContainsRune(askingChars, r) }

const (
	askingChars   = "什么麼哪谁誰吗嗎呢"
	functionChars = "的了是在和与與有为為被如何怎多少几幾个個这這那其及等之而于於以一不也他她它们們"
)

// stemLen is the length of a word in small letters without common English
// endings: forms of one word get one stem, which need not be a word.
func stemLen(w []rune) int {
	n := len(w)
	for _, r := range w {
		if r > 'z' || r < 'a' {
			return n
		}
	}
	switch {
	case n > 5 && ends(w, "ing"):
		n = undouble(w, n-3)
	case n > 4 && ends(w, "ed"):
		n = undouble(w, n-2)
	case n > 5 && ends(w, "ies"):
		n -= 3
	case n > 5 && ends(w, "ly"), n > 4 && ends(w, "es"):
		n -= 2
	case n > 3 && (w[n-1] == 'y' || w[n-1] == 'e'):
		n--
	}
	if n > 3 && w[n-1] == 's' && w[n-2] != 's' && w[n-2] != 'u' {
		n-- // also of what is left: lenses, lens
	}
	return n
}

// undouble takes the doubled consonant off a stem: runn-ing, plann-ed.
func undouble(w []rune, n int) int {
	if n > 3 && w[n-1] == w[n-2] && !strings.ContainsRune("lsz", w[n-1]) {
		return n - 1
	}
	return n
}

func ends(w []rune, s string) bool {
	n := len(w) - len(s)
	for i, r := range s {
		if w[n+i] != r {
			return false
		}
	}
	return true
}

// stopWord reports whether w is a function word or a word that questions about
// recordings are made of: it opens no gap and proves nothing.
func stopWord(w []rune) bool {
	return len(w) <= longestStop && stopWords[termKey(kindWord, w)]
}

// longestStop is the length of the longest stop word in runes.
const longestStop = 12

var stopWords = func() map[uint64]bool {
	m := map[uint64]bool{}
	for w := range strings.FieldsSeq(norm.NFKD.String(stopList)) {
		m[termKey(kindWord, []rune(w))] = true
	}
	return m
}()

// stopList holds function words of common languages; other languages rely on
// inverse document frequency alone.
const stopList = `
a y o u an the and or but if then than so of in on at to for from by with about into onto over under out up down off as is are was were be been being am
do does did done doing have has had having can could will would shall should may might must i you he she it we they me him her us them my your his
its our their this that these those there here what which who whom whose when where why how not no yes nor all any both each few more most other
some such only own same too very just also again ok okay oh uh um yeah well re ve ll don let lets
say says said tell told talk talks talked think thinks thought mention mentioned mentions discuss discussed discussion happen happens happened
video speaker recording summarize summarise summary describe explain please show during thing things something anything
el la los las un una unos unas de del al en por para con sin que se su sus lo le les es son fue era ser como mas pero si ya esta este esto
cual cuales cuando donde quien quienes cuanto cuantos cuantas
les des une et ou du dans pour sur avec par plus mais ne pas est sont ce cette ces il elle ils elles nous vous je tu qui qu au aux quel quelle quand comment pourquoi
der die das den dem des ein eine einen einem einer und oder zu zum zur von mit auf fur im ist sind war nicht sich auch als wie es er sie wir ihr ich was wer wo wann warum
os as um uma da do dos das na nos nas em ao com nao quem onde quando
lo gli i di che non per della dei delle nel alla chi dove come
het een van niet zijn dat met voor op te wie wat waar
и в на с по к у не что это как из за от для то он она они мы вы я бы же кто где когда
في من على الى عن ان هذا هذه التي الذي كان كانت هو هي ما مع او و لا متى اين كيف كم ماذا لماذا
के का की को में से है हैं था थे थी और एक यह वह ने पर कि जो भी इस उस लिए हो गया कर क्या कौन कब कहाँ कैसे किस किसने कितने
`
