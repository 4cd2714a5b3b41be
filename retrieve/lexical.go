package retrieve

import "math"

// BM25 with the usual constants (Robertson & Zaragoza 2009).
const (
	bm25K1 = 1.2
	bm25B  = 0.75
)

// corpus holds the term statistics of the units of the entered trees.
type corpus struct {
	docs   int
	length float64 // mean number of terms
	df     map[string]int
}

func newCorpus(units []*unit) corpus {
	c := corpus{df: map[string]int{}}
	total := 0
	for _, u := range units {
		c.docs++
		total += u.terms
		for t := range u.counts {
			c.df[t]++
		}
	}
	c.length = max(1, float64(total)/float64(max(1, c.docs)))
	return c
}

// idf is never negative, so that a term in every unit still cannot hurt.
func (c corpus) idf(term string) float64 {
	n := float64(c.df[term])
	return math.Log1p((float64(c.docs) - n + .5) / (n + .5))
}

// saturated is the BM25 term weight of count occurrences in a text of length
// terms, in [0, 1): 1 would be infinitely many.
func (c corpus) saturated(count float64, length float64) float64 {
	if count == 0 {
		return 0
	}
	return count / (count + bm25K1*(1-bm25B+bm25B*length/c.length))
}

// weighted is a question as terms with their share of its information: the
// weights sum to 1.
type weighted struct {
	terms   []string
	weights []float64
}

func (c corpus) weigh(terms []string) weighted {
	w := weighted{terms: terms, weights: make([]float64, len(terms))}
	var sum float64
	for i, t := range terms {
		w.weights[i] = c.idf(t)
		sum += w.weights[i]
	}
	for i := range w.weights {
		if sum > 0 {
			w.weights[i] /= sum
		}
	}
	return w
}

// lexical is BM25 scaled to [0, 1): the share of the question's information
// that stands in the text, each term saturated.
func (c corpus) lexical(q weighted, counts func(string) float64, length float64) float64 {
	var s float64
	for i, t := range q.terms {
		s += q.weights[i] * c.saturated(counts(t), length)
	}
	return min(1, s*(1+bm25K1)/bm25Norm)
}

// bm25Norm lets one occurrence in a text of mean length count as a full match.
const bm25Norm = 1.0 + 0.2
