package eval

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func TestRougeByHand(t *testing.T) {
	got, want := terms("The cat sat on the mat."), terms("the cat, the dog and the mat")
	// the x2, cat, mat are shared: 4 of 6 and of 7; in order "the cat the mat".
	if r := rouge1(got, want); math.Abs(r-8./13) > 1e-12 {
		t.Errorf("ROUGE-1 %v", r)
	}
	if r := rougeL(got, want); math.Abs(r-8./13) > 1e-12 {
		t.Errorf("ROUGE-L %v", r)
	}
	if r := rougeL(terms("mat the cat"), want); math.Abs(r-2*2./10) > 1e-12 {
		t.Errorf("ROUGE-L of another order %v", r)
	}
	if rouge1(nil, want) != 0 || rougeL(got, nil) != 0 {
		t.Error("nothing shares nothing")
	}
}

func TestBaselinesKeepTheLength(t *testing.T) {
	m := meeting{Turns: []turn{
		{Text: "We begin with the agenda. It is short."}, {Text: "The roof leaks above the beds. We need putty."}, {Text: "The end."},
	}}
	b := newBaseline(&m)
	if len(b.sentences) != 5 {
		t.Fatalf("%q", b.sentences)
	}
	if got := cutTo(b.sentences, 7); got != "We begin with the agenda. It is" {
		t.Errorf("%q", got)
	}
	if got := b.best("Why does the roof leak?", 6); got != "The roof leaks above the beds." {
		t.Errorf("%q", got)
	}
	if got := b.best("putty for the roof", 9); got != "The roof leaks above the beds. We need putty." {
		t.Errorf("the order of the recording is kept: %q", got)
	}
	scores := b.compare("The roof leaks above the beds.", meetingQuery{Query: "roof", Answer: "The roof leaks above the beds."})
	if scores["rouge1"] != 1 || scores["bm25_rougeL"] != 1 || scores["first_rouge1"] >= .5 {
		t.Errorf("%v", scores)
	}
}

func TestCurveByHand(t *testing.T) {
	rows := []answerRow{
		{series: "a", right: Answered{Support: .9}, wrong: Answered{Support: .1}},
		{series: "a", right: Answered{Support: .4}, wrong: Answered{Support: .5}},
		{series: "b", right: Answered{Support: .8}, wrong: Answered{Support: .3}},
	}
	all := curves(rows)
	if p := all["all"]; p[0] != (Point{.1, 1, 0}) || p[len(p)-1] != (Point{.9, .3333, 1}) {
		t.Errorf("%v", p)
	}
	if got := balanced(all["all"]); min(got.Answered, got.Refused) != .6667 {
		t.Errorf("%v", got)
	}
	if got := balanced(all["b"]); got.Answered != 1 || got.Refused != 1 {
		t.Errorf("%v", got)
	}
	for i, p := range all["all"] {
		if i > 0 && (p.Answered > all["all"][i-1].Answered || p.Refused < all["all"][i-1].Refused) {
			t.Errorf("the curve turns back at %v", p)
		}
	}
}

func TestFaithfulSentences(t *testing.T) {
	a := Answered{Cited: []Cited{{"a  b", "x a b y"}, {"c", "x"}, {"", "x"}}}
	if held, all := a.faithful(); held != 1 || all != 3 {
		t.Errorf("%d of %d", held, all)
	}
	if a.said() != "a  b c " {
		t.Errorf("%q", a.said())
	}
}

func TestAnswersAskTheNextRecording(t *testing.T) {
	rep, err := Run(t.Context(), testConfig(t), "answers", files("answers", ""), false)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"rouge1", "rougeL", "first_rouge1", "first_rougeL", "bm25_rouge1", "bm25_rougeL", "garden_wrong_refused", "wrong_refused", "sentences"} {
		if _, ok := rep.Metrics[name]; !ok {
			t.Errorf("%s is missing in %v", name, rep.Metrics)
		}
	}
	if rep.Metrics["predictions"] != 8 || len(rep.Curve["garden"]) == 0 {
		t.Errorf("%v %v", rep.Metrics, rep.Curve)
	}
}

func TestDifferenceByBootstrap(t *testing.T) {
	before, after := &tally{}, &tally{}
	r := rand.New(rand.NewPCG(7, 8))
	for i := range 300 {
		cluster := string(rune('a' + i/10))
		x := r.Float64()
		before.question(cluster)
		before.add("x", x)
		after.question(cluster)
		after.add("x", x+.1+.02*(r.Float64()-.5))
	}
	d := difference("x", before, after)
	if math.Abs(d.Mean-.1) > .002 || d.Low < .097 || d.High > .103 || !d.Helps() || d.Low > d.Mean || d.High < d.Mean {
		t.Errorf("%+v", d)
	}
	if same := difference("x", before, before); same != (Difference{}) || same.Helps() {
		t.Errorf("%+v", same)
	}
	if none := difference("y", before, after); none != (Difference{}) {
		t.Errorf("%+v", none)
	}
}

// TestClustersWidenTheInterval holds that questions of one recording count as
// one observation: the same differences in fewer clusters are less sure.
func TestClustersWidenTheInterval(t *testing.T) {
	width := func(clusters int) float64 {
		before, after := &tally{}, &tally{}
		for i := range 120 {
			c := i % clusters
			before.question(string(rune('a' + c)))
			before.add("x", 0)
			after.question(string(rune('a' + c)))
			after.add("x", float64(c%3))
		}
		d := difference("x", before, after)
		return d.High - d.Low
	}
	if few, many := width(6), width(60); few < 2*many {
		t.Errorf("6 clusters %v, 60 clusters %v", few, many)
	}
}

func TestSentenceLeaves(t *testing.T) {
	for text, want := range map[string][]string{
		"One ends. Two? Three": {"One ends.", "Two?", "Three"}, "Dr. K. Lind wrote it. 3.5 km.": {"Dr.", "K. Lind wrote it.", "3.5 km."},
		"这座塔高。它旧！": {"这座塔高。", "它旧！"}, "यह है। वह है।": {"यह है।", "वह है।"}, "e.g. this one. ": {"e.g. this one."}, " \n": nil,
	} {
		var got []string
		for _, l := range sentenceLeaves(text, 2) {
			got = append(got, l.Evidence.Passage)
			if l.Span.Paragraph != 2 || codePoints(text, l.Span.StartChar, l.Span.EndChar) != l.Evidence.Passage {
				t.Errorf("%q: the place %v is not that of %q", text, l.Span, l.Evidence.Passage)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: %q", text, got)
		}
	}
	if strings.TrimSpace(codePoints("abc", 2, 99)) != "c" || codePoints("abc", 5, 2) != "" {
		t.Error("codePoints")
	}
}

// TestIntervalHasItsWidth compares the bootstrap with the normal interval, 1.96
// standard errors to both sides, to which it comes close for many clusters.
func TestIntervalHasItsWidth(t *testing.T) {
	before, after := &tally{}, &tally{}
	r := rand.New(rand.NewPCG(11, 12))
	var sum, squares float64
	const n = 400
	for i := range n {
		x := r.Float64()
		sum, squares = sum+x, squares+x*x
		for y, v := range map[*tally]float64{before: 0, after: x} {
			y.question(string(rune(0x4e00 + i)))
			y.add("x", v)
		}
	}
	want := 2 * 1.96 * math.Sqrt((squares/n-sum/n*sum/n)/n)
	if d := difference("x", before, after); math.Abs(d.High-d.Low-want) > .1*want {
		t.Errorf("%v wide, want about %v", d.High-d.Low, want)
	}
}
