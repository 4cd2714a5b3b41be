package retrieve

import (
	"math"
	"slices"
	"testing"

	"github.com/reeltree/reeltree/tree"
)

// junctionOf is a junction with pairs of gold share and score, the whole first.
func junctionOf(sides ...[2]float64) *Junction {
	j := &Junction{Whole: Side{Gold: sides[0][0], Score: sides[0][1]}}
	for _, s := range sides[1:] {
		j.Parts = append(j.Parts, Side{Gold: s[0], Score: s[1]})
	}
	return j
}

// The preferences of a junction, counted by hand.
func TestHeldPreferences(t *testing.T) {
	for name, c := range map[string]struct {
		j         *Junction
		held, all int
	}{
		"wholly gold beats each part":            {junctionOf([2]float64{1, .5}, [2]float64{1, .4}, [2]float64{1, .6}), 1, 2},
		"equal is not better":                    {junctionOf([2]float64{1, .5}, [2]float64{1, .5}, [2]float64{1, .4}), 1, 2},
		"gold over whole over the rest":          {junctionOf([2]float64{.5, .5}, [2]float64{1, .6}, [2]float64{0, .4}), 3, 3},
		"the other way round":                    {junctionOf([2]float64{.5, .5}, [2]float64{1, .4}, [2]float64{0, .6}), 0, 3},
		"every part with gold, if little":        {junctionOf([2]float64{.4, .5}, [2]float64{1, .6}, [2]float64{.1, .4}, [2]float64{0, .3}), 4, 5},
		"all parts with gold: they beat it only": {junctionOf([2]float64{.5, .5}, [2]float64{.5, .6}, [2]float64{.5, .7}), 2, 2},
		"no number beats nothing":                {junctionOf([2]float64{1, .5}, [2]float64{1, math.NaN()}, [2]float64{1, .4}), 1, 2},
	} {
		if held, all := c.j.Held(); held != c.held || all != c.all {
			t.Errorf("%s: %d of %d, want %d of %d", name, held, all, c.held, c.all)
		}
	}
}

// Junctions of a talk of two clips of ten cues: from L1 down along the gold,
// not below what is wholly gold, not where there is none.
func TestJunctionsFollowTheGold(t *testing.T) {
	cues := make([]string, 20)
	for i := range cues {
		cues[i] = "they grind glass"
	}
	tr := talk("junctionjunctionjunctionaa", "Glass", cues...)
	e, _ := engine(t, tr)
	levels := func(gold ...tree.Span) (out []string) {
		found, err := e.Junctions(t.Context(), "default", tr.Source.ID, "glass", gold)
		if err != nil {
			t.Fatal(err)
		}
		for _, j := range found {
			out = append(out, j.Level)
			if j.Layer != "spoken" || len(j.Whole.Vector) != 64 || len(j.Parts) < 2 || len(j.Whole.Terms) != refineFeatures || j.Whole.Tokens == 0 {
				t.Fatalf("junction %+v", j)
			}
		}
		return out
	}
	if got := levels(tree.MS(0, 100_000)); !slices.Equal(got, []string{"l1"}) {
		t.Errorf("all gold: %v", got)
	}
	if got := levels(tree.MS(0, 50_000)); !slices.Equal(got, []string{"l1", "l2"}) {
		t.Errorf("the first clip: %v", got)
	}
	// 10 cues fall into 5 and 5, those into 2 and 3, the 2 into single cues
	if got := levels(tree.MS(0, 5_000)); !slices.Equal(got, []string{"l1", "l2", "group", "group"}) {
		t.Errorf("the first cue: %v", got)
	}
	if got := levels(tree.MS(200_000, 300_000)); len(got) > 0 {
		t.Errorf("no gold: %v", got)
	}
	if _, err := e.Junctions(t.Context(), "default", "nobody", "glass", nil); err == nil {
		t.Error("a source that is not there has junctions")
	}
}

// A unit is gold where it shares half of the shorter of the two.
func TestGoldUnits(t *testing.T) {
	rows := func(a, b int) tree.Span { return tree.Span{Unit: tree.UnitRows, RowStart: a, RowEnd: b} }
	text := func(p, a, b int) tree.Span {
		return tree.Span{Unit: tree.UnitText, Paragraph: p, StartChar: a, EndChar: b}
	}
	for _, c := range []struct {
		a, b tree.Span
		want bool
	}{
		{tree.MS(0, 1000), tree.MS(500, 9000), true},
		{tree.MS(0, 1000), tree.MS(501, 9000), false},
		{tree.MS(0, 60_000), tree.MS(10_000, 12_000), true},
		{rows(3, 4), rows(3, 4), true},
		{rows(3, 4), rows(4, 5), false},
		{text(1, 0, 80), text(1, 70, 90), true},
		{text(1, 0, 80), text(2, 0, 80), false},
		{text(1, 0, 80), tree.MS(0, 80), false},
	} {
		if got := halfShared(c.a, c.b); got != c.want || halfShared(c.b, c.a) != got {
			t.Errorf("%v and %v: %v", c.a, c.b, got)
		}
	}
	v := &view{units: []unit{{span: tree.MS(0, 10)}, {span: tree.MS(10, 20)}, {span: tree.MS(20, 30)}}}
	if got := v.goldUnits([]tree.Span{tree.MS(8, 30)}); !slices.Equal(got, []int{0, 0, 1, 2}) {
		t.Errorf("counts %v", got)
	}
}

// The terms of a region, by hand where they are simple.
func TestRefineTerms(t *testing.T) {
	tr := talk("termstermstermstermstermsa", "Glass", "grinding a lens", "the weather", "rain again", "grinding a lens with sand", "silence", "wind", "snow", "ice", "fog", "sun", "evening")
	e, _ := engine(t, tr)
	v, err := e.view(t.Context(), "default", tr.Source.ID)
	if err != nil {
		t.Fatal(err)
	}
	vectors, _ := testEmbed(t.Context(), []string{"grinding a lens"})
	q := &questionOf{"grinding a lens", vectors[0], v}
	s := q.scored()
	f := s.refineField(nil)
	clip, other := f.of(s.clips[0].groups), f.of(s.clips[1].groups)
	leaf := f.of(s.leaves[0].group)
	if leaf[refineHeld] < .999 || other[refineHeld] != 0 || leaf[refineMost] != s.lexical[0] || leaf[refineWordsPeak] != 0 {
		t.Errorf("the words of the leaf: %v", leaf[:refineLength])
	}
	if leaf[refineCosine] <= clip[refineCosine] || leaf[refineCosinePeak] != 0 {
		t.Error("the leaf is no better than its clip")
	}
	if clip[refineMostCosine] != leaf[refineCosine] || clip[refineLeastCosine] >= clip[refineMostCosine] {
		t.Error("best and worst units of the clip")
	}
	if clip[refineLength] <= leaf[refineLength] || leaf[refineWordsShare] <= 0 || other[refineWordsShare] >= 0 || leaf[refineCosineShare] <= 0 {
		t.Error("length and shares")
	}
	root := f.of(v.rootGroup(0))
	if math.Abs(float64(root[refineWordsZ])) > 1e-5 || root[refineRows] != 0 || root[refineSpeaker] != 0 {
		t.Errorf("the whole against itself: %v", root)
	}
	for _, x := range root {
		if math.IsNaN(float64(x)) {
			t.Fatal("a term is no number")
		}
	}
}
