package retrieve

import (
	"math"
	"slices"
	"testing"
)

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 1e-6 {
		t.Errorf("%s is %.9f, want %.9f", what, got, want)
	}
}

func TestKeff(t *testing.T) {
	for _, c := range []struct {
		scores []float64
		want   int
	}{
		{nil, 0},
		{[]float64{.9}, 1},
		{[]float64{.9, .1}, 2},              // drop after the 1st: 1 + 2, at most all
		{[]float64{.9, .3, .2, .1}, 3},      // drop after the 1st: 1 + 2
		{[]float64{.9, .8, .2, .1, .1}, 4},  // drop after the 2nd: 2 + 2
		{[]float64{.9, .8, .7, .1}, 4},      // drop after the 3rd: 3 + 2, at most all
		{[]float64{.5, .5, .5, .5, .5}, 3},  // no drop at all: the first place
		{[]float64{.75, .5, .25, 0, 0}, 3},  // equal drops: the first
		{[]float64{.2, .2, -.3, -.3, 0}, 4}, // negative scores
	} {
		if got := keff(c.scores); got != c.want {
			t.Errorf("K_eff of %v is %d, want %d", c.scores, got, c.want)
		}
	}
}

// A ledger made by hand: gaps weigh .5, .3, .2; the first is closed by what is
// chosen; facts 1 and 2 are unsure, fact 3 is sure.
func handLedger(v *view) (*ledger, *scored) {
	s := &scored{view: v}
	l := &ledger{
		gaps:   []gap{{"a", []uint64{1}, .5}, {"b", []uint64{2}, .3}, {"c", []uint64{3, 30}, .2}},
		terms:  map[uint64]bool{1: true, 9: true},
		facts:  map[uint64]fact{1: {onceSaid, "clip0"}, 9: {onceSaid, "clip0"}, 8: {twiceSaid, "clip0"}},
		chosen: []*candidate{{s: s, lo: 0, hi: 1, vector: []float32{1, 0}}, {s: s, lo: 1, hi: 2, vector: []float32{.6, .8}}},
	}
	return l, s
}

func TestUtilityTermByTerm(t *testing.T) {
	v := &view{clips: []clipView{{node: clipNode("clip0")}, {node: clipNode("clip1")}}}
	l, s := handLedger(v)
	c := &candidate{s: s, clip: 1, lo: 4, hi: 5, rel: .5, terms: []uint64{1, 2, 7, 30}, facts: []uint64{1, 2}, vector: []float32{0, 1}}
	u := l.utility(c)
	near(t, "GapCov", u.gapCov, 1) // both open gaps, b by itself and c by its beginning: (.3+.2)/.5
	near(t, "Corr", u.corr, .5)    // of the unsure facts 1 and 9 it repeats 1
	near(t, "Nov", u.nov, .75)     // of its four terms only 1 is known
	near(t, "Red", u.red, .8)      // cosine to (.6, .8); to (1, 0) it is 0
	near(t, "RelQ", u.relQ, .5)    //
	near(t, "S", u.sum(), .5175)   // .35 + .20*.5 + .15*.75 - .15*.8 + .15*.5
	c.terms = []uint64{2, 9}       // closes b alone
	near(t, "GapCov of one", l.utility(c).gapCov, .6)
	c.clip = 0
	near(t, "Corr inside the same L2", l.utility(c).corr, 0)
	all := utility{1, 1, 1, 0, 1}
	near(t, "the most S", all.sum(), .85)
}

func TestLedgerBooksFacts(t *testing.T) {
	v := &view{clips: []clipView{{node: clipNode("clip0")}, {node: clipNode("clip1")}}}
	l, s := handLedger(v)
	l.add(&candidate{s: s, clip: 1, facts: []uint64{1, 5}, terms: []uint64{2}})
	if got := l.facts[1]; got.confidence != twiceSaid {
		t.Errorf("a fact heard from two places is held at %v", got)
	}
	if got := l.facts[5]; got.confidence != onceSaid || got.clip != "clip1" {
		t.Errorf("a new fact is held at %v", got)
	}
	l.add(&candidate{s: s, clip: 1, facts: []uint64{5}})
	if got := l.facts[5]; got.confidence != onceSaid {
		t.Errorf("the same L2 twice made a fact sure: %v", got)
	}
	if open := l.open(); len(open) != 1 || open[0].shown != "c" {
		t.Errorf("open gaps are %v", open)
	}
}

// Candidates that cost 60, 50 and 10 of a budget of 100: the second does not
// fit after the first and is skipped, the third still gets in.
func TestChooseSkipsWhatDoesNotFit(t *testing.T) {
	v := &view{clips: []clipView{{node: clipNode("clip0")}}}
	s := &scored{view: v}
	l := &ledger{gaps: []gap{{"a", []uint64{1}, 1}}, terms: map[uint64]bool{}, facts: map[uint64]fact{}}
	of := func(at, tokens int, rel float64) *candidate {
		return &candidate{s: s, lo: at, hi: at + 1, tokens: tokens, rel: rel, terms: []uint64{uint64(10 + at)}, vector: []float32{0, 0}}
	}
	v.tree = &tree0
	all := []*candidate{of(0, 60, .9), of(1, 50, .8), of(2, 10, .7)}
	kept, left := l.choose(all, limits{tokens: 100, items: 12})
	if len(kept) != 2 || kept[0] != all[0] || kept[1] != all[2] || left != 1 {
		t.Errorf("kept %d, left out %d", len(kept), left)
	}
	if again, _ := l.choose(all[:1], limits{tokens: 100, items: 12}); len(again) != 0 {
		t.Error("the same place was taken twice")
	}
}

func TestChooseTakesAllForAggregates(t *testing.T) {
	v := &view{clips: []clipView{{node: clipNode("clip0")}}, tree: &tree0}
	s := &scored{view: v}
	var all []*candidate
	for i := range 20 {
		all = append(all, &candidate{s: s, lo: i, hi: i + 1, tokens: 10, rel: 1 / float64(i+1), terms: []uint64{uint64(i)}, vector: []float32{0, 0}})
	}
	fresh := func() *ledger { return &ledger{terms: map[uint64]bool{}, facts: map[uint64]fact{}} }
	if kept, left := fresh().choose(all, limits{tokens: 150, items: 1000, all: true}); len(kept) != 15 || left != 5 {
		t.Errorf("kept %d and left out %d, want 15 and 5", len(kept), left)
	}
	if kept, _ := fresh().choose(all, limits{tokens: 150, items: 12}); len(kept) != 3 {
		t.Errorf("the largest drop is after the first: kept %d, want 3", len(kept))
	}
}

func TestSaturatedByHand(t *testing.T) {
	near(t, "one in a text of mean length", saturated(1, bm25Length), 1/2.2)
	near(t, "two in half of it", saturated(2, bm25Length/2), 2/(2+1.2*(.25+.75*.5)))
	near(t, "none", saturated(0, 10), 0)
}

func TestQuestionWeighsByRarity(t *testing.T) {
	v := &view{units: make([]unit, 4), postings: map[uint64][]posting{}}
	q := &question{terms: readQuestion("lens oven zebra"), trees: []*view{v}}
	q.terms = slices.DeleteFunc(q.terms, func(t questionTerm) bool { return t.kind != kindWord })
	v.postings[q.terms[0].key] = []posting{{0, 1}, {1, 1}}
	v.postings[q.terms[1].key] = []posting{{2, 1}}
	q.weigh()
	idf := func(df float64) float64 { return math.Log1p((4 - df + .5) / (df + .5)) }
	sum := idf(2) + idf(1) + idf(0)
	near(t, "weight of a term in 2 of 4", q.terms[0].weight, idf(2)/sum)
	near(t, "weight of a term in 1 of 4", q.terms[1].weight, idf(1)/sum)
	near(t, "weight of a term in none", q.terms[2].weight, idf(0)/sum)
}

func TestJaccardAndRepeats(t *testing.T) {
	near(t, "Jaccard", jaccard(map[uint64]bool{1: true, 2: true, 3: true}, map[uint64]bool{2: true, 3: true, 4: true}), .5)
	if !repeats("the lighthouse lens", []string{"lens of a lighthouse"}) || repeats("lens", []string{"bread in an oven"}) {
		t.Error("only a query that says the same is a repeat")
	}
}
