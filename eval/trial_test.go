package eval

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/reeltree/reeltree/tree"
)

// Two videos of eight minutes and one of three: the first two are one source of
// two stretches, the third is left over.
func TestVideosAreJoined(t *testing.T) {
	data := []video{
		{Video: "a", Duration: 480, Nodes: []caption{{Start: 1, End: 9, Text: "one"}}, Queries: []caption{{Start: 2, End: 8, Text: "first?"}}},
		{Video: "b", Duration: 480, Nodes: []caption{{Start: 0, End: 500, Text: "two"}}},
		{Video: "c", Duration: 180, Nodes: []caption{{Start: 10, End: 20, Text: "three"}}, Queries: []caption{{Start: 10, End: 20, Text: "third?"}}},
	}
	all := joined(data, 3)
	if len(all) != 1 || all[0].Video != "a+b+c" || all[0].Duration != 1160 || !slices.Equal(all[0].stretches, []float64{0, 980}) {
		t.Fatalf("%+v", all)
	}
	if q := all[0].Queries[1]; q.Start != 990 || q.End != 1000 || q.from != "c" {
		t.Errorf("the last question is at %+v", q)
	}
	lib, err := (&moments{all, true}).library(t.Context(), testConfig(t))
	if err != nil {
		t.Fatal(err)
	}
	roots := lib.trees[sourceID("a+b+c")].Roots
	if len(roots) != 2 || len(roots[0].Children) != 2 || roots[1].Span != tree.MS(980_000, 1_160_000) || roots[1].Children[0].Text != "three" {
		t.Errorf("%+v", roots)
	}
	if all := joined(data, 2); len(all) != 1 || all[0].Video != "a+b" {
		t.Errorf("what is left over was kept: %+v", all)
	}
	if all := joined(data[:1], 9); len(all) != 1 || all[0].Video != "a" {
		t.Errorf("a file of fewer videos is one source, not %+v", all)
	}
}

// Every trial gives its rows, compared with the first, over the small sets.
func TestTrialsAreCompared(t *testing.T) {
	for _, c := range []struct {
		task  string
		trial Trial
		rows  []string
	}{
		{"moments", Trial{Join: 2}, []string{"walk and flat search", "flat search alone", "walk alone"}},
		{"meetings", Trial{Stress: stressCopies}, []string{"as recorded", "copies"}},
		{"meetings", Trial{Stress: stressDamage}, []string{"as recorded", "damage"}},
		{"meetings", Trial{Halting: true}, []string{"five rounds", "learned stop, at least 1", "learned stop, at least 2"}},
		{"passages", Trial{Numbers: true}, []string{"10 nodes, 2 parts", "5 nodes", "20 nodes", "4 parts"}},
	} {
		f := files(c.task, "")
		f.Trial = c.trial
		rep, err := Run(t.Context(), testConfig(t), c.task, f, false)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for i, s := range rep.Ablation {
			names = append(names, s.Name)
			if len(s.Metrics) == 0 || (s.Against == "") != (i == 0) || s.Scored == 0 {
				t.Errorf("%v: row %+v", c.trial, s)
			}
		}
		if !slices.Equal(names, c.rows) {
			t.Errorf("%v: rows %q", c.trial, names)
		}
		if c.trial.Halting && (rep.Ablation[0].Walked <= rep.Ablation[1].Walked || rep.Ablation[2].Walked < rep.Ablation[1].Walked) {
			t.Errorf("rounds %g, %g, %g", rep.Ablation[0].Walked, rep.Ablation[1].Walked, rep.Ablation[2].Walked)
		}
		if c.trial.Join > 0 && rep.Ablation[2].Scored >= rep.Ablation[0].Scored {
			t.Errorf("the walk alone scores %g nodes of %g", rep.Ablation[2].Scored, rep.Ablation[0].Scored)
		}
	}
}

func TestTrialsOfAnotherTaskAreRefused(t *testing.T) {
	for _, c := range []struct {
		task, why string
		trial     Trial
	}{
		{"meetings", "choose moments", Trial{Join: 2}},
		{"moments", "choose meetings", Trial{Stress: stressCopies}},
		{"moments", "choose meetings", Trial{Halting: true}},
		{"meetings", "choose copies or damage", Trial{Stress: "noise"}},
		{"moments", "leave the others out", Trial{Join: 2, Halting: true}},
		{"passages", "leave the others out", Trial{Stress: stressCopies, Numbers: true}},
		{"moments", "only positive numbers", Trial{Join: -1}},
	} {
		f := files(c.task, "")
		f.Trial = c.trial
		if _, err := Run(t.Context(), testConfig(t), c.task, f, false); err == nil || !strings.Contains(err.Error(), c.why) {
			t.Errorf("%+v: %v", c.trial, err)
		}
	}
}

// A place in a copy is the place in the recording it was copied from.
func TestCopiesKnowWhereTheyComeFrom(t *testing.T) {
	m := &meeting{ID: "m-0"}
	for at := range 100 {
		m.Turns = append(m.Turns, turn{Start: float64(10 * at), End: float64(10*at + 10), Text: "words"})
	}
	for _, c := range copiesOf(m) {
		if c.ID == m.ID || len(c.Turns) == 0 || len(c.Turns) > 100 {
			t.Errorf("%s has %d turns", c.ID, len(c.Turns))
		}
		for _, turn := range c.Turns {
			o := c.origin(interval{turn.Start, turn.End})
			if int(o[0])%10 != 0 || o[1] > o[0]+10 || o[1] <= o[0] {
				t.Fatalf("%s: %v lies at %v in the recording", c.ID, turn, o)
			}
		}
		if o := c.origin(interval{5000, 5010}); o != (interval{}) {
			t.Errorf("%s: what it does not hold lies at %v", c.ID, o)
		}
	}
}

// About 15 % of the words are another, gone or new, the same ones on every run.
func TestDamageIsAShareOfTheWords(t *testing.T) {
	m := meeting{ID: "m-0", Turns: []turn{{Text: strings.Repeat("the quick brown fox jumps over a lazy dog while nobody looks ", 200)}}}
	words := vocabularyOf([]meeting{m})
	was, is := strings.Fields(m.Turns[0].Text), strings.Fields(damaged(&m, words)[0].Text)
	if edits := float64(distance(was, is)) / float64(len(was)); edits < .13 || edits > .17 {
		t.Errorf("%.3f of the words are damaged", edits)
	}
	if !slices.Equal(is, strings.Fields(damaged(&m, words)[0].Text)) {
		t.Error("two runs differ")
	}
	if m.Turns[0].Text != strings.Join(was, " ")+" " {
		t.Error("the recording itself was changed")
	}
}

// distance is the Levenshtein distance of two texts in words.
func distance(a, b []string) int {
	row := make([]int, len(b)+1)
	for k := range row {
		row[k] = k
	}
	for i, x := range a {
		last := row[0]
		row[0] = i + 1
		for k, y := range b {
			change := last
			if x != y {
				change++
			}
			last = row[k+1]
			row[k+1] = min(change, row[k]+1, last+1)
		}
	}
	return row[len(b)]
}

func TestSoundsByHand(t *testing.T) {
	for _, alike := range [][2]string{{"two", "too"}, {"their", "there"}, {"meet", "meat"}, {"ashcroft", "ashcraft"}, {"phase", "phaze"}} {
		if sound(alike[0]) != sound(alike[1]) {
			t.Errorf("%s %s, %s %s", alike[0], sound(alike[0]), alike[1], sound(alike[1]))
		}
	}
	for word, code := range map[string]string{"robert": "r163", "tymczak": "t522", "42": "42"} {
		if got := sound(word); got != code {
			t.Errorf("%s is %s, want %s", word, got, code)
		}
	}
	rng := rand.New(rand.NewPCG(1, 1))
	v := vocabularyOf([]meeting{{Turns: []turn{{Text: "two too tower"}}}})
	if got := v.alike(rng, "two"); got != "too" {
		t.Errorf("two is heard as %q", got)
	}
	for range 50 {
		if got := v.alike(rng, "tower"); got == "tower" || got == "" {
			t.Fatalf("tower is heard as %q", got)
		}
	}
}

// The page shows a trial as a section of its own with the flag it is asked for by.
func TestThePageShowsTrials(t *testing.T) {
	f := files("moments", "")
	f.Trial = Trial{Join: 2}
	rep, err := Run(t.Context(), testConfig(t), "moments", f, false)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	rep.section(&b, nil, false)
	for _, want := range []string{"## moments-join-2\n", "moments.jsonl --join 2`", "| nodes scored |", "| walk alone | ", "| in_video_R1@0.7 |"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in %s", want, b.String())
		}
	}
	for _, not := range []string{"--ablate", "library_video"} {
		if strings.Contains(b.String(), not) {
			t.Errorf("%q in %s", not, b.String())
		}
	}
	if len(rep.charts()) != 0 {
		t.Error("a trial has a chart of stages")
	}
}
