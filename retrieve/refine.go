package retrieve

// Refiner holds the learned parts of refinement (DESIGN 4.3). Its zero value
// is the published parent-relative rule exactly.
type Refiner struct {
	Offset [groupKinds]float64 // added to the score of a region of a kind
	Margin float64             // lead over its parent that the best child needs

	sets [layers]*refinerSet // learned for what a tree mostly holds; nil: none
}

// refine keeps regions below g: from a region it goes on to every child with
// s(child) + o_child >= s(region) + o_region; if there is none, or the best
// leads by less than Margin, the region is kept whole. What is kept is disjoint
// and in order; there is no absolute threshold and no fixed count. A score that
// is no number beats nothing.
func (r *Refiner) refine(g *group, score func(*group) float64, keep func(g *group, score float64)) {
	r.from(g, score(g), score, keep)
}

func (r *Refiner) from(g *group, own float64, score func(*group) float64, keep func(*group, float64)) {
	bar := own + r.Offset[g.kind]
	lead, better := 0.0, false
	scores := make([]float64, len(g.kids))
	for i, k := range g.kids {
		scores[i] = score(k)
		if s := scores[i] + r.Offset[k.kind]; s >= bar {
			lead, better = max(lead, s-bar), true
		}
	}
	if !better || lead < r.Margin {
		keep(g, own)
		return
	}
	for i, k := range g.kids {
		if scores[i]+r.Offset[k.kind] >= bar {
			r.from(k, scores[i], score, keep)
		}
	}
}
