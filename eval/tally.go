package eval

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Metrics are the means of a task's measures by name, rounded to four digits.
type Metrics map[string]float64

// tally collects what each question scored.
type tally struct {
	rows []scored
}

// scored are the values of one question; cluster names what it shares with
// others (its video, recording or document), by which it is resampled.
type scored struct {
	cluster string
	values  map[string]float64
}

// question opens the row of the next question.
func (t *tally) question(cluster string) {
	t.rows = append(t.rows, scored{cluster, map[string]float64{}})
}

// add puts a value into the row of the last question.
func (t *tally) add(name string, v float64) { t.rows[len(t.rows)-1].values[name] = v }

func (t *tally) yes(name string, v bool) {
	if v {
		t.add(name, 1)
	} else {
		t.add(name, 0)
	}
}

// metrics are the means in the order of the questions, so that the sums of
// floats are the same on every run.
func (t *tally) metrics() Metrics {
	sum, n := Metrics{}, map[string]int{}
	for _, r := range t.rows {
		for name, v := range r.values {
			sum[name] += v
			n[name]++
		}
	}
	for name := range sum {
		sum[name] = round4(sum[name] / float64(n[name]))
	}
	return sum
}

// round4 rounds as a decimal, halves to even, like the reference scorer.
func round4(x float64) float64 {
	r, err := strconv.ParseFloat(strconv.FormatFloat(x, 'f', 4, 64), 64)
	if err != nil { // FormatFloat writes nothing else
		return x
	}
	return r
}

// MarshalJSON writes the names in order, with blanks and decimals as the
// reference scorer prints them, so that both outputs can be compared as text.
// predictions, the number of lines, is a whole number.
func (m Metrics) MarshalJSON() ([]byte, error) {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(m)) {
		v := strconv.FormatFloat(m[name], 'f', -1, 64)
		if m[name] == math.Trunc(m[name]) && name != "predictions" {
			v += ".0"
		}
		parts = append(parts, strconv.Quote(name)+": "+v)
	}
	return []byte("{" + strings.Join(parts, ", ") + "}"), nil
}

// f1 is the harmonic mean of precision and recall.
func f1(p, r float64) float64 {
	if p+r == 0 {
		return 0
	}
	return 2 * p * r / (p + r)
}
