package model

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// wordPiece reads texts into the numbers of an uncased BERT vocabulary (Devlin
// et al. 2019; WordPiece by longest match first, Wu et al. 2016): clean,
// strip accents, lower case, split at blanks, punctuation and CJK characters,
// then each word into the longest pieces the vocabulary has. It is read only
// once made, and safe for concurrent use.
type wordPiece struct {
	vocab         map[string]int64 // pieces inside a word begin with ##
	longest       int              // bytes of the longest piece
	most          int              // runes of the longest word that is cut into pieces
	cls, sep, unk int64
}

const insideWord = "##"

// wordPieceFile is what matters of a tokenizer.json.
type wordPieceFile struct {
	Normalizer struct {
		Type      string `json:"type"`
		Lowercase bool   `json:"lowercase"`
	} `json:"normalizer"`
	PreTokenizer struct {
		Type string `json:"type"`
	} `json:"pre_tokenizer"`
	Model struct {
		Type   string           `json:"type"`
		Unk    string           `json:"unk_token"`
		Prefix string           `json:"continuing_subword_prefix"`
		Most   int              `json:"max_input_chars_per_word"`
		Vocab  map[string]int64 `json:"vocab"`
	} `json:"model"`
}

// readWordPiece reads a tokenizer.json and refuses any other way of splitting
// than it knows.
func readWordPiece(file []byte) (*wordPiece, error) {
	var f wordPieceFile
	if err := json.Unmarshal(file, &f); err != nil {
		return nil, fmt.Errorf("the tokenizer is not JSON: %w", err)
	}
	if f.Normalizer.Type != "BertNormalizer" || !f.Normalizer.Lowercase || f.PreTokenizer.Type != "BertPreTokenizer" ||
		f.Model.Type != "WordPiece" || f.Model.Prefix != insideWord || f.Model.Most <= 0 {
		return nil, errors.New("the tokenizer is not an uncased BERT WordPiece")
	}
	w := &wordPiece{vocab: f.Model.Vocab, most: f.Model.Most}
	for _, special := range []struct {
		piece string
		id    *int64
	}{{"[CLS]", &w.cls}, {"[SEP]", &w.sep}, {f.Model.Unk, &w.unk}} {
		id, ok := w.vocab[special.piece]
		if !ok {
			return nil, fmt.Errorf("the tokenizer has no %q", special.piece)
		}
		*special.id = id
	}
	for piece, id := range w.vocab {
		if id < 0 {
			return nil, fmt.Errorf("the tokenizer numbers %q with %d", piece, id)
		}
		w.longest = max(w.longest, len(piece))
	}
	return w, nil
}

// read appends the numbers of a text to ids, without those of its beginning
// and end. What looks like a special token is read as ordinary text.
func (w *wordPiece) read(ids []int64, text string) []int64 {
	var word []byte
	end := func() {
		if len(word) > 0 {
			ids = w.pieces(ids, word)
			word = word[:0]
		}
	}
	for _, r := range plainText(text) {
		switch {
		case unicode.IsSpace(r):
			end()
		case ideograph(r), punctuation(r):
			end()
			ids = w.pieces(ids, utf8.AppendRune(nil, r))
		default:
			word = utf8.AppendRune(word, r)
		}
	}
	end()
	return ids
}

// pieces appends the pieces of a word, or one unknown where some part of it is
// in no piece.
func (w *wordPiece) pieces(ids []int64, word []byte) []int64 {
	if utf8.RuneCount(word) > w.most {
		return append(ids, w.unk)
	}
	first := len(ids)
	for at := 0; at < len(word); {
		id, n := w.longestAt(word[at:], at > 0)
		if n == 0 {
			return append(ids[:first], w.unk)
		}
		ids = append(ids, id)
		at += n
	}
	return ids
}

// longestAt is the longest piece at the beginning of rest, with its bytes.
func (w *wordPiece) longestAt(rest []byte, inside bool) (id int64, n int) {
	prefix := ""
	if inside {
		prefix = insideWord
	}
	key := append([]byte(prefix), rest[:min(len(rest), w.longest)]...)
	for n = len(key) - len(prefix); n > 0; n-- {
		if id, ok := w.vocab[string(key[:len(prefix)+n])]; ok {
			return id, n
		}
	}
	return 0, 0
}

// plainText drops controls and accents and lowers the letters.
func plainText(text string) string {
	if !slices.ContainsFunc([]byte(text), func(b byte) bool { return b >= utf8.RuneSelf }) {
		return strings.Map(func(r rune) rune { return unicode.ToLower(blankOrDrop(r)) }, text)
	}
	text = norm.NFD.String(strings.Map(blankOrDrop, text))
	var b strings.Builder
	b.Grow(len(text))
	for _, r := range text {
		if !unicode.Is(unicode.Mn, r) {
			b.WriteRune(unicode.ToLower(r))
		}
	}
	return b.String()
}

// blankOrDrop makes a blank of every space and drops (-1) what is no text.
func blankOrDrop(r rune) rune {
	switch {
	case r == '\t', r == '\n', r == '\r':
		return ' '
	case r == 0, r == utf8.RuneError, unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co):
		return -1
	case unicode.IsSpace(r):
		return ' '
	}
	return r
}

// punctuation are the signs of ASCII, also those Unicode counts as symbols,
// and the punctuation of every script.
func punctuation(r rune) bool {
	if r < utf8.RuneSelf {
		return '!' <= r && r <= '/' || ':' <= r && r <= '@' || '[' <= r && r <= '`' || '{' <= r && r <= '~'
	}
	return unicode.IsPunct(r)
}

// ideograph reports the CJK characters that are words of their own.
func ideograph(r rune) bool {
	switch {
	case r < 0x3400:
		return false
	case r <= 0x4dbf, 0x4e00 <= r && r <= 0x9fff, 0xf900 <= r && r <= 0xfaff:
		return true
	}
	return 0x20000 <= r && r <= 0x2a6df || 0x2a700 <= r && r <= 0x2b81f || 0x2b920 <= r && r <= 0x2ceaf || 0x2f800 <= r && r <= 0x2fa1f
}
