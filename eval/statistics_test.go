package eval

import (
	"testing"

	"github.com/reeltree/reeltree/retrieve"
	"github.com/reeltree/reeltree/tree"
)

// twoClips is a library of one recording of two clips with two cues of three
// words (four tokens) each.
func twoClips(t *testing.T) (*library, string) {
	t.Helper()
	id := sourceID("two clips")
	src := tree.Source{ID: id, Tenant: tree.DefaultTenant, Kind: tree.KindAudio, DurationMS: 4000}
	m := tree.Material{Source: src, Span: tree.MS(0, 4000)}
	for c := range int64(2) {
		clip := tree.Clip{Span: tree.MS(2000*c, 2000*c+2000)}
		for k := range int64(2) {
			at := 2000*c + 1000*k
			clip.Leaves = append(clip.Leaves, tree.Leaf{
				Span:     tree.MS(at, at+1000),
				Evidence: tree.Evidence{Cues: []tree.Cue{{StartMS: at, EndMS: at + 1000, Text: "one two three"}}},
			})
		}
		m.Clips = append(m.Clips, clip)
	}
	lib := &library{}
	if err := lib.grow(t.Context(), tree.Extractive{}, extractiveModels, src, m); err != nil {
		t.Fatal(err)
	}
	return lib, id
}

func TestStatsByHand(t *testing.T) {
	lib, id := twoClips(t)
	item := retrieve.Item{Node: id + "/0.0.1", Source: tree.Source{ID: id}, Span: tree.MS(1000, 2000), Tokens: 4}
	choose := func(node string) retrieve.Decision { return retrieve.Decision{Stage: "choose", Node: node} }
	r := retrieve.Result{Rounds: []retrieve.Round{
		{Trace: []retrieve.Decision{
			{Stage: "entry", Node: id + "/0"},
			{Stage: "entry", Node: id + "/0.0"},
			{Stage: "flat", Node: id + "/0.1.1"},
			choose(id + "/0.0.1"),
			{Stage: "cost", Node: id, Action: "scored", Score: 7},
			{Stage: "cost", Node: id, Action: "rounds", Score: 2},
		}},
		{Trace: []retrieve.Decision{choose(id + "/0.0.1"), choose(id + "/0.1.0")}},
	}}
	first, second, other := tree.MS(1000, 2000), tree.MS(2500, 3000), tree.MS(0, 500)
	gold := []fragment{{[]string{id}, &first}, {[]string{id}, &second}, {[]string{"elsewhere"}, &other}}
	var s statistics
	s.note(lib, "spoken", r, []retrieve.Item{item}, gold)
	got := s.means()["spoken"]
	// Both clips, 16 tokens, were begun; the evidence is 4 of the 8 of its clip.
	if got.PrunedShare != .75 || got.Saving != .5 || got.EvidenceTokens != 4 || got.Rounds != 2 || got.Questions != 1 {
		t.Errorf("%+v", got)
	}
	if *got.GoldEntered != .6667 || *got.GoldFragmentRecall != .5 || *got.RepeatShare != .5 {
		t.Errorf("entered %v, recall %v, repeats %v", *got.GoldEntered, *got.GoldFragmentRecall, *got.RepeatShare)
	}
	if got.NodesScored != 7 || got.WalkRounds != 2 {
		t.Errorf("scored %g in %g rounds", got.NodesScored, got.WalkRounds)
	}
	if all := s.means()["all"]; all.PrunedShare != got.PrunedShare {
		t.Errorf("%+v", all)
	}
	s.note(lib, "all", retrieve.Result{}, nil, nil)
	if all := s.means()["all"]; all.Questions != 2 || all.EvidenceTokens != 2 {
		t.Errorf("a question of no kind counts once: %+v", all)
	}
}

func TestFragments(t *testing.T) {
	text := func(par, a, b int) tree.Span {
		return tree.Span{Unit: tree.UnitText, Paragraph: par, StartChar: a, EndChar: b}
	}
	rows := func(a, b int) tree.Span { return tree.Span{Unit: tree.UnitRows, RowStart: a, RowEnd: b} }
	for _, c := range []struct {
		gold, at      tree.Span
		held, touched bool
	}{
		{tree.MS(0, 10), tree.MS(5, 50), true, true},
		{tree.MS(0, 10), tree.MS(6, 50), false, true},
		{tree.MS(0, 10), tree.MS(10, 50), false, false},
		{text(1, 5, 9), text(1, 5, 9), true, true},
		{text(1, 5, 9), text(1, 6, 90), false, true},
		{text(1, 5, 9), text(2, 0, 90), false, false},
		{rows(2, 3), rows(1, 4), true, true},
		{rows(2, 3), rows(3, 4), false, false},
		{rows(2, 3), text(1, 0, 5), false, false},
	} {
		g := fragment{[]string{"s"}, &c.gold}
		if g.in("s", c.at) != c.held || g.touches("s", c.at) != c.touched {
			t.Errorf("%v in %v: held %v, touched %v", c.gold, c.at, g.in("s", c.at), g.touches("s", c.at))
		}
		if g.in("other", c.at) || g.touches("other", c.at) {
			t.Errorf("%v is found in another source", c.gold)
		}
	}
	if whole := (&fragment{[]string{"s", "copy"}, nil}); !whole.in("copy", rows(0, 1)) || !whole.touches("copy", rows(0, 1)) || whole.touches("x", rows(0, 1)) {
		t.Error("a source as gold")
	}
}

func TestClipIDs(t *testing.T) {
	for node, want := range map[string]string{"s/0": "", "s/0.1": "s/0.1", "s/0.1.2": "s/0.1"} {
		if got, _ := clipID(node); got != want {
			t.Errorf("%s: %q", node, got)
		}
	}
}
