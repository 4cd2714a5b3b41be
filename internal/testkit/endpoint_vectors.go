package testkit

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"math"
	"net/http"
	"strings"
)

// EndpointDim is the dimension of the scripted embeddings.
const EndpointDim = 64

// embeddings answers with bags of hashed words: texts that share words lie
// near each other.
func (e *Endpoint) embeddings(p *reply) error {
	if p.mode.has("hang") || p.mode.has("hang-headers") {
		return p.hang()
	}
	if p.mode.has("huge") || p.mode.has("gzip-bomb") {
		return p.huge()
	}
	if p.mode.has("cut") {
		p.reset()
		return nil
	}
	var data []any
	for i, text := range p.c.Inputs {
		data = append(data, map[string]any{"object": "embedding", "index": i, "embedding": p.vector(i, text)})
	}
	switch {
	case p.mode.has("fewer-vectors"):
		data = data[:len(data)-1]
	case p.mode.has("double-index"):
		data[len(data)-1].(map[string]any)["index"] = 0
	case p.mode.has("order-by-index"):
		for i, j := 0, len(data)-1; i < j; i, j = i+1, j-1 {
			data[i], data[j] = data[j], data[i]
		}
	}
	body := map[string]any{"object": "list", "model": p.c.Model, "data": data}
	if !p.mode.has("no-usage") {
		n := len(strings.Fields(strings.Join(p.c.Inputs, " ")))
		body["usage"] = map[string]any{"prompt_tokens": n, "total_tokens": n}
	}
	p.e.ending(p.c)
	writeJSON(p.w, http.StatusOK, body)
	return nil
}

// vector is one embedding in the spelling of the mode.
func (p *reply) vector(i int, text string) any {
	dim := EndpointDim
	if p.mode.has("dim-change") {
		dim = EndpointDim / 2
	}
	v := WordVector(text, dim)
	last := i == len(p.c.Inputs)-1
	switch {
	case p.mode.has("zero") && last:
		v = make([]float32, dim)
	case p.mode.has("not-normalised"):
		for k := range v {
			v[k] *= 3
		}
	case p.mode.has("nan") && last:
		v[1] = float32(math.NaN())
	case p.mode.has("null-number") && last:
		out := make([]any, dim)
		for k := range v {
			out[k] = v[k]
		}
		out[1] = nil
		return out
	}
	if p.mode.has("base64") || p.mode.has("nan") {
		packed := make([]byte, 0, 4*dim)
		for _, x := range v {
			packed = binary.LittleEndian.AppendUint32(packed, math.Float32bits(x))
		}
		return base64.StdEncoding.EncodeToString(packed)
	}
	return v
}

// WordVector is the vector mode ok gives for a text: unit length, never zero.
func WordVector(text string, dim int) []float32 {
	v := make([]float32, dim)
	for w := range strings.FieldsSeq(strings.ToLower(text)) {
		sum := sha256.Sum256([]byte(strings.Trim(w, ".,;:!?\"'()")))
		sign := float32(1)
		if sum[4]&1 == 1 {
			sign = -1
		}
		v[binary.BigEndian.Uint32(sum[:4])%uint32(dim)] += sign //nolint:gosec // dim is small and positive
	}
	v[0] += 0.01 // words that cancel out must not give a zero vector
	norm := 0.0
	for _, x := range v {
		norm += float64(x) * float64(x)
	}
	for i := range v {
		v[i] /= float32(math.Sqrt(norm))
	}
	return v
}

// transcription answers with one segment per full second of audio (16 kHz mono
// 16 bit assumed), at most 60, whose words are made of the bytes.
func (e *Endpoint) transcription(p *reply) error {
	if p.mode.has("hang") || p.mode.has("hang-headers") {
		return p.hang()
	}
	if p.mode.has("huge") || p.mode.has("gzip-bomb") {
		return p.huge()
	}
	var segments, words []any
	text := ""
	for i := range min(60, max(0, len(p.c.Audio)-44)/32000) {
		sum := sha256.Sum256(p.c.Audio[44+i*32000 : 44+(i+1)*32000])
		sentence := fmt.Sprintf(" Sentence %d sounds like %x.", i+1, sum[:3])
		start, end := float64(i), float64(i)+0.9
		if p.mode.has("bad-time") {
			start, end = end+1000, start
		}
		segments = append(segments, map[string]any{"id": i, "start": start, "end": end, "text": sentence})
		text += sentence
	}
	if p.mode.has("no-speech") {
		segments, text = []any{}, ""
	}
	body := map[string]any{"task": "transcribe", "language": p.c.Language, "text": text, "words": words}
	if p.c.Format == "verbose_json" && !p.mode.has("no-segments") {
		body["segments"] = segments
	}
	p.e.note(p.c, func(c *Call) { c.Reply = text })
	p.e.ending(p.c)
	writeJSON(p.w, http.StatusOK, body)
	return nil
}
