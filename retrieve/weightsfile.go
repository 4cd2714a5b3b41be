package retrieve

import (
	_ "embed" // the trained weights
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
)

// The trained weights, written by `make train`; weights/navigator.json says
// what they were learned from.
//
//go:embed weights/navigator.safetensors
var trained []byte

// TrainedWeights are the shipped weights for vectors of the named embedder.
// What was learned on the vectors of one embedder means nothing for those of
// another: then only the sets count that read no vectors, and where there is
// none the walk is untrained. An error means that the program is damaged.
func TrainedWeights(embedder string, dim int) (*Weights, error) {
	return readWeights(trained, embedder, dim)
}

// readWeights reads a safetensors file
// (https://huggingface.co/docs/safetensors) of float32 tensors named after
// set and matrix.
func readWeights(file []byte, embedder string, dim int) (*Weights, error) {
	f, err := openTensors(file)
	if err != nil {
		return nil, fmt.Errorf("the navigator's weights cannot be read: %w", err)
	}
	w := IdentityWeights(dim)
	w.Beam = shippedBeam
	for name, of := range map[string][]layer{"seen": {layerSeen}, "spoken": {layerSpoken}, "long": nil} {
		a, err := f.attention(name + ".")
		if err != nil {
			return nil, fmt.Errorf("the navigator's weights cannot be read: %w", err)
		}
		if a == nil || f.embedder != embedder && !a.blind {
			continue
		}
		if !a.fits(dim) {
			return nil, errors.New("a matrix of the navigator's weights has the wrong shape")
		}
		if of == nil {
			w.long = a
		}
		for _, l := range of {
			w.sets[l], w.ranks[l] = a, true
		}
	}
	return w, nil
}

// tensors is an opened safetensors file.
type tensors struct {
	embedder string
	entries  map[string]tensor
	data     []byte
}

type tensor struct {
	Type  string `json:"dtype"`
	Shape []int  `json:"shape"`
	At    [2]int `json:"data_offsets"`
}

func openTensors(file []byte) (*tensors, error) {
	if len(file) < 8 {
		return nil, errors.New("the file has no header")
	}
	n := binary.LittleEndian.Uint64(file)
	if n > uint64(len(file)-8) {
		return nil, errors.New("the header is longer than the file")
	}
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(file[8:8+n], &raw); err != nil {
		return nil, err
	}
	t := &tensors{entries: map[string]tensor{}, data: file[8+n:]}
	for name, value := range raw {
		if name == "__metadata__" {
			var facts struct{ Embedder string }
			if err := json.Unmarshal(value, &facts); err != nil {
				return nil, err
			}
			t.embedder = facts.Embedder
			continue
		}
		var e tensor
		if err := json.Unmarshal(value, &e); err != nil {
			return nil, err
		}
		if e.Type != "F32" || len(e.Shape) == 0 || len(e.Shape) > 2 || e.At[0] < 0 || e.At[1] < e.At[0] || e.At[1] > len(t.data) {
			return nil, fmt.Errorf("tensor %s is not one of float32 rows inside the file", name)
		}
		t.entries[name] = e
	}
	return t, nil
}

// matrix is a tensor of one or two dimensions, nil where there is none; one of
// one dimension has one row.
func (t *tensors) matrix(name string) (*matrix, error) {
	e, ok := t.entries[name]
	if !ok {
		return nil, nil
	}
	m := &matrix{rows: 1, cols: e.Shape[len(e.Shape)-1]}
	if len(e.Shape) == 2 {
		m.rows = e.Shape[0]
	}
	data := t.data[e.At[0]:e.At[1]]
	if m.rows < 1 || m.cols < 1 || m.rows > len(data) || m.cols > len(data) || m.rows*m.cols*4 != len(data) {
		return nil, fmt.Errorf("tensor %s has another size than its shape", name)
	}
	m.data = make([]float32, m.rows*m.cols)
	for i := range m.data {
		m.data[i] = math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:]))
	}
	return m, nil
}

// attention reads one set, nil where there is none.
func (t *tensors) attention(prefix string) (*attention, error) {
	if _, ok := t.entries[prefix+"phi"]; !ok {
		return nil, nil
	}
	a := &attention{cycles: 4}
	var failed error
	read := func(name string) *matrix {
		m, err := t.matrix(prefix + name)
		failed = errors.Join(failed, err)
		return m
	}
	row := func(name string) []float32 {
		if m := read(name); m != nil {
			return m.data
		}
		return nil
	}
	a.phi, a.query, a.key, a.value, a.out = read("phi"), read("query"), read("key"), read("value"), read("out")
	a.encode, a.encodePhi, a.encodeBias = read("encode"), read("encode_phi"), row("encode_bias")
	a.ask, a.askBias, a.lean, a.leanPhi = read("ask"), row("ask_bias"), read("lean"), read("lean_phi")
	a.halt = row("halt")
	bias := row("halt_bias")
	for i := 0; ; i++ {
		norm := row(fmt.Sprint("norm", i))
		if norm == nil {
			break
		}
		a.blocks = append(a.blocks, block{norm, read(fmt.Sprint("gate", i)), read(fmt.Sprint("up", i)), read(fmt.Sprint("down", i))})
	}
	switch {
	case failed != nil:
		return nil, failed
	case len(bias) != 1:
		return nil, fmt.Errorf("set %s has no bias of its stop", prefix)
	}
	a.heads, a.haltBias, a.blind = a.phi.rows, bias[0], a.query == nil
	return a, nil
}
