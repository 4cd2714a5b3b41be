package retrieve

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/reeltree/reeltree/tree"
)

var (
	lens = talk("lenslenslenslensle", "Lenses", "Welcome to this talk.", "A ship saw the old lamp from eight kilometres.", "Glass is heavy.",
		"Rings keep the curve of the glass.", "The new light was seen from thirty kilometres.", "Keepers floated it in mercury.",
		"Mercury is poisonous.", "Every light has its rhythm.", "Thank you.", "Questions please.", "How do you clean a lens?", "With vinegar and a soft cloth.")
	bread = talk("breadbreadbreadbre", "Bread", "Flour, water and salt.", "Knead the dough for ten minutes.", "Bake it in a hot oven.")
)

func find(t *testing.T, e *Engine, q Query) Result {
	t.Helper()
	if q.Scope.Tenant == "" {
		q.Scope.Tenant = "default"
	}
	r, err := e.Query(t.Context(), q, nil)
	if err != nil {
		t.Fatalf("%q: %v", q.Text, err)
	}
	return r
}

func holds(items []Item, words string) bool {
	return slices.ContainsFunc(items, func(it Item) bool { return strings.Contains(it.Quote, words) })
}

func TestEvidenceIsTightAndInPlace(t *testing.T) {
	e, _ := engine(t, lens, bread)
	r := find(t, e, Query{Text: "From how many kilometres was the light seen?", Trace: true})
	if r.Weak || !holds(r.Items, "eight kilometres") || !holds(r.Items, "thirty kilometres") {
		t.Fatalf("weak %v, items %+v", r.Weak, r.Items)
	}
	for i, it := range r.Items {
		if it.Source.ID != lens.Source.ID && it.Source.ID != bread.Source.ID || it.Span.Duration() > 25_000 || it.Span.EndMS > it.Source.DurationMS {
			t.Errorf("item %d: %s %v", i, it.Source.ID, it.Span)
		}
		if i > 0 && it.Source.ID == r.Items[i-1].Source.ID && it.Span.StartMS < r.Items[i-1].Span.StartMS {
			t.Errorf("item %d is out of order", i)
		}
		if strings.Contains(it.Quote, "thirty") && !it.Span.Contains(20_000) {
			t.Errorf("thirty kilometres lies at %v", it.Span)
		}
	}
	if len(r.Rounds) != 1 || len(r.Rounds[0].Trace) == 0 || r.Coverage != 1 {
		t.Errorf("rounds %+v coverage %g", r.Rounds, r.Coverage)
	}
}

func TestScopeHoldsAtEveryStage(t *testing.T) {
	other := talk("otherotherotherothe", "Lenses of theirs", "The secret light was seen from ninety kilometres.")
	other.Source.Tenant = "other"
	e, _ := engine(t, lens, bread, other)
	if r := find(t, e, Query{Text: "light seen kilometres"}); holds(r.Items, "secret") || holds(r.Nearest, "secret") {
		t.Error("another tenant's words were found")
	}
	if r := find(t, e, Query{Text: "light seen kilometres", Scope: Scope{Sources: []string{bread.Source.ID}}}); !r.Weak || holds(r.Items, "light") {
		t.Errorf("outside the source: %+v", r)
	}
	span := tree.MS(0, 12_000)
	if r := find(t, e, Query{Text: "kilometres", Scope: Scope{Span: &span}}); !holds(r.Items, "eight") || holds(r.Items, "thirty") {
		t.Errorf("outside the span: %+v", r.Items)
	}
	if r := find(t, e, Query{Text: "kilometres", Scope: Scope{Kinds: []tree.Kind{tree.KindDocument}}}); len(r.Items) != 0 || !r.Weak {
		t.Errorf("outside the kind: %+v", r.Items)
	}
}

func TestRemovedSourcesAreNeverFound(t *testing.T) {
	e, s := engine(t, lens, bread)
	delete(s, "default/"+lens.Source.ID)
	if err := e.Remove(t.Context(), "default", lens.Source.ID); err != nil {
		t.Fatal(err)
	}
	if r := find(t, e, Query{Text: "kilometres of light"}); holds(r.Items, "kilometres") || e.Has("default", lens.Source.ID) {
		t.Errorf("found after removal: %+v", r.Items)
	}
}

func TestQuestionsOfAnyKindDoNotCrash(t *testing.T) {
	e, _ := engine(t, lens)
	for _, text := range []string{"", "  \n", strings.Repeat("a", maxQuestion+1), "\xff\xfe"} {
		if _, err := e.Query(t.Context(), Query{Text: text, Scope: Scope{Tenant: "default"}}, nil); !errors.Is(err, ErrQuestion) {
			t.Errorf("%.10q: %v", text, err)
		}
	}
	for _, text := range []string{"?", "the of and", "灯台", "منارة", "'; DROP TABLE --", strings.Repeat("🙂", 900), "a\u0301\u0301", strings.Repeat("lens ", 5000)} {
		find(t, e, Query{Text: text})
	}
}

func TestRoundsFillGaps(t *testing.T) {
	e, _ := engine(t, lens)
	r := find(t, e, Query{Text: "mercury and vinegar", Rounds: 3, Budget: 12})
	if len(r.Rounds) > 3 {
		t.Errorf("%d rounds", len(r.Rounds))
	}
	seen := map[string]bool{}
	for _, it := range r.Items {
		if seen[it.Quote] {
			t.Errorf("twice: %q", it.Quote)
		}
		seen[it.Quote] = true
	}
}

// TestIdentityWalkIsCosineRouting: untrained, the navigator ranks as cosine
// does, scaled by 2 / (heads · sqrt(d_h)).
func TestIdentityWalkIsCosineRouting(t *testing.T) {
	vectors := clustered(50, 9)
	q := vectors[0]
	scale := 2 / (walkHeads * math.Sqrt(dim/walkHeads))
	for _, m := range vectors {
		if got, want := (navigator{}).score(q, q, m), scale*dot(q, m); math.Abs(got-want) > 1e-6 {
			t.Fatalf("score %g, scaled cosine %g", got, want)
		}
	}
}

func TestWalkVisitsEachLeafOnce(t *testing.T) {
	v, err := newView(t.Context(), lens, testEmbed)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[int]bool{}
	for _, st := range (navigator{}).walk(v, v.units[4].vector, 100) {
		if seen[st.unit] {
			t.Errorf("leaf %d twice", st.unit)
		}
		seen[st.unit] = true
	}
	if len(seen) != len(v.units) {
		t.Errorf("%d of %d leaves", len(seen), len(v.units))
	}
}

// TestParentRelativeRule follows the rule by hand: go on to every child that
// scores at least as its parent, keep the parent whole when none does.
func TestParentRelativeRule(t *testing.T) {
	leaf := func(lo int, s float64) *region { return &region{lo: lo, hi: lo + 1, score: s} }
	left := &region{lo: 0, hi: 2, score: .5, children: []*region{leaf(0, .4), leaf(1, .45)}}
	right := &region{lo: 2, hi: 4, score: .7, children: []*region{leaf(2, .7), leaf(3, .9)}}
	root := &region{lo: 0, hi: 4, score: .5, children: []*region{left, right}}
	kept := func(margin float64) (out [][2]int) {
		refine(root, margin, func(r *region) { out = append(out, [2]int{r.lo, r.hi}) })
		return out
	}
	if got := kept(0); !slices.Equal(got, [][2]int{{0, 2}, {2, 3}, {3, 4}}) {
		t.Errorf("margin 0: %v", got)
	}
	if got := kept(.25); !slices.Equal(got, [][2]int{{0, 4}}) {
		t.Errorf("margin .25: the best child leads by .2 only: %v", got)
	}
}

func TestKeff(t *testing.T) {
	for _, c := range []struct {
		scores []float64
		want   int
	}{{nil, 0}, {[]float64{.9}, 1}, {[]float64{.9, .2, .1}, 3}, {[]float64{.9, .8, .1, .05, .01}, 4}, {[]float64{1, .9, .8, .7, .1, 0}, 6}} {
		if got := keff(c.scores); got != c.want {
			t.Errorf("keff(%v) = %d, want %d", c.scores, got, c.want)
		}
	}
}

// TestUtilityByHand checks the terms of S on a ledger with one open gap.
func TestUtilityByHand(t *testing.T) {
	v := &view{units: []*unit{{}, {}}}
	l := newLedger(weighted{terms: []string{"lens", "ton"}, weights: []float64{.5, .5}})
	first := &candidate{view: v, lo: 0, hi: 1, terms: []string{"glass", "lens"}, vector: []float32{1, 0}, rel: .8}
	if got, want := l.utility(first), .35*.5+.15*1+.15*.8; math.Abs(got-want) > 1e-9 {
		t.Errorf("first %g, want %g", got, want)
	}
	l.add(first)
	second := &candidate{view: v, lo: 1, hi: 2, terms: []string{"glass", "ton"}, vector: []float32{.6, .8}, rel: .4}
	if got, want := l.utility(second), .35*1+.15*.5-.15*.6+.15*.4; math.Abs(got-want) > 1e-6 {
		t.Errorf("second %g, want %g", got, want)
	}
}

func TestBudgetSkipsWhatDoesNotFit(t *testing.T) {
	v := &view{units: []*unit{{}, {}, {}}}
	c := func(lo, tokens int, rel float64) *candidate {
		return &candidate{view: v, lo: lo, hi: lo + 1, tokens: tokens, rel: rel, terms: []string{"t"}, vector: []float32{1}}
	}
	kept, left := choose(newLedger(weighted{}), []*candidate{c(0, 500, .9), c(1, 40, .8), c(2, 30, .7)}, 100, 12)
	if len(kept) != 2 || left != 1 || kept[0].tokens != 40 {
		t.Errorf("kept %d, left out %d", len(kept), left)
	}
}
