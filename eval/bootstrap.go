package eval

import (
	"math/rand/v2"
	"slices"
)

// draws is the number of bootstrap samples.
const draws = 10_000

// Difference is a paired difference of two means with its 95 % interval.
type Difference struct {
	Mean float64 `json:"mean"`
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// Helps reports whether the whole interval is above 0.
func (d Difference) Helps() bool { return d.Low > 0 }

// difference compares a metric of two runs over the same questions by the
// paired percentile bootstrap (Efron & Tibshirani 1993, chapter 13): clusters
// are drawn with replacement, so that questions of one recording, which stand
// and fall together, count as one observation. The seed is fixed.
func difference(name string, before, after *tally) Difference {
	var sums, counts []float64
	at := map[string]int{}
	for i, r := range after.rows {
		v, ok := r.values[name]
		if !ok {
			continue
		}
		k, known := at[r.cluster]
		if !known {
			k = len(sums)
			at[r.cluster] = k
			sums, counts = append(sums, 0), append(counts, 0)
		}
		sums[k] += v - before.rows[i].values[name]
		counts[k]++
	}
	if len(sums) == 0 {
		return Difference{}
	}
	all, n := 0.0, 0.0
	for k := range sums {
		all, n = all+sums[k], n+counts[k]
	}
	low, high := percentiles(sums, counts)
	return Difference{Mean: round4(all / n), Low: round4(low), High: round4(high)}
}

// percentiles are the 2.5th and the 97.5th of the resampled means.
func percentiles(sums, counts []float64) (low, high float64) {
	random := rand.New(rand.NewPCG(1, 2))
	means := make([]float64, draws)
	for d := range means {
		sum, n := 0.0, 0.0
		for range sums {
			k := random.IntN(len(sums))
			sum, n = sum+sums[k], n+counts[k]
		}
		means[d] = sum / n
	}
	slices.Sort(means)
	return means[draws*25/1000], means[draws*975/1000-1]
}
