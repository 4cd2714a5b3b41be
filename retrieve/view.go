package retrieve

import (
	"context"
	"fmt"
	"strings"

	"github.com/reeltree/reeltree/tree"
)

// unit is the finest region of a tree: a cue, a sentence or paragraph, a row,
// or what is seen in a leaf. Units are never stored as levels.
type unit struct {
	node    string // stored L3 it lies in
	at      [3]int // its place: L1, L2, L3
	span    tree.Span
	text    string // what is searched
	quote   string // what is shown: the raw words, else the description
	speaker string
	frame   *tree.FrameRef
	counts  map[string]float64
	terms   int
	vector  []float32
}

// view is a tree made ready for questions: its units in order, and per L2 the
// range of its units.
type view struct {
	tree  *tree.Tree
	units []*unit
	clips []clipView
}

// clipView is one L2 with its units [lo, hi).
type clipView struct {
	node    *tree.Node
	at      [2]int
	lo, hi  int
	vector  []float32
	rootVec []float32 // of its L1
}

// maxQuote bounds the words of one unit that are shown and searched.
const maxQuote = 4000

// newView flattens a tree and embeds its units.
func newView(ctx context.Context, t *tree.Tree, embed Embed) (*view, error) {
	v := &view{tree: t}
	var texts []string
	for a, l1 := range t.Roots {
		for b, l2 := range l1.Children {
			if l2.Text == "" && len(l2.Children) == 0 {
				continue // a clip that is not finished
			}
			clip := clipView{node: l2, at: [2]int{a, b}, lo: len(v.units)}
			for c, l3 := range l2.Children {
				v.units = append(v.units, leafUnits(l3, [3]int{a, b, c}, !described(t))...)
			}
			if clip.lo == len(v.units) { // nothing is said: what is seen is all there is
				for c, l3 := range l2.Children {
					v.units = append(v.units, leafUnits(l3, [3]int{a, b, c}, false)...)
				}
			}
			clip.hi = len(v.units)
			v.clips = append(v.clips, clip)
		}
	}
	for _, u := range v.units {
		texts = append(texts, u.text)
	}
	for _, c := range v.clips {
		texts = append(texts, c.node.Text)
	}
	for _, r := range t.Roots {
		texts = append(texts, r.Text)
	}
	vectors, err := embed(ctx, texts)
	if err != nil {
		return nil, fmt.Errorf("the tree of %s cannot be embedded: %w", t.Source.ID, err)
	}
	v.fill(vectors)
	return v, nil
}

func (v *view) fill(vectors [][]float32) {
	for i, u := range v.units {
		u.vector = vectors[i]
		u.counts = map[string]float64{}
		for _, t := range terms(u.text) {
			u.counts[t]++
			u.terms++
		}
	}
	for i := range v.clips {
		v.clips[i].vector = vectors[len(v.units)+i]
		v.clips[i].rootVec = vectors[len(v.units)+len(v.clips)+v.clips[i].at[0]]
	}
}

// described reports whether a model has looked at the pictures of a tree; the
// extractive describer only notes that there is one.
func described(t *tree.Tree) bool {
	l3 := t.Models["l3"]
	return l3 != "" && l3 != "extractive" || t.Imported != nil
}

// leafUnits are the finest regions of one L3. wordsOnly leaves out a leaf
// without any words of its own.
func leafUnits(n *tree.Node, at [3]int, wordsOnly bool) []*unit {
	e := n.Evidence
	base := unit{node: n.ID, at: at, span: n.Span, frame: e.Frame}
	var units []*unit
	add := func(span tree.Span, speaker, text, quote string) {
		u := base
		u.span, u.speaker, u.text, u.quote = span, speaker, bounded(text), bounded(quote)
		units = append(units, &u)
	}
	var said strings.Builder
	for _, c := range e.Cues {
		add(tree.MS(c.StartMS, c.EndMS), c.Speaker, strings.TrimSpace(c.Speaker+" "+c.Text), c.Text)
		said.WriteString(" " + c.Text)
	}
	switch {
	case len(e.Rows) > 0:
		header := strings.Join(e.Header, " ")
		for i, row := range e.Rows {
			span := n.Span
			span.RowStart, span.RowEnd = n.Span.RowStart+i, n.Span.RowStart+i+1
			add(span, "", header+" "+strings.Join(row, " "), strings.Join(row, " | "))
		}
	case e.Passage != "":
		for _, s := range sentences(e.Passage) {
			span := n.Span
			span.StartChar, span.EndChar = n.Span.StartChar+s.start, n.Span.StartChar+s.end
			add(span, "", s.text, s.text)
		}
	}
	for _, c := range e.Screen {
		add(tree.MS(c.StartMS, c.EndMS), "", c.Text, c.Text)
	}
	if n.Text != "" && !wordsOnly && (len(units) == 0 || addsWords(n.Text, said.String()+" "+e.Passage)) {
		add(n.Span, "", n.Text, n.Text)
	}
	return units
}

func bounded(s string) string {
	if len(s) <= maxQuote {
		return s
	}
	return strings.ToValidUTF8(s[:maxQuote], "") + "…"
}

// addsWords reports whether a description says more than the words under it.
func addsWords(text, under string) bool {
	known := map[string]bool{}
	for _, t := range terms(under) {
		known[t] = true
	}
	all := contentTerms(text)
	fresh := 0
	for _, t := range all {
		if !known[t] {
			fresh++
		}
	}
	return fresh*3 > len(all)
}

// piece is one sentence with its code point range in the passage.
type piece struct {
	text       string
	start, end int
}

// sentences cuts a passage at sentence ends of any script, and at blanks where
// a sentence runs on for longer than anyone would read.
func sentences(passage string) []piece {
	var out []piece
	runes := []rune(passage)
	start := 0
	emit := func(end int) {
		a, b := start, end
		for a < b && (runes[a] == ' ' || runes[a] == '\n' || runes[a] == '\t' || runes[a] == '\r') {
			a++
		}
		for b > a && (runes[b-1] == ' ' || runes[b-1] == '\n' || runes[b-1] == '\t' || runes[b-1] == '\r') {
			b--
		}
		if b > a {
			out = append(out, piece{string(runes[a:b]), a, b})
		}
		start = end
	}
	for i, r := range runes {
		switch {
		case strings.ContainsRune("。！？", r):
			emit(i + 1)
		case strings.ContainsRune(".!?؟।", r) && (i+1 == len(runes) || runes[i+1] == ' ' || runes[i+1] == '\n'):
			if i-start > 2 {
				emit(i + 1)
			}
		case r == ' ' && i-start > 600, i-start > 1200:
			emit(i + 1)
		}
	}
	emit(len(runes))
	return out
}
