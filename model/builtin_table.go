package model

import (
	_ "embed"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
)

//go:embed weights/embed.safetensors
var builtinFile []byte

// table holds the learned vectors where they lie in the embedded file: nothing
// is decoded or copied, so it costs a start nothing. Rows [0, known) belong to
// the sorted hashes of known features, the others to hashed groups.
type table struct {
	name    string
	dim     int
	hashes  []byte // known x uint64
	scales  []byte // rows x float32
	rows    []byte // rows x dim int8
	known   uint64
	buckets uint64
}

// builtinTable opens the embedded file. A test proves that it can be opened,
// so a failure means a binary that was built wrong.
func builtinTable() *table {
	t, err := openTable(builtinFile)
	if err != nil {
		panic("the built-in embedder's weights are damaged (" + err.Error() + "); build the binary again")
	}
	return t
}

// tensor is one entry of a safetensors header.
type tensor struct {
	Type    string    `json:"dtype"`
	Shape   []int     `json:"shape"`
	Offsets [2]uint64 `json:"data_offsets"`
}

// openTable reads the header of a file in the safetensors format
// (https://github.com/huggingface/safetensors#format): tensors hashes U64
// [known], scales F32 [rows] and rows I8 [rows, dim].
func openTable(file []byte) (*table, error) {
	if len(file) < 8 || binary.LittleEndian.Uint64(file) > uint64(len(file)-8) {
		return nil, errors.New("it is cut short")
	}
	head, data := file[8:8+binary.LittleEndian.Uint64(file)], file[8+binary.LittleEndian.Uint64(file):]
	var h struct {
		Meta struct {
			Name string `json:"name"`
		} `json:"__metadata__"`
		Hashes, Scales, Rows tensor
	}
	if err := json.Unmarshal(head, &h); err != nil {
		return nil, fmt.Errorf("its header is not JSON: %w", err)
	}
	if len(h.Rows.Shape) != 2 || len(h.Hashes.Shape) != 1 || len(h.Scales.Shape) != 1 {
		return nil, errors.New("a tensor is missing")
	}
	known, rows, dim := h.Hashes.Shape[0], h.Rows.Shape[0], h.Rows.Shape[1]
	if h.Meta.Name == "" || dim < 1 || dim > len(data) || known < 0 || rows <= known || rows > len(data) || h.Scales.Shape[0] != rows {
		return nil, fmt.Errorf("%d known features, %d rows of %d values and %d scales do not fit together", known, rows, dim, h.Scales.Shape[0])
	}
	t := &table{name: h.Meta.Name, dim: dim, known: uint64(known), buckets: uint64(rows - known)}
	var errs [3]error
	t.hashes, errs[0] = h.Hashes.bytes(data, "U64", 8*known)
	t.scales, errs[1] = h.Scales.bytes(data, "F32", 4*rows)
	t.rows, errs[2] = h.Rows.bytes(data, "I8", rows*dim)
	return t, errors.Join(errs[:]...)
}

// bytes are the tensor's bytes in data.
func (t *tensor) bytes(data []byte, dtype string, size int) ([]byte, error) {
	lo, hi := t.Offsets[0], t.Offsets[1]
	if t.Type != dtype || lo > hi || hi > uint64(len(data)) || hi-lo != uint64(size) {
		return nil, fmt.Errorf("a tensor of type %s at %d to %d of %d bytes is not %s of %d bytes", t.Type, lo, hi, len(data), dtype, size)
	}
	return data[lo:hi], nil
}

// add adds the vector of one feature to v.
func (t *table) add(v []float32, kind uint64, runes []rune) {
	h := hash(kind, runes...)
	if row, ok := t.find(h); ok {
		t.addRow(v, row, 1)
		return
	}
	if kind == kindWord {
		t.addUnknown(v, runes)
		return
	}
	t.addRow(v, t.bucket(h), 1)
}

// find is the row of a known feature: its place among the sorted hashes.
func (t *table) find(h uint64) (row uint64, ok bool) {
	lo, hi := uint64(0), t.known
	for lo < hi {
		mid := lo + (hi-lo)/2
		switch at := binary.LittleEndian.Uint64(t.hashes[8*mid:]); {
		case at == h:
			return mid, true
		case at < h:
			lo = mid + 1
		default:
			hi = mid
		}
	}
	return 0, false
}

func (t *table) bucket(h uint64) uint64 { return t.known + h%t.buckets }

// groupSizes are the lengths of the groups of an unknown word.
var groupSizes = [...]int{3, 4}

// addUnknown adds the groups of characters of a word without a row, and the
// word as a whole group, so that two names of alike letters stay apart. Their
// sum weighs about as much as one row.
func (t *table) addUnknown(v []float32, word []rune) {
	var bounded [longestWord + 2]rune
	w := append(append(append(bounded[:0], '<'), word...), '>')
	n := 1
	for _, size := range groupSizes {
		if len(w) > size {
			n += len(w) - size + 1
		}
	}
	weight := float32(1 / math.Sqrt(float64(n)))
	t.addRow(v, t.bucket(hash(kindGroup, w...)), weight)
	for _, size := range groupSizes {
		if len(w) <= size {
			continue
		}
		for i := 0; i+size <= len(w); i++ {
			t.addRow(v, t.bucket(hash(kindGroup, w[i:i+size]...)), weight)
		}
	}
}

// addRow adds a row times its scale and weight. The products are rounded one
// by one, so that no machine fuses them into another result.
func (t *table) addRow(v []float32, row uint64, weight float32) {
	scale := weight * math.Float32frombits(binary.LittleEndian.Uint32(t.scales[4*row:]))
	q := t.rows[row*uint64(len(v)):][:len(v)]
	for i, x := range q {
		v[i] += float32(scale * float32(int8(x)))
	}
}
