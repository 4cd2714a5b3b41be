package model

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"

	openai "github.com/sashabaranov/go-openai"

	"github.com/reeltree/reeltree/tree"
)

// Embedder turns texts into unit vectors by one embeddings model. Safe for
// concurrent use.
type Embedder struct {
	*client
	dim atomic.Int64 // 0 until known; fixed from then on
}

// NewEmbedder checks the settings; it opens no connection.
func NewEmbedder(c Config) (*Embedder, error) {
	shared, err := newClient("embedding", c)
	if err != nil {
		return nil, err
	}
	e := &Embedder{client: shared}
	e.dim.Store(int64(c.Dim))
	return e, nil
}

// Name is the name vectors of this embedder are stored under.
func (e *Embedder) Name() string { return e.cfg.Model }

// Dim is the dimension, 0 until the settings or the first reply told it (Ping asks).
func (e *Embedder) Dim() int { return int(e.dim.Load()) }

// Embed gives one vector of unit length per text, in order. A blank text gets
// the zero vector without a call; a zero, infinite or not-a-number vector from
// the endpoint is an error, as is another dimension than before: a mixed index
// could never be told from a good one.
func (e *Embedder) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	var at []int
	for i, text := range texts {
		if strings.TrimSpace(text) != "" {
			at = append(at, i)
		}
	}
	vectors := make([][]float32, len(texts))
	for len(at) > 0 {
		n := min(len(at), e.cfg.Batch)
		if err := e.batch(ctx, texts, at[:n], vectors); err != nil {
			return nil, err
		}
		at = at[n:]
	}
	for i := range vectors {
		if vectors[i] == nil {
			vectors[i] = make([]float32, e.Dim())
		}
	}
	return vectors, nil
}

// batch asks for texts[at...] in one request and fills vectors.
func (e *Embedder) batch(ctx context.Context, texts []string, at []int, vectors [][]float32) error {
	input, size := make([]string, len(at)), 0
	for i, k := range at {
		input[i] = strings.ToValidUTF8(texts[k], "\uFFFD")
		size += tree.Tokens(input[i])
	}
	return e.do(ctx, call{
		want: wantWhole,
		cost: try{tokens: size},
		once: func(ctx context.Context, ex *exchange, w *watch) (usage, error) {
			w.expect("until its vectors", e.cfg.FirstToken)
			_, err := e.api.CreateEmbeddings(ctx, openai.EmbeddingRequestStrings{
				Input: input, Model: openai.EmbeddingModel(e.cfg.Model),
				EncodingFormat: openai.EmbeddingEncodingFormatFloat,
			})
			if err != nil {
				return usage{}, err
			}
			got, tokens, err := parseVectors(ex.body, len(input))
			if err == nil {
				err = e.checkDim(got)
			}
			if err != nil {
				return usage{in: tokens}, e.fail(KindBadReply, ex, err.Error(), err)
			}
			for i, k := range at {
				vectors[k] = got[i]
			}
			return usage{in: tokens}, nil
		},
	})
}

// checkDim fixes the dimension at the first reply and holds later ones to it.
func (e *Embedder) checkDim(vectors [][]float32) error {
	for _, v := range vectors {
		e.dim.CompareAndSwap(0, int64(len(v)))
		if want := e.Dim(); len(v) != want {
			return fmt.Errorf("vectors of dimension %d instead of %d", len(v), want)
		}
	}
	return nil
}
