package model

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// MiniLM is the sentence encoder all-MiniLM-L6-v2 (Wang et al. 2020; Reimers &
// Gurevych 2019), run inside the process by ONNX Runtime, whose shared library
// is opened when the encoder is. A text's vector is the mean of its tokens'
// vectors at unit length; one that is longer than a window is read in windows,
// and the mean is over the tokens of all of them. Every window is a run of its
// own on one thread: the model rounds its inner values over all that it is given
// at once, and a vector must not hang on what was embedded beside it. Safe for
// concurrent use.
type MiniLM struct {
	name   string
	pieces *wordPiece
	encode encode
	close  func() error
	slots  chan struct{} // windows at once
}

// encode gives the vectors of a window's tokens: len(ids) rows of miniLMDim
// values, which the caller owns.
type encode func(ids []int64) ([]float32, error)

// MiniLMConfig is where the encoder lies.
type MiniLMConfig struct {
	Dir     string // holds the files of MiniLMFiles
	Windows int    // read at once; 0 = as many as the process has processors
}

// The files of the encoder in its folder, as scripts/minilm.sh puts them there.
const (
	miniLMModel     = "model.onnx"
	miniLMTokenizer = "tokenizer.json"
	miniLMRuntime   = "libonnxruntime.so"
)

const (
	miniLMDim     = 384
	miniLMWindow  = 256 // tokens, with those of beginning and end: as long as the encoder was taught on
	miniLMReading = "1" // changes when the same files give other vectors
)

// DefaultMiniLMDir is where make minilm puts the encoder unless it is told
// another folder.
func DefaultMiniLMDir() string {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "reeltree-minilm"
	}
	return filepath.Join(cache, "reeltree", "minilm")
}

// NewMiniLM opens the encoder; Close frees it.
func NewMiniLM(c MiniLMConfig) (*MiniLM, error) {
	weights, err := miniLMFile(c.Dir, miniLMModel)
	if err != nil {
		return nil, err
	}
	tokenizer, err := miniLMFile(c.Dir, miniLMTokenizer)
	if err != nil {
		return nil, err
	}
	library, err := filepath.Abs(filepath.Join(c.Dir, miniLMRuntime))
	if err != nil {
		return nil, fmt.Errorf("the folder of the MiniLM embedder cannot be found: %w", err)
	}
	if _, err := os.Stat(library); err != nil {
		return nil, miniLMMissing(library, err)
	}
	pieces, err := readWordPiece(tokenizer)
	if err != nil {
		return nil, fmt.Errorf("the MiniLM embedder in %s cannot be used: %w; run make minilm again", c.Dir, err)
	}
	run, closing, err := openEncoder(library, weights)
	if err != nil {
		return nil, fmt.Errorf("the MiniLM embedder in %s cannot be used: %w", c.Dir, err)
	}
	m := newMiniLM(pieces, run, c.Windows)
	m.close = closing
	m.name = fmt.Sprintf("all-MiniLM-L6-v2-%.8x", sha256.Sum256(append(append([]byte(miniLMReading), tokenizer...), weights...)))
	return m, nil
}

func newMiniLM(pieces *wordPiece, run encode, windows int) *MiniLM {
	if windows <= 0 {
		windows = runtime.GOMAXPROCS(0)
	}
	return &MiniLM{pieces: pieces, encode: run, close: func() error { return nil }, slots: make(chan struct{}, windows)}
}

// miniLMFile reads a file of the encoder.
func miniLMFile(dir, name string) ([]byte, error) {
	file := filepath.Join(dir, name)
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, miniLMMissing(file, err)
	}
	return data, nil
}

func miniLMMissing(file string, err error) error {
	return fmt.Errorf("the MiniLM embedder needs %s, which cannot be read: run make minilm, name its folder with --minilm-dir, or use --embedder builtin: %w", file, err)
}

// Name is the name vectors of this embedder are stored under. It follows from
// the encoder's files, so that vectors of others are never compared with them.
func (m *MiniLM) Name() string { return m.name }

// Dim is the dimension of the vectors.
func (m *MiniLM) Dim() int { return miniLMDim }

// Close frees the encoder, which must not be in use any more.
func (m *MiniLM) Close() error { return m.close() }

// Embed gives one vector of unit length per text, in order; a blank text gives
// zeros. It can be stopped between two windows.
func (m *MiniLM) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	vectors := make([][]float32, len(texts))
	for i, text := range texts {
		vectors[i] = make([]float32, miniLMDim)
		if strings.TrimSpace(text) == "" {
			continue
		}
		if err := m.read(ctx, text, vectors[i]); err != nil {
			return nil, fmt.Errorf("embedding stopped after %d of %d texts: %w", i, len(texts), err)
		}
		toUnit(vectors[i])
	}
	return vectors, nil
}

// read adds the vectors of all tokens of a text to sum.
func (m *MiniLM) read(ctx context.Context, text string, sum []float32) error {
	ids := m.pieces.read(nil, text)
	for first := true; first || len(ids) > 0; first = false {
		n := min(len(ids), miniLMWindow-2)
		window := append(append(append(make([]int64, 0, n+2), m.pieces.cls), ids[:n]...), m.pieces.sep)
		ids = ids[n:]
		if err := m.window(ctx, window, sum); err != nil {
			return err
		}
	}
	return nil
}

// window adds the vectors of one window's tokens to sum.
func (m *MiniLM) window(ctx context.Context, ids []int64, sum []float32) error {
	select {
	case m.slots <- struct{}{}:
		defer func() { <-m.slots }()
	case <-ctx.Done():
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	hidden, err := m.encode(ids)
	if err != nil {
		return fmt.Errorf("the MiniLM encoder failed: %w", err)
	}
	if len(hidden) != len(ids)*miniLMDim {
		return fmt.Errorf("the MiniLM encoder gave %d values for %d tokens instead of %d for each", len(hidden), len(ids), miniLMDim)
	}
	for ; len(hidden) > 0; hidden = hidden[miniLMDim:] {
		for d := range sum {
			sum[d] += hidden[d]
		}
	}
	return nil
}
