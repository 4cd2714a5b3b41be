package retrieve

import "math"

// rarity is how much the presence of a term tells among the texts of a tenant.
type rarity struct{ state *wordState } // nil: it has no texts

// rarity reads the texts of a tenant as they are now.
func (x *Keyword) rarity(tenant string) rarity {
	if w := x.tenant(tenant); w != nil {
		return rarity{w.state.Load()}
	}
	return rarity{}
}

// weights gives terms their shares of a question's information, 0 to one that
// stands nowhere.
func (r rarity) weights(terms []questionTerm) []float32 {
	if r.state == nil {
		return make([]float32, len(terms))
	}
	return r.state.weigh(terms)
}

// count is the number of texts that hold a term.
func (r rarity) count(key uint64) (df int) {
	if r.state == nil {
		return 0
	}
	for i := range r.state.segments {
		rows, _ := r.state.segments[i].list(key)
		df += len(rows)
	}
	return df
}

// of is the inverse document frequency of a term.
func (r rarity) of(key uint64) float64 {
	if r.state == nil {
		return 0
	}
	df := float64(r.count(key))
	return math.Log1p((float64(r.state.rows) - df + .5) / (df + .5))
}

// A word tells something where it stands in few texts, or in a small share.
const (
	tellingTexts = 8
	tellingShare = 20 // of so many
)

// tells reports whether a name holds a word that is not to be met everywhere.
func (r rarity) tells(n *name) bool {
	for _, k := range n.keys {
		if df := r.count(k); df > 0 && (df <= tellingTexts || df*tellingShare <= r.state.rows) {
			return true
		}
	}
	return false
}
