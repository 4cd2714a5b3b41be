package eval

import (
	"bytes"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/reeltree/reeltree/internal/testkit"
)

// TestMetricsEqualTheReferenceScorer gives random predictions for the shared
// sets to both scorers: every figure must be the same.
func TestMetricsEqualTheReferenceScorer(t *testing.T) {
	scorer := testkit.Shared(t, "bench", "score.py")
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is missing, so the reference scorer cannot run")
	}
	r := rand.New(rand.NewPCG(5, 6))
	for name, make := range map[string]func(*testing.T, *rand.Rand) (Files, []any, *tally, error){
		"moments": randomMoments, "meetings": randomMeetings, "multihop": randomMultihop, "passages": randomPassages, "tables": randomTables,
	} {
		f, lines, y, err := make(t, r)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		f.Out = filepath.Join(t.TempDir(), "predictions.jsonl")
		if err := writeLines(f.Out, lines); err != nil {
			t.Fatal(err)
		}
		args := []string{scorer, name, f.Data, f.Out}
		if f.Pool != "" {
			args = append(args, "--pool", f.Pool)
		}
		cmd := exec.CommandContext(t.Context(), python, args...)
		cmd.Stderr = os.Stderr
		want, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s: the reference scorer: %v", name, err)
		}
		o := outcome{lines: lines, tally: y}
		got, err := o.metrics().MarshalJSON()
		if err != nil || !bytes.Equal(got, bytes.TrimSpace(want)) {
			t.Errorf("%s:\ngot  %s\nwant %s", name, got, want)
		}
	}
}

func shared[T any](t *testing.T, name string) (string, []T) {
	t.Helper()
	path := testkit.Shared(t, "bench", name+".jsonl.gz")
	return path, testkit.ReadJSONLines[T](t, path)
}

func randomSpan(r *rand.Rand, end float64) interval {
	a := r.Float64() * end
	return interval{a, a + .1 + r.Float64()*end/3}
}

func randomMoments(t *testing.T, r *rand.Rand) (Files, []any, *tally, error) {
	t.Helper()
	path, data := shared[video](t, "moments-dev")
	var lines []momentLine
	for i, v := range data {
		for q := range v.Queries {
			if r.IntN(10) == 0 {
				continue
			}
			l := momentLine{Video: v.Video, Query: q, Spans: []interval{}, Hits: []momentHit{}}
			for range r.IntN(7) {
				l.Spans = append(l.Spans, randomSpan(r, v.Duration))
				l.Hits = append(l.Hits, momentHit{data[min(len(data)-1, i+r.IntN(4))].Video, randomSpan(r, v.Duration)})
			}
			lines = append(lines, l)
		}
	}
	y, err := scoreMoments(data, lines)
	return Files{Data: path}, anys(lines), y, err
}

func randomMeetings(t *testing.T, r *rand.Rand) (Files, []any, *tally, error) {
	t.Helper()
	path, data := shared[meeting](t, "meetings-dev")
	var lines []meetingLine
	for _, m := range data {
		for q := range m.Queries {
			if measure(m.gold(m.Queries[q])) == 0 {
				continue
			}
			l := meetingLine{m.ID, q, []interval{}}
			for range r.IntN(6) {
				l.Spans = append(l.Spans, randomSpan(r, m.Turns[len(m.Turns)-1].End/8))
			}
			lines = append(lines, l)
		}
	}
	y, err := scoreMeetings(data, lines)
	return Files{Data: path}, anys(lines), y, err
}

func randomMultihop(t *testing.T, r *rand.Rand) (Files, []any, *tally, error) {
	t.Helper()
	path, data := shared[hopQuestion](t, "multihop-redundancy-dev")
	poolPath, pool := shared[hopPassage](t, "multihop-redundancy-pool")
	at := map[string]int{}
	for i, p := range pool {
		at[p.Title] = i
	}
	var lines []hopLine
	for _, q := range data {
		l := hopLine{q.ID, []int{}}
		for _, title := range q.Gold {
			if i, ok := at[title]; ok && r.IntN(2) == 0 {
				l.Passages = append(l.Passages, i)
			}
		}
		for range r.IntN(3) {
			l.Passages = append(l.Passages, r.IntN(len(pool)))
		}
		lines = append(lines, l)
	}
	y, err := scoreMultihop(data, pool, lines)
	return Files{Data: path, Pool: poolPath}, anys(lines), y, err
}

func randomPassages(t *testing.T, r *rand.Rand) (Files, []any, *tally, error) {
	t.Helper()
	path, data := shared[article](t, "passages-dev")
	var lines []passageLine
	for _, d := range data {
		for q, g := range d.Queries {
			l := passageLine{d.Doc, q, []passageHit{}}
			for range r.IntN(5) {
				par := r.IntN(len(d.Paragraphs))
				if r.IntN(2) == 0 {
					par = g.Paragraph
				}
				n := len([]rune(d.Paragraphs[par]))
				a := r.IntN(n)
				l.Hits = append(l.Hits, passageHit{d.Doc, par, a, min(n, a+r.IntN(400))})
			}
			lines = append(lines, l)
		}
	}
	y, err := scorePassages(data, lines)
	return Files{Data: path}, anys(lines), y, err
}

func randomTables(t *testing.T, r *rand.Rand) (Files, []any, *tally, error) {
	t.Helper()
	path, data := shared[page](t, "tables-dev")
	var lines []tableLine
	for _, p := range data {
		for q := range p.Queries {
			l := tableLine{p.Doc, q, []int{}, []int{}}
			for i := range p.Table {
				if r.IntN(3) > 0 {
					l.Rows = append(l.Rows, i)
				}
			}
			for i := range p.Paragraphs {
				if r.IntN(2) == 0 {
					l.Paragraphs = append(l.Paragraphs, i, i)
				}
			}
			lines = append(lines, l)
		}
	}
	y, err := scoreTables(data, lines)
	return Files{Data: path}, anys(lines), y, err
}
