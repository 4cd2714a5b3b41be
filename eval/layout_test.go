package eval

import (
	"slices"
	"strings"
	"testing"

	"github.com/reeltree/reeltree/tree"
)

// grown builds the library of a task over its small set and holds what every
// tree must be: valid, of three levels, with texts, round trip through the codec.
func grown(t *testing.T, name string) (job, *library) {
	t.Helper()
	j, err := tasks[name].load(files(name, ""))
	if err != nil {
		t.Fatal(err)
	}
	lib, err := j.library(t.Context(), testConfig(t))
	if err != nil {
		t.Fatal(err)
	}
	if len(lib.order) != len(lib.trees) || len(lib.order) == 0 {
		t.Fatalf("%s: %d trees in an order of %d", name, len(lib.trees), len(lib.order))
	}
	return j, lib
}

func TestEveryTreeIsWhole(t *testing.T) {
	for _, name := range Tasks() {
		_, lib := grown(t, name)
		for id, tr := range lib.trees {
			if !tree.ValidID(id) || tr.Source.ID != id || tr.Source.Tenant != tree.DefaultTenant {
				t.Errorf("%s: the source %+v of tree %s", name, tr.Source, id)
			}
			for _, l1 := range tr.Roots {
				if l1.Level != tree.L1 || l1.Text == "" || len(l1.Children) == 0 {
					t.Errorf("%s: %s is no L1 with a text and children", name, l1.ID)
				}
				for _, l2 := range l1.Children {
					if l2.Level != tree.L2 || l2.Text == "" || len(l2.Children) == 0 || lib.node(l2.ID) != l2 {
						t.Errorf("%s: %s is no L2 that can be found", name, l2.ID)
					}
					l2.Leaves(func(l3 *tree.Node) {
						if l3.Level != tree.L3 || l3.Text == "" || lib.node(l3.ID) != l3 {
							t.Errorf("%s: %s is no L3 that can be found", name, l3.ID)
						}
					})
				}
			}
		}
	}
}

func TestLibraryRefusesWhatItDoesNotHold(t *testing.T) {
	_, lib := grown(t, "passages")
	if _, err := lib.tree(t.Context(), "default", sourceID("nobody")); err == nil || !strings.Contains(err.Error(), "is not part of the task") {
		t.Errorf("%v", err)
	}
	for _, id := range []string{"", "bad", sourceID("nobody") + "/0.0", lib.order[0] + "/9.9.9"} {
		if n := lib.node(id); n != nil {
			t.Errorf("%q is %v", id, n)
		}
	}
	if err := lib.grow(t.Context(), tree.Extractive{}, nil, tree.Source{ID: sourceID("x"), Title: "empty"}, tree.Material{}); err == nil || !strings.Contains(err.Error(), `"empty" cannot be built`) {
		t.Errorf("%v", err)
	}
}

// TestCaptionsAreNodes holds the layout of moments: a caption is an L2 with one
// L3 of the same text and span; two captions of one stretch are one node.
func TestCaptionsAreNodes(t *testing.T) {
	_, lib := grown(t, "moments")
	harbour := lib.trees[sourceID("harbour")].Roots[0]
	if len(harbour.Children) != 3 || harbour.Span != tree.MS(0, 90_500) {
		t.Fatalf("%+v", harbour)
	}
	l2 := harbour.Children[1]
	l3 := l2.Children[0]
	if l2.Span != tree.MS(20_000, 55_250) || len(l2.Children) != 1 || l3.Span != l2.Span || l3.Text != l2.Text || !strings.HasPrefix(l2.Text, "The boat leaves") {
		t.Errorf("%+v over %+v", l2, l3)
	}
	both := lib.trees[sourceID("workshop")].Roots[0].Children
	if len(both) != 1 || both[0].Text != "A carpenter planes a long oak board. Shavings fall on the floor." {
		t.Errorf("%+v", both[0])
	}
	if m := lib.trees[sourceID("harbour")].Models; m["l3"] != "annotator" || m["l1"] != "extractive" {
		t.Errorf("%v", m)
	}
}

func TestCaptionsBeyondTheVideoStay(t *testing.T) {
	m := &moments{data: []video{{Video: "v", Duration: 10, Nodes: []caption{{Start: 5, End: 12.5, Text: "late"}, {Start: 3, End: 3, Text: "a moment"}}}}}
	lib, err := m.library(t.Context(), testConfig(t))
	if err != nil {
		t.Fatal(err)
	}
	tr := lib.trees[sourceID("v")]
	if tr.Source.DurationMS != 12_500 || tr.Roots[0].Children[0].Span != tree.MS(5000, 12_500) || tr.Roots[0].Children[1].Span.Duration() != 1 {
		t.Errorf("%+v", tr.Source)
	}
}

// TestTurnsAreCues holds that silent turns are left out and speakers kept.
func TestTurnsAreCues(t *testing.T) {
	m := meeting{ID: "talk-7", Turns: []turn{
		{Start: 0, End: 0, Speaker: "A", Text: "no time"}, {Start: 0, End: 1.25, Speaker: "B", Text: " "}, {Start: 1.25, End: 3.5, Speaker: "C", Text: "words"},
	}}
	if got := m.cues(); !slices.Equal(got, []tree.Cue{{StartMS: 1250, EndMS: 3500, Speaker: "C", Text: "words"}}) {
		t.Errorf("%+v", got)
	}
	if m.series() != "talk" || m.words() != 3 || m.source().DurationMS != 3500 {
		t.Errorf("%q %d %+v", m.series(), m.words(), m.source())
	}
	q := meetingQuery{Turns: [][2]int{{0, 9}}}
	if got := m.fragments(q); len(got) != 2 || *got[1].span != tree.MS(1250, 3500) {
		t.Errorf("gold turns that take time: %+v", got)
	}
}

// TestSentencesAreLeaves holds the layout of texts: a paragraph is an L2, its
// sentences are L3 whose places lie in it.
func TestSentencesAreLeaves(t *testing.T) {
	j, lib := grown(t, "passages")
	for _, d := range j.(*passages).data {
		tr := lib.trees[sourceID(d.Doc)]
		if !slices.Equal(tr.Source.Collections, []string{d.Lang}) || len(tr.Roots) != 1 || len(tr.Roots[0].Children) != len(d.Paragraphs) {
			t.Fatalf("%s: %+v", d.Doc, tr.Source)
		}
		for i, l2 := range tr.Roots[0].Children {
			for _, l3 := range l2.Children {
				s := l3.Span
				if s.Paragraph != i+1 || codePoints(d.Paragraphs[i], s.StartChar, s.EndChar) != l3.Evidence.Passage {
					t.Errorf("%s: %v is not %q", d.Doc, s, l3.Evidence.Passage)
				}
			}
		}
	}
}

func TestPoolLinesAreSources(t *testing.T) {
	j, lib := grown(t, "multihop")
	m := j.(*multihop)
	if len(lib.trees) != len(m.pool) {
		t.Fatalf("%d trees for %d lines: equal titles must stay apart", len(lib.trees), len(m.pool))
	}
	for i, p := range m.pool {
		tr := lib.trees[poolID(i)]
		if tr.Source.Title != p.Title || len(tr.Roots) != 1 || len(tr.Roots[0].Children) != 1 {
			t.Errorf("%+v", tr)
		}
	}
	m.pool = append(m.pool, hopPassage{"blank", " "})
	if again, err := m.library(t.Context(), testConfig(t)); err != nil || len(again.trees) != len(m.pool)-1 {
		t.Errorf("a passage without words has no tree: %d, %v", len(again.trees), err)
	}
}

func TestPagesAreTablesAndParagraphs(t *testing.T) {
	j, lib := grown(t, "tables")
	p := &j.(*tables).data[0]
	clips := lib.trees[sourceID(p.Doc)].Roots[0].Children
	if len(clips) != 3 || clips[0].Span.Unit != tree.UnitRows || clips[1].Span.Unit != tree.UnitText {
		t.Fatalf("%+v", clips)
	}
	rows := clips[0].Children
	if len(rows) != 3 || rows[0].Span != (tree.Span{Unit: tree.UnitRows, RowStart: 2, RowEnd: 3}) {
		t.Fatalf("two rows are the header: %+v", rows[0])
	}
	if e := rows[0].Evidence; !slices.Equal(e.Header, []string{"", "Year 2019", "2018"}) || !slices.Equal(e.Rows[0], []string{"Apples", "120", "100"}) {
		t.Errorf("%+v", e)
	}
	if clips[2].Children[0].Span.Paragraph != 2 {
		t.Errorf("%+v", clips[2].Children[0])
	}
}

func TestHeaderRows(t *testing.T) {
	for _, c := range []struct {
		table  [][]string
		rows   int
		header []string
	}{
		{[][]string{{"a", "b"}, {"c", "d"}}, 1, []string{"a", "b"}},
		{[][]string{{"", "x"}, {" ", "y"}, {"", "z", "more"}, {"", "w"}, {"r", "1"}}, 3, []string{"", "x y z", "more"}},
		{[][]string{{"", "x"}, {"", "y"}}, 1, []string{"", "x"}}, // a table is not all header
		{[][]string{{"x"}, {}, {"r"}}, 2, []string{"x"}},
		{[][]string{{"alone"}}, 1, []string{"alone"}},
	} {
		p := &page{Table: c.table}
		if got := p.headers(); got != c.rows || !slices.Equal(p.header(), c.header) {
			t.Errorf("%v: %d rows, %q", c.table, got, p.header())
		}
	}
	if p := (&page{Table: [][]string{{"alone"}}}); len(p.tableClip().Leaves) != 0 {
		t.Error("a header without rows has no clip")
	}
}
