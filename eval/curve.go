package eval

import (
	"cmp"
	"slices"
)

// Point is one threshold on the support of an answer: the share of right
// questions whose support reaches it, and of wrong ones whose does not.
type Point struct {
	Support  float64 `json:"support"`
	Answered float64 `json:"answered"`
	Refused  float64 `json:"refused"`
}

// curvePoints is how many points of a curve are kept.
const curvePoints = 41

// curves are the refusal curves of all questions and of each series, by rising
// threshold.
func curves(rows []answerRow) map[string][]Point {
	parts := map[string][]answerRow{"all": rows}
	for _, r := range rows {
		parts[r.series] = append(parts[r.series], r)
	}
	out := map[string][]Point{}
	for name, part := range parts {
		out[name] = curve(part)
	}
	return out
}

func curve(rows []answerRow) []Point {
	var supports []float64
	for _, r := range rows {
		supports = append(supports, r.right.Support, r.wrong.Support)
	}
	slices.Sort(supports)
	supports = slices.Compact(supports)
	var out []Point
	for i := range min(curvePoints, len(supports)) {
		at := i * (len(supports) - 1) / max(1, min(curvePoints, len(supports))-1)
		out = append(out, point(rows, supports[at]))
	}
	return out
}

func point(rows []answerRow, support float64) Point {
	answered, refused := 0, 0
	for _, r := range rows {
		if r.right.Support >= support {
			answered++
		}
		if r.wrong.Support < support {
			refused++
		}
	}
	return Point{support, round4(ratio(answered, len(rows))), round4(ratio(refused, len(rows)))}
}

// balanced is the point of a curve whose smaller share is largest.
func balanced(points []Point) Point {
	return slices.MaxFunc(points, func(a, b Point) int {
		return cmp.Compare(min(a.Answered, a.Refused), min(b.Answered, b.Refused))
	})
}
