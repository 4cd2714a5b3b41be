package retrieve

import (
	"testing"

	"github.com/reeltree/reeltree/tree"
)

// page makes a document of one L1, a passage an L2 with one L3.
func page(id string, passages ...string) *tree.Tree {
	root := &tree.Node{ID: tree.NodeID(id, 0), Level: tree.L1, Text: passages[0], Span: tree.Span{Unit: tree.UnitText, Paragraph: 1}}
	for i, text := range passages {
		span := tree.Span{Unit: tree.UnitText, Paragraph: i + 1, EndChar: len([]rune(text))}
		root.Children = append(root.Children, &tree.Node{
			ID: tree.NodeID(id, 0, i), Level: tree.L2, Text: text, Span: span,
			Children: []*tree.Node{{ID: tree.NodeID(id, 0, i, 0), Level: tree.L3, Text: text, Span: span, Evidence: tree.Evidence{Passage: text}}},
		})
	}
	src := tree.Source{ID: id, Tenant: "default", Kind: tree.KindDocument}
	return &tree.Tree{Source: src, Roots: []*tree.Node{root}}
}

// questionOver is a question weighed over the views of trees.
func questionOver(t *testing.T, text string, trees ...*tree.Tree) *question {
	t.Helper()
	q := &question{text: text, terms: readQuestion(text), vector: make([]float32, 64)}
	for _, tr := range trees {
		v, err := newView(t.Context(), tr, testEmbed, "", 64, 2)
		if err != nil {
			t.Fatal(err)
		}
		q.trees = append(q.trees, v)
	}
	q.weigh()
	return q
}

// A word meets a form of it that shares neither stem nor beginning by its
// letters, in prose alone.
func TestLettersCountInProse(t *testing.T) {
	doc := page("aaaaaaaaaaaaaaaaaaaaaaaaaa", "Los desobedientes fueron castigados.", "El sol cae en otoño.")
	spoken := talk("bbbbbbbbbbbbbbbbbbbbbbbbbb", "talk", "Los desobedientes fueron castigados.", "El sol cae en otoño.")
	table := page("cccccccccccccccccccccccccc", "Los desobedientes fueron castigados.")
	table.Roots[0].Children[0].Children[0].Evidence = tree.Evidence{Header: []string{"grupo"}, Rows: [][]string{{"desobedientes"}}}
	asks := "obediencia"
	of := func(tr *tree.Tree, with ...*tree.Tree) []float32 {
		q := questionOver(t, asks, append([]*tree.Tree{tr}, with...)...)
		return q.score(q.trees[0]).lexical
	}
	if got := of(doc); got[0] <= .1 || got[1] != 0 {
		t.Errorf("by their letters the sentences of a document score %v", got)
	}
	for name, got := range map[string][]float32{"speech": of(spoken), "a document beside speech": of(doc, spoken), "a row": of(table), "a document beside a table": of(doc, table)} {
		if got[0] != 0 {
			t.Errorf("%s is found by letters: %v", name, got)
		}
	}
}

// The index of a library keeps letters of other scripts only.
func TestKeywordKeepsLettersOfOtherScripts(t *testing.T) {
	x, err := NewKeyword()
	if err != nil {
		t.Fatal(err)
	}
	entries := []Entry{
		{Tenant: "t", Source: "s", Node: "latin", Text: "desobedientes"},
		{Tenant: "t", Source: "s", Node: "cyrillic", Text: "непослушание"},
	}
	if err := x.Add(t.Context(), entries); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]int{"obediencia": 0, "послушание": 1} {
		hits, err := x.Search(t.Context(), Probe{Text: text}, 5, Scope{Tenant: "t"})
		if err != nil || len(hits) != want {
			t.Errorf("%s finds %v, %v", text, hits, err)
		}
	}
}
