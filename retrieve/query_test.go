package retrieve

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/reeltree/reeltree/tree"
)

// report is a document of two paragraphs and a table, all in one L2 each.
func report(id string) *tree.Tree {
	src := tree.Source{ID: id, Tenant: "default", Kind: tree.KindDocument, Title: "Harvest report", Collections: []string{"farm"}}
	text := func(p, n int) tree.Span { return tree.Span{Unit: tree.UnitText, Paragraph: p, EndChar: n} }
	first := "The maize was dried in the sun. It lost half of its weight in nine days. Nobody measured the wind."
	second := "Beans were sold at the market. The price was low."
	root := &tree.Node{ID: tree.NodeID(id, 0), Level: tree.L1, Text: "Harvest", Span: text(1, 0)}
	for i, p := range []string{first, second} {
		sp := text(i+1, len([]rune(p)))
		root.Children = append(root.Children, &tree.Node{ID: tree.NodeID(id, 0, i), Level: tree.L2, Text: p, Span: sp, Children: []*tree.Node{
			{ID: tree.NodeID(id, 0, i, 0), Level: tree.L3, Text: p, Span: sp, Evidence: tree.Evidence{Passage: p}},
		}})
	}
	table := &tree.Node{ID: tree.NodeID(id, 0, 2), Level: tree.L2, Text: "Table of crops", Span: tree.Span{Unit: tree.UnitRows, RowEnd: 4}}
	for i, row := range [][]string{{"maize", "2019", "40"}, {"maize", "2020", "55"}, {"beans", "2020", "12"}} {
		table.Children = append(table.Children, &tree.Node{
			ID: tree.NodeID(id, 0, 2, i), Level: tree.L3, Text: strings.Join(row, " "), Span: tree.Span{Unit: tree.UnitRows, RowStart: i + 1, RowEnd: i + 2},
			Evidence: tree.Evidence{Header: []string{"crop", "year", "tons"}, Rows: [][]string{row}},
		})
	}
	root.Children = append(root.Children, table)
	return &tree.Tree{Source: src, Roots: []*tree.Node{root}}
}

var harvest = report("harvestharvestharv")

func topItem(items []Item) Item {
	return slices.MaxFunc(items, func(a, b Item) int {
		if a.Score < b.Score {
			return -1
		}
		return 1
	})
}

func TestPassagesAreQuotedBySentence(t *testing.T) {
	e, _ := engine(t, harvest, lens)
	it := topItem(find(t, e, Query{Text: "How much weight did the maize lose in days?"}).Items)
	want := "It lost half of its weight in nine days."
	text := []rune(harvest.Roots[0].Children[0].Children[0].Evidence.Passage)
	if !strings.Contains(it.Quote, want) || it.Span.Paragraph != 1 || string(text[it.Span.StartChar:it.Span.EndChar]) != it.Quote {
		t.Errorf("quoted %q at %+v", it.Quote, it.Span)
	}
	if it.Node != tree.NodeID(harvest.Source.ID, 0, 0, 0) || it.Level != tree.L3 || it.Source.Title != "Harvest report" {
		t.Errorf("of node %s, level %d, source %q", it.Node, it.Level, it.Source.Title)
	}
}

func TestTablesAreQuotedByRow(t *testing.T) {
	e, _ := engine(t, harvest)
	it := topItem(find(t, e, Query{Text: "tons of beans in 2020"}).Items)
	if it.Quote != "beans | 2020 | 12" || it.Span.RowStart != 3 || it.Span.RowEnd != 4 {
		t.Errorf("quoted %q at %+v", it.Quote, it.Span)
	}
	whole := find(t, e, Query{Text: "total tons of maize"})
	if !holds(whole.Items, "maize | 2019 | 40") || !holds(whole.Items, "maize | 2020 | 55") || !holds(whole.Items, "beans | 2020 | 12") {
		t.Errorf("a total needs all rows: %+v", whole.Items)
	}
}

// A video that a model described: what was seen is found although other words
// were said, and the quote is what was said just then.
func TestDescriptionsFindWhatWasSeen(t *testing.T) {
	tr := talk("videovideovideovid", "Garden", "Good morning.", "We begin now.", "Here it comes.", "Look at that.", "Thank you.")
	tr.Models = map[string]string{"l3": "some-vision-model"}
	tr.Roots[0].Children[0].Children[2].Text = "A red fox jumps over a fence."
	e, _ := engine(t, tr, lens)
	it := topItem(find(t, e, Query{Text: "Where does the fox jump the fence?"}).Items)
	if it.Quote != "Here it comes." || it.Text != "A red fox jumps over a fence." || it.Span != tree.MS(10_000, 14_000) {
		t.Errorf("found %q (%q) at %v", it.Quote, it.Text, it.Span)
	}
}

// Long speech is cut inside its cue, the time shared out by characters.
// TestMixedRegionsShowAll: where one part of a region is spoken and the next
// only seen, both stand in its words; a spoken part's description does not.
func TestMixedRegionsShowAll(t *testing.T) {
	tr := talk("mix", "Mix", "We speak of violins.", "Silence is described.", "A tractor stands there.", "Then we speak of boats.")
	leaves := tr.Roots[0].Children[0].Children
	tr.Models = map[string]string{"l3": "eyes"}
	leaves[0].Text = "A grey wall."
	leaves[1].Evidence, leaves[1].Text = tree.Evidence{}, ""
	leaves[2].Evidence = tree.Evidence{}
	leaves[2].Evidence = tree.Evidence{}
	v, err := newView(t.Context(), tr, testEmbed, "test", 64, 0)
	if err != nil {
		t.Fatal(err)
	}
	if got := v.words(0, len(v.units)); got != "We speak of violins. A tractor stands there. Then we speak of boats." {
		t.Errorf("%q", got)
	}
	if got := v.words(2, 3); got != "A tractor stands there." {
		t.Errorf("seen alone: %q", got)
	}
	if parts, _ := v.parts(0, len(v.units)); len(parts) != 3 || parts[1].Span != tree.MS(10_000, 15_000) {
		t.Errorf("%+v", parts)
	}
}

func TestLongCuesAreCutIntoSentences(t *testing.T) {
	cue := tree.Cue{StartMS: 60_000, EndMS: 160_000, Speaker: "Ann", Text: strings.Repeat("Nothing happens in these words at all. ", 10) + "The engine exploded in the night. " + strings.Repeat("Nothing else was ever said about it. ", 10)}
	parts := cuePieces(cue)
	if len(parts) != 21 || parts[0].StartMS != 60_000 || parts[20].EndMS != 160_000 || parts[10].Speaker != "Ann" || parts[10].Text != "The engine exploded in the night." {
		t.Fatalf("%d parts: %+v", len(parts), parts)
	}
	for i := range parts[1:] {
		if parts[i].EndMS != parts[i+1].StartMS || parts[i].EndMS <= parts[i].StartMS {
			t.Errorf("part %d: %d-%d", i, parts[i].StartMS, parts[i].EndMS)
		}
	}
	if short := cuePieces(tree.Cue{EndMS: 9000, Text: cue.Text}); len(short) != 1 {
		t.Error("a short cue was cut")
	}
}

func TestWeakQuestionsGetTheNearestMoments(t *testing.T) {
	e, _ := engine(t, lens, bread)
	r := find(t, e, Query{Text: "Which football club won the championship?"})
	if !r.Weak {
		t.Errorf("answered with %+v", r.Items)
	}
	r = find(t, e, Query{Text: "Which accordion club keeps playing polka at championships?"})
	if !r.Weak || len(r.Nearest) == 0 || len(r.Nearest) > mostNearest {
		t.Errorf("weak %v, nearest %+v", r.Weak, r.Nearest)
	}
	if r = find(t, e, Query{Text: "Summarize the talk"}); r.Weak || len(r.Items) == 0 {
		t.Errorf("a summary of what is there: weak %v, %d items", r.Weak, len(r.Items))
	}
	if r = find(t, e, Query{Text: "lens", Scope: Scope{Sources: []string{"gonegonegonegonego"}}}); !r.Weak || r.Coverage != 1 {
		t.Errorf("in an empty scope: %+v", r)
	}
}

func TestCoverageIsFinishedTimeInScope(t *testing.T) {
	half := talk("halfhalfhalfhalfha", "Half", slices.Repeat([]string{"word lens"}, 20)...)
	half.Source.DurationMS = 200_000 // 100 s are there
	e, _ := engine(t, lens, half, harvest)
	near(t, "of one source", find(t, e, Query{Text: "lens", Scope: Scope{Sources: []string{half.Source.ID}}}).Coverage, .5)
	near(t, "of all", find(t, e, Query{Text: "lens"}).Coverage, 160_000./260_000)
	span := tree.MS(50_000, 150_000)
	near(t, "of a span", find(t, e, Query{Text: "lens", Scope: Scope{Sources: []string{half.Source.ID}, Span: &span}}).Coverage, .5)
	near(t, "of documents", find(t, e, Query{Text: "maize", Scope: Scope{Kinds: []tree.Kind{tree.KindDocument}}}).Coverage, 1)
}

func TestCollectionNarrows(t *testing.T) {
	e, _ := engine(t, lens, harvest)
	if r := find(t, e, Query{Text: "glass kilometres maize", Scope: Scope{Collection: "farm"}}); len(r.Items) == 0 || slices.ContainsFunc(r.Items, func(it Item) bool { return it.Source.ID != harvest.Source.ID }) {
		t.Errorf("in the collection: %+v", r.Items)
	}
}

func TestSpansCutEvidence(t *testing.T) {
	e, _ := engine(t, lens)
	for from := int64(0); from < 60_000; from += 5000 {
		span := tree.MS(from, from+7000)
		r := find(t, e, Query{Text: "light kilometres glass mercury lens questions", Scope: Scope{Span: &span}})
		for _, it := range append(r.Items, r.Nearest...) {
			if it.Span.Overlap(span) == 0 || it.Span.EndMS > span.EndMS+5000 || it.Span.StartMS < span.StartMS-5000 {
				t.Errorf("asked for %v, got %v", span, it.Span)
			}
		}
	}
	bad := tree.MS(5, 5)
	if _, err := e.Query(t.Context(), Query{Text: "lens", Scope: Scope{Tenant: "default", Span: &bad}}, nil); !errors.Is(err, ErrQuestion) {
		t.Errorf("an empty span gave %v", err)
	}
}

func TestRoundsAskForWhatIsMissing(t *testing.T) {
	e, _ := engine(t, lens, bread)
	var heard []Round
	r, err := e.Query(t.Context(), Query{Text: "mercury and vinegar and dough", Rounds: 3, Budget: 14, Scope: Scope{Tenant: "default"}}, func(r Round) error {
		heard = append(heard, r)
		return nil
	})
	if err != nil || len(heard) != len(r.Rounds) || heard[0].Queries[0] != "mercury and vinegar and dough" {
		t.Fatalf("%d rounds heard of %d, %v", len(heard), len(r.Rounds), err)
	}
	tokens := 0
	for _, it := range r.Items {
		tokens += it.Tokens
		if it.Tokens != tree.Tokens(it.Quote) {
			t.Errorf("%q costs %d", it.Quote, it.Tokens)
		}
	}
	if tokens > 14 {
		t.Errorf("%d tokens of a budget of 14", tokens)
	}
	stop := errors.New("enough")
	if _, err := e.Query(t.Context(), Query{Text: "mercury", Scope: Scope{Tenant: "default"}}, func(Round) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("a listener's error became %v", err)
	}
}

func TestFollowUpsAreOpenGapsThatStandSomewhere(t *testing.T) {
	v, err := newView(t.Context(), lens, testEmbed, "", 64, 0)
	if err != nil {
		t.Fatal(err)
	}
	q := &question{text: "mercury vinegar zebra", terms: readQuestion("mercury vinegar zebra"), trees: []*view{v}, vector: make([]float32, 64)}
	q.weigh()
	s := &search{text: q.text, asked: []string{q.text}, ledger: newLedger(q)}
	s.near = []*candidate{{s: q.score(v), lo: 6, hi: 7}}
	if got := s.followUps(true); got != nil {
		t.Errorf("all is open, so nothing of the question is there: %v", got)
	}
	s.near[0].read(s.ledger.gaps)
	s.ledger.add(s.near[0]) // "Mercury is poisonous."
	got := s.followUps(true)
	if !slices.Equal(texts(got), []string{"vinegar"}) {
		t.Fatalf("asks for %v", got)
	}
	near(t, "what it stands for", got[0].share, s.ledger.open()[0].weight)
	if got := s.followUps(false); len(got) != 0 {
		t.Errorf("no round is left for %v", got)
	}
	s.asked = append(s.asked, "the vinegar")
	if got := s.followUps(true); len(got) != 0 {
		t.Errorf("repeats itself: %v", got)
	}
}

func TestTraceTellsEveryStage(t *testing.T) {
	e, _ := engine(t, lens, bread)
	r := find(t, e, Query{Text: "how was mercury used with the light", Trace: true})
	seen := map[string]int{}
	for _, d := range r.Rounds[0].Trace {
		seen[d.Stage+" "+d.Action]++
		if d.Node == "" {
			t.Errorf("a decision about nothing: %+v", d)
		}
	}
	for _, want := range []string{"entry hit", "flat hit", "walk step", "refine kept", "choose kept"} {
		if seen[want] == 0 {
			t.Errorf("no %q in %v", want, seen)
		}
	}
	if len(find(t, e, Query{Text: "mercury"}).Rounds[0].Trace) != 0 {
		t.Error("a trace nobody asked for")
	}
}

func TestSwitchesTurnStagesOff(t *testing.T) {
	for name, off := range map[string]Switches{
		"vectors": {Vectors: true}, "keywords": {Keywords: true}, "walk": {Walk: true}, "flat": {Flat: true}, "refine": {Refine: true}, "keff": {Keff: true}, "bridge": {Bridge: true},
	} {
		s := shelfOf(lens, bread)
		e, err := Open(Config{Embed: testEmbed, Dim: 64, Trees: s.trees, Switches: off})
		if err != nil {
			t.Fatal(err)
		}
		for _, tr := range s {
			if err := e.AddTree(t.Context(), tr); err != nil {
				t.Fatal(err)
			}
		}
		r := find(t, e, Query{Text: "how do you clean with vinegar", Trace: true})
		if !holds(r.Items, "vinegar") {
			t.Errorf("without %s the answer is gone: %+v", name, r.Items)
		}
		stages := map[string]bool{}
		for _, d := range r.Rounds[0].Trace {
			stages[d.Stage] = true
		}
		if stages[name] {
			t.Errorf("%s is off and still decides", name)
		}
		mustClose(t, e)
	}
}

// A model that is down takes neither the question nor the words along; a
// contract it breaks does not reach the index.
func TestEmbedderFailures(t *testing.T) {
	s := shelfOf(lens)
	mode := "ok"
	e, err := Open(Config{Dim: 64, Trees: s.trees, Embed: func(ctx context.Context, texts []string) ([][]float32, error) {
		v, err := testEmbed(ctx, texts)
		switch mode {
		case "down":
			return nil, errors.New("no connection")
		case "few":
			return v[:0], err
		case "short":
			v[0] = v[0][:3]
		}
		return v, err
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer mustClose(t, e)
	for _, mode = range []string{"down", "few", "short"} {
		if err := e.AddTree(t.Context(), lens); err == nil || e.Has("default", lens.Source.ID) || e.words.Len() != 0 {
			t.Errorf("%s: adding gave %v", mode, err)
		}
	}
	mode = "ok"
	if err := e.AddTree(t.Context(), lens); err != nil {
		t.Fatal(err)
	}
	if err := e.Warm(t.Context(), "default", lens.Source.ID); err != nil {
		t.Fatal(err)
	}
	for _, mode = range []string{"down", "few", "short"} {
		if r := find(t, e, Query{Text: "how do you clean with vinegar"}); !holds(r.Items, "vinegar") {
			t.Errorf("%s: %+v", mode, r.Items)
		}
	}
}

func TestTreesThatCannotBeRead(t *testing.T) {
	e, s := engine(t, lens, bread)
	delete(s, "default/"+bread.Source.ID) // lost on disk, still listed
	if r := find(t, e, Query{Text: "how do you clean with vinegar"}); !holds(r.Items, "vinegar") {
		t.Errorf("one lost tree took the other along: %+v", r.Items)
	}
	delete(s, "default/"+lens.Source.ID)
	e.views.drop("default", lens.Source.ID)
	if _, err := e.Query(t.Context(), Query{Text: "vinegar", Scope: Scope{Tenant: "default"}}, nil); err == nil || !strings.Contains(err.Error(), "cannot be read") {
		t.Errorf("all trees lost gave %v", err)
	}
}

func TestCancelledQuestionsStop(t *testing.T) {
	e, _ := engine(t, lens)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := e.Query(ctx, Query{Text: "lens", Scope: Scope{Tenant: "default"}}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// The same question gives the same result, whatever maps do.
func TestResultsRepeat(t *testing.T) {
	var want string
	for range 5 {
		e, _ := engine(t, lens, bread, harvest)
		for range 3 {
			r := find(t, e, Query{Text: "glass and mercury and dough and maize", Trace: true, Rounds: 3})
			if got := fmt.Sprintf("%+v", r); want == "" {
				want = got
			} else if got != want {
				t.Fatalf("two results\n%s\n%s", want, got)
			}
		}
	}
}

// Questions run while sources come and go; what was removed before a question
// began is never in its result.
func TestReadersBesideAWriter(t *testing.T) {
	var mu sync.Mutex
	s := shelfOf(lens)
	e, err := Open(Config{Embed: testEmbed, Dim: 64, CacheBytes: 1, Trees: func(ctx context.Context, tenant, id string) (*tree.Tree, error) {
		mu.Lock()
		defer mu.Unlock()
		return s.trees(ctx, tenant, id)
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer mustClose(t, e)
	if err := e.AddTree(t.Context(), lens); err != nil {
		t.Fatal(err)
	}
	stop := beside(3, func() bool {
		r, err := e.Query(t.Context(), Query{Text: "how do you clean with vinegar", Scope: Scope{Tenant: "default"}}, nil)
		if err != nil || !holds(r.Items, "vinegar") {
			t.Errorf("beside a writer: %+v, %v", r.Items, err)
			return false
		}
		return true
	})
	for i := range 20 {
		come := talk("comecomecomecomeco", "Come", "Vinegar and oil.", fmt.Sprintf("Secret number %d.", i))
		mu.Lock()
		s["default/"+come.Source.ID] = come
		mu.Unlock()
		if err := e.AddTree(t.Context(), come); err != nil {
			t.Error(err)
		}
		if err := e.Remove(t.Context(), "default", come.Source.ID); err != nil {
			t.Error(err)
		}
		if r := find(t, e, Query{Text: "secret number vinegar"}); holds(r.Items, "Secret") || holds(r.Nearest, "Secret") {
			t.Errorf("found after removal: %+v", r.Items)
		}
	}
	stop()
}

// FuzzQuery: any bytes are refused with ErrQuestion or answered.
func FuzzQuery(f *testing.F) {
	for _, q := range []string{"", "lens", "\x00\xff", "灯台", strings.Repeat("😀", 50), "how many kilometres", "'; DROP TABLE"} {
		f.Add(q, 100, 2)
	}
	s := shelfOf(lens, harvest)
	e, err := Open(Config{Embed: testEmbed, Dim: 64, Trees: s.trees})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = e.Close() })
	for _, tr := range s {
		if err := e.AddTree(f.Context(), tr); err != nil {
			f.Fatal(err)
		}
	}
	f.Fuzz(func(t *testing.T, text string, budget, rounds int) {
		r, err := e.Query(t.Context(), Query{Text: text, Budget: budget, Rounds: rounds, Scope: Scope{Tenant: "default"}}, nil)
		if err != nil && !errors.Is(err, ErrQuestion) {
			t.Fatalf("%q: %v", text, err)
		}
		for _, it := range r.Items {
			if it.Score < 0 || it.Score > 1 || it.Quote == "" || it.Node == "" {
				t.Errorf("%q: %+v", text, it)
			}
		}
	})
}

// Both parts of a question are answered though they stand in one clip and one
// of them matches better than the clip as a whole.
func TestQuestionsOfTwoParts(t *testing.T) {
	cues := slices.Repeat([]string{"So..."}, 10)
	cues[1], cues[6] = "This blade has a dark past.", "What brings you to the land of the gatekeepers?"
	e, _ := engine(t, talk("sintelsintelsintel", "Clip", cues...))
	r := find(t, e, Query{Text: "What brings you to the land of the gatekeepers, and what is said about the blade?"})
	if !holds(r.Items, "gatekeepers") || !holds(r.Items, "dark past") {
		t.Errorf("found %+v", r.Items)
	}
}
