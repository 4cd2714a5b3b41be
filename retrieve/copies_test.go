package retrieve

import (
	"slices"
	"strings"
	"testing"
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
