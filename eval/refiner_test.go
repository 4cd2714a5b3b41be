package eval

import (
	"encoding/base64"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/reeltree/reeltree/retrieve"
	"github.com/reeltree/reeltree/tree"
)

// The decisions of the refiner are measured on the lines of every task with
// places; levels and kinds of decision add up to all of them.
func TestRefinerIsMeasured(t *testing.T) {
	for _, task := range []string{"moments", "meetings", "tables"} {
		rep, err := Run(t.Context(), testConfig(t), "refiner", Files{Data: "testdata/" + task + ".jsonl"}, false)
		if err != nil {
			t.Fatalf("%s: %v", task, err)
		}
		m := rep.Metrics
		var levels float64
		for _, l := range []string{"l1", "l2", "group", "l3", "part"} {
			levels += m["decisions_"+l]
		}
		if m["decisions"] < 1 || levels != m["decisions"] || m["decisions_partly"]+m["decisions_wholly"] != m["decisions"] {
			t.Errorf("%s: decisions do not add up: %v", task, m)
		}
		if m["decision_accuracy"] > m["preference_share"]+1e-9 || m["preference_share"] > 1 {
			t.Errorf("%s: all preferences hold more often than each: %v", task, m)
		}
	}
}

// Counted by hand: a decision is right where all its preferences hold, and the
// share of preferences is over all preferences, not over decisions.
func TestDecisionsAreCounted(t *testing.T) {
	side := func(gold, score float64) retrieve.Side { return retrieve.Side{Gold: gold, Score: score} }
	d := decisions{}
	d.note(&retrieve.Junction{Level: "l2", Whole: side(1, .5), Parts: []retrieve.Side{side(1, .4), side(1, .3)}})
	d.note(&retrieve.Junction{Level: "l1", Whole: side(.5, .5), Parts: []retrieve.Side{side(1, .6), side(0, .7), side(0, .1)}})
	got := d.metrics()
	want := Metrics{ // the second: .6 > .5, .6 < .7, .6 > .1, .5 < .7, .5 > .1
		"decision_accuracy": .5, "preference_share": .7143, "decisions": 2,
		"decision_accuracy_l1": 0, "preference_share_l1": .6, "decisions_l1": 1,
		"decision_accuracy_l2": 1, "preference_share_l2": 1, "decisions_l2": 1,
		"decision_accuracy_partly": 0, "preference_share_partly": .6, "decisions_partly": 1,
		"decision_accuracy_wholly": 1, "preference_share_wholly": 1, "decisions_wholly": 1,
	}
	for name, v := range want {
		if got[name] != v {
			t.Errorf("%s is %v, want %v", name, got[name], v)
		}
	}
}

// What training reads is what was scored, number for number.
func TestLessonsHoldTheNumbers(t *testing.T) {
	out := filepath.Join(t.TempDir(), "lessons")
	rep, err := Run(t.Context(), testConfig(t), "refiner", Files{Data: "testdata/moments.jsonl", Out: out}, false)
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(data)), "\n")
	if float64(len(lines)) != rep.Metrics["decisions"] {
		t.Fatalf("%d lessons of %v decisions", len(lines), rep.Metrics["decisions"])
	}
	var first struct {
		Asked string
		Sides []struct {
			Level         string
			Gold          float64
			Terms, Vector string
		}
	}
	if err := json.Unmarshal([]byte(lines[0]), &first); err != nil {
		t.Fatal(err)
	}
	size := func(text string) int {
		b, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			t.Fatal(err)
		}
		return len(b) / 4
	}
	if dim := testConfig(t).Dim; len(first.Sides) < 3 || first.Sides[0].Level != "l1" || size(first.Asked) != dim || size(first.Sides[1].Vector) != dim || size(first.Sides[1].Terms) < 20 {
		t.Errorf("the first lesson is %.300s", lines[0])
	}
	if got := floats([]float32{1, -2}); !slices.Equal(got, []byte{0, 0, 128, 63, 0, 0, 0, 192}) || math.Float32frombits(0x3f800000) != 1 {
		t.Errorf("numbers are written as % x", got)
	}
}

func TestRefinerNeedsPlaces(t *testing.T) {
	_, err := Run(t.Context(), testConfig(t), "refiner", Files{Data: "testdata/multihop.jsonl"}, false)
	if err == nil || !strings.Contains(err.Error(), "which have places") {
		t.Errorf("lines without places: %v", err)
	}
}

// Gold places of a page: rows that hold a number of the derivation or an answer,
// all rows of a count, the words of an answer in a paragraph.
func TestPlacesOfAPage(t *testing.T) {
	p := page{
		Doc:        "p",
		Table:      [][]string{{"", "2020"}, {"Maize", "55"}, {"Rye", "7"}},
		Paragraphs: []string{"Überall wächst Rye, 1,200 tons.", "Nothing."},
	}
	at := func(from, kind, derivation, answer string) (out []tree.Span) {
		p.Queries = []pageQuery{{Query: "q", From: from, Type: kind, Derivation: derivation, Answer: json.RawMessage(answer)}}
		return (&tables{[]page{p}}).places()[0].gold
	}
	row := func(i int) tree.Span { return tree.Span{Unit: tree.UnitRows, RowStart: i, RowEnd: i + 1} }
	word := func(a, b int) tree.Span {
		return tree.Span{Unit: tree.UnitText, Paragraph: 1, StartChar: a, EndChar: b}
	}
	for name, c := range map[string]struct{ got, want []tree.Span }{
		"arithmetic":     {at("table", "arithmetic", "55-7", `48`), []tree.Span{row(1), row(2)}},
		"span":           {at("table", "span", "", `["Rye"]`), []tree.Span{row(2)}},
		"of the text":    {at("text", "span", "", `["Rye"]`), []tree.Span{word(15, 18)}},
		"of both":        {at("table-text", "span", "", `["Rye"]`), []tree.Span{row(2), word(15, 18)}},
		"count":          {at("table", "count", "", `2`), []tree.Span{row(1), row(2)}},
		"number in text": {at("text", "arithmetic", "1,200/2", `600`), []tree.Span{word(20, 25)}},
	} {
		if !slices.Equal(c.got, c.want) {
			t.Errorf("%s: %v, want %v", name, c.got, c.want)
		}
	}
}
