package retrieve

import "math"

// What a moment is about is said around it for minutes, mostly in other
// words than those of the moment itself. So every unit is also read in two
// Gaussian windows over the words around it (positional language models, Lv &
// Zhai 2009): near, a few sentences, and wide, some minutes of speech.
const (
	contextNear = iota
	contextWide
	contexts
)

// contextSpread is the standard deviation of each window in tokens.
var contextSpread = [contexts]int{60, 450}

// Counts in a window are read per contextTokens of text; contextHalf of them
// count half as much as infinitely many. Near 1 would be presence, larger is
// closer to counting.
const (
	contextTokens = 300
	contextHalf   = 4
)

// surroundings are the windows of a view's units. They depend on the lengths
// of the units alone and are made with the view.
type surroundings struct {
	mass []float32 // running sum of tokens, one longer than the units
	box  [contexts][]reach
	norm [contexts][]float32 // length of the sum of the vectors of a box
}

// reach is the units [lo, hi) within one spread of a unit.
type reach struct{ lo, hi int32 }

// surround makes the windows of the units of v.
func (v *view) surround() surroundings {
	n := len(v.units)
	s := surroundings{mass: make([]float32, n+1)}
	for i := range v.units {
		s.mass[i+1] = s.mass[i] + float32(max(1, v.units[i].tokens))
	}
	for k := range s.box {
		s.box[k], s.norm[k] = make([]reach, n), make([]float32, n)
		lo, hi := 0, 0
		var sum []float32
		if n > 0 {
			sum = make([]float32, len(v.units[0].vector))
		}
		for i := range n {
			mid, most := s.middle(i), float32(contextSpread[k])
			for hi < n && (hi <= i || s.middle(hi)-mid <= most) {
				addTo(sum, v.units[hi].vector, 1)
				hi++
			}
			for lo < i && mid-s.middle(lo) > most {
				addTo(sum, v.units[lo].vector, -1)
				lo++
			}
			s.box[k][i] = reach{int32(lo), int32(hi)}
			s.norm[k][i] = float32(math.Sqrt(dot(sum, sum)))
		}
	}
	return s
}

// middle is the place of the middle of a unit, in tokens.
func (s *surroundings) middle(i int) float32 { return (s.mass[i] + s.mass[i+1]) / 2 }

func addTo(sum, v []float32, sign float32) {
	for d, x := range v {
		sum[d] += sign * x
	}
}

// spread turns the counts of units [lo, hi), beyond which there are none that
// reach into them, into counts per contextTokens of the window around each:
// three boxes of one spread on either side follow one another, which is a
// Gaussian of that spread but for a few per cent. What lies beyond the ends of
// the text is not counted as text. run is scratch, one longer than the units.
func (s *surroundings) spread(k, lo, hi int, counts, run []float32) {
	box := s.box[k]
	for pass := range 3 {
		run[lo] = 0
		for i := lo; i < hi; i++ {
			c := counts[i]
			if pass > 0 { // from then on densities, weighed by the text that has them
				c *= s.mass[i+1] - s.mass[i]
			}
			run[i+1] = run[i] + c
		}
		for i := lo; i < hi; i++ {
			b := box[i]
			counts[i] = (run[min(int(b.hi), hi)] - run[max(int(b.lo), lo)]) / (s.mass[b.hi] - s.mass[b.lo])
		}
	}
	for i := lo; i < hi; i++ {
		counts[i] *= contextTokens
	}
}

// stretches calls each with the postings that spread into one another and the
// units [lo, hi) they reach. Most words stand in few places, so most of a text
// is never looked at for them.
func (s *surroundings) stretches(k int, list []posting, each func(part []posting, lo, hi int)) {
	box := s.box[k]
	reached := func(u int32) (lo, hi int32) {
		r := box[u]
		for range 2 {
			r = reach{box[r.lo].lo, box[r.hi-1].hi}
		}
		return r.lo, r.hi
	}
	for at := 0; at < len(list); {
		lo, hi := reached(list[at].unit)
		end := at + 1
		for ; end < len(list); end++ {
			from, to := reached(list[end].unit)
			if from >= hi {
				break
			}
			hi = to
		}
		each(list[at:end], int(lo), int(hi))
		at = end
	}
}

// surroundedBy fills, per unit, the share of the question's information and
// the cosine to it that stand in its windows.
func (s *scored) surroundedBy() {
	n := len(s.units)
	counts, run := make([]float32, n), make([]float32, n+1)
	for k := range contexts {
		lexical := make([]float32, n)
		for i, t := range s.q.terms {
			w := float32(t.weight)
			s.around.stretches(k, s.postings[i], func(part []posting, lo, hi int) {
				clear(counts[lo:hi])
				for _, p := range part {
					counts[p.unit] = p.count
				}
				s.around.spread(k, lo, hi, counts, run)
				for u := lo; u < hi; u++ {
					if c := counts[u]; c > 0 {
						lexical[u] += w * c / (c + contextHalf)
					}
				}
			})
		}
		s.lexicalSum[k] = running(lexical)
		cosine := lexical // is summed up already
		for u, b := range s.around.box[k] {
			cosine[u] = 0
			if norm := s.around.norm[k][u]; norm > 0 {
				cosine[u] = max(0, (s.cosSum[b.hi]-s.cosSum[b.lo])/norm)
			}
		}
		s.cosineSum[k] = running(cosine)
	}
}

// running are the sums of the first 0, 1, … values.
func running(values []float32) []float32 {
	out := make([]float32, len(values)+1)
	for i, x := range values {
		out[i+1] = out[i] + x
	}
	return out
}
