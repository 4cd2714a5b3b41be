package generate

import (
	"testing"

	"github.com/reeltree/reeltree/retrieve"
	"github.com/reeltree/reeltree/tree"
)

func TestPlaceOfASentence(t *testing.T) {
	it := retrieve.Item{Span: tree.MS(90_000, 130_000), Parts: []retrieve.Part{
		{Span: tree.MS(90_000, 97_000), Text: "A bright light is only useful when you know which one it is."},
		{Span: tree.MS(97_000, 104_000), Text: "To turn it smoothly, keepers floated it"},
		{Span: tree.MS(104_000, 110_000), Text: "in a trough of mercury, which weighs a lot."},
		{Span: tree.MS(110_000, 130_000), Text: "Then one finger was enough to move it."},
	}}
	for sentence, want := range map[string]*tree.Span{
		"Then one finger was enough to move it.":                   {StartMS: 110_000, EndMS: 130_000},
		"One finger could move it":                                 {StartMS: 110_000, EndMS: 130_000},
		"keepers floated it in a trough of mercury":                {StartMS: 97_000, EndMS: 110_000},
		"The optics were suspended on liquid metal by attendants.": nil,
		"?!": nil,
	} {
		got := placeOf(it, sentence)
		if (got == nil) != (want == nil) || got != nil && *got != *want {
			t.Errorf("%q stands at %v, want %v", sentence, got, want)
		}
	}
	it.Parts = it.Parts[:1]
	if got := placeOf(it, it.Parts[0].Text); got == nil || *got != it.Parts[0].Span {
		t.Errorf("the one piece with words stands at %v", got)
	}
	it.Span = it.Parts[0].Span
	if got := placeOf(it, it.Parts[0].Text); got != nil {
		t.Errorf("a sentence that is all of its evidence has no closer place, got %v", got)
	}
}

// TestPlacesOfDocuments: rows are joined within their table, paragraphs named by the first.
func TestPlacesOfDocuments(t *testing.T) {
	row := func(n int) tree.Span {
		return tree.Span{Unit: tree.UnitRows, Table: 1, RowStart: n, RowEnd: n + 1}
	}
	if got := joinPlace(row(3), row(4)); got.RowStart != 3 || got.RowEnd != 5 {
		t.Errorf("%v", got)
	}
	a, b := tree.Span{Unit: tree.UnitText, Paragraph: 2, EndChar: 9}, tree.Span{Unit: tree.UnitText, Paragraph: 3, EndChar: 4}
	if got := joinPlace(a, b); got != a {
		t.Errorf("%v", got)
	}
}
