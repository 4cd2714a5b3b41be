package model

import (
	"context"
	"fmt"
	"math"
	"sync"
)

// Builtin is the embedder inside the binary: a table of learned vectors, no
// network, no C. A text is the sum of the vectors of its words, scaled to unit
// length; a word without a vector is the sum of its groups of characters, so
// every script and every new name has a place (Bojanowski et al. 2017). The
// vectors are learned from a sentence encoder (train/README.md), so texts that
// mean alike point the same way. The same text gives the same vector on every
// machine. Safe for concurrent use.
type Builtin struct {
	table   func() *table
	scratch *sync.Pool
}

// NewBuiltin is the built-in embedder. It reads nothing yet: the first use
// looks into the embedded file.
func NewBuiltin() Builtin {
	return Builtin{
		table:   sync.OnceValue(builtinTable),
		scratch: &sync.Pool{New: func() any { return new(features) }},
	}
}

// Name is the name vectors of this embedder are stored under. It follows from
// the learned values, so that old and new ones are never compared.
func (b Builtin) Name() string { return b.table().name }

// Dim is the dimension of the vectors.
func (b Builtin) Dim() int { return b.table().dim }

// Embed gives one vector of unit length per text, in order; a text without any
// letter, digit or symbol gives zeros. It fails only when ctx has ended.
func (b Builtin) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	t := b.table()
	f := b.scratch.Get().(*features)
	defer b.scratch.Put(f)
	vectors := make([][]float32, len(texts))
	for i, text := range texts {
		if i%256 == 0 && ctx.Err() != nil {
			return nil, fmt.Errorf("embedding stopped after %d of %d texts: %w", i, len(texts), context.Cause(ctx))
		}
		vectors[i] = make([]float32, t.dim) // apart, so that one kept vector keeps no other alive
		f.read(text, func(kind uint64, runes []rune) { t.add(vectors[i], kind, runes) })
		toUnit(vectors[i])
	}
	return vectors, nil
}

// toUnit scales v to unit length; zeros stay. The products are rounded one by
// one, so that no machine fuses them into another result.
func toUnit(v []float32) {
	var square float64
	for _, x := range v {
		square += float64(x) * float64(x) // exact in float64
	}
	if square == 0 {
		return
	}
	scale := 1 / math.Sqrt(square)
	for i := range v {
		v[i] = float32(float64(v[i]) * scale)
	}
}
