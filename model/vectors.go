package model

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
)

// wireVectors is a reply to an embeddings request. go-openai decodes either
// numbers or base64 and takes a null for 0, so this room decodes by itself.
type wireVectors struct {
	Error json.RawMessage `json:"error"`
	Data  []struct {
		Index     *int            `json:"index"`
		Embedding json.RawMessage `json:"embedding"`
	} `json:"data"`
	Usage struct {
		PromptTokens int `json:"prompt_tokens"`
	} `json:"usage"`
}

// parseVectors gives n vectors of unit length in the order of their indexes.
func parseVectors(body []byte, n int) (vectors [][]float32, tokens int, err error) {
	var w wireVectors
	if err := json.Unmarshal(body, &w); err != nil {
		return nil, 0, notJSON(body)
	}
	tokens = w.Usage.PromptTokens
	if words := errorWords(w.Error); words != "" {
		return nil, tokens, errors.New(words)
	}
	if len(w.Data) != n {
		return nil, tokens, fmt.Errorf("%d vectors for %d texts", len(w.Data), n)
	}
	vectors = make([][]float32, n)
	for i, item := range w.Data {
		if item.Index != nil {
			i = *item.Index
		}
		if i < 0 || i >= n || vectors[i] != nil {
			return nil, tokens, fmt.Errorf("vector index %d is doubled or out of range", i)
		}
		v, err := parseVector(item.Embedding)
		if err == nil {
			err = unit(v)
		}
		if err != nil {
			return nil, tokens, fmt.Errorf("vector %d: %w", i, err)
		}
		vectors[i] = v
	}
	return vectors, tokens, nil
}

// parseVector reads a list of numbers or base64 of little-endian floats.
func parseVector(raw json.RawMessage) ([]float32, error) {
	var v []float32
	if bytes.HasPrefix(raw, []byte(`"`)) {
		var packed []byte
		var text string
		if err := json.Unmarshal(raw, &text); err != nil {
			return nil, err
		}
		packed, err := base64.StdEncoding.DecodeString(text)
		if err != nil || len(packed)%4 != 0 {
			return nil, errors.New("broken base64")
		}
		for ; len(packed) > 0; packed = packed[4:] {
			v = append(v, math.Float32frombits(binary.LittleEndian.Uint32(packed)))
		}
	} else if bytes.Contains(raw, []byte("null")) || json.Unmarshal(raw, &v) != nil {
		return nil, errors.New("holds something else than numbers")
	}
	if len(v) == 0 {
		return nil, errors.New("empty")
	}
	return v, nil
}

// unit scales v to length 1 in place; it refuses what has no direction.
func unit(v []float32) error {
	sum := 0.0
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	switch {
	case math.IsNaN(sum) || math.IsInf(sum, 0):
		return errors.New("holds a number that is not finite")
	case sum < 1e-24:
		return errors.New("zero")
	}
	scale := 1 / math.Sqrt(sum)
	for i, x := range v {
		v[i] = float32(float64(x) * scale)
	}
	return nil
}

// notJSON says what came instead.
func notJSON(body []byte) error {
	body = bytes.TrimSpace(body)
	switch {
	case len(body) == 0:
		return errors.New("empty")
	case body[0] == '<':
		return errors.New("a web page; check the path of its address")
	}
	return fmt.Errorf("not JSON: %.80s", body)
}
