package retrieve

import (
	"math"
	"slices"
	"testing"
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

// Hand-worked: of a name of two words, one in every text, the rare one counts.
func TestNamesSaidByASource(t *testing.T) {
	n := nameOf("Kelby harbour")
	kelby, harbour := nameOf("Kelby").keys[0], nameOf("harbour").keys[0]
	rarity := func(k uint64) float64 {
		if k == kelby {
			return 3
		}
		return 1
	}
	v := &view{postings: map[uint64][]posting{harbour: {{0, 1}}}}
	near(t, "the common word", n.saidBy(v, rarity), .25)
	v.postings[kelby] = []posting{{0, 1}}
	near(t, "both", n.saidBy(v, rarity), 1)
	near(t, "words that tell nothing", n.saidBy(v, func(uint64) float64 { return 0 }), 0)
}

// Rarity and weights are those of one tenant: what another holds never shows.
func TestRarityIsTheTenantsOwn(t *testing.T) {
	x, err := NewKeyword()
	if err != nil {
		t.Fatal(err)
	}
	for i, text := range []string{"kelby light", "light", "light"} {
		e := Entry{Tenant: "a", Source: string(rune('a' + i)), Node: string(rune('a' + i)), Text: text}
		if err := x.Add(t.Context(), []Entry{e}); err != nil {
			t.Fatal(err)
		}
		e.Tenant, e.Text = "b", "kelby"
		if err := x.Add(t.Context(), []Entry{e}); err != nil {
			t.Fatal(err)
		}
	}
	key := func(w string) uint64 { return nameOf(w).keys[0] }
	idf := func(rows, df float64) float64 { return math.Log1p((rows - df + .5) / (df + .5)) }
	near(t, "in one of three", x.rarity("a")(key("kelby")), idf(3, 1))
	near(t, "in all three", x.rarity("a")(key("light")), idf(3, 3))
	near(t, "in none", x.rarity("a")(key("oven")), idf(3, 0))
	near(t, "elsewhere", x.rarity("b")(key("kelby")), idf(3, 3))
	near(t, "of nobody", x.rarity("c")(key("kelby")), 0)
	terms := slices.DeleteFunc(readQuestion("kelby light oven"), func(q questionTerm) bool { return q.kind != kindWord })
	w, sum := x.weights("a", terms), idf(3, 1)+idf(3, 3)+idf(3, 0)
	near(t, "share", float64(w[0]), idf(3, 1)/sum)
	if w[2] != 0 || x.weights("c", terms)[0] != 0 {
		t.Errorf("what stands nowhere has a weight: %v", w)
	}
}
