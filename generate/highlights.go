package generate

import (
	"math"

	"github.com/reeltree/reeltree/tree"
)

// highlights are the clips that stand most for their stretch: one of each L1,
// the one whose words come back within the stretch and are rare outside it.
func highlights(t *tree.Tree) []*tree.Node {
	held := map[string]float64{} // stretches that hold a word
	stretches := make([]map[string]float64, len(t.Roots))
	clips := make([][][]string, len(t.Roots))
	for i, r := range t.Roots {
		stretches[i] = map[string]float64{}
		for _, c := range r.Children {
			words := keywords(c.Text + " " + c.Transcript())
			clips[i] = append(clips[i], words)
			for _, w := range words {
				stretches[i][w]++
			}
		}
		for w := range stretches[i] {
			held[w]++
		}
	}
	var best []*tree.Node
	for i, r := range t.Roots {
		at, most := -1, -1.0
		for k, words := range clips[i] {
			var worth float64
			for _, w := range words {
				worth += math.Log(1+stretches[i][w]) * math.Log((1+float64(len(t.Roots)))/held[w])
			}
			if worth > most && r.Children[k].Text != "" {
				at, most = k, worth
			}
		}
		if at >= 0 {
			best = append(best, r.Children[at])
		}
	}
	return best
}
