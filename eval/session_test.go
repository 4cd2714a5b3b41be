package eval

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/reeltree/reeltree/retrieve"
	"github.com/reeltree/reeltree/tree"
)

func TestRankedKeepsTheOrderOfEquals(t *testing.T) {
	items := []retrieve.Item{{Node: "a", Score: .2}, {Node: "b", Score: .9}, {Node: "c", Score: .2}}
	var got []string
	for _, it := range ranked(items) {
		got = append(got, it.Node)
	}
	if !slices.Equal(got, []string{"b", "a", "c"}) || items[0].Node != "a" {
		t.Errorf("%q, and the evidence must stay as it was: %q", got, items[0].Node)
	}
}

func TestEntryHitsAreSeenOnce(t *testing.T) {
	at := func(stage, node string) retrieve.Decision { return retrieve.Decision{Stage: stage, Node: node} }
	r := retrieve.Result{Rounds: []retrieve.Round{
		{Trace: []retrieve.Decision{at("entry", "x"), at("walk", "y"), at("entry", "z")}}, {Trace: []retrieve.Decision{at("entry", "x"), at("entry", "w")}},
	}}
	var got []string
	for _, d := range entryHits(r) {
		got = append(got, d.Node)
	}
	if !slices.Equal(got, []string{"x", "z", "w"}) {
		t.Errorf("%q", got)
	}
}

func TestPlacesOfWhatWasFound(t *testing.T) {
	lib, id := twoClips(t)
	src := tree.Source{ID: id}
	f := found{
		items:   []retrieve.Item{{Source: src, Span: tree.MS(1000, 2500)}, {Source: src, Span: tree.MS(7, 7)}},
		nearest: []retrieve.Item{{Source: src, Span: tree.MS(3000, 4000)}},
		entry:   []retrieve.Decision{{Node: id + "/0.1"}, {Node: id + "/0"}, {Node: "elsewhere/0"}},
	}
	if got := f.spans(); !slices.Equal(got, []interval{{1, 2.5}, {3, 4}}) {
		t.Errorf("an empty stretch is no span: %v", got)
	}
	hits := f.hits(lib, map[string]string{id: "clip"})
	if len(hits) != 5 || hits[3] != (momentHit{"clip", interval{2, 4}}) || hits[4].span != (interval{0, 4}) {
		t.Errorf("%v", hits)
	}
	var none found
	if none.spans() == nil || none.hits(lib, nil) == nil {
		t.Error("lines hold empty lists, not null")
	}
}

func TestChosenPassagesKeepTheLimit(t *testing.T) {
	words := func(n int) string { return strings.TrimSpace(strings.Repeat("word ", n)) }
	m := &multihop{pool: []hopPassage{{"long", words(250)}, {"a", words(120)}, {"b", words(90)}, {"c", words(80)}, {"d", words(20)}}}
	at := map[string]int{"0": 0, "1": 1, "2": 2, "3": 3, "4": 4}
	item := func(id string) retrieve.Item { return retrieve.Item{Source: tree.Source{ID: id}} }
	for _, c := range []struct{ in, want []int }{
		{[]int{1, 1, 3, 2}, []int{1, 3}},    // b would pass the limit
		{[]int{2, 3, 1, 4}, []int{2, 3, 4}}, // so would a, d fits
		{[]int{0, 1, 2}, []int{0, 1}},       // two are always taken
		{nil, []int{}},
	} {
		var items []retrieve.Item
		for _, i := range c.in {
			items = append(items, item([]string{"0", "1", "2", "3", "4"}[i]))
		}
		if got := m.passages(items, at); !slices.Equal(got, c.want) || got == nil {
			t.Errorf("%v: %v, want %v", c.in, got, c.want)
		}
	}
}

func TestKeptPartsKeepTheLimit(t *testing.T) {
	p := &page{Table: [][]string{{"h", "h"}, {"a", "1"}, {"b", "2"}, {"c", "3"}}, Paragraphs: []string{"one two three four five six", "x y"}}
	// 16 words: 7.2 may be kept
	row := func(i, k int) retrieve.Item {
		return retrieve.Item{Span: tree.Span{Unit: tree.UnitRows, RowStart: i, RowEnd: k}}
	}
	par := func(i int) retrieve.Item {
		return retrieve.Item{Span: tree.Span{Unit: tree.UnitText, Paragraph: i}}
	}
	for name, c := range map[string]struct {
		items      []retrieve.Item
		rows, pars []int
	}{
		"a row comes with its header": {[]retrieve.Item{row(2, 3)}, []int{0, 2}, []int{}},
		"what does not fit is passed": {[]retrieve.Item{row(1, 3), par(1), par(2)}, []int{0, 1, 2}, []int{}},
		"the first is always taken":   {[]retrieve.Item{row(1, 4), row(1, 2)}, []int{0, 1, 2, 3}, []int{}},
		"paragraphs and rows":         {[]retrieve.Item{par(2), row(3, 4)}, []int{0, 3}, []int{1}},
		"nothing":                     {nil, []int{}, []int{}},
	} {
		if got := p.kept(c.items); !slices.Equal(got.rows, c.rows) || !slices.Equal(got.pars, c.pars) || got.rows == nil || got.pars == nil {
			t.Errorf("%s: rows %v, paragraphs %v", name, got.rows, got.pars)
		}
	}
}

// TestConditionsAreAskedOnce counts the embedder's calls: a condition that was
// there before is not asked of the engine again, and gives the same.
func TestConditionsAreAskedOnce(t *testing.T) {
	j, lib := grown(t, "passages")
	c := testConfig(t)
	calls, embed := 0, c.Embed
	c.Embed = func(ctx context.Context, texts []string) ([][]float32, error) {
		calls++
		return embed(ctx, texts)
	}
	r := runner{task: tasks["passages"], job: j, lib: lib, config: c}
	first, err := r.run(t.Context(), stage{condition: condition{off: flat}})
	if err != nil || calls == 0 {
		t.Fatalf("%d calls, %v", calls, err)
	}
	calls = 0
	again, err := r.run(t.Context(), stage{condition: condition{off: flat}})
	if err != nil || calls != 0 {
		t.Fatalf("%d further calls, %v", calls, err)
	}
	cutTo1, err := r.run(t.Context(), stage{condition: condition{off: flat}, keep: topK(1)})
	if err != nil || calls != 0 {
		t.Fatalf("%d further calls, %v", calls, err)
	}
	for i := range first.lines {
		a, b, one := first.lines[i].(passageLine), again.lines[i].(passageLine), cutTo1.lines[i].(passageLine)
		if !slices.Equal(a.Hits, b.Hits) || len(one.Hits) > 1 || len(one.Hits) == 1 && one.Hits[0] != a.Hits[0] {
			t.Errorf("%v, again %v, best %v", a, b, one)
		}
	}
	if _, err := r.run(t.Context(), stage{condition: condition{blind: true}}); err != nil || calls != 0 {
		t.Errorf("words alone need no vectors: %d calls, %v", calls, err)
	}
}

func TestFailuresOfAStageAreTold(t *testing.T) {
	c := testConfig(t)
	down := errors.New("the embedder is down")
	c.Embed = func(context.Context, []string) ([][]float32, error) { return nil, down }
	for _, task := range append(Tasks(), "answers") {
		if _, err := Run(t.Context(), c, task, files(task, ""), false); !errors.Is(err, down) {
			t.Errorf("%s: %v", task, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Run(ctx, testConfig(t), "passages", files("passages", ""), false); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	out := "testdata/no/such/folder"
	for _, task := range []string{"passages", "answers"} {
		if _, err := Run(t.Context(), testConfig(t), task, files(task, out), false); err == nil || !strings.Contains(err.Error(), "cannot be written") {
			t.Errorf("%s: %v", task, err)
		}
	}
	broken := testConfig(t)
	broken.Answer = func(*retrieve.Engine, retrieve.Trees) Answer {
		return func(context.Context, string, string) (Answered, error) { return Answered{}, down }
	}
	if _, err := Run(t.Context(), broken, "answers", files("answers", ""), false); !errors.Is(err, down) {
		t.Errorf("%v", err)
	}
}

// TestGraphIndexAnswersLikeTheScan holds that a task can be run over another index.
func TestGraphIndexAnswersLikeTheScan(t *testing.T) {
	c := testConfig(t)
	scan, err := Run(t.Context(), c, "passages", files("passages", ""), false)
	if err != nil {
		t.Fatal(err)
	}
	made := 0
	c.Vectors = func(dim int) retrieve.Index { made++; return retrieve.NewCoderHNSW(dim) }
	graph, err := Run(t.Context(), c, "passages", files("passages", ""), false)
	if err != nil || made != 1 || graph.Metrics["all_paragraph_R5"] < scan.Metrics["all_paragraph_R5"]-.2 {
		t.Errorf("%d indexes, %v beside %v, %v", made, graph.Metrics, scan.Metrics, err)
	}
}

// TestFilledBudgets holds which tasks choose until the budget is full.
func TestFilledBudgets(t *testing.T) {
	for name, fills := range map[string]bool{"meetings": true, "passages": true, "tables": true, "moments": false, "multihop": false} {
		j, lib := grown(t, name)
		r := runner{task: tasks[name], job: j, lib: lib, config: testConfig(t)}
		if _, err := r.run(t.Context(), stage{}); err != nil {
			t.Fatal(err)
		}
		if _, there := r.known[condition{off: retrieve.Switches{Keff: fills}}]; !there || len(r.known) != 1 {
			t.Errorf("%s fills the budget: want %v", name, fills)
		}
	}
}
