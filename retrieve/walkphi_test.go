package retrieve

import (
	"math"
	"testing"

	"github.com/reeltree/reeltree/tree"
)

// asked is a scored view with its field.
func fieldOf(t *testing.T, tr *tree.Tree, question string) (*scored, *field) {
	t.Helper()
	e, _ := engine(t, tr)
	v, err := e.view(t.Context(), "default", tr.Source.ID)
	if err != nil {
		t.Fatal(err)
	}
	vectors, _ := testEmbed(t.Context(), []string{question})
	q := &questionOf{question, vectors[0], v}
	s := q.scored()
	return s, newField(s)
}

type questionOf struct {
	text   string
	vector []float32
	view   *view
}

func (q *questionOf) scored() *scored {
	asked := &question{text: q.text, terms: readQuestion(q.text), vector: q.vector, trees: []*view{q.view}}
	asked.weigh()
	return asked.score(q.view)
}

func spokenTalk(who []string, cues ...string) *tree.Tree {
	tr := talk("speakspeakspeakspeakspeaka", "Talk", cues...)
	n := 0
	for _, l2 := range tr.Roots[0].Children {
		for _, l3 := range l2.Children {
			l3.Evidence.Cues[0].Speaker = who[n]
			n++
		}
	}
	return tr
}

// A question about what somebody said looks for what they said, and for the
// topic without their name.
func TestSpeakersAndTopic(t *testing.T) {
	tr := spokenTalk([]string{"Ada Stone", "Ben Wood", "Ada Stone", "Ben Wood"}, "The lamp is red.", "Ada Stone spoke of lamps.", "Bread is baked.", "Good night.")
	s, f := fieldOf(t, tr, "What did Ada Stone say about the lamp?")
	var p, other phi
	f.of(&p, 0, 1, 1, 2, 0)
	f.of(&other, 1, 2, 1, 2, 0)
	if p[phiSpeaker] != 1 || other[phiSpeaker] != 0 || p[phiSpeakNear] <= 0 {
		t.Errorf("the speaker counts %g and %g, around %g", p[phiSpeaker], other[phiSpeaker], p[phiSpeakNear])
	}
	if p[phiTopic] <= p[phiOwn]/2 || f.topic(2, 3) != 0 {
		t.Errorf("the topic counts %g of %g, where she speaks of something else %g", p[phiTopic], p[phiOwn], f.topic(2, 3))
	}
	for k := range scales {
		if p[phiNear+k] <= 0 {
			t.Errorf("window %d holds nothing", k)
		}
	}
	if len(s.units) != 4 {
		t.Fatalf("%d units", len(s.units))
	}
}

// Places are shares of the source's time, whatever its units.
func TestPlaceByHand(t *testing.T) {
	_, f := fieldOf(t, talk("placeplaceplaceplaceplacea", "Talk", "one", "two", "three", "four"), "At the end he speaks of three")
	var p phi
	f.of(&p, 2, 4, 2, 2, .5) // from 10 s to 19 s of 19 s
	at := p[phiPlace:]
	near(t, "begin", float64(at[0]), 10./19)
	near(t, "end", float64(at[1]), 1)
	near(t, "length", float64(at[2]), 9./19)
	near(t, "log length", float64(at[3]), math.Log(9./19)/4)
	near(t, "first", float64(at[5]), 0)
	near(t, "last", float64(at[6]), 1)
	near(t, "cosine by length", float64(at[10]), .5*9./19)
	near(t, "a run of two", float64(p[phiRun]), 1)
	near(t, "no run of three", float64(p[phiRun+1]), 0)
	near(t, "below L2", float64(p[phiLevel+2]), 1)
	near(t, "the end is asked for", float64(p[phiOrder+orderLast*orderPlaces]), 10./19)
	near(t, "the beginning is not", float64(p[phiOrder+orderFirst*orderPlaces]), 0)
}

func TestOrderWords(t *testing.T) {
	for text, want := range map[string]int{
		"The man begins to dance": orderFirst, "Después salta": orderNext, "at the end she bows": orderLast, "he jumps again": orderBack,
		"最后他鞠躬": orderLast, "सबसे पहले वह नाचता है": orderFirst, "Danach springt er": orderNext,
	} {
		if got := orderOf(text); got[want] != 1 {
			t.Errorf("%q is read as %v", text, got)
		}
	}
	if orderOf("a red lamp on the table") != [orders]float32{} {
		t.Error("order words where there are none")
	}
}

// Runs join up to four neighbours of one L1, only where pictures are described.
func TestRuns(t *testing.T) {
	v := &view{roots: make([]rootView, 2)}
	for i := range 7 {
		v.clips = append(v.clips, clipView{root: i / 5})
		v.leaves = append(v.leaves, leafView{clip: i, lo: i, hi: i + 1})
	}
	seen := map[[2]int]int{}
	for l := range v.leaves {
		v.runs(l, func(r region) { seen[[2]int{r.lo, r.hi}] = r.run })
	}
	if len(seen) != 4+3+2+1 || seen[[2]int{0, 4}] != 4 || seen[[2]int{5, 7}] != 2 {
		t.Errorf("runs %v", seen)
	}
	v.leaves[2].layer = layerSpoken
	v.runs(1, func(r region) {
		if r.hi > 2 {
			t.Errorf("units [%d, %d) of speech were joined", r.lo, r.hi)
		}
	})
}

// In the described video of four scenes, two that belong together are found as
// one span, and no evidence shares a place.
func TestDisjointKeepsTheBest(t *testing.T) {
	s := &scored{view: &view{tree: &tree0}}
	of := func(lo, hi int, rel float64) *candidate { return &candidate{s: s, lo: lo, hi: hi, rel: rel} }
	a, b, c, d := of(0, 1, .5), of(0, 2, .9), of(1, 3, .8), of(2, 4, .1)
	if got := disjoint([]*candidate{a, b, c, d}); len(got) != 2 || got[0] != b || got[1] != d {
		t.Errorf("kept %d, first [%d, %d)", len(got), got[0].lo, got[0].hi)
	}
}
