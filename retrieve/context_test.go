package retrieve

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/reeltree/reeltree/tree"
)

// lengths is a view of units of so many tokens each, without vectors.
func lengths(tokens ...int) *view {
	v := &view{}
	for _, n := range tokens {
		v.units = append(v.units, unit{tokens: n, vector: []float32{1, 0}})
	}
	return v
}

func TestSpreadIsAGaussian(t *testing.T) {
	v := lengths(slices.Repeat([]int{2}, 3001)...)
	s := v.surround()
	for k, sigma := range contextSpread {
		counts := make([]float32, len(v.units))
		counts[1500] = 1
		s.spread(k, 0, len(counts), counts, make([]float32, len(counts)+1))
		for _, off := range []int{0, sigma / 4, sigma / 2} {
			d := float64(2 * off)
			want := contextTokens / (float64(sigma) * math.Sqrt(2*math.Pi)) * math.Exp(-d*d/(2*float64(sigma*sigma)))
			for _, at := range []int{1500 - off, 1500 + off} {
				if got := float64(counts[at]); math.Abs(got-want) > .12*want {
					t.Errorf("spread %d at %d tokens: %.5f instead of about %.5f", sigma, 2*off, got, want)
				}
			}
		}
		if far := 1500 + 2*sigma; counts[far] != 0 {
			t.Errorf("spread %d reaches further than three boxes: %g", sigma, counts[far])
		}
	}
}

// A text that holds a word evenly holds it as densely at its ends, whatever
// the lengths of its units.
func TestSpreadHasNoEnds(t *testing.T) {
	var tokens []int
	for i := range 200 {
		tokens = append(tokens, 5*(1+i%7))
	}
	v := lengths(tokens...)
	s := v.surround()
	for k := range contexts {
		counts := make([]float32, len(tokens))
		for i, n := range tokens {
			counts[i] = float32(n) / 50
		}
		s.spread(k, 0, len(counts), counts, make([]float32, len(counts)+1))
		for i, c := range counts {
			if math.Abs(float64(c)-contextTokens/50) > .02 {
				t.Fatalf("window %d of unit %d holds %g instead of %d", k, i, c, contextTokens/50)
			}
		}
	}
}

func TestSpreadOfOneLongUnit(t *testing.T) {
	for _, v := range []*view{lengths(5000), lengths(0), lengths(5000, 0, 5000)} {
		s := v.surround()
		counts := make([]float32, len(v.units))
		counts[0] = 2
		s.spread(contextNear, 0, len(counts), counts, make([]float32, len(counts)+1))
		for _, c := range counts {
			if c < 0 || c != c {
				t.Errorf("%d units: %v", len(v.units), counts)
			}
		}
	}
	if s := (&view{}).surround(); len(s.mass) != 1 {
		t.Errorf("a tree without units has a mass of %v", s.mass)
	}
}

// The cosine of a window is that of the mean of its vectors.
func TestWindowCosine(t *testing.T) {
	v := lengths(20, 20, 20)
	v.units[1].vector, v.units[2].vector = []float32{0, 1}, []float32{0, 0}
	v.around, v.postings = v.surround(), map[uint64][]posting{}
	q := &question{vector: []float32{1, 0}}
	s := q.score(v)
	near(t, "cosine of the mean", math.Round(1e4*float64(s.cosineSum[contextNear][1])), math.Round(1e4/math.Sqrt2))
}

// What is talked about for minutes is found where it is talked about, though
// the words of the question stand in other cues too.
func TestTalkAroundDecides(t *testing.T) {
	var cues []string
	for i := range 120 {
		switch {
		case i == 5:
			cues = append(cues, "The budget is on the table over there.")
		case i >= 60 && i < 80 && i%3 == 0:
			cues = append(cues, fmt.Sprintf("Then the budget of part %d is spent on paper.", i))
		default:
			cues = append(cues, fmt.Sprintf("We go on with point number %d of other matters and nothing else.", i))
		}
	}
	e, _ := engine(t, talk("talktalktalktalktal", "Board", cues...))
	it := topItem(find(t, e, Query{Text: "what was decided on the budget"}).Items)
	if it.Span.StartMS < 60*5000-60_000 || it.Span.EndMS > 80*5000+60_000 {
		t.Errorf("found at %v", it.Span)
	}
}

func TestFillTakesTheMostRelevantInPieces(t *testing.T) {
	e, _ := engine(t, harvest, lens)
	r := find(t, e, Query{Text: "How much weight did the maize lose?", Fill: true, Rounds: 3})
	if len(r.Rounds) != 1 {
		t.Errorf("%d rounds", len(r.Rounds))
	}
	var quotes []string
	for _, it := range r.Items {
		quotes = append(quotes, it.Quote)
	}
	all := strings.Join(quotes, " ")
	for _, want := range []string{"lost half", "Beans were sold", "maize | 2019", "beans | 2020"} {
		if !strings.Contains(all, want) {
			t.Errorf("%q is left out of a budget that has room for it", want)
		}
	}
	small := find(t, e, Query{Text: "How much weight did the maize lose?", Fill: true, Budget: 40})
	if tokens := sumTokens(small.Items); tokens > 40 || !holds(small.Items, "weight") {
		t.Errorf("%d tokens of 40: %+v", tokens, small.Items)
	}
}

func sumTokens(items []Item) (n int) {
	for _, it := range items {
		n += it.Tokens
	}
	return n
}

func TestMoreTreesThanUsual(t *testing.T) {
	var trees []*tree.Tree
	for i := range entryTrees + 4 {
		trees = append(trees, talk(fmt.Sprintf("talktalktalktalkta%02d", i), "Talk", "The red lamp is on.", fmt.Sprintf("Number %d ends.", i)))
	}
	e, _ := engine(t, trees...)
	for most, want := range map[int]int{0: entryTrees, 2: 2, entryTrees + 3: entryTrees + 3, 50: entryTrees + 4} {
		r, err := e.Query(context.Background(), Query{Text: "red lamp", Fill: true, Trees: most, Scope: Scope{Tenant: "default"}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]bool{}
		for _, it := range r.Items {
			seen[it.Source.ID] = true
		}
		if len(seen) != want {
			t.Errorf("Trees %d looked into %d sources instead of %d", most, len(seen), want)
		}
	}
}

// Every mix is a share: what is perfect in all signals scores 1.
func TestMixesAreShares(t *testing.T) {
	for l, m := range mixes {
		var sum float64
		for _, w := range m {
			if w < 0 {
				t.Errorf("layer %d has a negative weight", l)
			}
			sum += w
		}
		near(t, fmt.Sprint("sum of layer ", l), math.Round(sum*1e3), 1e3)
	}
}
