package ingest

import (
	"strings"
	"unicode"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
)

// legacy is a code page with what its text usually looks like: the scripts of
// its letters and the letters that stand most often. Two code pages that put
// letters at the same bytes differ in how often the usual ones turn up.
type legacy struct {
	name    string
	enc     encoding.Encoding
	scripts []*unicode.RangeTable
	common  string
	latin   bool // its letters stand among ASCII letters in one word
	wide    bool // two bytes a letter
}

// legacies are tried in this order; the first of equals wins.
func legacies() []legacy {
	latin := []*unicode.RangeTable{unicode.Latin}
	han := []*unicode.RangeTable{unicode.Han}
	return []legacy{
		{name: "windows-1252", enc: charmap.Windows1252, scripts: latin, common: "éèàùçêâîôûëïäöüßñáíóúåæøãõ", latin: true},
		{name: "windows-1250", enc: charmap.Windows1250, scripts: latin, common: "ąćęłńóśźżáčďéěíňřšťúůýžőűöüă", latin: true},
		{name: "windows-1254", enc: charmap.Windows1254, scripts: latin, common: "ğışçöü", latin: true},
		{name: "windows-1251", enc: charmap.Windows1251, scripts: []*unicode.RangeTable{unicode.Cyrillic}, common: "оеаинтсрвлкмдпу"},
		{name: "koi8-r", enc: charmap.KOI8R, scripts: []*unicode.RangeTable{unicode.Cyrillic}, common: "оеаинтсрвлкмдпу"},
		{name: "windows-1253", enc: charmap.Windows1253, scripts: []*unicode.RangeTable{unicode.Greek}, common: "αοιετσνηυρπκμςλά"},
		{name: "windows-1255", enc: charmap.Windows1255, scripts: []*unicode.RangeTable{unicode.Hebrew}, common: "יוהלאמרתבשנםעד"},
		{name: "windows-1256", enc: charmap.Windows1256, scripts: []*unicode.RangeTable{unicode.Arabic}, common: "اليمونترهبةعدس"},
		{name: "windows-874", enc: charmap.Windows874, scripts: []*unicode.RangeTable{unicode.Thai}, common: "านรอกงมเ่ี้ว"},
		{name: "shift_jis", enc: japanese.ShiftJIS, scripts: []*unicode.RangeTable{unicode.Hiragana, unicode.Katakana, unicode.Han}, common: "のにはをたがでてとしれさあいるかなこうもすんだ", wide: true},
		{name: "euc-jp", enc: japanese.EUCJP, scripts: []*unicode.RangeTable{unicode.Hiragana, unicode.Katakana, unicode.Han}, common: "のにはをたがでてとしれさあいるかなこうもすんだ", wide: true},
		{name: "euc-kr", enc: korean.EUCKR, scripts: []*unicode.RangeTable{unicode.Hangul}, common: "이다는을가에의고하은지를들로나한도어그기사리아자", wide: true},
		{name: "gb18030", enc: simplifiedchinese.GB18030, scripts: han, common: "的一是不了在人有我他这个们中来上大为和国地到以说时要就出会可也你对生能而子那得", wide: true},
		{name: "big5", enc: traditionalchinese.Big5, scripts: han, common: "的一是不了在人有我他這個們中來上大為和國地到以說時要就出會可也你對生能而子那得", wide: true},
	}
}

// guessLegacy chooses the code page whose text looks most like text.
func guessLegacy(data []byte) (string, encoding.Encoding) {
	data = data[:min(len(data), 1<<17)]
	all := legacies()
	best, bestScore := 0, -1e9
	for i, l := range all {
		if s := l.score(decodeWith(l.enc, data)); s > bestScore+1e-9 {
			best, bestScore = i, s
		}
	}
	return all[best].name, all[best].enc
}

// score sums how well every non-ASCII letter fits, per byte it was made of.
func (l legacy) score(text string) float64 {
	sum, prev := 0.0, ' '
	for _, r := range text {
		if r >= 0x80 {
			sum += l.fit(prev, r)
		} else if prev >= 0x80 && !l.latin && asciiLetter(r) && unicode.IsLetter(prev) {
			sum -= 2 // two scripts in one word
		}
		prev = r
	}
	return sum
}

func (l legacy) fit(prev, r rune) float64 {
	per := 1.0
	if l.wide && r > 0xff {
		per = 2
	}
	switch {
	case r == '\uFFFD' || unicode.IsControl(r) || unicode.Is(unicode.Co, r):
		return -5
	case r >= 0xff61 && r <= 0xff9f: // half-width kana: nearly always another encoding
		return -3
	case strings.ContainsRune("“”‘’«»–—…¿¡€°©®™、。！？「」『』，：《》　・ー\u00a0", r):
		return 0.5 * per
	case !unicode.In(r, l.scripts...):
		return -2 * per
	}
	fit := per
	if strings.ContainsRune(l.common, unicode.ToLower(r)) {
		fit = 3 * per
	}
	switch {
	case unicode.IsUpper(r) && unicode.IsLower(prev):
		fit = -3
	case !l.latin && asciiLetter(prev):
		fit -= 2
	case l.latin && prev >= 0x80 && unicode.IsLetter(prev):
		fit = -1 // languages in Latin letters put few marked ones side by side
	}
	return fit
}

func asciiLetter(r rune) bool { return r|0x20 >= 'a' && r|0x20 <= 'z' }
