package retrieve

import (
	"cmp"
	"math"
	"slices"
)

// walker walks one tree for one question by cross-attention, level by level
// (DESIGN 4.2). It is for one goroutine and one walk; its steps allocate nothing.
type walker struct {
	w    *attention
	q, z []float32

	state, norm, pooled, step []float32 // of Dim values
	query, value              []float32 // of H*d values
	keys                      []float32 // per head what a node's vector is held against, Dim values each
	mean                      []float32 // mean of keys over heads
	asked, coded              []float32 // of H*G values
	weights, meanPhi          []float32 // per head what its features count, and the mean
	lean, hidden              []float32
	logits                    []float32 // per head and node
	scores                    []float64 // of the last step's nodes, head-mean logits
	order                     []int
}

// walkNode is a candidate of one step: a vector and its features φ.
type walkNode struct {
	vector []float32
	phi    phi
}

// newWalker starts a walk at z = q.
func newWalker(w *attention, q []float32) *walker {
	dim, joined, gated := len(q), rowsOf(w.query, w.value), rowsOf(w.encode)
	hidden := 0
	for _, b := range w.blocks {
		hidden = max(hidden, b.gate.rows)
	}
	room := make([]float32, 6*dim+2*joined+w.heads*(dim+phiFeatures)+phiFeatures+2*gated+rowsOf(w.lean)+hidden)
	cut := func(n int) (part []float32) {
		part, room = room[:n:n], room[n:]
		return part
	}
	n := &walker{
		w: w, q: q, z: cut(dim), state: cut(dim), norm: cut(dim), pooled: cut(dim), step: cut(dim), mean: cut(dim),
		query: cut(joined), value: cut(joined), keys: cut(w.heads * dim), weights: cut(w.heads * phiFeatures), meanPhi: cut(phiFeatures),
		asked: cut(gated), coded: cut(gated), lean: cut(rowsOf(w.lean)), hidden: cut(hidden),
	}
	copy(n.z, q)
	n.look()
	return n
}

// look makes the state x = q + z ready to be held against nodes:
//
//	s_h = (W_q,h x)·(W_k,h m)/sqrt(d) + (A_h x + a_h)·SiLU(E_h m + F_h φ + e_h) + (w_h + Σ_r (l_r·x) v_h,r)·φ
func (n *walker) look() {
	w, dim := n.w, len(n.q)
	for i := range n.state {
		n.state[i] = n.q[i] + n.z[i]
	}
	clear(n.keys)
	switch {
	case w.query != nil:
		w.query.apply(n.query, n.state)
		d := w.query.rows / w.heads
		scale := float32(1 / math.Sqrt(float64(d)))
		for i, x := range n.query {
			addScaled(n.keys[i/d*dim:(i/d+1)*dim], w.key.row(i), x*scale)
		}
	case !w.blind:
		d := dim / w.heads
		scale := float32(1 / math.Sqrt(float64(d)))
		for i, x := range n.state {
			n.keys[i/d*dim+i] = x * scale
		}
	}
	if w.encode != nil {
		w.ask.apply(n.asked, n.state)
		for i, b := range w.askBias {
			n.asked[i] += b
		}
	}
	n.weigh()
	meanRows(n.mean, n.keys)
	meanRows(n.meanPhi, n.weights)
}

// weigh fills what the features count for this state.
func (n *walker) weigh() {
	w := n.w
	if w.phi != nil {
		copy(n.weights, w.phi.data)
	}
	if w.lean == nil {
		return
	}
	w.lean.apply(n.lean, n.state)
	for h := range w.heads {
		for r, x := range n.lean {
			addScaled(n.weights[h*phiFeatures:(h+1)*phiFeatures], w.leanPhi.row(h*len(n.lean)+r), x)
		}
	}
}

// score is the head-mean logit of a node.
func (n *walker) score(m *walkNode) float64 {
	s := dot(n.mean, m.vector) + dot(n.meanPhi, m.phi[:])
	if n.w.encode != nil {
		n.code(m)
		s += dot(n.asked, n.coded) / float64(n.w.heads)
	}
	return s
}

// code fills the gated values of a node's key.
func (n *walker) code(m *walkNode) {
	w := n.w
	for i := range n.coded {
		x := dot(w.encode.row(i), m.vector) + dot(w.encodePhi.row(i), m.phi[:]) + float64(w.encodeBias[i])
		n.coded[i] = float32(x / (1 + math.Exp(-x)))
	}
}

// choose gives one of nodes, at least one, and updates the carried state.
// score is the head-mean logit of the chosen one; the first of equals wins.
func (n *walker) choose(nodes []walkNode) (at int, score float64) {
	heads, dim := n.w.heads, len(n.q)
	n.scores = slices.Grow(n.scores[:0], len(nodes))
	if n.w.out == nil { // nobody reads the single heads
		for i := range nodes {
			s := n.score(&nodes[i])
			if n.scores = append(n.scores, s); s > score || i == 0 {
				at, score = i, s
			}
		}
		n.think()
		return at, score
	}
	if cap(n.logits) < heads*len(nodes) {
		n.logits = make([]float32, heads*len(nodes))
	}
	n.logits = n.logits[:heads*len(nodes)]
	gated := len(n.coded) / heads
	for i := range nodes {
		m := &nodes[i]
		if n.w.encode != nil {
			n.code(m)
		}
		var mean float64
		for h := range heads {
			s := dot(n.keys[h*dim:(h+1)*dim], m.vector) + dot(n.weights[h*phiFeatures:(h+1)*phiFeatures], m.phi[:]) +
				dot(n.asked[h*gated:(h+1)*gated], n.coded[h*gated:(h+1)*gated])
			n.logits[h*len(nodes)+i] = float32(s)
			mean += s
		}
		mean /= float64(heads)
		if n.scores = append(n.scores, mean); mean > score || i == 0 {
			at, score = i, mean
		}
	}
	n.attend(nodes)
	n.think()
	return at, score
}

// best are the nodes of the last step that scored best, at most width, best
// first; the first of equals wins, and what is no number comes last.
func (n *walker) best(width int) []int {
	n.order = slices.Grow(n.order[:0], len(n.scores))
	for i := range n.scores {
		n.order = append(n.order, i)
	}
	slices.SortStableFunc(n.order, func(a, b int) int { return cmp.Compare(n.scores[b], n.scores[a]) })
	return n.order[:min(width, len(n.order))]
}

// attend leaves in step s = W_o concat_h(softmax(s_h) W_v,h M).
func (n *walker) attend(nodes []walkNode) {
	w := n.w
	d := w.value.rows / w.heads
	for h := range w.heads {
		p := n.logits[h*len(nodes) : (h+1)*len(nodes)]
		softmax(p)
		clear(n.pooled)
		for i := range nodes {
			addScaled(n.pooled, nodes[i].vector, p[i])
		}
		for k := h * d; k < (h+1)*d; k++ {
			n.value[k] = float32(dot(w.value.row(k), n.pooled))
		}
	}
	w.out.apply(n.step, n.value)
}

// still reports whether no step moves the state.
func (n *walker) still() bool { return n.w.out == nil && len(n.w.blocks) == 0 }

// think is z := z + s, then L on z with s + q.
func (n *walker) think() {
	if n.still() {
		return
	}
	for i, s := range n.step {
		n.z[i] += s
		n.step[i] += n.q[i]
	}
	for range n.w.cycles {
		for i := range n.w.blocks {
			n.w.blocks[i].add(n.z, n.step, n.norm, n.hidden)
		}
	}
	clear(n.step)
	n.look()
}

// halts reports whether the walk has seen enough.
func (n *walker) halts() bool {
	p := float64(n.w.haltBias)
	if n.w.halt != nil {
		p += dot(n.w.halt, n.z)
	}
	return p > 0 // sigmoid(p) > .5
}

// add is z := z + Down (SiLU(Gate n) * Up n) with n = RMSNorm(z + x). norm and
// hidden are scratch.
func (b *block) add(z, x, norm, hidden []float32) {
	var square float64
	for i := range z {
		norm[i] = z[i] + x[i]
		square += float64(norm[i]) * float64(norm[i])
	}
	scale := 1 / math.Sqrt(square/float64(len(z))+1e-6)
	for i := range norm {
		norm[i] = float32(float64(norm[i])*scale) * b.norm[i]
	}
	hidden = hidden[:b.gate.rows]
	for i := range hidden {
		g := dot(b.gate.row(i), norm)
		hidden[i] = float32(g / (1 + math.Exp(-g)) * dot(b.up.row(i), norm))
	}
	for i := range z {
		z[i] += float32(dot(b.down.row(i), hidden))
	}
}

func addScaled(to, v []float32, x float32) {
	for i, y := range v {
		to[i] += x * y
	}
}

// meanRows writes the mean of the rows that m consists of.
func meanRows(out, m []float32) {
	clear(out)
	for i, x := range m {
		out[i%len(out)] += x
	}
	rows := float32(len(m) / len(out))
	for i := range out {
		out[i] /= rows
	}
}

// softmax replaces logits by their softmax.
func softmax(s []float32) {
	peak := math.Inf(-1)
	for _, x := range s {
		peak = max(peak, float64(x))
	}
	var sum float64
	for i, x := range s {
		e := math.Exp(float64(x) - peak)
		s[i] = float32(e)
		sum += e
	}
	for i := range s {
		s[i] = float32(float64(s[i]) / sum)
	}
}
