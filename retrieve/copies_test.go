package retrieve

import (
	"slices"
	"strings"
	"testing"

	"github.com/reeltree/reeltree/tree"
)

// Six uploads of one talk, two of them damaged, and another talk that says a
// little about the same: the question enters one upload and the other talk.
func TestCopiesLeaveRoom(t *testing.T) {
	said := strings.Fields("the old lighthouse keeper cleaned the great lens every morning with vinegar and cotton before the inspector came by boat from town")
	e, s := engine(t)
	add := func(id string, words []string) {
		tr := talk(id, "Talk", strings.Join(words, " "))
		s["default/"+id] = tr
		if err := e.AddTree(t.Context(), tr); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 6 {
		words := slices.Clone(said)
		if i > 3 {
			words[i] = "uh"
		}
		add(strings.Repeat("copy", 6)+string(rune('a'+i))+"a", words)
	}
	add("otherotherotherotherother2", strings.Fields("a lens of glass is ground by hand in the workshop behind the market where nine people work all winter long and drink coffee"))
	r := find(t, e, Query{Text: "How is the great lens of the lighthouse cleaned?", Trees: 3, Fill: true})
	sources := map[string]int{}
	for _, it := range r.Items {
		sources[it.Source.ID]++
	}
	if len(sources) != 2 || sources["otherotherotherotherother2"] == 0 {
		t.Errorf("evidence of %v, want one upload and the other talk", sources)
	}
}

// Short texts are alike by chance and are no copies.
func TestShortTextsAreNoCopies(t *testing.T) {
	one, two := talk("shortshortshortshortshort1", "A", "a red lamp"), talk("shortshortshortshortshort2", "B", "a red lamp")
	e, _ := engine(t, one, two)
	if r := find(t, e, Query{Text: "red lamp", Fill: true}); len(r.Items) != 2 {
		t.Errorf("%d pieces of evidence, want one of each source", len(r.Items))
	}
}

// Pieces of two uploads that were cut differently are copies where most of what
// the shorter says is word for word in the other; names of units do not matter.
func TestPiecesOfDifferentCutsAreCopies(t *testing.T) {
	lines := []string{
		"one two three four five six seven eight nine ten eleven twelve", "the keeper cleans the lens of the lighthouse every single day",
		"nobody came by boat that year because of the ice", "we close the harbour gate when the red lamp is on",
	}
	piece := func(source string, said ...string) *candidate {
		v := &view{tree: &tree.Tree{Source: tree.Source{ID: source}}, clips: []clipView{{hi: len(said)}}}
		for _, l := range said {
			v.units = append(v.units, unit{quote: l, words: tokensOf(l)})
		}
		return &candidate{s: &scored{view: v}, hi: len(said)}
	}
	a := piece("a", lines[0], lines[1])
	for _, c := range []struct {
		other *candidate
		want  bool
	}{
		{piece("b", lines[1], lines[2]), true},
		{piece("b", lines[2], lines[3]), false},
		{piece("a", lines[0], lines[1]), false},          // of one source they are two places
		{piece("b", lines[0], lines[2], lines[3]), true}, // half of the shorter one
		{piece("b", "yes", "no", "we do"), false},        // too short to be told apart
		{piece("b", "one two three four five six"), false},
		{piece("b", strings.ToUpper(lines[1])), true},     // as the terms are
		{piece("b", lines[1]+" and the lamp too"), false}, // another line
	} {
		if got := a.copies(c.other); got != c.want || c.other.copies(a) != c.want {
			t.Errorf("%q copies: %v", c.other.s.words(0, c.other.hi), got)
		}
	}
}
