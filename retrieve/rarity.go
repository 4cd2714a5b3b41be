package retrieve

import "math"

// weights gives terms their shares of a question's information among the texts
// of a tenant, 0 to one that stands in none.
func (x *Keyword) weights(tenant string, terms []questionTerm) []float32 {
	w := x.tenant(tenant)
	if w == nil {
		return make([]float32, len(terms))
	}
	return w.state.Load().weigh(terms)
}

// rarity is how much the presence of a term tells among the texts of a tenant:
// its inverse document frequency.
func (x *Keyword) rarity(tenant string) func(key uint64) float64 {
	w := x.tenant(tenant)
	if w == nil {
		return func(uint64) float64 { return 0 }
	}
	state := w.state.Load()
	return func(key uint64) float64 {
		df := 0
		for i := range state.segments {
			rows, _ := state.segments[i].list(key)
			df += len(rows)
		}
		return math.Log1p((float64(state.rows-df) + .5) / (float64(df) + .5))
	}
}
