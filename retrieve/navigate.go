package retrieve

import "math"

// walker walks one tree for one question by cross-attention, level by level
// (DESIGN 4.2). It is for one goroutine and one walk.
type walker struct {
	w *Weights
	q []float32
	z []float32
}

// candidate of one step: a vector and its features φ.
type walkNode struct {
	vector []float32
	phi    [phiFeatures]float32
}

// newWalker starts a walk at z = q.
func newWalker(w *Weights, q []float32) *walker {
	return &walker{w: w, q: q, z: append([]float32(nil), q...)}
}

// step chooses one of nodes, at least one, and updates the carried state.
// score is the head-mean logit of the chosen one; the first of equals wins.
func (n *walker) step(nodes []walkNode) (at int, score float64) {
	logits := n.logits(nodes)
	score = math.Inf(-1)
	for i := range nodes {
		var mean float64
		for h := range logits {
			mean += logits[h][i]
		}
		if mean /= float64(len(logits)); mean > score || i == 0 {
			at, score = i, mean
		}
	}
	n.update(nodes, logits)
	return at, score
}

// logits are, per head and node, (W_q (q+z)) · (W_k m) / sqrt(d_h) + w · φ.
func (n *walker) logits(nodes []walkNode) [][]float64 {
	state := make([]float32, len(n.q))
	for i := range state {
		state[i] = n.q[i] + n.z[i]
	}
	query := apply(n.w.Query, state)
	d := n.w.Dim / n.w.Heads
	out := make([][]float64, n.w.Heads)
	for h := range out {
		out[h] = make([]float64, len(nodes))
	}
	for i := range nodes {
		key := apply(n.w.Key, nodes[i].vector)
		for h := range out {
			s := dot(query[h*d:(h+1)*d], key[h*d:(h+1)*d]) / math.Sqrt(float64(d))
			if n.w.Phi != nil {
				s += dot(n.w.Phi[h], nodes[i].phi[:])
			}
			out[h][i] = s
		}
	}
	return out
}

// update is z := z + W_o concat_h(softmax(s_h) W_v,h M), then L.
func (n *walker) update(nodes []walkNode, logits [][]float64) {
	x := append([]float32(nil), n.q...) // s + q
	if n.w.Out != nil {
		s := apply(n.w.Out, n.attend(nodes, logits))
		for i := range n.z {
			n.z[i] += s[i]
			x[i] += s[i]
		}
	}
	for range n.w.Cycles {
		for _, b := range n.w.Blocks {
			b.add(n.z, x)
		}
	}
}

// attend is, per head, the values of the nodes weighed by softmax.
func (n *walker) attend(nodes []walkNode, logits [][]float64) []float32 {
	d := n.w.Dim / n.w.Heads
	joined := make([]float32, n.w.Dim)
	weights := make([][]float64, len(logits))
	for h := range logits {
		weights[h] = softmax(logits[h])
	}
	for i := range nodes {
		value := apply(n.w.Value, nodes[i].vector)
		for h := range weights {
			for k := h * d; k < (h+1)*d; k++ {
				joined[k] += float32(weights[h][i] * float64(value[k]))
			}
		}
	}
	return joined
}

// halts reports whether the walk has seen enough after a number of rounds.
func (n *walker) halts(rounds int) bool {
	p := float64(n.w.HaltBias)
	if n.w.Halt != nil {
		p += dot(n.w.Halt, n.z)
	}
	return rounds >= max(1, n.w.MinRounds) && 1/(1+math.Exp(-p)) > .5
}

// add is z := z + Down (SiLU(Gate n) * Up n) with n = RMSNorm(z + x).
func (b *Block) add(z, x []float32) {
	norm := make([]float32, len(z))
	var square float64
	for i := range z {
		norm[i] = z[i] + x[i]
		square += float64(norm[i]) * float64(norm[i])
	}
	scale := 1 / math.Sqrt(square/float64(len(z))+1e-6)
	for i := range norm {
		norm[i] = float32(float64(norm[i])*scale) * b.Norm[i]
	}
	hidden := make([]float32, len(b.Gate))
	for i := range hidden {
		g := dot(b.Gate[i], norm)
		hidden[i] = float32(g / (1 + math.Exp(-g)) * dot(b.Up[i], norm))
	}
	for i := range z {
		z[i] += float32(dot(b.Down[i], hidden))
	}
}

// apply is m v; nil is the unit matrix.
func apply(m [][]float32, v []float32) []float32 {
	if m == nil {
		return v
	}
	out := make([]float32, len(m))
	for i, row := range m {
		out[i] = float32(dot(row, v))
	}
	return out
}

func softmax(s []float64) []float64 {
	peak := math.Inf(-1)
	for _, x := range s {
		peak = max(peak, x)
	}
	out := make([]float64, len(s))
	var sum float64
	for i, x := range s {
		out[i] = math.Exp(x - peak)
		sum += out[i]
	}
	for i := range out {
		out[i] /= sum
	}
	return out
}
