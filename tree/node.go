package tree

import (
	"fmt"
	"strconv"
	"strings"
)

// Level is the depth of a node; a tree has exactly three.
type Level int

// The levels: wide, section, moment.
const (
	L1 Level = 1 + iota
	L2
	L3
)

// Cue is one stretch of speech, caption or on-screen text.
type Cue struct {
	StartMS int64  `json:"start_ms"`
	EndMS   int64  `json:"end_ms"`
	Speaker string `json:"speaker,omitempty"`
	Text    string `json:"text"`
}

// FrameRef names a stored JPEG: its public id, the blob that holds it with the
// byte range inside it, and the media time it was taken at.
type FrameRef struct {
	ID     string `json:"id"`
	Blob   string `json:"blob"`
	Offset int64  `json:"offset"`
	Length int64  `json:"length"`
	TimeMS int64  `json:"time_ms"`
	Width  int    `json:"width,omitempty"`
	Height int    `json:"height,omitempty"`
}

// Evidence is what a node can prove: the raw material under its text. Inner
// nodes keep none of their own; Cues and Transcript join their leaves.
type Evidence struct {
	Title   string     `json:"title,omitempty"`   // chapter or heading the node stands under
	Cues    []Cue      `json:"cues,omitempty"`    // speech, assigned to the leaf in which the cue starts
	Screen  []Cue      `json:"screen,omitempty"`  // on-screen text
	Passage string     `json:"passage,omitempty"` // documents: the raw text
	Header  []string   `json:"header,omitempty"`  // tables: the header row
	Rows    [][]string `json:"rows,omitempty"`    // tables
	Frame   *FrameRef  `json:"frame,omitempty"`
	// FramePath names the picture of an imported tree, which did not come along
	// with it: kept for the next export, never opened.
	FramePath string `json:"frame_path,omitempty"`
}

// Node is one description with its place. Children of an L3 node are nil.
type Node struct {
	ID        string
	Level     Level
	Text      string
	Span      Span
	Evidence  Evidence
	Embedding []float32 // unit length, nil until the indexer filled it
	Calls     Calls     // what describing it has cost: an L2 with its leaves, an L1 without its children
	Children  []*Node
}

// NodeID is SOURCE/a, SOURCE/a.b or SOURCE/a.b.c with numbers from 0.
func NodeID(source string, path ...int) string {
	var b strings.Builder
	b.WriteString(source)
	for i, k := range path {
		b.WriteByte("/."[min(i, 1)])
		b.WriteString(strconv.Itoa(k))
	}
	return b.String()
}

// ParseNodeID splits a node id into its source and its one to three numbers.
func ParseNodeID(id string) (source string, path []int, err error) {
	source, rest, ok := strings.Cut(id, "/")
	if !ok || !ValidID(source) {
		return "", nil, fmt.Errorf("node id %.80q: want SOURCE/a[.b[.c]]", id)
	}
	for part := range strings.SplitSeq(rest, ".") {
		k, err := strconv.Atoi(part)
		if err != nil || k < 0 || strconv.Itoa(k) != part || len(path) == 3 {
			return "", nil, fmt.Errorf("node id %.80q: want SOURCE/a[.b[.c]]", id)
		}
		path = append(path, k)
	}
	return source, path, nil
}

// Leaves calls yield for every L3 below (or at) n, in order.
func (n *Node) Leaves(yield func(*Node)) {
	if n.Level == L3 {
		yield(n)
		return
	}
	for _, c := range n.Children {
		c.Leaves(yield)
	}
}

// Cues are the speech cues of n's span, in time order.
func (n *Node) Cues() []Cue {
	var cues []Cue
	n.Leaves(func(l *Node) { cues = append(cues, l.Evidence.Cues...) })
	return cues
}

// Transcript is the joined speech or passage of n's leaves: speech is a
// first-class layer on every level.
func (n *Node) Transcript() string {
	var b strings.Builder
	add := func(s string) {
		if s != "" {
			if b.Len() > 0 {
				b.WriteByte(' ')
			}
			b.WriteString(s)
		}
	}
	n.Leaves(func(l *Node) {
		for _, c := range l.Evidence.Cues {
			add(c.Text)
		}
		add(l.Evidence.Passage)
	})
	return b.String()
}

// Frame is the first frame at or below n, or nil.
func (n *Node) Frame() *FrameRef {
	if n.Evidence.Frame != nil {
		return n.Evidence.Frame
	}
	for _, c := range n.Children {
		if f := c.Frame(); f != nil {
			return f
		}
	}
	return nil
}
