package generate

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/reeltree/reeltree/internal/testkit"
	"github.com/reeltree/reeltree/model"
	"github.com/reeltree/reeltree/retrieve"
	"github.com/reeltree/reeltree/tree"
)

type meeting struct {
	ID    string
	Turns []struct {
		Start, End    float64
		Speaker, Text string
	}
	Queries []struct {
		Query, Answer string
		Turns         [][2]int
	}
}

// meetingTree lays a transcript out: a turn is an L3, an L2 about a minute, an
// L1 about ten.
func meetingTree(m meeting, id string) *tree.Tree {
	end := int64(m.Turns[len(m.Turns)-1].End * 1000)
	t := &tree.Tree{Source: tree.Source{ID: id, Tenant: "default", Kind: tree.KindAudio, Title: m.ID, DurationMS: end}}
	for _, turn := range m.Turns {
		a, b := int64(turn.Start*1000), int64(turn.End*1000)
		if n := len(t.Roots); n == 0 || a-t.Roots[n-1].Span.StartMS >= 600_000 {
			t.Roots = append(t.Roots, &tree.Node{ID: tree.NodeID(id, n), Level: tree.L1, Text: m.ID, Span: tree.MS(a, b)})
		}
		l1 := t.Roots[len(t.Roots)-1]
		if n := len(l1.Children); n == 0 || a-l1.Children[n-1].Span.StartMS >= 60_000 {
			l1.Children = append(l1.Children, &tree.Node{ID: tree.NodeID(id, len(t.Roots)-1, n), Level: tree.L2, Text: turn.Text, Span: tree.MS(a, b)})
		}
		l2 := l1.Children[len(l1.Children)-1]
		l2.Children = append(l2.Children, &tree.Node{
			ID: tree.NodeID(id, len(t.Roots)-1, len(l1.Children)-1, len(l2.Children)), Level: tree.L3, Text: turn.Text, Span: tree.MS(a, b),
			Evidence: tree.Evidence{Cues: []tree.Cue{{StartMS: a, EndMS: b, Speaker: turn.Speaker, Text: turn.Text}}},
		})
		l1.Span.EndMS, l2.Span.EndMS = b, b
	}
	return t
}

// asker answers over real meetings, one library.
func asker(t testing.TB, meetings []meeting) (a *Answerer, ids []string) {
	t.Helper()
	var trees []*tree.Tree
	for i, m := range meetings {
		trees = append(trees, meetingTree(m, sourceID(i)))
	}
	return answererOver(t, trees)
}

func sourceID(i int) string {
	return fmt.Sprintf("sourcesourcesourcesource%c%c", 'a'+i/26, 'a'+i%26)
}

// answererOver is the product's own path over some trees, without any model.
func answererOver(t testing.TB, trees []*tree.Tree) (a *Answerer, ids []string) {
	t.Helper()
	byID := map[string]*tree.Tree{}
	builtin := model.NewBuiltin()
	load := func(_ context.Context, _, id string) (*tree.Tree, error) { return byID[id], nil }
	e, err := retrieve.Open(retrieve.Config{Embed: builtin.Embed, Dim: builtin.Dim(), Trees: load})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	for _, tr := range trees {
		ids = append(ids, tr.Source.ID)
		byID[tr.Source.ID] = tr
		if err := e.AddTree(t.Context(), tr); err != nil {
			t.Fatal(err)
		}
	}
	return &Answerer{Find: e.Query, Trees: load}, ids
}

// article is a text in one of several languages with questions about it.
type article struct {
	Lang, Doc  string
	Paragraphs []string
	Queries    []struct {
		Query, Answer string
		Paragraph     int
	}
}

// articleTree lays an article out: a paragraph is an L2, a sentence an L3.
func articleTree(d article, id string) *tree.Tree {
	root := &tree.Node{ID: tree.NodeID(id, 0), Level: tree.L1, Text: d.Doc}
	for p, text := range d.Paragraphs {
		l2 := &tree.Node{ID: tree.NodeID(id, 0, p), Level: tree.L2, Text: text, Span: tree.Span{Unit: tree.UnitText, Paragraph: p + 1, EndChar: len([]rune(text))}}
		for s, sentence := range cutSentences(text) {
			from := len([]rune(text[:max(0, strings.Index(text, sentence))]))
			l2.Children = append(l2.Children, &tree.Node{
				ID: tree.NodeID(id, 0, p, s), Level: tree.L3, Text: sentence, Evidence: tree.Evidence{Passage: sentence},
				Span: tree.Span{Unit: tree.UnitText, Paragraph: p + 1, StartChar: from, EndChar: from + len([]rune(sentence))},
			})
		}
		root.Children = append(root.Children, l2)
	}
	root.Span = tree.Span{Unit: tree.UnitText, Paragraph: 1, EndChar: root.Children[0].Span.EndChar}
	return &tree.Tree{Source: tree.Source{ID: id, Tenant: "default", Kind: tree.KindDocument, Title: d.Doc}, Roots: []*tree.Node{root}}
}

// articles are the articles of one language with their library.
func articles(t testing.TB, lang string) (all []article, a *Answerer, ids []string) {
	t.Helper()
	var trees []*tree.Tree
	for _, d := range testkit.ReadJSONLines[article](t, testkit.Shared(t, "bench", "passages-dev.jsonl.gz")) {
		if d.Lang == lang {
			trees = append(trees, articleTree(d, sourceID(len(all))))
			all = append(all, d)
		}
	}
	a, ids = answererOver(t, trees)
	return all, a, ids
}

func answerOf(t *testing.T, a *Answerer, q Question) (text string, events []Event) {
	t.Helper()
	q.Tenant = "default"
	err := a.Answer(t.Context(), q, func(e Event) error {
		events = append(events, e)
		if token, ok := e.(Token); ok {
			text += token.Text
		}
		return nil
	})
	if err != nil {
		t.Fatalf("%q: %v", q.Text, err)
	}
	return text, events
}
