package retrieve

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"

	"github.com/reeltree/reeltree/tree"
)

// writeRecord adds length, checksum and payload.
func writeRecord(w *bytes.Buffer, payload []byte) {
	var head [8]byte
	binary.LittleEndian.PutUint32(head[:], uint32(len(payload)))
	binary.LittleEndian.PutUint32(head[4:], crc32.Checksum(payload, castagnoli))
	w.Write(head[:])
	w.Write(payload)
}

// nextStamp is the stamp of a file after one more record: it tells two files
// with other contents apart.
func nextStamp(stamp string, payload []byte) string {
	return fmt.Sprintf("%08x%08x", crc32.Checksum([]byte(stamp), castagnoli), crc32.Checksum(payload, castagnoli))
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func encodeAdded(src tree.Source, entries []Entry) ([]byte, error) {
	a := added{Source: src}
	for _, e := range entries {
		a.Nodes = append(a.Nodes, addedNode{e.Node, e.Level, e.Span, e.Text})
	}
	doc, err := json.Marshal(a)
	if err != nil {
		return nil, err
	}
	out := binary.LittleEndian.AppendUint32(nil, uint32(len(doc)))
	out = append(out, doc...)
	for _, e := range entries {
		for _, x := range e.Vector {
			out = binary.LittleEndian.AppendUint32(out, math.Float32bits(x))
		}
	}
	return out, nil
}

// bareAdded is added without its texts, which are most of it.
type bareAdded struct {
	Source tree.Source `json:"source"`
	Nodes  []struct {
		ID    string     `json:"id"`
		Level tree.Level `json:"level"`
		Span  tree.Span  `json:"span"`
	} `json:"nodes"`
}

// readAdded reads the JSON part of a record, with texts or without.
func readAdded(b []byte, texts bool) (a added, err error) {
	if texts {
		return a, json.Unmarshal(b, &a)
	}
	var bare bareAdded
	err = json.Unmarshal(b, &bare)
	a.Source = bare.Source
	for _, n := range bare.Nodes {
		a.Nodes = append(a.Nodes, addedNode{ID: n.ID, Level: n.Level, Span: n.Span})
	}
	return a, err
}

// decodeAdded reads a record; dim 0 leaves the vectors out.
func decodeAdded(b []byte, dim int) (tree.Source, []Entry, error) {
	return decodeRecord(b, dim, true)
}

// decodeRecord reads a record, with texts or without.
func decodeRecord(b []byte, dim int, texts bool) (tree.Source, []Entry, error) {
	if len(b) < 4 {
		return tree.Source{}, nil, io.ErrUnexpectedEOF
	}
	n := int(binary.LittleEndian.Uint32(b))
	if b = b[4:]; n > len(b) {
		return tree.Source{}, nil, io.ErrUnexpectedEOF
	}
	a, err := readAdded(b[:n], texts)
	if err != nil {
		return a.Source, nil, err
	}
	b = b[n:]
	if dim > 0 && len(b) != 4*dim*len(a.Nodes) {
		return a.Source, nil, io.ErrUnexpectedEOF
	}
	out := make([]Entry, len(a.Nodes))
	for i, node := range a.Nodes {
		out[i] = Entry{
			Tenant: a.Source.Tenant, Source: a.Source.ID, Collections: a.Source.Collections, Kind: a.Source.Kind,
			Node: node.ID, Level: node.Level, Span: node.Span, Title: a.Source.Title, Text: node.Text,
		}
		if dim > 0 {
			out[i].Vector = make([]float32, dim)
			for d := range out[i].Vector {
				out[i].Vector[d] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*(i*dim+d):]))
			}
			if err := checkVector(out[i].Vector, dim); err != nil {
				return a.Source, nil, err
			}
		}
	}
	return a.Source, out, nil
}

// readRecord gives the next payload; io.EOF at a clean end,
// io.ErrUnexpectedEOF where the file was cut off.
func readRecord(r *bufio.Reader) ([]byte, error) {
	var head [8]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, err
	}
	n := binary.LittleEndian.Uint32(head[:])
	if n > mostRecord {
		return nil, errDamaged
	}
	var payload bytes.Buffer // grows with what is there, not with what the length says
	if _, err := io.CopyN(&payload, r, int64(n)); err != nil {
		return nil, io.ErrUnexpectedEOF
	}
	if crc32.Checksum(payload.Bytes(), castagnoli) != binary.LittleEndian.Uint32(head[4:]) {
		return nil, errDamaged
	}
	return payload.Bytes(), nil
}

var errDamaged = errors.New("a checksum does not fit")
