package eval

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// baseline answers from the sentences of a recording without any retrieval of
// the product: its first sentences, or those BM25 ranks best.
type baseline struct {
	sentences []string
	terms     [][]string
	holds     map[string]int // sentences a term stands in
	mean      float64        // terms of a sentence
}

func newBaseline(m *meeting) *baseline {
	b := &baseline{holds: map[string]int{}}
	total := 0
	for _, t := range m.Turns {
		for _, l := range sentenceLeaves(t.Text, 1) {
			own := terms(l.Evidence.Passage)
			b.sentences = append(b.sentences, l.Evidence.Passage)
			b.terms = append(b.terms, own)
			for term := range set(own) {
				b.holds[term]++
			}
			total += len(own)
		}
	}
	b.mean = ratio(total, len(b.sentences))
	return b
}

// compare scores an answer and both baselines, cut to as many words, against
// the reference answer.
func (b *baseline) compare(answer string, q meetingQuery) map[string]float64 {
	words, want := len(strings.Fields(answer)), terms(q.Answer)
	out := map[string]float64{}
	for name, text := range map[string]string{"": answer, "first_": cutTo(b.sentences, words), "bm25_": b.best(q.Query, words)} {
		got := terms(text)
		out[name+"rouge1"], out[name+"rougeL"] = rouge1(got, want), rougeL(got, want)
	}
	return out
}

// cutTo joins sentences until there are so many words.
func cutTo(sentences []string, words int) string {
	var out []string
	for _, s := range sentences {
		if len(out) >= words {
			break
		}
		out = append(out, strings.Fields(s)...)
	}
	return strings.Join(first(out, words), " ")
}

// best takes the sentences BM25 ranks best until there are so many words, and
// puts them in the order of the recording.
func (b *baseline) best(question string, words int) string {
	order := make([]int, len(b.sentences))
	scores := make([]float64, len(b.sentences))
	asked := sortedTerms(question)
	for i := range order {
		order[i], scores[i] = i, b.bm25(asked, i)
	}
	slices.SortStableFunc(order, func(x, y int) int { return cmp.Compare(scores[y], scores[x]) })
	n := 0
	for i, s := range order {
		if n >= words {
			order = order[:i]
			break
		}
		n += len(strings.Fields(b.sentences[s]))
	}
	slices.Sort(order)
	var chosen []string
	for _, s := range order {
		chosen = append(chosen, b.sentences[s])
	}
	return cutTo(chosen, words)
}

func sortedTerms(text string) []string {
	out := terms(text)
	slices.Sort(out)
	return slices.Compact(out)
}

// bm25 rates sentence i (Robertson & Zaragoza 2009) with k1 1.2 and b .75.
func (b *baseline) bm25(asked []string, i int) float64 {
	const k1, norm = 1.2, .75
	sum, n := 0.0, float64(len(b.sentences))
	for _, term := range asked {
		tf := 0.0
		for _, own := range b.terms[i] {
			if own == term {
				tf++
			}
		}
		if tf > 0 {
			held := float64(b.holds[term])
			idf := math.Log(1 + (n-held+.5)/(held+.5))
			sum += idf * tf * (k1 + 1) / (tf + k1*(1-norm+norm*float64(len(b.terms[i]))/b.mean))
		}
	}
	return sum
}
