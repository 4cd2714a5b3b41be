package ingest

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/reeltree/reeltree/tree"
)

// Two clips by hand: 12 frames need a call for the L2 with ten of them and two
// calls for the L3; a clip without pictures needs its L2 alone.
func TestQuoteByHand(t *testing.T) {
	film := tree.Clip{Span: tree.MS(0, 60_000)}
	for i := range 12 {
		l := tree.Leaf{Span: tree.MS(int64(i)*5000, int64(i+1)*5000), JPEG: []byte{1}}
		l.Evidence.Frame = &tree.FrameRef{}
		l.Evidence.Cues = []tree.Cue{cue(0, 1, "", "one two three")}
		film.Leaves = append(film.Leaves, l)
	}
	silent := tree.Clip{Span: tree.MS(60_000, 90_000), Leaves: []tree.Leaf{{Span: tree.MS(60_000, 90_000)}}}
	m := tree.Material{Span: tree.MS(0, 90_000), Clips: []tree.Clip{film, silent}}
	want := Quote{Calls: QuotedCalls{L1: 1, L2: 2, L3: 2}, Images: 10 + 12, DurationMS: 90_000}
	want.Tokens = 250 + 120 + 2*60 + // L1: prompt, reply, two L2 texts
		2*(250+60) + 48 + // L2: prompts and replies, 36 words of speech
		2*(250+60) + 48 + 12*60 // L3
	if got := QuoteMaterial(m, Settings{}); got != want {
		t.Errorf("quote %+v, want %+v", got, want)
	}
	got, err := json.Marshal(QuoteMaterial(m, Settings{L3Batch: 5}))
	if err != nil || string(got) != fmt.Sprintf(`{"calls":{"l1":1,"l2":2,"l3":3,"asr":0},"images":22,"tokens":%d,"duration_ms":90000}`, want.Tokens+310) {
		t.Errorf("on the wire %s, %v", got, err)
	}
}

// What is quoted is what a model is asked: the calls of a whole run, counted.
func TestQuoteIsWhatARunCosts(t *testing.T) {
	m := newMemory(t)
	w := m.worker(talk(1500))
	put := m.put(t, "a.mp4", []byte("x"))
	q, err := w.Quote(t.Context(), put, tree.IngestOptions{})
	if err != nil || len(m.jobs)+len(m.sources)+len(m.frames) != 0 {
		t.Fatalf("quote %+v, %v, records %v %v", q, err, m.jobs, m.sources)
	}
	src, _ := m.ingest(t, w, put, tree.IngestOptions{})
	tr := m.tree(t, src.ID)
	l3, images := 0, 0
	for _, r := range tr.Roots {
		for _, c := range r.Children {
			n := len(c.Children)
			l3 += (n + 9) / 10
			images += n + min(10, n)
		}
	}
	n := tr.Counts()
	if (q.Calls != QuotedCalls{L1: n.L1, L2: n.L2, L3: l3}) || q.Images != images || q.DurationMS != 1_500_000 || q.Tokens < 1000 {
		t.Errorf("quote %+v for %+v with %d batches and %d pictures", q, n, l3, images)
	}
	if _, err := w.Quote(t.Context(), m.put(t, "a.pdf", []byte("%PDF-1.4")), tree.IngestOptions{}); err == nil {
		t.Error("a refused file was quoted")
	}
}
