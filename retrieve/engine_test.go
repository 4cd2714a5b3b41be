package retrieve

import (
	"errors"
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

// A wider entry looks into more trees, and regions fall into as many parts as
// they are told to.
func TestEntryAndBranchAreSettings(t *testing.T) {
	for _, c := range []struct{ entry, branch, trees, parts int }{{0, 0, 6, 2}, {2, 4, 2, 4}} {
		s := shelfOf(append(coast(), lens)...)
		e, err := Open(Config{Embed: testEmbed, Dim: 64, Trees: s.trees, EntryNodes: c.entry, Branch: c.branch})
		if err != nil {
			t.Fatal(err)
		}
		for _, tr := range s {
			if err := e.AddTree(t.Context(), tr); err != nil {
				t.Fatal(err)
			}
		}
		sources := map[string]bool{}
		for _, d := range find(t, e, Query{Text: "a town, a harbour, a light and many inhabitants", Trace: true, Rounds: 1}).Rounds[0].Trace {
			if d.Stage == "flat" {
				source, _, _ := strings.Cut(d.Node, "/")
				sources[source] = true
			}
		}
		v, err := e.view(t.Context(), "default", lens.Source.ID)
		if err != nil || len(v.clips[0].groups.kids) != c.parts || c.entry > 0 && len(sources) != c.trees || len(sources) < c.trees {
			t.Errorf("%+v: %d trees, %d parts, %v", c, len(sources), len(v.clips[0].groups.kids), err)
		}
		mustClose(t, e)
	}
}
