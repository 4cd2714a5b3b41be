package retrieve

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/reeltree/reeltree/model"
)

// The shipped weights are those of their manifest and of the built-in embedder.
func TestShippedWeights(t *testing.T) {
	var manifest struct {
		SHA256   string
		Embedder string
	}
	data, err := os.ReadFile("weights/navigator.json")
	if err != nil || json.Unmarshal(data, &manifest) != nil {
		t.Fatalf("%v %s", err, data)
	}
	if sum := sha256.Sum256(trained); hex.EncodeToString(sum[:]) != manifest.SHA256 || len(trained) > 4<<20 {
		t.Errorf("the file of %d bytes is not that of its manifest", len(trained))
	}
	builtin := model.NewBuiltin()
	if manifest.Embedder != builtin.Name() {
		t.Errorf("the navigator was learned on the vectors of %s, the built-in embedder is %s: run train/run.sh navigator", manifest.Embedder, builtin.Name())
	}
	own, err := TrainedWeights(manifest.Embedder, builtin.Dim())
	if err != nil || own.check(builtin.Dim()) != nil || !own.ranks[layerSeen] || !own.ranks[layerSpoken] || own.ranks[layerWritten] || own.long == nil || own.Beam != shippedBeam {
		t.Errorf("%v: it ranks %v", err, own.ranks)
	}
	for _, dim := range []int{builtin.Dim(), 384} { // vectors of another embedder are not read
		other, err := TrainedWeights("another", dim)
		if err != nil || other.check(dim) != nil || other.ranks[layerSeen] || other.long != nil || !other.ranks[layerSpoken] || !other.sets[layerSpoken].blind {
			t.Errorf("%v: of another embedder it ranks %v", err, other.ranks)
		}
	}
}

// draw is the generator that train/navigator/golden.py has too.
type draw uint32

func (d *draw) next() uint32 {
	*d = *d*1664525 + 1013904223
	return uint32(*d >> 8)
}

func (d *draw) values(n int) []float32 {
	out := make([]float32, n)
	for i := range out {
		out[i] = float32(float64(d.next())/(1<<23) - 1)
	}
	return out
}

func (d *draw) matrix(rows, cols int, scale float32) *matrix {
	m := &matrix{rows, cols, d.values(rows * cols)}
	for i := range m.data {
		m.data[i] *= scale
	}
	return m
}

// drawnWeights are golden.py's weights of a seed, of 4 heads with keys of 3
// linear and 2 gated values, rank 5, two blocks of 7 hidden values.
func drawnWeights(seed draw) *attention {
	const heads, head, gated, rank, hidden, dim = 4, 3, 2, 5, 7, 16
	d := &seed
	const n, g = heads * head, heads * gated
	a := &attention{heads: heads, cycles: 2}
	a.query, a.key, a.value, a.out = d.matrix(n, dim, .25), d.matrix(n, dim, .25), d.matrix(n, dim, .25), d.matrix(dim, n, .25)
	a.encode, a.encodePhi, a.encodeBias = d.matrix(g, dim, .25), d.matrix(g, phiFeatures, .1), d.values(g)
	a.ask, a.askBias = d.matrix(g, dim, .25), d.values(g)
	a.phi, a.lean, a.leanPhi = d.matrix(heads, phiFeatures, .1), d.matrix(rank, dim, .25), d.matrix(heads*rank, phiFeatures, .1)
	for range 2 {
		a.blocks = append(a.blocks, block{d.values(dim), d.matrix(hidden, dim, .25), d.matrix(hidden, dim, .25), d.matrix(dim, hidden, .25)})
	}
	a.halt, a.haltBias = d.values(dim), d.values(1)[0]
	return a
}

type goldenWalk struct {
	Chosen       []int
	Scores, Halt []float64
}

// check walks drawn children and compares with what JAX made of them.
func (g *goldenWalk) check(t *testing.T, a *attention, dim int, seed draw) {
	t.Helper()
	d := &seed
	n := newWalker(a, d.matrix(1, dim, .25).data)
	for r := range g.Chosen {
		nodes := make([]walkNode, 1+d.next()%9)
		vectors, features := d.matrix(len(nodes), dim, .25), d.matrix(len(nodes), phiFeatures, .25)
		for i := range nodes {
			nodes[i].vector = vectors.row(i)
			copy(nodes[i].phi[:], features.row(i))
		}
		at, score := n.choose(nodes)
		if at != g.Chosen[r] || math.Abs(score-g.Scores[r]) > 1e-5*max(1, math.Abs(g.Scores[r])) {
			t.Fatalf("seed %d, step %d: chose %d at %.7g, JAX %d at %.7g", seed, r, at, score, g.Chosen[r], g.Scores[r])
		}
		if r < len(g.Halt) {
			if p := dot(a.halt, n.z) + float64(a.haltBias); math.Abs(p-g.Halt[r]) > 1e-5*max(1, math.Abs(g.Halt[r])) {
				t.Fatalf("seed %d, step %d: the stop is at %.7g, in JAX at %.7g", seed, r, p, g.Halt[r])
			}
		}
	}
}

// Inference equals what training computes, on a hundred drawn trees with drawn
// weights of every kind and a hundred with the shipped ones.
func TestWalksEqualThoseOfTraining(t *testing.T) {
	var golden struct{ Drawn, Trained []goldenWalk }
	data, err := os.ReadFile("testdata/navigator_golden.json")
	if err != nil || json.Unmarshal(data, &golden) != nil || len(golden.Drawn) != 100 || len(golden.Trained) != 100 {
		t.Fatalf("%v: %d and %d walks", err, len(golden.Drawn), len(golden.Trained))
	}
	for i := range golden.Drawn {
		golden.Drawn[i].check(t, drawnWeights(draw(1000+i)), 16, draw(i))
	}
	builtin := model.NewBuiltin()
	w, err := TrainedWeights(builtin.Name(), builtin.Dim())
	if err != nil {
		t.Fatal(err)
	}
	for i := range golden.Trained {
		golden.Trained[i].check(t, w.sets[layerSeen], builtin.Dim(), draw(i))
	}
}

// safetensors is a file with this header before data.
func safetensors(header string, data ...float32) []byte {
	out := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
	out = append(out, header...)
	for _, x := range data {
		out = binary.LittleEndian.AppendUint32(out, math.Float32bits(x))
	}
	return out
}

func TestDamagedWeightsAreRefused(t *testing.T) {
	good := `{"__metadata__":{"embedder":"e"},"seen.phi":{"dtype":"F32","shape":[1,1],"data_offsets":[0,4]},"seen.halt_bias":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}}`
	for name, c := range map[string]struct {
		file []byte
		want string
	}{
		"empty":      {nil, "no header"},
		"cut":        {trained[:20], "longer than the file"},
		"not JSON":   {safetensors("{"), "JSON"},
		"half":       {safetensors(strings.Replace(good, "F32", "F16", 1), 1, 2), "not one of float32"},
		"outside":    {safetensors(good, 1), "not one of float32"},
		"shape":      {safetensors(strings.Replace(good, "[1,1]", "[1,9]", 1), 1, 2), "another size"},
		"no stop":    {safetensors(strings.Replace(good, "halt_bias", "other", 1), 1, 2), "no bias"},
		"features":   {safetensors(good, 1, 2), "wrong shape"},
		"no numbers": {safetensors(good, float32(math.NaN()), 2), "wrong shape"},
	} {
		if _, err := readWeights(c.file, "e", 8); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzWeights(f *testing.F) {
	f.Add(trained[:4096])
	f.Add(safetensors(`{"seen.phi":{"dtype":"F32","shape":[1,1],"data_offsets":[0,4]}}`, 1))
	f.Fuzz(func(t *testing.T, file []byte) {
		if w, err := readWeights(file, "e", 8); err == nil && w.check(8) != nil {
			t.Error("weights that do not fit were taken")
		}
	})
}

// Trees of any shape and any vectors are walked without a panic, no leaf twice.
func FuzzWalk(f *testing.F) {
	f.Add(uint64(1), uint64(2), byte(0))
	f.Add(uint64(3), uint64(4), byte(1))
	f.Add(uint64(5), uint64(6), byte(2))
	f.Fuzz(func(t *testing.T, a, b uint64, odd byte) {
		rng := rand.New(rand.NewPCG(a, b))
		v := walkView(rng, 8)
		switch odd % 4 {
		case 1: // an L2 and an L1 without children
			v.clips = append(v.clips, clipView{node: clipNode("x"), root: len(v.roots), leafLo: len(v.leaves), leafHi: len(v.leaves), lo: len(v.units), hi: len(v.units), vector: randomUnit(rng, 8)})
			v.roots = append(v.roots, rootView{vector: randomUnit(rng, 8), clipLo: len(v.clips) - 1, clipHi: len(v.clips)})
		case 2:
			v.leaves[0].vector = slices.Repeat([]float32{float32(math.NaN())}, 8)
		case 3:
			v.roots[0].vector = slices.Repeat([]float32{float32(math.Inf(1))}, 8)
		}
		for _, w := range []*Weights{IdentityWeights(8), of(8, randomAttention(rng, 8))} {
			leaves, _ := walkLeaves(v, w, randomUnit(rng, 8))
			if sorted := slices.Sorted(slices.Values(leaves)); len(slices.Compact(sorted)) != len(leaves) {
				t.Errorf("leaves %v", leaves)
			}
		}
	})
}
