package retrieve

import (
	"cmp"
	"flag"
	"fmt"
	"math"
	"slices"
	"strconv"
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
	any    bool // one piece of gold will do: the right paragraph, whichever sentence leads there
}

// TestFitMix learns the mixes by the listwise softmax loss, with each series of
// recordings or fifth of the articles held out in turn to see what carries
// over: the spoken and the seen one on train parts, the written one on the
// articles of the dev part, since there is no other.
func TestFitMix(t *testing.T) {
	if !*fitMixes {
		t.Skip("run with -fit to learn the mixes of signals anew")
	}
	for _, set := range []struct {
		name  string
		layer layer
		lists func(*testing.T) []asked
	}{
		{"meetings", layerSpoken, meetingLists},
		{"moments", layerSeen, momentLists},
		{"passages", layerWritten, passageLists},
	} {
		t.Run(set.name, func(t *testing.T) { fitMix(t, set.layer, set.lists(t)) })
	}
}

// fitMix learns one mix with each series held out in turn, then from all.
func fitMix(t *testing.T, of layer, lists []asked) {
	t.Helper()
	now, recall, right := mixes[of], 0.0, 0.0
	for _, held := range seriesOf(lists) {
		in := func(l asked) bool { return l.series == held }
		m := learn(slices.DeleteFunc(slices.Clone(lists), in))
		left := slices.DeleteFunc(slices.Clone(lists), func(l asked) bool { return !in(l) })
		t.Logf("%s held out (%d questions): recall at a tenth %.3f, in force %.3f; first right %.4f, in force %.4f", held, len(left),
			tenth(left, &m), tenth(left, &now), first(left, &m), first(left, &now))
		share := float64(len(left)) / float64(len(lists))
		recall, right = recall+share*tenth(left, &m), right+share*first(left, &m)
	}
	m := learn(lists)
	t.Logf("held out: recall %.3f, first right %.4f; learned from all: recall %.3f, first right %.4f; in force: first right %.4f\n%s",
		recall, right, tenth(lists, &m), first(lists, &m), first(lists, &now), shown(m))
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
		wanted := l.wanted(s)
		for i := range s {
			for k := range g {
				g[k] += (s[i]/z - wanted[i]) * l.x[i][k] / float64(len(lists))
			}
		}
	}
	return g
}

// wanted is the mass each candidate should have, given its unscaled mass now:
// its share of gold, or where any gold will do what it has of all that gold has
// (the gradient of the logarithm of a sum).
func (l *asked) wanted(mass []float64) []float64 {
	if !l.any {
		return l.gold
	}
	out, sum := make([]float64, len(mass)), 0.0
	for i, m := range mass {
		if l.gold[i] > 0 {
			out[i] = m
			sum += m
		}
	}
	for i := range out {
		out[i] /= max(sum, 1e-300)
	}
	return out
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
	return listIn(t, e, series, question, Scope{Tenant: "default", Sources: []string{source}}, func(_ string, s tree.Span) float64 { return gold(s) })
}

// listIn is the same of all sources of a scope.
func listIn(t *testing.T, e *Engine, series, question string, scope Scope, gold func(source string, s tree.Span) float64) asked {
	t.Helper()
	s := e.newSearch(Query{Text: question, Fill: true, Scope: scope}, question)
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
		l.gold = append(l.gold, gold(c.s.tree.Source.ID, span))
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

// article is what an encyclopaedia says of something, with questions.
type article struct {
	Lang, Doc  string
	Paragraphs []string
	Queries    []struct {
		Query     string
		Paragraph int
	}
}

// articleTree lays an article out: a paragraph is an L2, a sentence an L3.
func articleTree(a article, id string) *tree.Tree {
	span := tree.Span{Unit: tree.UnitText, Paragraph: 1}
	root := &tree.Node{ID: tree.NodeID(id, 0), Level: tree.L1, Text: strings.Join(a.Paragraphs, " "), Span: span}
	for i, text := range a.Paragraphs {
		whole := tree.Span{Unit: tree.UnitText, Paragraph: i + 1, EndChar: len([]rune(text))}
		l2 := &tree.Node{ID: tree.NodeID(id, 0, i), Level: tree.L2, Text: text, Span: whole}
		for k, p := range sentences(text) {
			at := whole
			at.StartChar, at.EndChar = p.start, p.end
			l2.Children = append(l2.Children, &tree.Node{ID: tree.NodeID(id, 0, i, k), Level: tree.L3, Text: p.text, Span: at, Evidence: tree.Evidence{Passage: p.text}})
		}
		root.Children = append(root.Children, l2)
	}
	src := tree.Source{ID: id, Tenant: "default", Kind: tree.KindDocument, Language: a.Lang, Collections: []string{a.Lang}}
	return &tree.Tree{Source: src, Roots: []*tree.Node{root}}
}

// passageLists ask the articles of each language. Gold is the paragraph. An article has one
// series in all languages, so that no translation of what is held out is learned.
func passageLists(t *testing.T) (out []asked) {
	t.Helper()
	articles := testkit.ReadJSONLines[article](t, testkit.Shared(t, "bench", "passages-dev.jsonl.gz"))
	trees := map[string]*tree.Tree{}
	for i, a := range articles {
		trees[fitID(i)] = articleTree(a, fitID(i))
	}
	e := opened(t, trees)
	for i, a := range articles {
		_, number, _ := strings.Cut(a.Doc, "-")
		n, err := strconv.Atoi(number)
		if err != nil {
			t.Fatal(err)
		}
		for _, q := range a.Queries {
			gold := func(source string, s tree.Span) float64 {
				if source != fitID(i) || s.Paragraph != q.Paragraph+1 {
					return 0
				}
				return 1
			}
			l := listIn(t, e, fmt.Sprint("part", n/2%5), q.Query, Scope{Tenant: "default", Collection: a.Lang}, gold)
			if slices.Max(l.gold) > 0 {
				l.any = true
				for k := range l.size { // a long sentence is no likelier than a short one
					l.size[k] = 1
				}
				out = append(out, l)
			}
		}
	}
	return out
}
