package retrieve

import "github.com/reeltree/reeltree/tree"

// layer is what the words of a leaf are.
type layer uint8

const (
	layerSeen    layer = iota // a description of what is seen
	layerSpoken               // cues
	layerShown                // cues beside a description of what is seen meanwhile
	layerWritten              // passages and rows
	layers
)

func layerOf(n *tree.Node, plain bool) layer {
	switch e := &n.Evidence; {
	case len(e.Cues) > 0 && plain:
		return layerSpoken
	case len(e.Cues) > 0:
		return layerShown
	case e.Passage != "" || len(e.Rows) > 0:
		return layerWritten
	}
	return layerSeen
}

// The signals by which a region is judged, each in [0, 1].
const (
	signalOwn        = iota // BM25 share of the region read as one text
	signalOwnCosine         // cosine of the question to it
	signalNear              // the same in the near window around it
	signalNearCosine        //
	signalWide              // and in the wide one
	signalWideCosine        //
	signalClip              // BM25 share of its L2
	signalClipCosine        //
	signalEntry             // place of its L2 among the index hits
	signals
)

// mix is what each signal counts; the sum is 1, so that scores are in [0, 1].
type mix [signals]float64

// mixes are learned on public recordings and captions (TestFitMix): the spoken
// one on meetings, the seen one on described videos.
var mixes = [layers]mix{
	layerSeen: {
		signalOwn: .187, signalOwnCosine: .083, signalNear: .14, signalNearCosine: .25,
		signalClip: .187, signalClipCosine: .083, signalEntry: .07,
	},
	layerSpoken: {signalOwn: .05, signalWide: .95},
	layerShown: { // half of either
		signalOwn: .12, signalOwnCosine: .04, signalNear: .07, signalNearCosine: .125, signalWide: .475,
		signalClip: .095, signalClipCosine: .04, signalEntry: .035,
	},
	layerWritten: {signalOwn: .27, signalOwnCosine: .18, signalClip: .09, signalClipCosine: .06, signalEntry: .4},
}

// signals of the region g.
func (s *scored) signals(g *group, entry float64) (out [signals]float64) {
	return s.signalsOf(g.lo, g.hi, g.clip, s.groupCosine(g), entry)
}

func (s *scored) signalsOf(lo, hi, clip int, cosine, entry float64) (out [signals]float64) {
	n := float32(hi - lo)
	out[signalOwn], out[signalOwnCosine] = s.regionLexical(lo, hi), max(0, cosine)
	for k := range contexts {
		out[signalNear+2*k] = float64((s.lexicalSum[k][hi] - s.lexicalSum[k][lo]) / n)
		out[signalNearCosine+2*k] = float64((s.cosineSum[k][hi] - s.cosineSum[k][lo]) / n)
	}
	out[signalClip], out[signalClipCosine] = s.clipLexical[clip], s.clipCosine[clip]
	out[signalEntry] = entry
	return out
}

// of is the score of a region with these signals.
func (m *mix) of(s [signals]float64) float64 {
	var sum float64
	for i, w := range m {
		sum += w * s[i]
	}
	return min(1, sum)
}
