package retrieve

import (
	"math"
	"slices"
)

// refinerSet is what was learned for one kind of material:
//
//	s(q,v) = cos(q, f(v)) + w_k·t + o_k + b·SiLU(H t + h_k + c)      f(v) = v + Σ_r (d_r·v) u_r
//
// with the scalar terms t of a region and what belongs to its kind k.
type refinerSet struct {
	down, up  *matrix   // R rows of Dim; nil: f is the identity
	terms     *matrix   // w: groupKinds rows of refineFeatures
	offset    []float32 // o: groupKinds
	hidden    *matrix   // L rows of refineFeatures, then groupKinds: H and h
	bias, out []float32 // L: c and b
	knows     []float32 // groupKinds: 1 for the kinds of region it was learned on
}

// fits reports whether all shapes agree and every value is a number.
func (r *refinerSet) fits(dim int) bool {
	const kinds, all = int(groupKinds), refineFeatures + int(groupKinds)
	whole := func(m *matrix, rows, cols int) bool {
		return m == nil || m.rows == rows && m.cols == cols && len(m.data) == rows*cols && finite(m.data)
	}
	long := func(v []float32, n int) bool { return len(v) == n && finite(v) }
	rank, layer := rowsOf(r.down), rowsOf(r.hidden)
	return (r.down == nil) == (r.up == nil) && whole(r.down, rank, dim) && whole(r.up, rank, dim) &&
		r.terms != nil && whole(r.terms, kinds, refineFeatures) && long(r.offset, kinds) && long(r.knows, kinds) &&
		whole(r.hidden, layer, all) && long(r.bias, layer) && long(r.out, layer)
}

// score is s(q,v) of a region of a kind.
func (r *refinerSet) score(q, v []float32, t *refineTerms, kind groupKind) float64 {
	sum := r.cosine(q, v) + float64(r.offset[kind]) + dot(r.terms.row(int(kind)), t[:])
	for i := range r.out {
		row := r.hidden.row(i)
		x := dot(row[:refineFeatures], t[:]) + float64(row[refineFeatures+int(kind)]) + float64(r.bias[i])
		sum += float64(r.out[i]) * x / (1 + math.Exp(-x))
	}
	return sum
}

// cosine is cos(q, f(v)), 0 where there is nothing to compare.
func (r *refinerSet) cosine(q, v []float32) float64 {
	if r.down != nil {
		v = slices.Clone(v)
		along := make([]float32, r.down.rows)
		r.down.apply(along, v)
		for i, x := range along {
			addScaled(v, r.up.row(i), x)
		}
	}
	return dot(q, v) / max(1e-9, math.Sqrt(dot(v, v)))
}

// refineScorer scores the regions of one source for one question.
type refineScorer struct {
	s      *scored
	around *field       // nil: read when the first region is scored
	terms  *refineField // made with it
	set    *refinerSet  // nil: relevance alone
}

// scorer makes the scores of a source ready. f holds its surroundings, nil where
// nobody has read them. A set that was learned above L2 alone says nothing of
// the regions refinement goes on to: there the published rule stands.
func (r *Refiner) scorer(s *scored, f *field) *refineScorer {
	out := &refineScorer{s: s, around: f}
	if set := r.sets[s.material()]; set != nil && set.knows[groupUnit] > 0 {
		out.set = set
	}
	return out
}

// score is s(q,v) without the offset of the rule. Where nothing was learned it
// is the relevance by which everything else is ranked.
func (r *refineScorer) score(g *group) float64 {
	if r.set == nil {
		return relevance(r.s.regionLexical(g.lo, g.hi), r.s.regionCosine(g))
	}
	t := r.of(g)
	return r.set.score(r.s.q.vector, r.s.vectorOf(g), &t, g.kind)
}

// of are the terms of a region.
func (r *refineScorer) of(g *group) refineTerms {
	if r.terms == nil {
		r.terms = r.s.refineField(r.around)
	}
	return r.terms.of(g)
}
