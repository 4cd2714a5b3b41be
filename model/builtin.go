package model

import (
	"context"
	"fmt"
	"math"
	"sync"
)

// builtinDim is the dimension of the built-in vectors.
const builtinDim = 256

// builtinName names the vectors in stored trees; another way of making them
// must get another name, or old and new ones would be compared.
const builtinName = "builtin-hash-1"

// Builtin is the embedder inside the binary: no weights, no file, no network.
// Words, word beginnings and character groups of a text are hashed with signs
// into the vector (feature hashing, Weinberger et al. 2009), function words
// weigh little and repeated ones grow with the logarithm, so texts that share
// telling words point the same way, in any script. It knows spelling, not
// meaning. The same text gives the same vector on every machine. Safe for
// concurrent use.
type Builtin struct {
	scratch *sync.Pool
}

// NewBuiltin is the built-in embedder.
func NewBuiltin() Builtin {
	return Builtin{&sync.Pool{New: func() any { return new(features) }}}
}

// Name is the name vectors of this embedder are stored under.
func (Builtin) Name() string { return builtinName }

// Dim is the dimension of the vectors.
func (Builtin) Dim() int { return builtinDim }

// Embed gives one vector of unit length per text, in order; a text without any
// letter, digit or symbol gives zeros. It fails only when ctx has ended.
func (b Builtin) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	f := b.scratch.Get().(*features)
	defer b.scratch.Put(f)
	vectors := make([][]float32, len(texts))
	for i, text := range texts {
		if i%256 == 0 && ctx.Err() != nil {
			return nil, fmt.Errorf("embedding stopped after %d of %d texts: %w", i, len(texts), context.Cause(ctx))
		}
		vectors[i] = make([]float32, builtinDim) // apart, so that one kept vector keeps no other alive
		f.read(text)
		f.project(vectors[i])
	}
	return vectors, nil
}

// toUnit scales v to unit length; zeros stay. The products are rounded one by
// one, so that no machine fuses them into another result.
func toUnit(v []float32) {
	var square float32
	for _, x := range v {
		square += float32(x * x)
	}
	if square == 0 {
		return
	}
	scale := float32(1 / math.Sqrt(float64(square)))
	for i := range v {
		v[i] = float32(v[i] * scale)
	}
}
