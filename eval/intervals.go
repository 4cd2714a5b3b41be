package eval

import (
	"cmp"
	"slices"
)

// interval is a stretch of seconds [from, to].
type interval [2]float64

// union joins overlapping and touching intervals, in order.
func union(all []interval) []interval {
	sorted := slices.Clone(all)
	slices.SortFunc(sorted, func(a, b interval) int { return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1])) })
	var out []interval
	for _, s := range sorted {
		if n := len(out); n > 0 && s[0] <= out[n-1][1] {
			out[n-1][1] = max(out[n-1][1], s[1])
		} else {
			out = append(out, s)
		}
	}
	return out
}

func measure(all []interval) float64 {
	var sum float64
	for _, s := range all {
		sum += s[1] - s[0]
	}
	return sum
}

// common is what two sets of intervals share.
func common(x, y []interval) []interval {
	var out []interval
	for _, a := range x {
		for _, b := range y {
			if lo, hi := max(a[0], b[0]), min(a[1], b[1]); hi > lo {
				out = append(out, interval{lo, hi})
			}
		}
	}
	return union(out)
}

// iou is intersection over hull, as the reference scorer has it; that is
// intersection over union wherever two intervals meet.
func iou(a, b interval) float64 {
	hull := max(a[1], b[1]) - min(a[0], b[0])
	if hull <= 0 {
		return 0
	}
	return max(0, min(a[1], b[1])-max(a[0], b[0])) / hull
}
