package retrieve

import (
	"errors"
	"fmt"
	"math"
)

// Weights are the parameters of the navigator (DESIGN 4.2), one set for each
// kind of material, shared by the levels and frozen while the service runs.
type Weights struct {
	Dim                  int // of the vectors
	MinRounds, MaxRounds int
	Beam                 Beam
	sets                 [layers]*attention
	ranks                [layers]bool // trained on such material: its scores order what is found
	long                 *attention   // of described videos of several L1; nil: as those of one
}

// Beam is how many children a walk keeps on its way down: of the L1 that may be
// entered one in so many, of the L2 below those that were kept again, rounded
// up. 0 keeps the best alone. On L3 it keeps as many as on L2.
type Beam struct{ L1, L2 int }

// width is how many of n children are kept on a level.
func (b Beam) width(level, n int) int {
	in := [...]int{b.L1, b.L2}[level]
	if in <= 0 {
		return 1
	}
	return (n + in - 1) / in
}

// shippedBeam keeps the work of a walk in a long tree near a tenth of its
// leaves. Trees with few L1 and L2 are walked by the best alone.
var shippedBeam = Beam{L1: 16, L2: 40}

// course is how one tree is walked.
type course struct {
	set   *attention
	ranks bool    // its scores order what is found
	own   float64 // what the words of a region itself count beside its logit
	flat  float64 // and what the mix of signals does
}

// longFlat is what the mix of signals counts in a long tree, where places are
// many and alike. Chosen on described videos joined to long ones, by three folds.
const longFlat = 20

// longOwn is the same for the words of a region itself: of many places that
// look alike the one that says the word is meant.
const longOwn = 8

// of is how a tree is walked.
func (w *Weights) of(v *view) course {
	m := v.material()
	if m == layerSeen && len(v.roots) > 1 && w.long != nil {
		return course{w.long, true, longOwn, longFlat}
	}
	return course{w.sets[m], w.ranks[m], ownWords, 0}
}

// matrix is row-major.
type matrix struct {
	rows, cols int
	data       []float32
}

func (m *matrix) row(i int) []float32 { return m.data[i*m.cols : (i+1)*m.cols] }

// apply writes m v to out, which has a value per row.
func (m *matrix) apply(out, v []float32) {
	for i := range m.rows {
		out[i] = float32(dot(m.row(i), v))
	}
}

// attention is one set of weights. H heads have keys of d linear and G gated
// values. What is nil is in its identity form: query and key maps are the row
// blocks of the unit matrix, the rest adds nothing.
type attention struct {
	heads int

	query, key *matrix // H*d rows of Dim: those of head h are [h*d, (h+1)*d)
	blind      bool    // no key reads a vector
	value      *matrix // H*d rows of Dim
	out        *matrix // Dim rows of H*d

	encode     *matrix   // H*G rows of Dim: gated values of a key, with
	encodePhi  *matrix   // H*G rows of phiFeatures and
	encodeBias []float32 // H*G
	ask        *matrix   // H*G rows of Dim: the question's side of them
	askBias    []float32 // H*G

	phi     *matrix // H rows of phiFeatures
	lean    *matrix // R rows of Dim: what a question adds to them
	leanPhi *matrix // H*R rows of phiFeatures

	blocks   []block // of L, in order
	cycles   int     // how often L runs after a level
	halt     []float32
	haltBias float32
}

// block is one RMSNorm and SwiGLU block of L.
type block struct {
	norm           []float32 // Dim gains
	gate, up, down *matrix   // two of hidden rows of Dim values, one of Dim rows of hidden values
}

// IdentityWeights route by scaled cosine and never halt early: the untrained
// navigator.
func IdentityWeights(dim int) *Weights {
	w := &Weights{Dim: dim, MinRounds: 1, MaxRounds: 5}
	a := identity(dim)
	for l := range w.sets {
		w.sets[l] = a
	}
	return w
}

func identity(dim int) *attention {
	heads := 4
	for dim%heads != 0 {
		heads /= 2
	}
	return &attention{heads: heads, cycles: 4, haltBias: -5}
}

// check refuses weights that do not fit together or the vectors.
func (w *Weights) check(dim int) error {
	if w.Dim != dim || w.MaxRounds < 1 || w.Beam.L1 < 0 || w.Beam.L2 < 0 {
		return fmt.Errorf("the navigator's weights are for %d dimensions and %d rounds, the vectors have %d", w.Dim, w.MaxRounds, dim)
	}
	for i, a := range append(w.sets[:], w.long) {
		if i < len(w.sets) && a == nil || a != nil && !a.fits(dim) {
			return errors.New("a matrix of the navigator's weights has the wrong shape")
		}
	}
	return nil
}

// fits reports whether all shapes agree and every value is a number.
func (a *attention) fits(dim int) bool {
	if a.heads <= 0 || a.cycles < 0 || (a.query == nil) != (a.key == nil) || a.query == nil && !a.blind && dim%a.heads != 0 {
		return false
	}
	whole := func(m *matrix, rows, cols int) bool {
		return m == nil || m.rows == rows && m.cols == cols && len(m.data) == rows*cols && finite(m.data)
	}
	long := func(v []float32, n int) bool { return len(v) == n && finite(v) }
	joined, gated, rank := rowsOf(a.query, a.value), rowsOf(a.encode), rowsOf(a.lean)
	ok := joined%a.heads == 0 && gated%a.heads == 0 && (a.value == nil) == (a.out == nil) && (a.lean == nil) == (a.leanPhi == nil) &&
		whole(a.query, joined, dim) && whole(a.key, joined, dim) && whole(a.value, joined, dim) && whole(a.out, dim, joined) &&
		whole(a.phi, a.heads, phiFeatures) && whole(a.lean, rank, dim) && whole(a.leanPhi, a.heads*rank, phiFeatures) &&
		whole(a.encode, gated, dim) && (a.halt == nil || long(a.halt, dim)) && finite([]float32{a.haltBias})
	if a.encode != nil {
		ok = ok && a.encodePhi != nil && whole(a.encodePhi, gated, phiFeatures) && a.ask != nil && whole(a.ask, gated, dim) &&
			long(a.encodeBias, gated) && long(a.askBias, gated)
	}
	for _, b := range a.blocks {
		hidden := rowsOf(b.gate)
		ok = ok && hidden > 0 && b.up != nil && b.down != nil && long(b.norm, dim) &&
			whole(b.gate, hidden, dim) && whole(b.up, hidden, dim) && whole(b.down, dim, hidden)
	}
	return ok
}

// rowsOf is the number of rows of the first matrix there is.
func rowsOf(all ...*matrix) int {
	for _, m := range all {
		if m != nil {
			return m.rows
		}
	}
	return 0
}

func finite(v []float32) bool {
	for _, x := range v {
		if math.IsNaN(float64(x)) || math.IsInf(float64(x), 0) {
			return false
		}
	}
	return true
}
