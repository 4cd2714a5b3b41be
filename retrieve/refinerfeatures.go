package retrieve

import (
	"math"
	"slices"

	"github.com/reeltree/reeltree/tree"
)

// The scalar terms of the refiner's score, beside the cosine. All are read of
// one region, never of a region against its parent: the rule compares.
const (
	refineWords       = iota // BM25 share of the region read as one text
	refineCosine             // cosine of the question to it
	refineNear               // BM25 share of the near window, mean over its units
	refineNearCosine         // cosine of that window
	refineWide               // and of the wide one
	refineWideCosine         //
	refineHeld               // share of the question's words that stand in it at all
	refineMost               // BM25 share of its best unit
	refineMostCosine         // cosine of its best unit
	refineLeastCosine        // and of its worst
	refineSpeaker            // how much of it the speaker says who is asked about
	refineClip               // BM25 share of its L2, mean over the L2 it lies in
	refineClipCosine         // cosine of its L2
	refineNearZ              // near window against that of the whole source
	refineWideZ              // wide window against that of the whole source
	refineTells              // a number or name is asked for, and it tells one
	refineLength             // log of its tokens
	refineRows               // it is made of rows
	refineWordsZ             // its words against those of the source's units
	refineCosineZ            // its cosine against that of the source's units
	refineWordsPeak          // its best unit's words against the best of the source
	refineCosinePeak         // its best unit's cosine against the best of the source
	refineWordsShare         // how much more of the words it holds than as much of the source
	refineCosineShare        // the same of a softmax over the cosines of the units
	refinePlace              // where it lies in the source, how long it is, order words of the question
	refineFeatures    = refinePlace + phiRun - phiPlace
)

// softness is the scale of the softmax over the cosines of a source's units.
const softness = 20

// refineTerms are the scalar terms of one region.
type refineTerms [refineFeatures]float32

// refineField reads the terms of any region of one source for one question.
type refineField struct {
	s             *scored
	places        *field
	speaker       []float32             // running sum over units
	mean, dev     [contexts + 2]float64 // of the windows, words and cosine over the source
	words, soft   []float32             // running sums: the words and the softmax of the cosines
	peak, highest float32               // most words and largest cosine of a unit
}

func (s *scored) refineField(places *field) *refineField {
	if places == nil {
		places = newField(s)
	}
	f := &refineField{s: s, places: places, words: running(s.lexical), peak: slices.Max(s.lexical), highest: slices.Max(s.cosine)}
	f.speaker = f.places.speaker
	for k, run := range [...][]float32{s.lexicalSum[contextNear], s.lexicalSum[contextWide], f.words, s.cosSum} {
		f.mean[k], f.dev[k] = spreadOf(run)
	}
	f.soft = make([]float32, len(s.cosine))
	for i, c := range s.cosine {
		f.soft[i] = float32(math.Exp(softness * float64(c-f.highest)))
	}
	f.soft = running(f.soft)
	return f
}

// z is how far a mean lies above that of the source, in four deviations.
func (f *refineField) z(k int, mean float32) float32 {
	return float32((float64(mean) - f.mean[k]) / f.dev[k] / 4)
}

// shareOf is the log of how much more of a sum lies in units [lo, hi) than in as
// many units of the source.
func shareOf(run []float32, lo, hi int) float32 {
	all := meanOf(run, 0, len(run)-1)
	return float32(math.Log((float64(meanOf(run, lo, hi))+.05*float64(all)+1e-6)/(1.05*float64(all)+1e-6))) / 3
}

// of fills the terms of a region.
func (f *refineField) of(g *group) (t refineTerms) {
	s, n := f.s, float32(g.hi-g.lo)
	t[refineWords], t[refineCosine] = float32(s.regionLexical(g.lo, g.hi)), float32(s.regionCosine(g))
	for k := range contexts {
		t[refineNear+2*k] = meanOf(s.lexicalSum[k], g.lo, g.hi)
		t[refineNearCosine+2*k] = meanOf(s.cosineSum[k], g.lo, g.hi)
		t[refineNearZ+k] = f.z(k, t[refineNear+2*k])
	}
	for i, term := range s.q.terms {
		if len(within(s.postings[i], g.lo, g.hi)) > 0 {
			t[refineHeld] += float32(term.weight)
		}
	}
	t[refineMostCosine], t[refineLeastCosine] = -1, 1
	var tells token
	for i := g.lo; i < g.hi; i++ {
		t[refineMost] = max(t[refineMost], s.lexical[i])
		t[refineMostCosine], t[refineLeastCosine] = max(t[refineMostCosine], s.cosine[i]), min(t[refineLeastCosine], s.cosine[i])
		tells |= s.looks[i]
		clip := s.leaves[s.units[i].leaf].clip
		t[refineClip] += float32(s.clipLexical[clip]) / n
		t[refineClipCosine] += float32(s.clipCosine[clip]) / n
	}
	if tells&s.wanted != 0 {
		t[refineTells] = 1
	}
	t[refineSpeaker] = meanOf(f.speaker, g.lo, g.hi)
	t[refineLength] = float32(math.Log1p(float64(s.tokens(g.lo, g.hi))) / 8)
	if s.units[g.lo].span.Unit == tree.UnitRows && s.units[g.hi-1].span.Unit == tree.UnitRows {
		t[refineRows] = 1
	}
	t[refineWordsZ], t[refineCosineZ] = f.z(contexts, meanOf(f.words, g.lo, g.hi)), f.z(contexts+1, meanOf(s.cosSum, g.lo, g.hi))
	t[refineWordsPeak], t[refineCosinePeak] = t[refineMost]-f.peak, t[refineMostCosine]-f.highest
	t[refineWordsShare], t[refineCosineShare] = shareOf(f.words, g.lo, g.hi), shareOf(f.soft, g.lo, g.hi)
	var p phi
	p[phiCosine], p[phiTopic] = t[refineCosine], t[refineWords]
	f.places.placed(&p, g.lo, g.hi)
	copy(t[refinePlace:], p[phiPlace:phiRun])
	return t
}

// vectorOf is the vector of a region: the node's own where it is a node, else
// the mean of its units, of unit length.
func (s *scored) vectorOf(g *group) []float32 {
	switch g.kind {
	case groupRoot:
		return s.roots[s.clips[g.clip].root].vector
	case groupClip:
		return s.clips[g.clip].vector
	case groupLeaf:
		return s.leaves[g.leaf].vector
	}
	return s.unitVector(g.lo, g.hi)
}

// regionCosine is the cosine of the question to a region of any kind.
func (s *scored) regionCosine(g *group) float64 {
	if g.kind == groupRoot {
		return dot(s.q.vector, s.vectorOf(g))
	}
	return s.groupCosine(g)
}
