package tree

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// FormatVersion is the version of the stored tree JSON.
const FormatVersion = 1

// Tree is everything that was understood about one source.
type Tree struct {
	Source   Source
	Embedder string            // name and version of the vectors, empty while null
	EmbedDim int               // 0 while no vectors are filled
	Models   map[string]string // role ("l1", "l2", "l3", "asr") -> model name; "extractive" without one
	Settings string            // fingerprint of the build settings
	Calls    Calls
	Imported json.RawMessage // metadata of the original description-tree file it came from, nil otherwise
	Roots    []*Node
}

// Calls counts the model calls a build has cost, fallbacks apart.
type Calls struct {
	L1        int `json:"l1"`
	L2        int `json:"l2"`
	L3        int `json:"l3"`
	ASR       int `json:"asr"`
	Fallback  int `json:"fallback"` // one call per frame after a batch that could not be parsed
	TokensIn  int `json:"tokens_in"`
	TokensOut int `json:"tokens_out"`
}

// Total is the number of calls of every kind.
func (c Calls) Total() int { return c.L1 + c.L2 + c.L3 + c.ASR + c.Fallback }

// Add sums two counts.
func (c Calls) Add(o Calls) Calls {
	return Calls{
		L1: c.L1 + o.L1, L2: c.L2 + o.L2, L3: c.L3 + o.L3, ASR: c.ASR + o.ASR,
		Fallback: c.Fallback + o.Fallback, TokensIn: c.TokensIn + o.TokensIn, TokensOut: c.TokensOut + o.TokensOut,
	}
}

// Counts is the number of nodes per level.
func (t *Tree) Counts() Counts {
	c := Counts{L1: len(t.Roots)}
	for _, r := range t.Roots {
		c.L2 += len(r.Children)
		for _, s := range r.Children {
			c.L3 += len(s.Children)
		}
	}
	return c
}

// Find returns the node at path (as ParseNodeID gives it), or nil. While an
// ingest runs, stretches and clips may be missing, so numbers need not be
// positions.
func (t *Tree) Find(path []int) *Node {
	nodes, n := t.Roots, (*Node)(nil)
	for _, k := range path {
		if n = pick(nodes, k); n == nil {
			return nil
		}
		nodes = n.Children
	}
	return n
}

// pick finds the node whose id ends in number k among siblings in order.
func pick(nodes []*Node, k int) *Node {
	if k >= 0 && k < len(nodes) && lastNumber(nodes[k].ID) == k {
		return nodes[k]
	}
	i, ok := slices.BinarySearchFunc(nodes, k, func(n *Node, k int) int { return lastNumber(n.ID) - k })
	if !ok {
		return nil
	}
	return nodes[i]
}

// lastNumber is the last number of a node id, -1 where there is none.
func lastNumber(id string) int {
	k, err := strconv.Atoi(id[strings.LastIndexAny(id, "/.")+1:])
	if err != nil {
		return -1
	}
	return k
}
