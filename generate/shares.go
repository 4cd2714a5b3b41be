package generate

import "math"

// shares tells how much of a question stands in pieces of evidence; a word
// counts the more, the fewer of the pieces it was made for hold it.
type shares struct {
	words   []string
	weights []float64
	sum     float64
}

func newShares(question string, pieces []item) shares {
	s := shares{words: keywords(question)}
	held := map[string]int{}
	for _, it := range pieces {
		for _, k := range keywords(it.Quote) {
			held[k]++
		}
	}
	n := float64(len(pieces))
	for _, k := range s.words {
		in := float64(held[k])
		w := math.Log1p((n - in + .5) / (in + .5))
		s.weights, s.sum = append(s.weights, w), s.sum+w
	}
	return s
}

// best is the largest share of one piece.
func (s shares) best(pieces []item) float64 {
	best := 0.0
	for _, it := range pieces {
		best = max(best, s.of(it))
	}
	return best
}

// of is the share, 0..1, that stands in any of pieces.
func (s shares) of(pieces ...item) float64 {
	if s.sum == 0 {
		return 0
	}
	held := map[string]bool{}
	for _, it := range pieces {
		for _, k := range keywords(it.Quote) {
			held[k] = true
		}
	}
	var sum float64
	for i, k := range s.words {
		if held[k] {
			sum += s.weights[i]
		}
	}
	return sum / s.sum
}
