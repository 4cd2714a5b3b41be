package generate

import (
	"math"
	"slices"
	"testing"

	"github.com/reeltree/reeltree/internal/testkit"
)

func TestTellingByHand(t *testing.T) {
	asked := wordSet("who paid for the lamp")
	for text, want := range map[string]telling{
		"The town paid for the lamp.":            {joining: 3. / 6, asked: 5. / 6},
		"Uh, I {pause} mean, you know, the lamp": {joining: 1. / 8, halting: 4. / 8, speaking: 2. / 8, asked: 2. / 8},
		"[laughter] {pause}":                     {halting: 1},
		"":                                       {},
		"灯是镇上付的。":                                {},
	} {
		got := tellingOf(text, asked)
		for i, pair := range [][2]float64{{got.joining, want.joining}, {got.halting, want.halting}, {got.speaking, want.speaking}, {got.asked, want.asked}} {
			if math.Abs(pair[0]-pair[1]) > 1e-12 {
				t.Errorf("%q: share %d is %v, want %v", text, i, pair[0], pair[1])
			}
		}
	}
	if w := (telling{halting: 1, speaking: 1}).worth(); w != leastTelling {
		t.Errorf("a sentence that tells nothing is worth %v", w)
	}
}

// TestAnswersTellWhatWasSaid: of two sentences about the same the whole
// statement is said, not the one that gropes for words.
func TestAnswersTellWhatWasSaid(t *testing.T) {
	groping, whole := made(30_000, "Uh, you know, the {pause} the lamp, I mean, the oil, right, yeah."), made(60_000, "The oil of the lamp was paid for by the town.")
	_, text := collect(t, &Answerer{Find: finder(false, groping, whole)}, Question{Text: "Who paid for the oil of the lamp?"})
	if text[:min(len(text), 7)] != "The oil" {
		t.Errorf("%q", text)
	}
}

// TestFitTelling prints the weights of telling: least squares over the sentences
// of the evidence for each question of meetings-train, where a sentence's value
// is the share of its words that stands in the reference answer.
func TestFitTelling(t *testing.T) {
	if !*fit {
		t.Skip("fits only with -fit")
	}
	meetings := testkit.ReadJSONLines[meeting](t, testkit.Shared(t, "bench", "meetings-train.jsonl.gz"))
	a, ids := asker(t, meetings)
	var rows [][]float64
	var values []float64
	for i, m := range meetings {
		for _, q := range m.Queries {
			var evidence []Evidence
			for n, it := range search(t, a, Question{Tenant: "default", Text: q.Query, Sources: ids[i : i+1]}.query()).Items {
				evidence = append(evidence, NewEvidence(n+1, it))
			}
			asked, want := map[string]bool{}, rougeTerms(q.Answer)
			for _, w := range terms(q.Query) {
				asked[w] = true
			}
			for _, p := range gatherPoints(evidence) {
				s, got := tellingOf(p.text, asked), rougeTerms(p.text)
				one, _ := rouge(got, want) // F1 of shared words, so they number half of that times both lengths
				rows = append(rows, []float64{s.joining, s.halting, s.speaking, s.asked, 1})
				values = append(values, one*float64(len(got)+len(want))/2/float64(max(1, len(got))))
			}
		}
	}
	t.Logf("%d sentences: joining, halting, speaking, asked, base = %.3f", len(rows), leastSquares(rows, values))
}

// leastSquares solves the normal equations by Gauss-Jordan elimination; they are
// positive definite.
func leastSquares(rows [][]float64, values []float64) []float64 {
	n := len(rows[0])
	m := make([][]float64, n)
	for i := range m {
		m[i] = make([]float64, n+1)
		for k, x := range rows {
			for j := range n {
				m[i][j] += x[i] * x[j]
			}
			m[i][n] += x[i] * values[k]
		}
	}
	for i := range m {
		pivot := slices.Clone(m[i])
		for j := range pivot {
			m[i][j] = pivot[j] / pivot[i]
		}
		for k := range m {
			if f := m[k][i]; k != i {
				for j := range m[k] {
					m[k][j] -= f * m[i][j]
				}
			}
		}
	}
	out := make([]float64, n)
	for i := range m {
		out[i] = m[i][n]
	}
	return out
}

func TestLeastSquares(t *testing.T) {
	got := leastSquares([][]float64{{1, 1}, {2, 1}, {3, 1}, {4, 1}}, []float64{5, 7, 9, 11})
	if math.Abs(got[0]-2) > 1e-9 || math.Abs(got[1]-3) > 1e-9 {
		t.Errorf("%v", got)
	}
}
