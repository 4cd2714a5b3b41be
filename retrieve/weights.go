package retrieve

import (
	"errors"
	"fmt"
)

// Weights are the trained parameters of the navigator (DESIGN 4.2), shared by
// the levels and frozen while the service runs. Matrices are rows of Dim
// values unless said otherwise. What is nil is in its identity form: query and
// key maps are the row blocks of the unit matrix, everything that would change
// the carried state z is zero.
type Weights struct {
	Dim   int
	Heads int // divides Dim

	Query [][]float32 // Dim rows: W_q of head h is rows [h*Dim/Heads, (h+1)*Dim/Heads)
	Key   [][]float32 // Dim rows, the same way
	Value [][]float32 // Dim rows, the same way
	Out   [][]float32 // Dim rows over the joined heads
	Phi   [][]float32 // per head one weight for each of the features

	Blocks   []Block   // of L, in order
	Cycles   int       // how often L runs after a level
	Halt     []float32 // q_head; nil: only the bias
	HaltBias float32

	MinRounds, MaxRounds int
}

// Block is one RMSNorm and SwiGLU block of L.
type Block struct {
	Norm     []float32   // Dim gains
	Gate, Up [][]float32 // Hidden rows of Dim values
	Down     [][]float32 // Dim rows of Hidden values
}

// features is the number of scalar features φ(node, question).
const phiFeatures = 4

// IdentityWeights route by scaled cosine and never halt early: the untrained
// navigator.
func IdentityWeights(dim int) *Weights {
	heads := 4
	for dim%heads != 0 {
		heads /= 2
	}
	return &Weights{Dim: dim, Heads: heads, Cycles: 4, HaltBias: -5, MinRounds: 1, MaxRounds: 5}
}

// check refuses weights that do not fit together or the vectors.
func (w *Weights) check(dim int) error {
	if w.Dim != dim || w.Heads <= 0 || dim%w.Heads != 0 || w.MaxRounds < 1 || w.Cycles < 0 {
		return fmt.Errorf("the navigator's weights are for %d dimensions in %d heads, the vectors have %d", w.Dim, w.Heads, dim)
	}
	bad := func(m [][]float32, rows, cols int) bool {
		if m == nil {
			return false
		}
		for _, r := range m {
			if len(r) != cols {
				return true
			}
		}
		return len(m) != rows
	}
	wrong := bad(w.Query, dim, dim) || bad(w.Key, dim, dim) || bad(w.Value, dim, dim) || bad(w.Out, dim, dim) ||
		bad(w.Phi, w.Heads, phiFeatures) || (w.Halt != nil && len(w.Halt) != dim)
	for _, b := range w.Blocks {
		hidden := len(b.Gate)
		wrong = wrong || len(b.Norm) != dim || hidden == 0 || b.Down == nil ||
			bad(b.Gate, hidden, dim) || bad(b.Up, hidden, dim) || len(b.Up) != hidden || bad(b.Down, dim, hidden)
	}
	if wrong {
		return errors.New("a matrix of the navigator's weights has the wrong shape")
	}
	return nil
}
