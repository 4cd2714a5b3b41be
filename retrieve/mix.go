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
	signalEntry             // score of its L2 in the indexes
	signalHeld              // share of the question's words that stand in it at all
	signalPhrase            // share of the question's pairs of neighbouring words that stand in its L2
	signalNumber            // a number is asked for, and it tells one
	signalName              // a name is asked for, and it tells one
	signals
)

// mix is what each signal counts; the sum is 1, so that scores are in [0, 1].
type mix [signals]float64

// mixes are learned by the listwise softmax loss: the spoken one on public
// meetings (TestFitMix), the written one on encyclopaedia articles in five
// languages, where five-fold cross-validation by article (TestFitMix) costs it .001 of the
// right paragraphs. The seen one leans on the L2 and the index as much as tells
// videos apart; inside a video the navigator decides.
var mixes = [layers]mix{
	layerSeen: {
		signalOwn: .144, signalOwnCosine: .064, signalNear: .108, signalNearCosine: .192,
		signalClip: .031, signalClipCosine: .231, signalEntry: .23,
	},
	layerSpoken: {signalOwn: .05, signalWide: .95},
	layerShown: { // half of either
		signalOwn: .12, signalOwnCosine: .04, signalNear: .07, signalNearCosine: .125, signalWide: .475,
		signalClip: .095, signalClipCosine: .04, signalEntry: .035,
	},
	layerWritten: {
		signalOwn: .055, signalOwnCosine: .042, signalNear: .106, signalNearCosine: .033, signalWide: .252, signalWideCosine: .03,
		signalClip: .143, signalClipCosine: .008, signalEntry: .126, signalHeld: .089, signalPhrase: .084, signalNumber: .019, signalName: .013,
	},
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
	s.inOrder(lo, hi, clip, &out)
	return out
}

// inOrder fills the signals that read words in their order.
func (s *scored) inOrder(lo, hi, clip int, out *[signals]float64) {
	if s.pairs == nil {
		return
	}
	var pairs uint64
	var looks token
	for i := lo; i < hi; i++ {
		looks |= s.looks[i]
	}
	for i := s.clips[clip].lo; i < s.clips[clip].hi; i++ {
		pairs |= s.pairs[i]
	}
	out[signalPhrase] = s.q.phrases.share(pairs)
	for i, t := range s.q.terms {
		if len(within(s.postings[i], lo, hi)) > 0 {
			out[signalHeld] += t.weight
		}
	}
	switch looks & s.wanted {
	case tokenNumber:
		out[signalNumber] = 1
	case tokenName:
		out[signalName] = 1
	}
}

// of is the score of a region with these signals.
func (m *mix) of(s [signals]float64) float64 {
	var sum float64
	for i, w := range m {
		sum += w * s[i]
	}
	return min(1, sum)
}
