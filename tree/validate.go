package tree

import (
	"fmt"
	"math"
)

// Validate reports the first thing in which a tree contradicts itself: ids
// that are not those of its source and place, levels other than 1, 2, 3,
// media spans outside their parent's, vectors of another length. Numbers of
// siblings must rise, but may have gaps while an ingest runs.
func (t *Tree) Validate() error {
	if !ValidID(t.Source.ID) {
		return fmt.Errorf("tree: source id %.80q is not one", t.Source.ID)
	}
	if t.EmbedDim < 0 || t.EmbedDim > MaxDim {
		return fmt.Errorf("tree: vectors of %d numbers are not supported, the most is %d", t.EmbedDim, MaxDim)
	}
	v := validator{dim: t.EmbedDim}
	return v.siblings(t.Source.ID+"/", L1, Span{}, t.Roots)
}

// Validate reports the first thing in which a node and what is below it
// contradict themselves.
func (n *Node) Validate() error {
	_, path, err := ParseNodeID(n.ID)
	if err != nil {
		return err
	}
	v := validator{dim: -1}
	return v.node(n, Level(len(path)), Span{})
}

type validator struct {
	dim   int // of every vector; -1 = whatever the first one has
	nodes int
}

// siblings checks nodes of one parent; prefix is the parent's id with the
// separator, outer its span (zero for roots).
func (v *validator) siblings(prefix string, level Level, outer Span, nodes []*Node) error {
	last := -1
	for _, n := range nodes {
		if n == nil {
			return fmt.Errorf("tree: %s has an empty child", prefix)
		}
		k := lastNumber(n.ID)
		if k <= last || n.ID != fmt.Sprintf("%s%d", prefix, k) {
			return fmt.Errorf("tree: id %.80q does not fit after %s%d", n.ID, prefix, last)
		}
		last = k
		if err := v.node(n, level, outer); err != nil {
			return err
		}
	}
	return nil
}

func (v *validator) node(n *Node, level Level, outer Span) error {
	if v.nodes++; v.nodes > MaxNodes {
		return fmt.Errorf("tree: more than %d nodes", MaxNodes)
	}
	if n.Level != level {
		return fmt.Errorf("tree: %s stands on level %d, its id says %d", n.ID, n.Level, level)
	}
	if len(n.Text) > MaxText {
		return fmt.Errorf("tree: the text of %s has %d bytes, the most is %d", n.ID, len(n.Text), MaxText)
	}
	if err := n.Span.validate(); err != nil {
		return fmt.Errorf("tree: %s: %w", n.ID, err)
	}
	if level > L1 && outer != (Span{}) && n.Span != clamp(n.Span, outer) {
		return fmt.Errorf("tree: %s lies at %v, outside its parent's %v", n.ID, n.Span, outer)
	}
	if err := v.vector(n); err != nil {
		return err
	}
	if level == L3 {
		if len(n.Children) > 0 {
			return fmt.Errorf("tree: %s is a moment and cannot have children", n.ID)
		}
		return nil
	}
	return v.siblings(n.ID+".", level+1, n.Span, n.Children)
}

func (v *validator) vector(n *Node) error {
	if n.Embedding == nil {
		return nil
	}
	if v.dim < 0 {
		v.dim = min(len(n.Embedding), MaxDim)
	}
	if len(n.Embedding) != v.dim || v.dim == 0 {
		return fmt.Errorf("tree: the vector of %s has %d numbers, not %d", n.ID, len(n.Embedding), v.dim)
	}
	for _, x := range n.Embedding {
		if math.IsNaN(float64(x)) || math.IsInf(float64(x), 0) {
			return fmt.Errorf("tree: the vector of %s holds a number that is not finite", n.ID)
		}
	}
	return nil
}
