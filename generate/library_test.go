package generate

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/reeltree/reeltree/ingest"
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

// meetingTree is a transcript as an ingest cuts and describes it without a model.
func meetingTree(t testing.TB, m meeting, id string) *tree.Tree {
	t.Helper()
	var cues []tree.Cue
	end := int64(1)
	for _, turn := range m.Turns {
		a, b := int64(math.Round(turn.Start*1000)), int64(math.Round(turn.End*1000))
		if end = max(end, b); strings.TrimSpace(turn.Text) != "" && b > a {
			cues = append(cues, tree.Cue{StartMS: a, EndMS: b, Speaker: turn.Speaker, Text: turn.Text})
		}
	}
	made := &tree.Tree{Source: tree.Source{ID: id, Tenant: "default", Kind: tree.KindAudio, Title: m.ID, DurationMS: end}}
	facts := ingest.CutFacts{ToMS: end, Cues: cues}
	for i, st := range ingest.CutStretches(facts, ingest.Settings{}) {
		material := tree.Material{Source: made.Source, Index: i, Span: st.Span, Title: st.Title}
		for _, span := range ingest.CutClips(st, facts, nil, ingest.Settings{}) {
			material.Clips = append(material.Clips, tree.Clip{Span: span, Leaves: ingest.CutLeaves(span, nil, nil, cues, ingest.Settings{})})
		}
		root, _, err := tree.BuildStretch(t.Context(), tree.Extractive{}, material, tree.BuildOptions{Concurrency: 1})
		if err != nil {
			t.Fatal(err)
		}
		made.Roots = append(made.Roots, root)
	}
	return made
}

// asker answers over real meetings, one library.
func asker(t testing.TB, meetings []meeting) (a *Answerer, ids []string) {
	t.Helper()
	var trees []*tree.Tree
	for i, m := range meetings {
		trees = append(trees, meetingTree(t, m, sourceID(i)))
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
