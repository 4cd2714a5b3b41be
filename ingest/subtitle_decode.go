package ingest

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/unicode"
)

// decodeText turns bytes of unknown encoding into valid UTF-8 with line feeds
// as the only line ends and without NUL or byte-order mark. guessed reports
// that the encoding was chosen by the look of the letters alone.
func decodeText(data []byte) (text, encodingName string, guessed bool) {
	switch {
	case bytes.HasPrefix(data, []byte("\xEF\xBB\xBF")):
		return plainText(string(data[3:])), "utf-8", false
	case bytes.HasPrefix(data, []byte("\xFF\xFE")):
		return utf16Text(data[2:], unicode.LittleEndian), "utf-16le", false
	case bytes.HasPrefix(data, []byte("\xFE\xFF")):
		return utf16Text(data[2:], unicode.BigEndian), "utf-16be", false
	}
	switch low, high := nulShares(data); {
	case high > 0.3 && low < 0.05:
		return utf16Text(data, unicode.LittleEndian), "utf-16le", false
	case low > 0.3 && high < 0.05:
		return utf16Text(data, unicode.BigEndian), "utf-16be", false
	}
	if nearlyUTF8(data) {
		return plainText(strings.ToValidUTF8(string(data), "\uFFFD")), "utf-8", false
	}
	name, enc := guessLegacy(data)
	return plainText(decodeWith(enc, data)), name, true
}

func utf16Text(data []byte, order unicode.Endianness) string {
	return plainText(decodeWith(unicode.UTF16(order, unicode.IgnoreBOM), data))
}

// decodeWith never fails: what the encoding does not know becomes U+FFFD.
func decodeWith(enc encoding.Encoding, data []byte) string {
	out, err := enc.NewDecoder().Bytes(data)
	if err != nil {
		out = data
	}
	return strings.ToValidUTF8(string(out), "\uFFFD")
}

// nulShares are the shares of NUL among the even and the odd bytes: text in
// UTF-16 has many in one half only.
func nulShares(data []byte) (even, odd float64) {
	data = data[:min(len(data), 1<<16)&^1]
	if len(data) < 4 {
		return 0, 0
	}
	var n [2]int
	for i, b := range data {
		if b == 0 {
			n[i&1]++
		}
	}
	half := float64(len(data) / 2)
	return float64(n[0]) / half, float64(n[1]) / half
}

// nearlyUTF8 accepts text with a few broken bytes among many right sequences,
// as damaged or cut files have them; a legacy code page has hardly any right ones.
func nearlyUTF8(data []byte) bool {
	if utf8.Valid(data) {
		return true
	}
	good, bad := 0, 0
	for len(data) > 0 {
		r, size := utf8.DecodeRune(data)
		switch {
		case r == utf8.RuneError && size == 1:
			bad++
		case size > 1:
			good++
		}
		data = data[size:]
	}
	return good > 0 && bad*10 <= good
}

// plainText makes all line ends line feeds and drops NUL and stray marks.
func plainText(s string) string {
	return lineEnds.Replace(strings.TrimPrefix(s, "\uFEFF"))
}

var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\u2028", "\n", "\u2029", "\n", "\x00", "")
