package retrieve

import (
	"cmp"
	"flag"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/reeltree/reeltree/internal/testkit"
	"github.com/reeltree/reeltree/tree"
)

var fitMixes = flag.Bool("fit", false, "learn the mixes of signals anew and print them")

// asked is the candidates of one question: what is known of each, how much of
// it is gold, how long it is.
type asked struct {
	series string
	x      [][signals]float64
	gold   []float64 // share of the list's gold, sums to 1
	size   []float64
}

// TestFitMix learns the mixes by the listwise softmax loss on the train parts,
// with each series of recordings held out in turn to see what carries over.
func TestFitMix(t *testing.T) {
	if !*fitMixes {
		t.Skip("run with -fit to learn the mixes of signals anew")
	}
	for _, set := range []struct {
		name  string
		layer layer
		lists []asked
	}{
		{"meetings", layerSpoken, meetingLists(t)},
		{"moments", layerSeen, momentLists(t)},
	} {
		out := map[string]float64{}
		folds := 0.0
		for _, held := range seriesOf(set.lists) {
			in := func(l asked) bool { return l.series == held }
			m := learn(slices.DeleteFunc(slices.Clone(set.lists), in))
			left := slices.DeleteFunc(slices.Clone(set.lists), func(l asked) bool { return !in(l) })
			now := mixes[set.layer]
			t.Logf("%s held out (%d questions): recall at a tenth %.3f, in force %.3f; first right %.3f, in force %.3f", held, len(left),
				tenth(left, &m), tenth(left, &now), first(left, &m), first(left, &now))
			out["recall"], folds = out["recall"]+tenth(left, &m), folds+1
		}
		m := learn(set.lists)
		t.Logf("%s: held out %.3f, all %.3f, first %.3f\n%s", set.name, out["recall"]/folds, tenth(set.lists, &m), first(set.lists, &m), shown(m))
	}
}

func shown(m mix) string {
	var b strings.Builder
	for _, w := range m {
		fmt.Fprintf(&b, "%.3f, ", w)
	}
	return b.String()
}

func seriesOf(lists []asked) []string {
	var all []string
	for _, l := range lists {
		all = append(all, l.series)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// learn finds weights of at least 0 for which gold candidates have the
// softmax's mass (Adam, the whole set a step), then scales them to sum 1.
func learn(lists []asked) (m mix) {
	var mean, square [signals]float64
	w := [signals]float64{}
	for i := range w {
		w[i] = 1
	}
	for step := 1; step <= 400; step++ {
		g := gradient(lists, &w)
		for i := range w {
			g[i] += 2e-4 * w[i]
			mean[i] = .9*mean[i] + .1*g[i]
			square[i] = .99*square[i] + .01*g[i]*g[i]
			a, b := mean[i]/(1-math.Pow(.9, float64(step))), square[i]/(1-math.Pow(.99, float64(step)))
			w[i] = max(0, w[i]-.3*a/(math.Sqrt(b)+1e-9))
		}
	}
	var sum float64
	for _, x := range w {
		sum += x
	}
	for i := range w {
		m[i] = w[i] / sum
	}
	return m
}

func gradient(lists []asked, w *[signals]float64) (g [signals]float64) {
	for _, l := range lists {
		s := make([]float64, len(l.x))
		peak := math.Inf(-1)
		for i := range l.x {
			for k := range w {
				s[i] += w[k] * l.x[i][k]
			}
			s[i] += math.Log(max(l.size[i], .1)) // a long piece is as likely as its parts together
			peak = max(peak, s[i])
		}
		var z float64
		for i := range s {
			s[i] = math.Exp(s[i] - peak)
			z += s[i]
		}
		for i := range s {
			for k := range g {
				g[k] += (s[i]/z - l.gold[i]) * l.x[i][k] / float64(len(lists))
			}
		}
	}
	return g
}

// ranked are the indexes of a list, best first.
func (l *asked) ranked(m *mix) []int {
	at := make([]int, len(l.x))
	for i := range at {
		at[i] = i
	}
	slices.SortStableFunc(at, func(a, b int) int { return cmp.Compare(m.of(l.x[b]), m.of(l.x[a])) })
	return at
}

// tenth is the mean share of gold in the best tenth.
func tenth(lists []asked, m *mix) (sum float64) {
	for _, l := range lists {
		var all, used float64
		for _, s := range l.size {
			all += s
		}
		for _, i := range l.ranked(m) {
			part := min(1, (all/10-used)/max(l.size[i], 1e-9))
			if part <= 0 {
				break
			}
			sum += part * l.gold[i] / float64(len(lists))
			used += l.size[i]
		}
	}
	return sum
}

// first is the share of lists whose best holds any gold.
func first(lists []asked, m *mix) (sum float64) {
	for _, l := range lists {
		if l.gold[l.ranked(m)[0]] > 0 {
			sum += 1 / float64(len(lists))
		}
	}
	return sum
}

// listOf asks a source and notes every candidate. gold gives the gold
// milliseconds within a span.
func listOf(t *testing.T, e *Engine, series, question, source string, gold func(tree.Span) float64) asked {
	t.Helper()
	s := e.newSearch(Query{Text: question, Fill: true, Scope: Scope{Tenant: "default", Sources: []string{source}}}, question)
	var r Round
	all, err := s.find(t.Context(), ask{text: question, share: 1}, &r)
	if err != nil {
		t.Fatal(err)
	}
	l := asked{series: series}
	var sum float64
	for _, c := range all {
		span := joinSpans(c.s.units[c.lo].span, c.s.units[c.hi-1].span)
		l.x, l.size = append(l.x, c.signals), append(l.size, float64(span.Duration())/1000)
		l.gold = append(l.gold, gold(span))
		sum += l.gold[len(l.gold)-1]
	}
	for i := range l.gold {
		l.gold[i] /= max(sum, 1e-9)
	}
	return l
}

func fitID(i int) string { return fmt.Sprintf("%026d", i) }

func meetingLists(t *testing.T) (out []asked) {
	t.Helper()
	ms := testkit.ReadJSONLines[meeting](t, testkit.Shared(t, "bench", "meetings-train.jsonl.gz"))
	trees := map[string]*tree.Tree{}
	for i, m := range ms {
		trees[fitID(i)] = meetingTree(m, fitID(i))
	}
	e := opened(t, trees)
	for i, m := range ms {
		series, _, _ := strings.Cut(m.ID, "-")
		for _, q := range m.Queries {
			gold := func(s tree.Span) (sum float64) {
				for _, g := range q.Turns {
					a, b := m.Turns[g[0]].Start, m.Turns[min(g[1], len(m.Turns)-1)].End
					sum += float64(s.Overlap(tree.MS(int64(a*1000), int64(b*1000))))
				}
				return sum
			}
			if l := listOf(t, e, series, q.Query, fitID(i), gold); slices.Max(l.gold) > 0 {
				out = append(out, l)
			}
		}
	}
	return out
}

func momentLists(t *testing.T) (out []asked) {
	t.Helper()
	vs := testkit.ReadJSONLines[video](t, testkit.Shared(t, "bench", "moments-train.jsonl.gz"))
	vs = vs[:min(len(vs), 1000)]
	trees := map[string]*tree.Tree{}
	for i, v := range vs {
		trees[fitID(i)] = videoTree(v, fitID(i))
	}
	e := opened(t, trees)
	for i, v := range vs {
		for _, q := range v.Queries {
			want := tree.MS(int64(q.Start*1000), int64(q.End*1000))
			gold := func(s tree.Span) float64 {
				o := float64(s.Overlap(want))
				return math.Pow(o/max(1, float64(s.Duration()+want.Duration())-o), 2)
			}
			if l := listOf(t, e, fmt.Sprint("part", i%3), q.Text, fitID(i), gold); len(l.x) > 1 && slices.Max(l.gold) > 0 {
				out = append(out, l)
			}
		}
	}
	return out
}
