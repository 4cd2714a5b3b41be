package retrieve

import "math"

// walkHeads is the number of attention heads; in the identity form each is a
// block of the vector.
const walkHeads = 4

// navigator walks a tree level by level (DESIGN 4.2). Without trained weights it
// is in its identity form: the query and key maps are the blocks of the unit
// matrix and everything that would change the carried state z is zero, so q+z
// stays 2q and the ranking equals cosine routing.
type navigator struct{}

// score is the head-mean attention logit of a candidate m for q with state z:
// the mean over h of (q+z)_h · m_h / sqrt(d_h).
func (navigator) score(q, z, m []float32) float64 {
	d := len(q) / walkHeads
	if d == 0 {
		return 0
	}
	var sum float64
	for h := range walkHeads {
		lo, hi := h*d, (h+1)*d
		var s float64
		for i := lo; i < hi; i++ {
			s += float64(q[i]+z[i]) * float64(m[i])
		}
		sum += s / math.Sqrt(float64(d))
	}
	return sum / walkHeads
}

// step is one chosen path: clip index and unit index in the view.
type step struct {
	clip, unit int
	score      float64
}

// walk gives up to rounds paths L1 > L2 > leaf, each leaf once, best first as
// the navigator finds them.
func (n navigator) walk(v *view, q []float32, rounds int) []step {
	z := q // the identity form carries z = q
	visited := make([]bool, len(v.units))
	left := make([]int, len(v.clips)) // unvisited leaves per clip
	for i, c := range v.clips {
		left[i] = c.hi - c.lo
	}
	var path []step
	for range rounds {
		clip := n.descend(v, q, z, left)
		if clip < 0 {
			break
		}
		best, bestScore := -1, math.Inf(-1)
		for u := v.clips[clip].lo; u < v.clips[clip].hi; u++ {
			if s := n.score(q, z, v.units[u].vector); !visited[u] && s > bestScore {
				best, bestScore = u, s
			}
		}
		visited[best] = true
		left[clip]--
		path = append(path, step{clip, best, bestScore})
	}
	return path
}

// descend chooses the L1, then its L2, among those with leaves left; -1 when
// none is. The first of equals wins.
func (n navigator) descend(v *view, q, z []float32, left []int) int {
	root, rootScore := -1, math.Inf(-1)
	for i, c := range v.clips {
		if left[i] == 0 {
			continue
		}
		if s := n.score(q, z, c.rootVec); s > rootScore {
			root, rootScore = c.at[0], s
		}
	}
	clip, clipScore := -1, math.Inf(-1)
	for i, c := range v.clips {
		if left[i] == 0 || c.at[0] != root {
			continue
		}
		if s := n.score(q, z, c.vector); s > clipScore {
			clip, clipScore = i, s
		}
	}
	return clip
}
