package library

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/reeltree/reeltree/tree"
)

// SaveClip stores a finished L2 with its leaves, or an L1 without children.
// Storing it again replaces it.
func (s *Store) SaveClip(ctx context.Context, tenant string, n *tree.Node) error {
	key, err := clipKey(tenant, n.ID)
	if err != nil {
		return err
	}
	data, err := json.Marshal(n)
	if err != nil {
		return fmt.Errorf("the node %s cannot be stored: %w", n.ID, err)
	}
	source, _, _ := strings.Cut(n.ID, "/")
	unlock, err := s.present(ctx, tenant, source)
	if err != nil {
		return err
	}
	defer unlock()
	return s.put(ctx, key, data)
}

// Clip gives a stored node back; nil, nil when it is not stored. A damaged one
// counts as not stored: it is described again.
func (s *Store) Clip(ctx context.Context, tenant, node string) (*tree.Node, error) {
	key, err := clipKey(tenant, node)
	if err != nil {
		return nil, err
	}
	return s.clip(ctx, key)
}

func (s *Store) clip(ctx context.Context, key string) (*tree.Node, error) {
	data, err := s.get(ctx, key)
	if errors.Is(err, ErrNotFound) {
		return nil, nil //nolint:nilnil // the contract of ingest.Results
	}
	n := &tree.Node{}
	if err == nil {
		if jsonErr := json.Unmarshal(data, n); jsonErr != nil {
			err = fmt.Errorf("%s: %w", key, ErrDamaged)
		}
	}
	if errors.Is(err, ErrDamaged) {
		s.log.Warn("a stored clip is damaged and will be made again", "key", key)
		return nil, nil //nolint:nilnil // as above
	}
	return n, err
}

func clipKey(tenant, node string) (string, error) {
	source, at, err := tree.ParseNodeID(node)
	if err != nil {
		return "", err
	}
	return path.Join(blobKey("clips", tenant, source), nodeFile(at)), nil
}

// nodeFile names a node inside its source's folder: "3" or "3.14".
func nodeFile(at []int) string { return path.Base(tree.NodeID("x", at...)) }

// SaveTree stores the finished tree; from then on it is what Tree gives.
func (s *Store) SaveTree(ctx context.Context, tenant string, t *tree.Tree) error {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if err := json.NewEncoder(z).Encode(t); err != nil {
		return fmt.Errorf("the tree of %s cannot be stored: %w", t.Source.ID, err)
	}
	if err := z.Close(); err != nil {
		return fmt.Errorf("the tree of %s cannot be stored: %w", t.Source.ID, err)
	}
	unlock, err := s.present(ctx, tenant, t.Source.ID)
	if err != nil && !errors.Is(err, errNoRecord) { // an imported tree comes before its record
		return err
	}
	if err == nil {
		defer unlock()
	}
	return s.put(ctx, blobKey("trees", tenant, t.Source.ID), b.Bytes())
}

// Tree is the saved tree of a source, or what is finished of it while its
// ingest runs: clips that are missing in between stand as nodes without text.
// A damaged tree is put together again from its clips.
func (s *Store) Tree(ctx context.Context, tenant, source string) (*tree.Tree, error) {
	src, err := s.Source(ctx, tenant, source)
	if err != nil {
		return nil, err
	}
	t, err := s.savedTree(ctx, tenant, source)
	if errors.Is(err, ErrNotFound) || errors.Is(err, ErrDamaged) {
		t, err = s.assemble(ctx, tenant, source)
	}
	if err != nil {
		return nil, err
	}
	t.Source = src // the record may have changed since the tree was saved
	return t, nil
}

func (s *Store) savedTree(ctx context.Context, tenant, source string) (*tree.Tree, error) {
	data, err := s.get(ctx, blobKey("trees", tenant, source))
	if err != nil {
		return nil, err
	}
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("the tree of %s: %w", source, ErrDamaged)
	}
	t, err := tree.Read(z)
	if err != nil {
		return nil, fmt.Errorf("the tree of %s cannot be read: %w", source, err)
	}
	return t, nil
}

// assemble puts the stored clips of a source in their places.
func (s *Store) assemble(ctx context.Context, tenant, source string) (*tree.Tree, error) {
	keys, err := s.keys(ctx, blobKey("clips", tenant, source), false)
	if err != nil {
		return nil, err
	}
	t := &tree.Tree{}
	for _, key := range keys {
		n, err := s.clip(ctx, key)
		if err != nil {
			return nil, err
		}
		if n == nil {
			continue
		}
		_, at, err := tree.ParseNodeID(n.ID)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", key, ErrDamaged)
		}
		t.Roots = putAt(t.Roots, source, n, at, nil)
	}
	spanGaps(t.Roots)
	return t, nil
}

// spanGaps gives nodes that stand in for missing ones a span that fits: that of
// their children, else the empty span where the node before them ends.
func spanGaps(nodes []*tree.Node) {
	end := int64(0)
	for _, n := range nodes {
		spanGaps(n.Children)
		if n.Text == "" && n.Level != tree.L3 {
			n.Span = tree.MS(end, end)
			if len(n.Children) > 0 {
				n.Span = n.Children[0].Span
				n.Span.EndMS = n.Children[len(n.Children)-1].Span.EndMS
			}
		}
		end = max(end, n.Span.EndMS)
	}
}

// putAt puts n at its path, filling what is missing before it with empty nodes.
func putAt(nodes []*tree.Node, source string, n *tree.Node, at, above []int) []*tree.Node {
	for len(nodes) <= at[0] {
		here := append(slices.Clone(above), len(nodes))
		nodes = append(nodes, &tree.Node{ID: tree.NodeID(source, here...), Level: tree.Level(len(here))})
	}
	slot := nodes[at[0]]
	if len(at) > 1 {
		slot.Children = putAt(slot.Children, source, n, at[1:], append(slices.Clone(above), at[0]))
		return nodes
	}
	if len(n.Children) == 0 {
		n.Children = slot.Children
	}
	nodes[at[0]] = n
	return nodes
}
