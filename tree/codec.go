package tree

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Bounds of a stored tree. A file beyond them is refused, whoever wrote it.
const (
	MaxTreeBytes = 256 << 20 // of JSON
	MaxNodes     = 1_000_000
	MaxText      = 1 << 20 // bytes of one node's text
	MaxDim       = 8192    // numbers of one vector
)

// MarshalJSON writes the native format: times in integer milliseconds,
// document spans as `span`, everything a node can prove under `evidence`. A
// tree that contradicts itself is refused here rather than when it is read.
func (t Tree) MarshalJSON() ([]byte, error) {
	if err := t.Validate(); err != nil {
		return nil, err
	}
	w := wireTree{
		Metadata: wireMetadata{
			Format: FormatVersion, Source: t.Source, Embedder: t.Embedder, Models: t.Models,
			Settings: t.Settings, Calls: t.Calls, Imported: t.Imported,
		},
		EmbedDim: t.EmbedDim,
		Roots:    make([]wireL1, 0, len(t.Roots)),
	}
	for _, n := range t.Roots {
		w.Roots = append(w.Roots, toL1(n))
	}
	return json.Marshal(w)
}

// UnmarshalJSON reads the native format and nothing else: unknown fields, a
// newer format, and ids, levels or spans that do not fit are errors. t is
// unchanged on an error.
func (t *Tree) UnmarshalJSON(b []byte) error {
	if err := bounded(b); err != nil {
		return err
	}
	if err := checkFormat(b); err != nil {
		return err
	}
	var w wireTree
	if err := strictJSON(b, &w); err != nil {
		return fmt.Errorf("tree: %w", err)
	}
	got := Tree{
		Source: w.Metadata.Source, Embedder: w.Metadata.Embedder, EmbedDim: w.EmbedDim, Models: w.Metadata.Models,
		Settings: w.Metadata.Settings, Calls: w.Metadata.Calls, Imported: w.Metadata.Imported,
	}
	for i := range w.Roots {
		got.Roots = append(got.Roots, w.Roots[i].node())
	}
	if err := got.Validate(); err != nil {
		return err
	}
	*t = got
	return nil
}

// checkFormat looks at the format number alone, so that a newer file is named
// as such and not by the first field that is strange to this version.
func checkFormat(b []byte) error {
	var peek struct {
		Metadata *struct {
			Format *int `json:"format"`
		} `json:"metadata"`
	}
	if err := json.Unmarshal(b, &peek); err != nil {
		return fmt.Errorf("tree: %w", err)
	}
	switch {
	case peek.Metadata == nil || peek.Metadata.Format == nil:
		return errors.New("tree: the file names no format, so it is not a stored tree; files of the original description-tree format must be imported")
	case *peek.Metadata.Format > FormatVersion:
		return fmt.Errorf("tree: the file is of format %d, but this version reads only up to %d; use a newer version", *peek.Metadata.Format, FormatVersion)
	case *peek.Metadata.Format < 1:
		return fmt.Errorf("tree: format %d does not exist", *peek.Metadata.Format)
	}
	return nil
}

// Read reads one tree in the native format, at most MaxTreeBytes.
func Read(r io.Reader) (*Tree, error) {
	b, err := readBounded(r, MaxTreeBytes)
	if err != nil {
		return nil, err
	}
	t := new(Tree)
	if err := t.UnmarshalJSON(b); err != nil {
		return nil, err
	}
	return t, nil
}

func readBounded(r io.Reader, limit int64) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err != nil {
		return nil, fmt.Errorf("tree: cannot read: %w", err)
	}
	if int64(len(b)) > limit {
		return nil, fmt.Errorf("tree: the file has more than the %d bytes that are read", limit)
	}
	return b, nil
}

// MarshalJSON writes one node with what is below it as it stands in a tree's
// file, so that a finished clip can be stored by itself.
func (n Node) MarshalJSON() ([]byte, error) {
	if err := n.Validate(); err != nil {
		return nil, err
	}
	switch n.Level {
	case L1:
		return json.Marshal(toL1(&n))
	case L2:
		return json.Marshal(toL2(&n))
	default:
		return json.Marshal(toL3(&n))
	}
}

// UnmarshalJSON reads what MarshalJSON of Node writes, as strictly as a tree;
// the level follows from the id.
func (n *Node) UnmarshalJSON(b []byte) error {
	if err := bounded(b); err != nil {
		return err
	}
	var peek struct {
		ID string `json:"id"`
	}
	if err := json.Unmarshal(b, &peek); err != nil {
		return fmt.Errorf("node: %w", err)
	}
	_, path, err := ParseNodeID(peek.ID)
	if err != nil {
		return err
	}
	var w interface{ node() *Node }
	switch Level(len(path)) {
	case L1:
		w = new(wireL1)
	case L2:
		w = new(wireL2)
	default:
		w = new(wireL3)
	}
	if err := strictJSON(b, w); err != nil {
		return fmt.Errorf("node %s: %w", peek.ID, err)
	}
	got := w.node()
	if err := got.Validate(); err != nil {
		return err
	}
	*n = *got
	return nil
}
