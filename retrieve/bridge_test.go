package retrieve

import (
	"slices"
	"strings"
	"testing"

	"github.com/reeltree/reeltree/tree"
)

// passage is a document of one paragraph, its sentences the leaves.
func passage(id, title string, says ...string) *tree.Tree {
	id = (id + strings.Repeat("x", 20))[:20]
	src := tree.Source{ID: id, Tenant: "default", Kind: tree.KindDocument, Title: title}
	span := func(a, b int) tree.Span {
		return tree.Span{Unit: tree.UnitText, Paragraph: 1, StartChar: a, EndChar: b}
	}
	text, l2 := "", &tree.Node{ID: tree.NodeID(id, 0, 0), Level: tree.L2}
	for i, s := range says {
		from := len([]rune(text))
		text += s + " "
		l2.Children = append(l2.Children, &tree.Node{
			ID: tree.NodeID(id, 0, 0, i), Level: tree.L3, Text: s, Span: span(from, from+len([]rune(s))), Evidence: tree.Evidence{Passage: s},
		})
	}
	l2.Text, l2.Span = text, span(0, len([]rune(text)))
	root := &tree.Node{ID: tree.NodeID(id, 0), Level: tree.L1, Text: title, Span: l2.Span, Children: []*tree.Node{l2}}
	return &tree.Tree{Source: src, Roots: []*tree.Node{root}}
}

// coast is a small library of passages that name one another.
func coast() []*tree.Tree {
	return []*tree.Tree{
		passage("storm", "Ada Storm (engineer)", "Ada Storm was an engineer.", "She built the harbour light of Kelby in 1881."),
		passage("kelby", "Kelby", "Kelby is a town on the north coast.", "It was founded by four monks."),
		passage("harbour", "Harbour towns", "Harbour towns have many inhabitants.", "Most of them built a light or two."),
		passage("light", "Lighthouse engineers", "Many an engineer built a light for a town.", "Few lights stand in a harbour."),
		passage("ovens", "Stone ovens", "Stone ovens bake bread for a town.", "The inhabitants share one oven."),
		passage("ada", "Ada Storm Prize", "The Ada Storm Prize goes to a young builder.", "It was given eleven times."),
	}
}

func titles(items []Item) []string {
	var out []string
	for _, it := range items {
		out = append(out, it.Source.Title)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func TestEvidenceFollowsNames(t *testing.T) {
	e, _ := engine(t, coast()...)
	for _, c := range []struct {
		question string
		want     []string
	}{
		// the first names the second, which the question does not
		{"Who founded the town whose harbour light the engineer Ada Storm built in 1881?", []string{"Ada Storm (engineer)", "Kelby"}},
		// both are named
		{"Are Kelby and the stone ovens both on the coast?", []string{"Kelby", "Stone ovens"}},
		// a longer name is not the shorter one
		{"Was the Ada Storm Prize given to a builder from Kelby?", []string{"Ada Storm Prize", "Kelby"}},
	} {
		r := find(t, e, Query{Text: c.question, Trace: true})
		if got := titles(r.Items); !slices.Equal(got, c.want) {
			t.Errorf("%s\nrests on %q, want %q", c.question, got, c.want)
		}
		kept := 0
		for _, d := range r.Rounds[0].Trace {
			if d.Stage == "bridge" {
				kept++
			}
		}
		if kept != 2 {
			t.Errorf("%s\nthe trace names %d sources", c.question, kept)
		}
	}
}

// Where no name tells, the choice is what it was.
func TestNoNameNoPair(t *testing.T) {
	const question = "Who built many lights for towns?"
	var want []Item
	for _, off := range []Switches{{Bridge: true}, {}} {
		trees := coast()[2:5] // which do not name one another
		s := shelfOf(trees...)
		e, err := Open(Config{Embed: testEmbed, Dim: 64, Trees: s.trees, Switches: off})
		if err != nil {
			t.Fatal(err)
		}
		for _, tr := range trees {
			if err := e.AddTree(t.Context(), tr); err != nil {
				t.Fatal(err)
			}
		}
		r := find(t, e, Query{Text: question})
		mustClose(t, e)
		if want == nil {
			want = r.Items
		}
		if !slices.EqualFunc(want, r.Items, func(a, b Item) bool { return a.Node == b.Node && a.Quote == b.Quote }) || len(want) == 0 {
			t.Errorf("with %+v: %+v", off, r.Items)
		}
	}
}

// pairOf is a pairing over parties made by hand: three terms of weights .5, .3, .2.
func pairOf(parties ...*party) *pairing {
	return &pairing{terms: make([]questionTerm, 3), weights: []float32{.5, .3, .2}, parties: parties}
}

func somebody(title string, worth float64, held ...bool) *party {
	v := &view{clips: []clipView{{hi: 1}}, units: []unit{{words: tokensOf(title)}}}
	return &party{s: &scored{view: v}, name: nameOf(title), share: worth, worth: worth, held: held}
}

func TestWorthOfAPairByHand(t *testing.T) {
	a, b := somebody("Ada Storm", .4, true, false, false), somebody("Kelby", .2, false, true, false)
	p := pairOf(a, b)
	worth, names := p.worth(a, b)
	near(t, "no names", names, 0)
	near(t, "worth", worth, .6+pairCover*.8)
	if p.best(); p.a != nil {
		t.Error("a pair that no name tells was chosen")
	}
	a.s.units[0].words = tokensOf("Ada Storm built the light of Kelby")
	worth, names = p.worth(a, b)
	near(t, "one names the other", names, pairBridge)
	near(t, "worth", worth, .6+pairCover*.8+pairBridge)
	if p.best(); p.a != a || p.b != b {
		t.Error("the better one is not the first")
	}
	a.share, b.share = .1, .4
	_, names = p.worth(a, b)
	near(t, "named by one that holds a quarter of what the best holds", names, pairBridge/2)
	a.share, b.share = 0, 0
	_, names = p.worth(a, b)
	near(t, "of a question nobody holds anything of", names, 0)
	b.lo, b.hi = 3, 4 // asked for: it is no discovery
	_, names = p.worth(a, b)
	near(t, "the question names it", names, pairNamed)
	a.lo, a.hi = 0, 2
	_, names = p.worth(a, b)
	near(t, "it names both", names, 2*pairNamed)
	b.lo, b.hi = 0, 2
	_, names = p.worth(a, b)
	near(t, "two of one name", names, pairNamed)
}

func TestLongerNamesCount(t *testing.T) {
	team, year := somebody("Kelby Rowers", .1), somebody("1964 Kelby Rowers team", .1)
	p := pairOf(team, year)
	p.words = tokensOf("Where did the 1964 Kelby Rowers team row?")
	p.call(team)
	p.call(year)
	p.largestNames()
	if !team.inner || year.inner || !team.named() || p.distinct(team, year) != 1 {
		t.Errorf("the team %+v, its year %+v", team, year)
	}
	year.s.units[0].words = tokensOf("The Kelby Rowers")
	if team.lo, team.hi = 0, 0; p.bridges(year, team) > 0 {
		t.Error("a name inside one's own leads nowhere")
	}
}

// What names lead to is looked into although nothing else finds it: the first
// round sees one source alone.
func TestNamesLeadToASecondRound(t *testing.T) {
	e, _ := engine(t, coast()...)
	const question = "Who founded the town whose harbour light the engineer Ada Storm built in 1881?"
	r := find(t, e, Query{Text: question, Trees: 1, Trace: true})
	if len(r.Rounds) != 2 || !strings.HasPrefix(r.Rounds[1].Queries[0], "Kelby") || !strings.Contains(r.Rounds[1].Queries[0], "found") {
		t.Fatalf("%d rounds, the last asks for %q", len(r.Rounds), r.Rounds[len(r.Rounds)-1].Queries)
	}
	if got := titles(r.Rounds[1].Kept); !slices.Equal(got, []string{"Kelby"}) {
		t.Errorf("the second round adds %q", got)
	}
	if a, b := r.Rounds[0].Kept[0].Score, topItem(r.Rounds[1].Kept).Score; b >= a {
		t.Errorf("a follow-up scores %v beside %v", b, a)
	}
	for _, q := range []Query{
		{Text: question, Trees: 1, Rounds: 1}, // one round is asked for
		{Text: "Who is Ada Storm?", Trees: 1}, // nothing is left open
		{Text: question, Scope: Scope{Sources: []string{coast()[0].Source.ID}}},
		{Text: question, Trees: 1, Fill: true},
	} {
		if r := find(t, e, q); len(r.Rounds) != 1 || slices.Contains(titles(r.Items), "Kelby") {
			t.Errorf("%+v: %d rounds, %q", q, len(r.Rounds), titles(r.Items))
		}
	}
}

// A source the question names is looked into whatever else was found.
func TestNamedSourcesAreLookedInto(t *testing.T) {
	e, _ := engine(t, coast()...)
	r := find(t, e, Query{Text: "Did the engineer Ada Storm ever see stone ovens?", Trees: 1})
	if got := titles(r.Items); !slices.Equal(got, []string{"Ada Storm (engineer)", "Stone ovens"}) || len(r.Rounds) != 2 {
		t.Errorf("%d rounds rest on %q", len(r.Rounds), got)
	}
}

// A later round changes the pair only for a better one.
func TestPairsOnlyGetBetter(t *testing.T) {
	a, b, c := somebody("Ada Storm", .4, true, false, false), somebody("Kelby", .2, false, true, false), somebody("Norby", .1, false, true, false)
	a.s.units[0].words = tokensOf("Ada Storm of Kelby and Norby")
	p := pairOf(a, b)
	p.best()
	p.parties = append(p.parties, c)
	if p.best(); p.b != b {
		t.Error("a worse partner took the place")
	}
	c.held = []bool{false, true, true}
	if p.best(); p.a != a || p.b != c {
		t.Error("a better partner did not")
	}
	if words, share := p.open(); len(words) != 0 || share != 0 {
		t.Errorf("all is held, open are %v, %v", words, share)
	}
}

// Of copies the one that says its own name is looked into.
func TestCopiesUnderAWrongName(t *testing.T) {
	says := []string{"Kelby is a town on the north coast with a harbour.", "It has four thousand inhabitants and a light that was built long ago by an engineer."}
	trees := []*tree.Tree{passage("aaaa", "Stone ovens", says...), passage("bbbb", "Kelby", says...)}
	e, _ := engine(t, trees...)
	hits := []Hit{{trees[0].Source.ID, trees[0].Roots[0].Children[0].ID, 1}, {trees[1].Source.ID, trees[1].Roots[0].Children[0].ID, .9}}
	for range 2 {
		views, err := e.unlike(t.Context(), "default", hits, 2)
		if err != nil || len(views) != 1 || views[0].tree.Source.Title != "Kelby" {
			t.Fatalf("%d views, %v", len(views), err)
		}
		slices.Reverse(hits)
	}
}
