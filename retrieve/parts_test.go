package retrieve

import (
	"slices"
	"testing"

	"github.com/reeltree/reeltree/tree"
)

// TestPartsOfALeaf: each piece of its words stands at its own place.
func TestPartsOfALeaf(t *testing.T) {
	for name, c := range map[string]struct {
		leaf tree.Node
		want []Part
	}{
		"cues": {
			tree.Node{Span: tree.MS(0, 9000), Evidence: tree.Evidence{Cues: []tree.Cue{{StartMS: 1000, EndMS: 2000, Text: "One."}, {StartMS: 4000, EndMS: 9000, Text: "Two."}}}},
			[]Part{{tree.MS(1000, 2000), "One."}, {tree.MS(4000, 9000), "Two."}},
		},
		"passage": {
			tree.Node{Span: tree.Span{Unit: tree.UnitText, Paragraph: 3, StartChar: 10, EndChar: 19}, Evidence: tree.Evidence{Passage: "One. Two."}},
			[]Part{
				{tree.Span{Unit: tree.UnitText, Paragraph: 3, StartChar: 10, EndChar: 14}, "One."},
				{tree.Span{Unit: tree.UnitText, Paragraph: 3, StartChar: 15, EndChar: 19}, "Two."},
			},
		},
		"rows": {
			tree.Node{Span: tree.Span{Unit: tree.UnitRows, RowStart: 1, RowEnd: 2}, Evidence: tree.Evidence{Header: []string{"a"}, Rows: [][]string{{"x", "1"}}}},
			[]Part{{tree.Span{Unit: tree.UnitRows, RowStart: 1, RowEnd: 2}, "x | 1"}},
		},
		"a picture": {tree.Node{Span: tree.MS(0, 9000), Text: "New picture."}, nil},
	} {
		if got := PartsOf(&c.leaf); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
