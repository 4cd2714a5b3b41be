package retrieve

import (
	"fmt"
	"testing"

	"github.com/reeltree/reeltree/internal/testkit"
	"github.com/reeltree/reeltree/tree"
)

type video struct {
	Video          string
	Duration       float64
	Nodes, Queries []struct {
		Start, End float64
		Text       string
	}
}

// videoTree lays one annotator's captions out: a caption is an L2 with one L3.
func videoTree(v video, id string) *tree.Tree {
	end := int64(v.Duration * 1000)
	root := &tree.Node{ID: tree.NodeID(id, 0), Level: tree.L1, Span: tree.MS(0, end)}
	for i, n := range v.Nodes {
		span := tree.MS(int64(n.Start*1000), int64(n.End*1000))
		root.Text += n.Text + " "
		root.Children = append(root.Children, &tree.Node{
			ID: tree.NodeID(id, 0, i), Level: tree.L2, Text: n.Text, Span: span,
			Children: []*tree.Node{{ID: tree.NodeID(id, 0, i, 0), Level: tree.L3, Text: n.Text, Span: span}},
		})
	}
	src := tree.Source{ID: id, Tenant: "default", Kind: tree.KindVideo, DurationMS: end}
	return &tree.Tree{Source: src, Models: map[string]string{"l3": "people"}, Roots: []*tree.Node{root}}
}

// TestMomentsAreFound asks for moments in another annotator's words, inside
// their video and in a library of 120. Random gives .30 and .17 of R1@0.3 and
// R1@0.5 inside the video, and 1 in 120 for the video; BM25 gives .42 and .24
// on the whole file.
func TestMomentsAreFound(t *testing.T) {
	videos := testkit.ReadJSONLines[video](t, testkit.Shared(t, "bench", "moments-dev.jsonl.gz"))[:120]
	trees := map[string]*tree.Tree{}
	id := func(i int) string { return fmt.Sprintf("videovideovideovideo%c%c", 'a'+i/20, 'a'+i%20) }
	for i, v := range videos {
		trees[id(i)] = videoTree(v, id(i))
	}
	e := opened(t, trees)
	best := func(text string, sources ...string) (it Item) {
		r, err := e.Query(t.Context(), Query{Text: text, Scope: Scope{Tenant: "default", Sources: sources}}, nil)
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		for _, i := range r.Items {
			if i.Score > it.Score {
				it = i
			}
		}
		return it
	}
	var third, half, library, asked float64
	for i, v := range videos {
		for _, q := range v.Queries {
			asked++
			gold := tree.MS(int64(q.Start*1000), int64(q.End*1000))
			it := best(q.Text, id(i))
			shared := it.Span.Overlap(gold)
			iou := float64(shared) / float64(max(1, it.Span.Duration()+gold.Duration()-shared))
			if iou >= .3 {
				third++
			}
			if iou >= .5 {
				half++
			}
			if best(q.Text).Source.ID == id(i) {
				library++
			}
		}
	}
	t.Logf("%.0f questions: inside the video R1@0.3 %.3f, R1@0.5 %.3f; the right one of 120 videos first %.3f", asked, third/asked, half/asked, library/asked)
	if third/asked < .36 || half/asked < .21 || library/asked < .25 {
		t.Error("that is close to chance")
	}
}
