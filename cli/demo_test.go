package cli

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestMain makes the test binary its own media worker.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "media-worker" {
		os.Exit(Run(context.Background(), Process{Args: os.Args[1:], Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr}))
	}
	os.Exit(m.Run())
}

// demoQuestions are what a newcomer might ask of the demo talk, with a second
// at which the answer is said. The last ones are not answered in it.
var demoQuestions = []struct {
	question string
	said     []int64 // seconds; empty: not in the talk
}{
	{"From how many kilometres could the light be seen?", []int64{24, 90}},
	{"How heavy was a lens of the first order?", []int64{112}},
	{"Who found the way out, and when?", []int64{46}},
	{"What did keepers float the lens in?", []int64{115}},
	{"Where was the first lens lit?", []int64{87}},
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

// ask gives the events of an answer.
func ask(t *testing.T, data, question string) []map[string]any {
	t.Helper()
	code, out, errs := run(t, "ask", "--data", data, "--json", question)
	if code != exitOK {
		t.Fatalf("%s: exit %d: %s", question, code, errs)
	}
	var events []map[string]any
	for line := range strings.Lines(out) {
		var e map[string]any
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatal(err)
		}
		events = append(events, e)
	}
	return events
}

// TestDemoTalkAnswers: the talk that make run shows is answered, with the right
// times, and what is not in it is said to be so. It is the first thing anybody
// sees, so it must hold whatever the weights are.
func TestDemoTalkAnswers(t *testing.T) {
	data := t.TempDir()
	if code, out, errs := run(t, "ingest", "--data", data, filepath.Join("..", "demo", "talk.mp4")); code != exitOK {
		t.Fatalf("exit %d: %s%s", code, out, errs)
	}
	wrong := 0
	for i, q := range demoQuestions {
		finish, right := "", false
		for _, e := range ask(t, data, q.question) {
			if e["type"] == "done" {
				finish, _ = e["finish"].(string)
			}
			span, _ := e["span"].(map[string]any)
			for _, s := range q.said {
				from, _ := span["start_ms"].(float64)
				to, _ := span["end_ms"].(float64)
				right = right || from <= float64(s*1000) && float64(s*1000) < to
			}
		}
		good := finish == "stop" && right
		if q.said == nil {
			good = finish == "not_found"
		}
		if good {
			continue
		}
		wrong++
		t.Logf("%s: finish %q, right place among the evidence: %v", q.question, finish, right)
		if i == 0 {
			t.Error("the question of the README is not answered")
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
	if code, out, errs := run(t, "ingest", "--data", data, filepath.Join("..", "demo", "talk.mp4")); code != exitOK {
		t.Fatalf("exit %d: %s%s", code, out, errs)
	}
	for _, question := range []string{"What did keepers float the lens in?", "How did keepers turn the heavy lens?"} {
		if from, to := firstCited(ask(t, data, question)); from < 110_000 || from > 124_000 || to-from > 16_000 {
			t.Errorf("%s: cited at %v to %v ms, and said between 110 and 125 s", question, from, to)
		}
	}
}

// firstCited is the place of the first citation, the best sentence: its own, or
// that of its evidence.
func firstCited(events []map[string]any) (from, to float64) {
	shown := map[any]map[string]any{}
	for _, e := range events {
		span, _ := e["span"].(map[string]any)
		switch e["type"] {
		case "evidence":
			shown[e["n"]] = span
		case "citation":
			if span == nil {
				span = shown[e["n"]]
			}
			from, _ = span["start_ms"].(float64)
			to, _ = span["end_ms"].(float64)
			return from, to
		}
	}
	return 0, 0
}

// TestDemoClip: a part of the talk comes out as a file of that length, by times
// and by the moments an answer cites.
func TestDemoClip(t *testing.T) {
	data := t.TempDir()
	code, out, errs := run(t, "ingest", "--data", data, "--json", filepath.Join("..", "demo", "talk.mp4"))
	var got outcome
	if err := json.Unmarshal([]byte(out), &got); err != nil || code != exitOK {
		t.Fatalf("exit %d: %s%s", code, out, errs)
	}
	stream := ""
	for _, e := range ask(t, data, "What did keepers float the lens in?") {
		if s, ok := e["stream"].(string); ok {
			stream = s
		}
	}
	for name, c := range map[string]struct {
		args          []string
		least, atMost int64 // milliseconds
	}{
		"exact":  {[]string{"--exact", "--from", "20s", "--to", "27500ms"}, 7400, 7750},
		"copied": {[]string{"--from", "20s", "--to", "27500ms"}, 7300, 20_000},
		"cited":  {[]string{"--concat", "--answer", stream}, 2000, 100_000},
	} {
		code, clip, errs := run(t, append([]string{"export", "--data", data, "--format", "clip", got.Source}, c.args...)...)
		file := filepath.Join(t.TempDir(), "clip.mp4")
		if err := os.WriteFile(file, []byte(clip), 0o600); err != nil || code != exitOK {
			t.Errorf("%s: exit %d, %s %v", name, code, errs, err)
			continue
		}
		_, facts, _ := run(t, "probe", "--json", file)
		var p struct {
			DurationMS int64 `json:"duration_ms"`
			Video      int
			Audio      int
		}
		if err := json.Unmarshal([]byte(facts), &p); err != nil || p.DurationMS < c.least || p.DurationMS > c.atMost || p.Video != 1 || p.Audio != 1 {
			t.Errorf("%s: %s", name, facts)
		}
	}
	if code, _, errs := run(t, "export", "--data", data, "--format", "clip", "--from", "10h", "--to", "11h", got.Source); code != exitFailed || !strings.Contains(errs, "behind the end") {
		t.Errorf("exit %d, %s", code, errs)
	}
}
