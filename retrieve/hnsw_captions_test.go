package retrieve

import (
	"fmt"
	"testing"

	"github.com/reeltree/reeltree/internal/testkit"
	"github.com/reeltree/reeltree/model"
)

// Captions as they are, asked for in another annotator's words: the walk through
// the graph finds what comparing all of them finds.
func TestHNSWOnCaptions(t *testing.T) {
	videos := testkit.ReadJSONLines[video](t, testkit.Shared(t, "bench", "moments-train.jsonl.gz"))
	embed := model.NewBuiltin().Embed
	var captions, questions []string
	for _, v := range videos {
		for _, n := range v.Nodes {
			captions = append(captions, n.Text)
		}
		for _, q := range v.Queries {
			questions = append(questions, q.Text)
		}
	}
	captions, questions = captions[:min(len(captions), 8000)], questions[:min(len(questions), 300)]
	vectors, err := embed(t.Context(), captions)
	if err != nil {
		t.Fatal(err)
	}
	asked, err := embed(t.Context(), questions)
	if err != nil {
		t.Fatal(err)
	}
	dim := len(vectors[0])
	x, exact := NewHNSW(dim, HNSWOptions{Seed: 1, Scan: -1}), NewExact(dim)
	t.Cleanup(func() { _ = x.Close() })
	entries := make([]Entry, len(captions))
	for i, v := range vectors {
		entries[i] = entry("t", fmt.Sprint("s", i/50), i%50, v)
	}
	mustAdd(t, exact, entries...)
	mustAdd(t, x, entries...)
	if !x.graph.signs.near.laid {
		t.Fatal("no line was laid through the signs of near captions")
	}
	for breadth, least := range map[int]float64{64: .99, 24: .97} {
		x.SetSearch(breadth)
		found, all := 0, 0
		for _, q := range asked {
			want := mustSearch(t, exact, Probe{Vector: q}, 10, Scope{Tenant: "t"})
			for _, h := range mustSearch(t, x, Probe{Vector: q}, 10, Scope{Tenant: "t"}) {
				if h.Score >= want[9].Score { // the same caption stands at many places
					found++
				}
			}
			all += len(want)
		}
		recall := float64(found) / float64(all)
		t.Logf("breadth %d: recall@10 %.4f of %d captions; signs %+v", breadth, recall, len(captions), x.graph.signs.near)
		if recall < least {
			t.Errorf("recall@10 is %.4f at breadth %d", recall, breadth)
		}
	}
}
