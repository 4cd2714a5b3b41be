package retrieve

import (
	"math"

	"github.com/reeltree/reeltree/tree"
)

// phiScales are the half widths, in tokens, of the windows in which a region's
// surroundings are read: some sentences up to some minutes of speech.
var phiScales = [...]float32{60, 180, 500, 1300}

const scales = len(phiScales)

// phiHalf is how many occurrences in phiPer tokens of a window count half as
// much as infinitely many.
const (
	phiHalf = 2
	phiPer  = 300
)

// The scalar features φ(node, question) of a region.
const (
	phiOwn          = iota // BM25 share of the region read as one text
	phiTopic               // the same without the names of speakers
	phiCosine              // cosine of the question to the region
	phiMostCosine          // and to its best unit
	phiLeastCosine         // and to its worst one
	phiSpeaker             // how much of it the speaker says who is asked about
	phiSpeakNear           // and of what is around it
	phiClip                // BM25 share of the minute it lies in
	phiClipCosine          // cosine of that minute
	phiTopicZ              // topic words around it against those of the whole source
	phiCosineZ             // cosine around it against that of the whole source
	phiCosineBefore        // cosine of the unit before it
	phiCosineAfter         // and of the one after it
	phiTopicBefore         // BM25 share of the unit before it
	phiTopicAfter          // and of the one after it
	phiNear                // topic words in each window around it
)

// Features that are more than one value.
const (
	phiNearCosine = phiNear + scales              // cosine in each window
	phiPlace      = phiNearCosine + scales        // where it lies in the source, how long it is
	phiOrder      = phiPlace + places             // order words of the question against place
	phiRun        = phiOrder + orders*orderPlaces // one for a run of 2, 3 and 4 siblings
	phiLevel      = phiRun + mostRun - 1          // one for L1, L2 and what is below
	phiFeatures   = phiLevel + 3
)

// mostRun is how many neighbouring siblings are read as one span.
const mostRun = 4

// phi is the feature vector of one node.
type phi [phiFeatures]float32

// field holds what a question makes of the surroundings in one source, from
// which features of any region are read. All sums run over units.
type field struct {
	s                                    *scored
	topicTerm                            []float32 // weight of each question term, 0 for speakers' names
	near                                 [scales][]float32
	nearCosine                           [scales][]float32
	speaker                              []float32
	speakNear                            []float32
	topicMean, topicDev, cosMean, cosDev float64
	asked                                [orders]float32
	from, whole                          float64 // begin and length of the source
	timed                                bool
}

// newField reads a question's surroundings; s must be scored.
func newField(s *scored) *field {
	f := &field{s: s, asked: orderOf(s.q.text)}
	n := len(s.units)
	f.whole = float64(max(1, n))
	if n > 0 && s.units[0].span.Unit == tree.UnitMS {
		f.timed = true
		from, to := int64(math.MaxInt64), int64(0)
		for _, u := range s.units {
			from, to = min(from, u.span.StartMS), max(to, u.span.EndMS)
		}
		f.from, f.whole = float64(from), float64(max(1, to-from))
	}
	match := f.speakers()
	mass := s.around.mass
	f.speaker = running(match)
	scratch := make([]float32, n+1)
	for k := range phiScales {
		box := s.windows[k]
		topic := make([]float32, n)
		for t, w := range f.topicTerm {
			if w == 0 {
				continue
			}
			inWindows(s.postings[t], box, func(i int, c float32) {
				b := box[i]
				c *= phiPer / max(phiPer/2, mass[b.hi]-mass[b.lo])
				topic[i] += w * c / (c + phiHalf)
			})
		}
		f.near[k] = running(smooth(topic, mass, box, scratch))
		f.nearCosine[k] = running(smooth(append([]float32(nil), s.cosine...), mass, box, scratch))
		if k == 1 {
			f.speakNear = running(smooth(match, mass, box, scratch))
		}
	}
	f.topicMean, f.topicDev = spreadOf(f.near[0])
	f.cosMean, f.cosDev = spreadOf(f.nearCosine[0])
	return f
}

// inWindows calls each with the units whose windows hold any of a term and how
// often it stands there. Begins and ends of windows never fall.
func inWindows(list []posting, box []reach, each func(i int, count float32)) {
	var count float32
	first, next := 0, 0 // postings [first, next) stand in the window
	for i := 0; i < len(box) && (first < len(list)); i++ {
		for next < len(list) && list[next].unit < box[i].hi {
			count += list[next].count
			next++
		}
		for first < next && list[first].unit < box[i].lo {
			count -= list[first].count
			first++
		}
		switch {
		case first < next:
			each(i, count)
		case next < len(list): // the next one comes into reach of a unit it reaches itself
			i = max(i, int(box[list[next].unit].lo)-1)
		}
	}
}

// windows are the units whose middle lies within width tokens of each unit's.
func windows(mass []float32, width float32) []reach {
	n := len(mass) - 1
	middle := func(i int) float32 { return (mass[i] + mass[i+1]) / 2 }
	box := make([]reach, n)
	lo, hi := 0, 0
	for i := range n {
		for hi < n && (hi <= i || middle(hi)-middle(i) <= width) {
			hi++
		}
		for lo < i && middle(i)-middle(lo) > width {
			lo++
		}
		box[i] = reach{int32(lo), int32(hi)}
	}
	return box
}

// smooth replaces each value by the mean of its window, weighed by tokens.
func smooth(values, mass []float32, box []reach, run []float32) []float32 {
	run[0] = 0
	for i, x := range values {
		run[i+1] = run[i] + x*(mass[i+1]-mass[i])
	}
	for i, b := range box {
		values[i] = (run[b.hi] - run[b.lo]) / (mass[b.hi] - mass[b.lo])
	}
	return values
}

// spreadOf are mean and standard deviation of the steps of running sums.
func spreadOf(run []float32) (mean, dev float64) {
	n := len(run) - 1
	if n < 1 {
		return 0, 1
	}
	mean = float64(run[n]) / float64(n)
	for i := range n {
		d := float64(run[i+1]-run[i]) - mean
		dev += d * d
	}
	return mean, math.Sqrt(dev/float64(n)) + .02
}

func meanOf(run []float32, lo, hi int) float32 { return (run[hi] - run[lo]) / float32(hi-lo) }

// speakers fills the weights of topic terms and gives, per unit, how far its
// speaker is the one who is asked about.
func (f *field) speakers() []float32 {
	s := f.s
	asked := map[uint64]bool{}
	scan(s.q.text, func(t term) { asked[t.key] = true })
	match := map[string]float32{"": 0}
	named := map[uint64]bool{}
	out := make([]float32, len(s.units))
	for i := range s.units {
		who := s.units[i].speaker
		m, ok := match[who]
		if !ok {
			var all, held float32
			var keys []uint64
			scan(who, func(t term) {
				if t.kind != kindGroup && t.kind != kindBegin {
					all++
					if asked[t.key] {
						held++
					}
				}
				keys = append(keys, t.key)
			})
			if all > 0 {
				m = held / all
			}
			if m *= m; m >= 1 {
				for _, k := range keys {
					named[k] = true
				}
			}
			match[who] = m
		}
		out[i] = m
	}
	var sum float32
	f.topicTerm = make([]float32, len(s.q.terms))
	for i, t := range s.q.terms {
		if !named[t.key] {
			f.topicTerm[i] = float32(t.weight)
			sum += f.topicTerm[i]
		}
	}
	for i := range f.topicTerm {
		if sum > 0 {
			f.topicTerm[i] /= sum
		} else {
			f.topicTerm[i] = float32(s.q.terms[i].weight)
		}
	}
	return out
}

// place is the begin and end of units [lo, hi) as shares of the source.
func (f *field) place(lo, hi int) (a, b float64) {
	if !f.timed {
		return float64(lo) / f.whole, float64(hi) / f.whole
	}
	from, to := int64(math.MaxInt64), int64(0)
	for _, u := range f.s.units[lo:hi] {
		from, to = min(from, u.span.StartMS), max(to, u.span.EndMS)
	}
	return (float64(from) - f.from) / f.whole, (float64(to) - f.from) / f.whole
}

// of are the features of units [lo, hi), a run of so many siblings of level 0
// (L1), 1 (L2) or 2 (below), whose cosine to the question is known.
func (f *field) of(p *phi, lo, hi, run, level int, cosine float64) {
	s := f.s
	*p = phi{}
	p[phiOwn], p[phiTopic] = float32(s.regionLexical(lo, hi)), f.topic(lo, hi)
	p[phiCosine] = float32(cosine)
	most, least := float32(-1), float32(1)
	for _, c := range s.cosine[lo:hi] {
		most, least = max(most, c), min(least, c)
	}
	p[phiMostCosine], p[phiLeastCosine] = most, least
	for k := range scales {
		p[phiNear+k], p[phiNearCosine+k] = meanOf(f.near[k], lo, hi), meanOf(f.nearCosine[k], lo, hi)
	}
	p[phiSpeaker], p[phiSpeakNear] = meanOf(f.speaker, lo, hi), meanOf(f.speakNear, lo, hi)
	clip := s.leaves[s.units[lo].leaf].clip
	p[phiClip], p[phiClipCosine] = float32(s.clipLexical[clip]), float32(s.clipCosine[clip])
	p[phiTopicZ] = float32((float64(p[phiNear]) - f.topicMean) / f.topicDev / 4)
	p[phiCosineZ] = float32((float64(p[phiNearCosine]) - f.cosMean) / f.cosDev / 4)
	if lo > 0 {
		p[phiCosineBefore], p[phiTopicBefore] = s.cosine[lo-1], s.lexical[lo-1]
	}
	if hi < len(s.units) {
		p[phiCosineAfter], p[phiTopicAfter] = s.cosine[hi], s.lexical[hi]
	}
	f.placed(p, lo, hi)
	if run > 1 {
		p[phiRun+run-2] = 1
	}
	p[phiLevel+level] = 1
}

// bumps are the middles of the bells that places and lengths are read with.
var (
	placeBumps  = [...]float64{0, .2, .4, .6, .8, 1}
	lengthBumps = [...]float64{0, .1, .2, .35, .5, .75, 1}
)

// places is how many features of place and length there are.
const places = 14 + len(placeBumps) + len(lengthBumps)

// placed fills the features of place and length.
func (f *field) placed(p *phi, lo, hi int) {
	a, b := f.place(lo, hi)
	mid, long := (a+b)/2, b-a
	var first, last float64
	if lo == 0 {
		first = 1
	}
	if hi == len(f.s.units) {
		last = 1
	}
	cosine, topic := float64(p[phiCosine]), float64(p[phiTopic])
	at := p[phiPlace:phiOrder]
	for i, x := range [...]float64{
		a, b, long, math.Log(max(long, 1e-4)) / 4, mid * mid, first, last, a * a, b * b, a * b,
		cosine * long, topic * long, cosine * cosine, topic * topic,
	} {
		at[i] = float32(x)
	}
	at = at[14:]
	for i, c := range placeBumps {
		at[i] = bell((mid - c) / .15)
	}
	at = at[len(placeBumps):]
	for i, c := range lengthBumps {
		at[i] = bell((long - c) / .12)
	}
	for o, x := range f.asked {
		at := p[phiOrder+o*orderPlaces:]
		at[0], at[1], at[2], at[3], at[4] = x*float32(a), x*float32(b), x*float32(mid*mid), x*float32(first), x*float32(last)
	}
}

func bell(x float64) float32 { return float32(math.Exp(-x * x)) }

// topic is regionLexical of the topic's terms alone.
func (f *field) topic(lo, hi int) float32 {
	var length float64
	for i := lo; i < hi; i++ {
		length += float64(f.s.units[i].length)
	}
	var sum float64
	for i, w := range f.topicTerm {
		if w == 0 {
			continue
		}
		var count float64
		for _, p := range within(f.s.postings[i], lo, hi) {
			count += float64(p.count)
		}
		sum += float64(w) * saturated(count, length)
	}
	return float32(sum)
}
