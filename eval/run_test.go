package eval

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/reeltree/reeltree/model"
	"github.com/reeltree/reeltree/retrieve"
	"github.com/reeltree/reeltree/tree"
)

// testConfig has the built-in embedder, a cutter of two cues a clip, and an
// answerer that quotes the best evidence.
func testConfig(t *testing.T) Config {
	t.Helper()
	b := model.NewBuiltin()
	return Config{
		Embed: b.Embed, Embedder: b.Name(), Dim: b.Dim(),
		Cut: func(src tree.Source, cues []tree.Cue) []tree.Material {
			m := tree.Material{Source: src, Span: tree.MS(0, src.DurationMS)}
			for pair := range slices.Chunk(cues, 2) {
				clip := tree.Clip{Span: tree.MS(pair[0].StartMS, pair[len(pair)-1].EndMS)}
				for _, c := range pair {
					clip.Leaves = append(clip.Leaves, tree.Leaf{Span: tree.MS(c.StartMS, c.EndMS), Evidence: tree.Evidence{Cues: []tree.Cue{c}}})
				}
				m.Clips = append(m.Clips, clip)
			}
			return []tree.Material{m}
		},
		Answer: func(e *retrieve.Engine, _ retrieve.Trees) Answer {
			return func(ctx context.Context, source, question string) (Answered, error) {
				r, err := e.Query(ctx, retrieve.Query{Text: question, Scope: retrieve.Scope{Tenant: tree.DefaultTenant, Sources: []string{source}}}, nil)
				if err != nil || len(r.Items) == 0 {
					return Answered{}, err
				}
				best := ranked(r.Items)[0]
				return Answered{Found: !r.Weak, Text: best.Quote, Support: best.Score, Cited: []Cited{{best.Quote, best.Quote}}}, nil
			}
		},
	}
}

func files(task, out string) Files {
	f := Files{Data: "testdata/" + task + ".jsonl", Out: out}
	switch task {
	case "multihop":
		f.Pool = "testdata/multihop-pool.jsonl"
	case "answers":
		f.Data = "testdata/meetings.jsonl"
	}
	return f
}

// TestTasksFindWhatIsThere runs every task over the small sets, whose questions
// are easy: most of what is asked for must be found, twice the same to the byte.
func TestTasksFindWhatIsThere(t *testing.T) {
	want := map[string]map[string]float64{
		"moments":  {"in_video_R1@0.5": .6, "library_video_R1": .6, "predictions": 3},
		"meetings": {"recall@10%": .6, "predictions": 3},
		"multihop": {"recall": .5, "predictions": 2},
		"passages": {"all_paragraph_R5": .8, "zh_paragraph_R1": .5, "predictions": 5},
		"tables":   {"span_evidence_complete": .6, "predictions": 6},
		"answers":  {"right_answered": .5, "faithful": 1, "model_calls": 0},
	}
	for task, metrics := range want {
		out := filepath.Join(t.TempDir(), task)
		var texts [2][]byte
		for i := range texts {
			rep, err := Run(t.Context(), testConfig(t), task, files(task, out), false)
			if err != nil {
				t.Fatalf("%s: %v", task, err)
			}
			for name, v := range metrics {
				if rep.Metrics[name] < v {
					t.Errorf("%s %s: %v, want %v of %v", task, name, rep.Metrics[name], v, rep.Metrics)
				}
			}
			if texts[i], err = os.ReadFile(out); err != nil {
				t.Fatal(err)
			}
		}
		if len(texts[0]) == 0 || !bytes.Equal(texts[0], texts[1]) {
			t.Errorf("%s: two runs differ", task)
		}
	}
}

func TestPredictionLines(t *testing.T) {
	begin := map[string]string{
		"moments": `{"video":"harbour","query":0,"spans":[[20,55.25]`, "meetings": `{"id":"garden-0","query":0,"spans":[[0,`,
		"multihop": `{"id":"q1","passages":[`, "passages": `{"doc":"en-a","query":0,"hits":[["en-a",0,0,`,
		"tables": `{"doc":"page-1","query":0,"rows":[0,1,2`,
	}
	for task, want := range begin {
		out := filepath.Join(t.TempDir(), task)
		if _, err := Run(t.Context(), testConfig(t), task, files(task, out), false); err != nil {
			t.Fatal(err)
		}
		if text, err := os.ReadFile(out); err != nil || !strings.HasPrefix(string(text), want) {
			t.Errorf("%s: %.200s, want %s", task, text, want)
		}
	}
}

// TestGoldNeverReachesTheRetriever changes every gold field: the predictions
// must stay the same.
func TestGoldNeverReachesTheRetriever(t *testing.T) {
	run := func(change func(*meetings)) []any {
		j, err := loadMeetings(files("meetings", ""))
		if err != nil {
			t.Fatal(err)
		}
		m := j.(*meetings)
		change(m)
		lib, err := m.library(t.Context(), testConfig(t))
		if err != nil {
			t.Fatal(err)
		}
		r := runner{task: tasks["meetings"], job: m, lib: lib, config: testConfig(t)}
		o, err := r.run(t.Context(), stage{})
		if err != nil {
			t.Fatal(err)
		}
		return o.lines
	}
	before := run(func(*meetings) {})
	after := run(func(m *meetings) {
		for i := range m.data {
			for k := range m.data[i].Queries {
				q := &m.data[i].Queries[k]
				q.Answer = "changed"
				if len(q.Turns) > 0 {
					q.Turns = [][2]int{{1, 3}}
				}
			}
		}
	})
	for i := range before {
		a, b := before[i].(meetingLine), after[i].(meetingLine)
		if a.ID != b.ID || !slices.Equal(a.Spans, b.Spans) {
			t.Errorf("%v became %v", a, b)
		}
	}
}

func TestUnknownTaskAndMissingParts(t *testing.T) {
	for name, f := range map[string]Files{
		`"nope" is not a task: choose one of answers, meetings`: {},
		"name it with --pool": files("meetings", ""),
	} {
		task := "nope"
		if f.Data != "" {
			task = "multihop"
		}
		if _, err := Run(t.Context(), testConfig(t), task, f, false); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("want %q, got %v", name, err)
		}
	}
	for _, task := range append(Tasks(), "answers") {
		f := files(task, "")
		f.Data = filepath.Join(t.TempDir(), "absent.jsonl")
		if _, err := Run(t.Context(), testConfig(t), task, f, false); err == nil || !strings.Contains(err.Error(), "no such file") {
			t.Errorf("%s: %v", task, err)
		}
	}
	if _, err := Run(t.Context(), Config{}, "answers", files("answers", ""), false); err == nil {
		t.Error("answers without an answerer must be refused")
	}
	if _, err := Run(t.Context(), Config{}, "meetings", files("meetings", ""), false); err == nil {
		t.Error("recordings without a cutter must be refused")
	}
}

func TestAblationOfATask(t *testing.T) {
	rep, err := Run(t.Context(), testConfig(t), "passages", files("passages", ""), true)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, s := range rep.Ablation {
		names = append(names, s.Name)
	}
	want := []string{"BM25", "vectors", "fused", "navigator", "refiner", "controller", "bridges", "fixed top-5", "fixed top-10", "fixed top-20", "largest drop", "flat top-k at equal words"}
	if !slices.Equal(names, want) {
		t.Fatalf("%q", names)
	}
	last := rep.Ablation[6]
	if last.Metrics["all_paragraph_R1"] != rep.Metrics["all_paragraph_R1"] || last.Against != "controller" || len(last.Change) != len(tasks["passages"].headers) {
		t.Errorf("the last stage is not the whole pipeline: %+v beside %v", last, rep.Metrics)
	}
	if equal := rep.Ablation[11]; equal.Tokens > rep.Stats["all"].EvidenceTokens || equal.Tokens == 0 || equal.Against != "all stages" {
		t.Errorf("%+v must not take more than %v tokens", equal, rep.Stats["all"].EvidenceTokens)
	}
	var out bytes.Buffer
	if err := WriteDetails(&out, rep); err != nil || strings.Count(out.String(), "\n") != 13 || !strings.Contains(out.String(), `"pruned_share"`) {
		t.Errorf("%v\n%s", err, out.String())
	}
}

func TestBaselineCuts(t *testing.T) {
	items := []retrieve.Item{{Score: .9, Tokens: 5}, {Score: .85, Tokens: 9}, {Score: .4, Tokens: 3}, {Score: .3, Tokens: 1}}
	if got := topK(3)(0, items); len(got) != 3 {
		t.Errorf("%v", got)
	}
	if got := topK(9)(0, items); len(got) != 4 {
		t.Errorf("%v", got)
	}
	if got := largestDrop(0, items); len(got) != 2 {
		t.Errorf("%v", got)
	}
	if got := largestDrop(0, nil); len(got) != 0 {
		t.Errorf("%v", got)
	}
	if got := equalTokens([]int{0, 9})(1, items); len(got) != 3 || tokensOf(got) != 9 {
		t.Errorf("%v", got)
	}
}
