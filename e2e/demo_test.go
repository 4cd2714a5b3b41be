//go:build e2e

package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// demoQuestions are what a newcomer might ask of the demo talk, with seconds at
// which the answer is said. The last ones are not answered in it.
var demoQuestions = []struct {
	question string
	said     []int64 // empty: not in the talk
}{
	{demoQuestion, []int64{24, 90}},
	{"How heavy was a lens of the first order?", []int64{112}},
	{"Who found the way out, and when?", []int64{46}},
	{"What did keepers float the lens in?", []int64{115}},
	{"Where was the first lens lit?", []int64{90}},
	{"Why did some keepers fall ill?", []int64{126}},
	{"What share of the light goes out to sea with rings and prisms?", []int64{82}},
	{"What are the three parts of a lighthouse lens?", []int64{66, 72, 78}},
	{"Where are Fresnel lenses used today?", []int64{132}},
	{"Why does every light have a rhythm?", []int64{98, 105}},
	{"How do I bake sourdough bread?", nil},
	{"Which team won the football world cup?", nil},
	{"What is the interest rate of the central bank?", nil},
	{"How does photosynthesis work in desert plants?", nil},
}

// TestDemoTalkAnswers: the talk that make run shows is answered, with the right
// times, and what is not in it is said to be so. It is the first thing anybody
// sees, so it must hold whatever the weights are.
func TestDemoTalkAnswers(t *testing.T) {
	data := t.TempDir()
	ingestOne(t, data, demo(t))
	wrong := 0
	for _, q := range demoQuestions {
		events := ask(t, data, q.question)
		right := q.said == nil
		for _, s := range q.said {
			right = right || covers(events, s*1000)
		}
		finish, want := events[len(events)-1].Finish, "stop"
		if q.said == nil {
			want = "not_found"
		}
		if finish != want || !right {
			wrong++
			t.Logf("%s: finish %q, right place among the evidence: %v", q.question, finish, right)
		}
	}
	if wrong > 2 {
		t.Errorf("%d of %d questions end wrong", wrong, len(demoQuestions))
	}
}

// TestDemoTimesAreClose: a cited time is that of the sentence, not of the whole
// section it stands in.
func TestDemoTimesAreClose(t *testing.T) {
	data := t.TempDir()
	ingestOne(t, data, demo(t))
	for _, question := range []string{"What did keepers float the lens in?", "How did keepers turn the heavy lens?"} {
		if from, to := firstCited(ask(t, data, question)); from < 110_000 || from > 124_000 || to-from > 16_000 {
			t.Errorf("%s: cited at %d to %d ms, and said between 110 and 125 s", question, from, to)
		}
	}
}

// firstCited is the place of the first citation, the best sentence: its own, or
// that of its evidence.
func firstCited(events []event) (from, to int64) {
	shown := map[int]event{}
	for _, e := range events {
		switch e.Type {
		case "evidence":
			shown[e.N] = e
		case "citation":
			if e.Span.EndMS == 0 {
				e.Span = shown[e.N].Span
			}
			return e.Span.StartMS, e.Span.EndMS
		}
	}
	return 0, 0
}

// TestDemoClip: a part of the talk comes out as a file of that length, by times
// and by the moments an answer cites.
func TestDemoClip(t *testing.T) {
	data := t.TempDir()
	got := ingestOne(t, data, demo(t))
	stream := ""
	for _, e := range ask(t, data, "What did keepers float the lens in?") {
		stream = e.Stream
	}
	for name, c := range map[string]struct {
		args          []string
		least, atMost int64 // milliseconds
	}{
		"exact":  {[]string{"--exact", "--from", "20s", "--to", "27500ms", got.Source}, 7400, 7750},
		"copied": {[]string{"--from", "20s", "--to", "27500ms", got.Source}, 7300, 20_000},
		"cited":  {[]string{"--concat", "--answer", stream}, 2000, 100_000},
	} {
		clip := must(t, append([]string{"export", "--data", data, "--format", "clip"}, c.args...)...)
		file := filepath.Join(t.TempDir(), "clip.mp4")
		if err := os.WriteFile(file, []byte(clip), 0o600); err != nil {
			t.Fatal(err)
		}
		var facts struct {
			DurationMS   int64 `json:"duration_ms"`
			Video, Audio int
		}
		out := must(t, "probe", "--json", file)
		if err := json.Unmarshal([]byte(out), &facts); err != nil || facts.DurationMS < c.least || facts.DurationMS > c.atMost || facts.Video != 1 || facts.Audio != 1 {
			t.Errorf("%s: %s", name, out)
		}
	}
	if _, code := run(t, "export", "--data", data, "--format", "clip", "--from", "10h", "--to", "11h", got.Source); code != 1 {
		t.Errorf("a part behind the end: exit %d", code)
	}
}
