package model

import (
	"context"
	"hash/fnv"
	"math"
	"strings"
	"unicode"
	"unicode/utf8"
)

// builtinDim is the dimension of the built-in vectors.
const builtinDim = 256

// Builtin embeds text without any weights: words, word beginnings and character
// trigrams are hashed with a sign into 256 buckets, each counted sublinearly
// (feature hashing, Weinberger et al. 2009). It knows spelling, not meaning,
// needs no file and reads every script. Safe for concurrent use.
type Builtin struct{}

// NewBuiltin is the built-in embedder.
func NewBuiltin() Builtin { return Builtin{} }

// Name and version of the vectors; stored beside them.
func (Builtin) Name() string { return "builtin-hash-1" }

// Dim is the dimension of the vectors.
func (Builtin) Dim() int { return builtinDim }

// Embed gives one vector of unit length per text, in order; a text without a
// letter or digit gives zeros. It only fails when ctx has ended.
func (Builtin) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	vectors := make([][]float32, len(texts))
	for i, text := range texts {
		vectors[i] = embedHashed(text)
	}
	return vectors, nil
}

// Weights of the features: whole words carry most, their first four letters
// join inflected forms, trigrams forgive misspelling.
const (
	weightWord   = 1.0
	weightPrefix = 0.6
	weightGram   = 0.25
	weightCommon = 0.15 // of a function word against a content word
)

func embedHashed(text string) []float32 {
	counts := map[uint64]float64{}
	for word := range strings.FieldsFuncSeq(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.Is(unicode.Mn, r) }) {
		addWord(counts, word)
	}
	sums := make([]float64, builtinDim)
	for feature, count := range counts {
		value := math.Log1p(count)
		if feature>>63 == 1 {
			value = -value
		}
		sums[feature%builtinDim] += value
	}
	return unitLength(sums)
}

func addWord(counts map[uint64]float64, word string) {
	runes := []rune(word)
	if unspacedScript(runes[0]) {
		for i := range runes {
			counts[feature("c", string(runes[i]))] += weightGram
			if i+1 < len(runes) {
				counts[feature("w", string(runes[i:i+2]))] += weightWord
			}
		}
		return
	}
	scale := 1.0
	if utf8.RuneCountInString(word) <= 3 {
		scale = weightCommon
	}
	counts[feature("w", word)] += weightWord * scale
	if len(runes) >= 4 {
		counts[feature("p", string(runes[:4]))] += weightPrefix
	}
	padded := append(append([]rune{'<'}, runes...), '>')
	for i := 0; i+3 <= len(padded) && len(runes) >= 4; i++ {
		counts[feature("g", string(padded[i:i+3]))] += weightGram * scale
	}
}

// unspacedScript reports whether words of the script are written without blanks.
func unspacedScript(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer)
}

func feature(kind, text string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(kind)) // a hash never fails to write
	_, _ = h.Write([]byte(text))
	// FNV's low bits are weak on short input: mix before they pick the bucket.
	x := h.Sum64()
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	return x ^ x>>33
}

func unitLength(sums []float64) []float32 {
	var square float64
	for _, v := range sums {
		square += v * v
	}
	vector := make([]float32, len(sums))
	if square == 0 {
		return vector
	}
	for i, v := range sums {
		vector[i] = float32(v / math.Sqrt(square))
	}
	return vector
}
