package generate

import (
	"flag"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/reeltree/reeltree/internal/testkit"
	"github.com/reeltree/reeltree/retrieve"
)

var fit = flag.Bool("fit", false, "fit the weights of refusal on meetings-train and print them")

// judged is one question asked of one recording of a library.
type judged struct {
	series string // of the recording it belongs to
	group  string // the recording
	right  bool
	s      signals
	sum    float64
}

// lines is every how many lines of a file a test reads; all with -fit.
func lines(some int) int {
	if *fit {
		return 1
	}
	return some
}

// readMeetings is a part of the recordings of a file: those whose line, from 0,
// has the remainder part when divided by parts.
func readMeetings(t *testing.T, name string, part, parts int) (some []meeting) {
	t.Helper()
	for i, m := range testkit.ReadJSONLines[meeting](t, testkit.Shared(t, "bench", name)) {
		if i%parts == part {
			some = append(some, m)
		}
	}
	return some
}

// judgeMeetings asks every question of its own recording and of the one on the
// next line, wrapping round; the recordings are one library.
func judgeMeetings(t *testing.T, meetings []meeting) []judged {
	t.Helper()
	a, ids := asker(t, meetings)
	var all []judged
	for i, m := range meetings {
		series, _, _ := strings.Cut(m.ID, "-")
		for _, text := range m.Queries {
			library := search(t, a, retrieve.Query{Text: text.Query, Scope: retrieve.Scope{Tenant: "default"}, Rounds: 1, Trace: true})
			for right, id := range map[bool]string{true: ids[i], false: ids[(i+1)%len(ids)]} {
				q := Question{Tenant: "default", Text: text.Query, Sources: []string{id}}
				own := search(t, a, q.query()).Items
				s := ownSignals(q.Text, own)
				_, _ = s.compare(q, own, library)
				all = append(all, judged{series: series, group: m.ID, right: right, s: s})
			}
		}
	}
	return all
}

func search(t *testing.T, a *Answerer, q retrieve.Query) retrieve.Result {
	t.Helper()
	result, err := a.Find(t.Context(), q, nil)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// ends are the shares of right questions answered and of wrong ones refused.
func ends(all []judged, answers func(judged) bool) (answered, refused float64) {
	var right, wrong float64
	for _, j := range all {
		switch {
		case j.right:
			right++
			if answers(j) {
				answered++
			}
		default:
			wrong++
			if !answers(j) {
				refused++
			}
		}
	}
	return answered / max(1, right), refused / max(1, wrong)
}

// TestFitRefusal prints the weights of refusal: logistic regression (ridge 1,
// signals scaled to unit variance) on meetings-train, judged by five-fold
// cross-validation over recordings. Where sources are compared the threshold is
// chosen on meetings-dev, which has series of recordings that train has not.
func TestFitRefusal(t *testing.T) {
	if !*fit {
		t.Skip("fits only with -fit")
	}
	var train []judged
	for parts := 1; parts <= 3; parts++ { // what competes with a source grows with the library
		for part := range parts {
			train = append(train, judgeMeetings(t, readMeetings(t, "meetings-train.jsonl.gz", part, parts))...)
		}
	}
	dev := judgeMeetings(t, readMeetings(t, "meetings-dev.jsonl.gz", 0, 1))
	for name, c := range map[string]struct {
		columns  []int
		answered float64
	}{"alone": {[]int{0, 1}, .85}, "compared": {[]int{0, 1, 2, 3, 4}, 0}} {
		var held []judged // with the sum of the rule that has not seen them
		for fold := range 5 {
			rest, out := folds(train, fold)
			rule := fitRule(rest, c.columns, c.answered)
			for _, j := range out {
				j.sum = rule.sum(j.s)
				held = append(held, j)
			}
		}
		rule := fitRule(train, c.columns, c.answered)
		if c.answered == 0 { // dev has series that train has not
			rule.threshold += threshold(dev, rule, 0)
		}
		report := func(where string, all []judged, sum func(judged) float64) {
			answered, refused := ends(all, func(j judged) bool { return sum(j) >= 0 })
			t.Logf("%s, %s: %.3f of the right questions answered, %.3f of the wrong ones refused", name, where, answered, refused)
		}
		report("cross-validated", held, func(j judged) float64 { return j.sum })
		report("train", train, func(j judged) float64 { return rule.sum(j.s) })
		report("dev", dev, func(j judged) float64 { return rule.sum(j.s) })
		t.Logf("%s = judgement{[]float64{%s}, %.3f}", name, strings.Trim(strings.Join(strings.Fields(fmt.Sprintf("%.3f", rule.weights)), ", "), "[]"), rule.threshold)
	}
}

// folds splits by recording.
func folds(all []judged, fold int) (rest, held []judged) {
	groups := map[string]int{}
	for _, j := range all {
		if _, ok := groups[j.group]; !ok {
			groups[j.group] = len(groups)
		}
		if groups[j.group]%5 == fold {
			held = append(held, j)
		} else {
			rest = append(rest, j)
		}
	}
	return rest, held
}

// fitRule fits the weights of some signals, and the threshold: where a share of
// the right questions is answered, or with 0 where as many of them are answered
// as wrong ones refused.
func fitRule(all []judged, columns []int, answered float64) judgement {
	mean, scale := spread(all, columns)
	w := make([]float64, len(columns)+1)
	for range 2000 { // gradient descent: the problem is convex and small
		g := make([]float64, len(w))
		for _, j := range all {
			x, z := j.s.list(), w[len(columns)]
			for c, col := range columns {
				z += w[c] * (x[col] - mean[c]) / scale[c]
			}
			d := 1 / (1 + math.Exp(-z))
			if j.right {
				d--
			}
			for c, col := range columns {
				g[c] += d * (x[col] - mean[c]) / scale[c]
			}
			g[len(columns)] += d
		}
		for c := range columns {
			g[c] += w[c] // ridge
		}
		for i := range w {
			w[i] -= g[i] / float64(len(all))
		}
	}
	rule := judgement{weights: make([]float64, len(columns))}
	for c := range columns {
		rule.weights[c] = w[c] / scale[c]
	}
	rule.threshold = threshold(all, rule, answered)
	return rule
}

// spread is the mean and the standard deviation of each signal.
func spread(all []judged, columns []int) (mean, scale []float64) {
	n := float64(len(all))
	for _, col := range columns {
		var sum, square float64
		for _, j := range all {
			v := j.s.list()[col]
			sum, square = sum+v, square+v*v
		}
		mean = append(mean, sum/n)
		scale = append(scale, math.Sqrt(max(1e-12, square/n-sum*sum/n/n)))
	}
	return mean, scale
}

func threshold(all []judged, rule judgement, answered float64) float64 {
	var right, wrong []float64
	for _, j := range all {
		if sum := rule.sum(j.s); j.right {
			right = append(right, sum)
		} else {
			wrong = append(wrong, sum)
		}
	}
	slices.Sort(right)
	slices.Sort(wrong)
	if answered > 0 {
		return right[int((1-answered)*float64(len(right)))]
	}
	for i, t := range right { // i right questions lie below
		below, _ := slices.BinarySearch(wrong, t)
		if float64(len(right)-i)/float64(len(right)) <= float64(below)/float64(len(wrong)) {
			return t
		}
	}
	return right[0]
}
