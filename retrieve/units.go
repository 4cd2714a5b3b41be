package retrieve

import (
	"strings"

	"github.com/reeltree/reeltree/tree"
)

// unit is the finest region of a tree: a cue, a sentence of one, a sentence of
// a passage, a table row, or a whole leaf that holds none of these. Units are
// never stored.
type unit struct {
	leaf    int // index of the leaf it lies in
	span    tree.Span
	quote   string // the raw words; "" where there are none
	speaker string
	length  float32 // words
	tokens  int     // of the quote, or of the description it stands for
	vector  []float32
	words   []token // in order
}

// What a unit may hold. A cue beyond both of the first limits is cut into
// sentences, its time shared out by characters: an answer should not have to
// quote two minutes. maxUnit bounds the bytes of one unit.
const (
	longCueMS    = 15_000
	longCueWords = 40
	maxUnit      = 4000
)

// raw is a unit before it belongs to a view, with the words it is found by.
type raw struct {
	unit
	search string
}

// leafUnits are the units of one L3 in order, at least one.
func leafUnits(n *tree.Node, leaf int) []raw {
	e := n.Evidence
	var out []raw
	add := func(span tree.Span, speaker, quote, search string) {
		quote, search = bounded(quote), bounded(search)
		out = append(out, raw{unit{leaf: leaf, span: span, quote: quote, speaker: speaker, tokens: tree.Tokens(quote)}, search})
	}
	for _, c := range e.Cues {
		for _, p := range cuePieces(c) {
			add(tree.MS(p.StartMS, p.EndMS), p.Speaker, p.Text, p.Speaker+" "+p.Text)
		}
	}
	for _, s := range sentences(e.Passage) {
		span := n.Span
		if span.Unit == tree.UnitText {
			span.StartChar, span.EndChar = n.Span.StartChar+s.start, n.Span.StartChar+s.end
		}
		add(span, "", s.text, s.text)
	}
	header := strings.Join(e.Header, " ")
	for i, row := range e.Rows {
		span := n.Span
		if span.Unit == tree.UnitRows {
			span.RowStart, span.RowEnd = n.Span.RowStart+i, n.Span.RowStart+i+1
		}
		add(span, "", strings.Join(row, " | "), strings.Join(row, " ")+" "+header)
	}
	if len(out) == 0 {
		out = append(out, raw{unit{leaf: leaf, span: n.Span, tokens: tree.Tokens(bounded(n.Text))}, ""})
	}
	return out
}

// cuePieces is a cue, or its sentences where it is long.
func cuePieces(c tree.Cue) []tree.Cue {
	if c.EndMS-c.StartMS < longCueMS || tree.Words(c.Text) < longCueWords {
		return []tree.Cue{c}
	}
	parts := sentences(c.Text)
	total := 0
	for _, p := range parts {
		total += p.end - p.start
	}
	var out []tree.Cue
	at, sum := c.StartMS, 0
	for _, p := range parts {
		sum += p.end - p.start
		end := c.StartMS + (c.EndMS-c.StartMS)*int64(sum)/int64(total)
		out = append(out, tree.Cue{StartMS: at, EndMS: end, Speaker: c.Speaker, Text: p.text})
		at = end
	}
	return out
}

func bounded(s string) string {
	if len(s) <= maxUnit {
		return s
	}
	return strings.ToValidUTF8(s[:maxUnit], "") + "…"
}

// screenText is the on-screen text of a leaf.
func screenText(n *tree.Node) string {
	var b strings.Builder
	for _, c := range n.Evidence.Screen {
		b.WriteString(c.Text)
		b.WriteByte('\n')
	}
	return b.String()
}
