package model

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// smallPieces is a vocabulary of a few pieces, numbered in this order.
var smallPieces = []string{"[PAD]", "[UNK]", "[CLS]", "[SEP]", "light", "##house", "##s", "the", "a", "##b", "中", "国", "!", ".", "ecole", "я", "##б", "²", "[", "]"}

// tokenizerFile is a tokenizer.json over a vocabulary.
func tokenizerFile(pieces []string, change func(map[string]any)) []byte {
	vocab := map[string]any{}
	for i, p := range pieces {
		vocab[p] = i
	}
	file := map[string]any{
		"normalizer":    map[string]any{"type": "BertNormalizer", "lowercase": true},
		"pre_tokenizer": map[string]any{"type": "BertPreTokenizer"},
		"model": map[string]any{
			"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 12, "vocab": vocab,
		},
	}
	if change != nil {
		change(file)
	}
	data, err := json.Marshal(file)
	if err != nil {
		panic(err)
	}
	return data
}

func smallWordPiece(t *testing.T) *wordPiece {
	t.Helper()
	w, err := readWordPiece(tokenizerFile(smallPieces, nil))
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// shown are the pieces of a text.
func (w *wordPiece) shown(text string) string {
	var out []string
	for _, id := range w.read(nil, text) {
		out = append(out, smallPieces[id])
	}
	return strings.Join(out, " ")
}

func TestWordPieceCutsAsTheVocabularySays(t *testing.T) {
	w := smallWordPiece(t)
	for _, c := range []struct{ name, text, want string }{
		{"nothing", "", ""},
		{"blanks", " \t\n\r\u00a0\u2003\u2028 ", ""},
		{"longest first", "lighthouses", "light ##house ##s"},
		{"capitals", "The LightHouse", "the light ##house"},
		{"one missing part spoils the word", "lighthouseq the", "[UNK] the"},
		{"a piece inside is another than a word", "house", "[UNK]"},
		{"signs stand alone", "the!the.", "the ! the ."},
		{"accents fall", "École a\u0301", "ecole a"},
		{"ideographs stand alone", "中国a中", "中 国 a 中"},
		{"controls vanish", "li\u200bght\x00hou\ufeffse\x07", "light ##house"},
		{"broken bytes vanish", "lig\xffht", "light"},
		{"twelve runes", "a" + strings.Repeat("b", 11), "a" + strings.Repeat(" ##b", 11)},
		{"thirteen", "a" + strings.Repeat("b", 12), "[UNK]"},
		{"runes, not bytes, are counted", "я" + strings.Repeat("б", 11), "я" + strings.Repeat(" ##б", 11)},
		{"compatible characters stay", "²", "²"},
		{"specials are text", "[SEP]", "[ [UNK] ]"},
	} {
		if got := w.shown(c.text); got != c.want {
			t.Errorf("%s: %q gives %q instead of %q", c.name, c.text, got, c.want)
		}
	}
}

func TestOtherTokenizersAreRefused(t *testing.T) {
	part := func(name, key string, value any) func(map[string]any) {
		return func(f map[string]any) { f[name].(map[string]any)[key] = value }
	}
	for name, file := range map[string][]byte{
		"no JSON":     []byte("{"),
		"cased":       tokenizerFile(smallPieces, part("normalizer", "lowercase", false)),
		"normaliser":  tokenizerFile(smallPieces, part("normalizer", "type", "NFC")),
		"splitter":    tokenizerFile(smallPieces, part("pre_tokenizer", "type", "ByteLevel")),
		"byte pairs":  tokenizerFile(smallPieces, part("model", "type", "BPE")),
		"prefix":      tokenizerFile(smallPieces, part("model", "continuing_subword_prefix", "@@")),
		"no bound":    tokenizerFile(smallPieces, part("model", "max_input_chars_per_word", 0)),
		"no unknown":  tokenizerFile(smallPieces, part("model", "unk_token", "<unk>")),
		"no end":      tokenizerFile(smallPieces[:3], nil),
		"bad numbers": tokenizerFile(smallPieces, part("model", "vocab", map[string]any{"[CLS]": 1, "[SEP]": 2, "[UNK]": 3, "a": -1})),
	} {
		if _, err := readWordPiece(file); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// golden is what the reference libraries give for a text.
type golden struct {
	Text   string    `json:"text"`
	IDs    []int64   `json:"ids"`
	Vector []float64 `json:"vector"`
}

func miniLMGoldens(t *testing.T) []golden {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "minilm.json"))
	if err != nil {
		t.Fatal(err)
	}
	var all []golden
	if err := json.Unmarshal(data, &all); err != nil {
		t.Fatal(err)
	}
	return all
}

// miniLMFolder is where make minilm put the encoder; without it the test is skipped.
func miniLMFolder(tb testing.TB) string {
	tb.Helper()
	dir := os.Getenv("REELTREE_MINILM_DIR")
	if dir == "" {
		dir = DefaultMiniLMDir()
	}
	if _, err := os.Stat(filepath.Join(dir, miniLMRuntime)); err != nil {
		tb.Skipf("the encoder is not there, run make minilm: %v", err)
	}
	return dir
}

func TestWordPieceIsThatOfTheReference(t *testing.T) {
	file, err := os.ReadFile(filepath.Join(miniLMFolder(t), miniLMTokenizer))
	if err != nil {
		t.Fatal(err)
	}
	w, err := readWordPiece(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range miniLMGoldens(t) {
		if got := w.read(nil, g.Text); !slices.Equal(got, g.IDs) {
			t.Errorf("%q gives\n%v instead of\n%v", g.Text, got, g.IDs)
		}
	}
}

func FuzzWordPiece(f *testing.F) {
	w, err := readWordPiece(tokenizerFile(smallPieces, nil))
	if err != nil {
		f.Fatal(err)
	}
	f.Add("The lighthouse!")
	f.Add("中国\xff\x00é")
	f.Fuzz(func(t *testing.T, text string) {
		ids := w.read(nil, text)
		if len(ids) > 3*len(text) { // a character may decompose, never explode
			t.Errorf("%d pieces of %d bytes", len(ids), len(text))
		}
		for _, id := range ids {
			if id < 0 || int(id) >= len(smallPieces) {
				t.Error(fmt.Sprint("number ", id, " is not in the vocabulary"))
			}
		}
		if again := w.read(nil, text); !slices.Equal(ids, again) {
			t.Error("read twice, it gives something else")
		}
	})
}
