package retrieve

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/reeltree/reeltree/tree"
)

func TestNamesLeaveOutWhatTellsThemApart(t *testing.T) {
	for title, same := range map[string]string{
		"Against the Tide (1931 film)": "against the tide",
		"Kelby [draft 2]":              "Kelby",
		"灯台（映画）":                       "灯台",
		"(No) Way Home":                "No way home",
		"The Quiet  Harbour":           "the quiet harbour",
		"(untitled)":                   "untitled",
		"  Élodie (singer) ":           "Elodie",
	} {
		if a, b := nameOf(title), nameOf(same); !slices.Equal(a.words, b.words) || !slices.Equal(a.keys, b.keys) || len(a.words) == 0 {
			t.Errorf("%q is not called %q", title, same)
		}
	}
	if n := nameOf("The Who"); len(n.words) != 2 || len(n.keys) == 0 {
		t.Errorf("a name of function words alone says nothing: %+v", n)
	}
	if n := nameOf(" - "); len(n.words) != 0 || n.in(tokensOf("- - -")) >= 0 {
		t.Errorf("a title without words names something: %+v", n)
	}
}

func TestNamesStandInTexts(t *testing.T) {
	n := nameOf("Harbour Light (song)")
	for text, want := range map[string]int{
		"the Harbour Light of Kelby":   1,
		"harbour lights":               0, // forms of a word are one
		"a light, a harbour":           -1,
		"harbour":                      -1,
		"":                             -1,
		"harbour, harbour light again": 1,
	} {
		if got := n.in(tokensOf(text)); got != want {
			t.Errorf("in %q at %d, want %d", text, got, want)
		}
	}
	long, short := nameOf("Harbour Light Orchestra"), nameOf("The Harbour")
	if !short.within(&long) || long.within(&short) || !short.within(&short) {
		t.Error("the harbour is within the orchestra's name, not the other way round")
	}
}

// Hand-worked: of a name of two words, one in one of three texts, the other in
// all of them.
func TestNamesSaidByASource(t *testing.T) {
	n := nameOf("Kelby harbour")
	kelby, harbour := nameOf("Kelby").keys[0], nameOf("harbour").keys[0]
	r := textsOf(t, "kelby harbour", "harbour", "harbour").rarity("a")
	v := &view{postings: map[uint64][]posting{harbour: {{0, 1}}}}
	near(t, "the common word", n.saidBy(v, r), idf(3, 3)/(idf(3, 3)+idf(3, 1)))
	v.postings[kelby] = []posting{{0, 1}}
	near(t, "both", n.saidBy(v, r), 1)
	near(t, "of a tenant without texts", n.saidBy(v, rarity{}), 0)
}

func idf(rows, df float64) float64 { return math.Log1p((rows - df + .5) / (df + .5)) }

// textsOf is an index of a tenant "a" with these texts.
func textsOf(t *testing.T, texts ...string) *Keyword {
	t.Helper()
	x, err := NewKeyword()
	if err != nil {
		t.Fatal(err)
	}
	for i, text := range texts {
		id := fmt.Sprint(i)
		if err := x.Add(t.Context(), []Entry{{Tenant: "a", Source: id, Node: id, Text: text}}); err != nil {
			t.Fatal(err)
		}
	}
	return x
}

// Rarity and weights are those of one tenant: what another holds never shows.
func TestRarityIsTheTenantsOwn(t *testing.T) {
	x := textsOf(t, "kelby light", "light", "light")
	for _, id := range []string{"0", "1", "2"} {
		if err := x.Add(t.Context(), []Entry{{Tenant: "b", Source: id, Node: id, Text: "kelby"}}); err != nil {
			t.Fatal(err)
		}
	}
	key := func(w string) uint64 { return nameOf(w).keys[0] }
	a := x.rarity("a")
	near(t, "in one of three", a.of(key("kelby")), idf(3, 1))
	near(t, "in all three", a.of(key("light")), idf(3, 3))
	near(t, "in none", a.of(key("oven")), idf(3, 0))
	near(t, "elsewhere", x.rarity("b").of(key("kelby")), idf(3, 3))
	near(t, "of nobody", x.rarity("c").of(key("kelby")), 0)
	terms := slices.DeleteFunc(readQuestion("kelby light oven"), func(q questionTerm) bool { return q.kind != kindWord })
	w, sum := a.weights(terms), idf(3, 1)+idf(3, 3)+idf(3, 0)
	near(t, "share", float64(w[0]), idf(3, 1)/sum)
	if w[2] != 0 || x.rarity("c").weights(terms)[0] != 0 {
		t.Errorf("what stands nowhere has a weight: %v", w)
	}
}

// A name leads somewhere only if not every text speaks of it.
func TestNamesThatTell(t *testing.T) {
	texts := slices.Repeat([]string{"a talk about light"}, 2*tellingTexts)
	texts[0] += " of kelby"
	r := textsOf(t, texts...).rarity("a")
	for title, want := range map[string]bool{"Kelby": true, "Talk": false, "Talk of Kelby": true, "About": false, "Nowhere": false} {
		if n := nameOf(title); r.tells(&n) != want {
			t.Errorf("%q tells: %v", title, !want)
		}
	}
	few := nameOf("light")
	if r := textsOf(t, "light", "light").rarity("a"); !r.tells(&few) {
		t.Error("among few texts any word tells")
	}
	if (rarity{}).tells(&few) {
		t.Error("without texts none does")
	}
}

// The catalog finds by name what is listed now, in the order of the text.
func TestSourcesAreFoundByName(t *testing.T) {
	c := newCatalog()
	put := func(tenant, id, title string) { c.put(tree.Source{ID: id, Tenant: tenant, Title: title}, nil) }
	put("a", "1", "Kelby")
	put("a", "2", "Ada Storm (engineer)")
	put("a", "3", "Ada Storm Prize")
	put("a", "4", "")
	put("b", "5", "Kelby")
	named := func(text string) (ids []string) {
		for _, l := range c.named("a", tokensOf(text)) {
			ids = append(ids, l.src.ID)
		}
		return ids
	}
	for text, want := range map[string][]string{
		"Ada Storm of Kelby, in Kelby": {"2", "1"},
		"the Ada Storm Prize":          {"2", "3"},
		"Ada, Prize":                   nil,
		"":                             nil,
		"storm kelby":                  {"1"},
	} {
		if got := named(text); !slices.Equal(got, want) {
			t.Errorf("%q names %v, want %v", text, got, want)
		}
	}
	put("a", "1", "Norby") // it has a new title
	c.drop("a", "2")
	if got := named("Ada Storm Prize of Kelby and Norby"); !slices.Equal(got, []string{"3", "1"}) {
		t.Errorf("after changes: %v", got)
	}
	if got := c.named("nobody", tokensOf("Kelby")); got != nil {
		t.Errorf("of nobody: %v", got)
	}
}
