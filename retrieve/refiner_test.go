package retrieve

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/reeltree/reeltree/model"
	"github.com/reeltree/reeltree/tree"
)

// The shipped refiner is that of its manifest and of the built-in embedder.
func TestShippedRefiner(t *testing.T) {
	var manifest struct{ SHA256, Embedder string }
	data, err := os.ReadFile("weights/refiner.json")
	if err != nil || json.Unmarshal(data, &manifest) != nil {
		t.Fatalf("%v %s", err, data)
	}
	if sum := sha256.Sum256(trainedRefiner); hex.EncodeToString(sum[:]) != manifest.SHA256 || len(trainedRefiner) > 1<<20 {
		t.Errorf("the file of %d bytes is not that of its manifest", len(trainedRefiner))
	}
	builtin := model.NewBuiltin()
	if manifest.Embedder != builtin.Name() {
		t.Errorf("the refiner was learned on the vectors of %s, the built-in embedder is %s: run train/run.sh refiner", manifest.Embedder, builtin.Name())
	}
	r, err := TrainedRefiner(manifest.Embedder, builtin.Dim())
	if err != nil || r.sets[layerSeen] == nil || r.sets[layerSpoken] == nil || r.sets[layerWritten] == nil || r.sets[layerShown] != nil {
		t.Errorf("%v: %v", err, r)
	}
	if r.Margin != 0 || r.Offset != [groupKinds]float64{} {
		t.Error("what was learned is in the sets, not in the rule")
	}
	other, err := TrainedRefiner("another", 384)
	if err != nil || *other != (Refiner{}) {
		t.Errorf("%v: vectors of another embedder are scored by %v", err, other)
	}
}

// drawnRefiner is golden.py's set of a seed: rank 3, five hidden values.
func drawnRefiner(seed draw) *refinerSet {
	const rank, hidden, dim, kinds = 3, 5, 16, int(groupKinds)
	d := &seed
	return &refinerSet{
		down: d.matrix(rank, dim, .25), up: d.matrix(rank, dim, .25), terms: d.matrix(kinds, refineFeatures, .1), offset: d.values(kinds),
		hidden: d.matrix(hidden, refineFeatures+kinds, .1), bias: d.values(hidden), out: d.values(hidden), knows: make([]float32, kinds),
	}
}

// Scores equal what training computes, on a hundred drawn regions with drawn
// weights of every kind and a hundred with each shipped set.
func TestRefinerEqualsTraining(t *testing.T) {
	data, err := os.ReadFile("testdata/refiner_golden.json")
	if err != nil {
		t.Fatal(err)
	}
	var golden map[string][]float64
	if err := json.Unmarshal(data, &golden); err != nil {
		t.Fatal(err)
	}
	builtin := model.NewBuiltin()
	shipped, err := TrainedRefiner(builtin.Name(), builtin.Dim())
	if err != nil {
		t.Fatal(err)
	}
	sets := map[string]*refinerSet{"seen": shipped.sets[layerSeen], "spoken": shipped.sets[layerSpoken], "written": shipped.sets[layerWritten]}
	check := func(name string, i, dim int, set *refinerSet) {
		d := draw(i)
		q, v, terms := d.matrix(1, dim, .25).data, d.matrix(1, dim, .25).data, refineTerms(d.matrix(1, refineFeatures, .25).data)
		if got, want := set.score(q, v, &terms, groupKind(d.next()%uint32(groupKinds))), golden[name][i]; math.Abs(got-want) > 1e-5*max(1, math.Abs(want)) {
			t.Fatalf("%s, region %d: %.7g, in JAX %.7g", name, i, got, want)
		}
	}
	for i := range golden["drawn"] {
		set := drawnRefiner(draw(2000 + i))
		if !set.fits(16) {
			t.Fatal("drawn weights do not fit")
		}
		check("drawn", i, 16, set)
		for name, set := range sets {
			check(name, i, builtin.Dim(), set)
		}
	}
	if len(golden["drawn"]) != 100 || len(golden["seen"]) != 100 {
		t.Error("the goldens are not a hundred of each")
	}
}

// Without rank, layer, weights and offsets the score is the cosine.
func TestIdentityRefinerIsTheCosine(t *testing.T) {
	set := &refinerSet{terms: &matrix{int(groupKinds), refineFeatures, make([]float32, int(groupKinds)*refineFeatures)}, offset: make([]float32, groupKinds), knows: make([]float32, groupKinds)}
	if !set.fits(4) {
		t.Fatal("it does not fit")
	}
	q, v := []float32{.6, .8, 0, 0}, []float32{0, 3, 4, 0}
	if got := set.score(q, v, &refineTerms{refineWords: 9}, groupLeaf); math.Abs(got-.48) > 1e-6 {
		t.Errorf("the score is %g, the cosine .48", got)
	}
	if got := set.score(q, make([]float32, 4), &refineTerms{}, groupLeaf); got != 0 {
		t.Errorf("nothing is like the zero vector, it scores %g", got)
	}
}

// By hand: f adds to v what lies along d, turned to u.
func TestRankTurnsTheVector(t *testing.T) {
	set := &refinerSet{down: &matrix{1, 2, []float32{0, 1}}, up: &matrix{1, 2, []float32{2, 0}}}
	// v = (0, 1) becomes (2, 1)
	if got, want := set.cosine([]float32{1, 0}, []float32{0, 1}), 2/math.Sqrt(5); math.Abs(got-want) > 1e-6 {
		t.Errorf("cosine %g, want %g", got, want)
	}
}

// A set that was learned on L1 and L2 alone is not used below L2, one of other
// material neither.
func TestRefinerScoresWhatItKnows(t *testing.T) {
	e, _ := engine(t, lens)
	v, err := e.view(t.Context(), "default", lens.Source.ID)
	if err != nil {
		t.Fatal(err)
	}
	q := &questionOf{"grinding glass", make([]float32, 64), v}
	s := q.scored()
	r := &Refiner{}
	set := drawnRefiner(1)
	r.sets[v.material()] = set
	g := s.clips[0].groups
	published := relevance(s.regionLexical(g.lo, g.hi), s.groupCosine(g))
	if got := r.scorer(s, nil); got.set != nil || got.score(g) != published {
		t.Error("regions it was not learned on are scored by it")
	}
	set.knows[groupUnit] = 1
	set.down, set.up = nil, nil
	if got := r.scorer(s, nil); got.set != set || got.score(g) == published {
		t.Error("regions it was learned on are not")
	}
	if got := (&Refiner{}).scorer(s, nil).score(g); got != published {
		t.Error("an empty refiner is not the published rule")
	}
}

// Broken files are refused in words.
func TestBrokenRefiner(t *testing.T) {
	name := model.NewBuiltin().Name()
	for why, file := range map[string][]byte{
		"no header": {1, 2}, "cut off": trainedRefiner[:len(trainedRefiner)/2], "longer": binary.LittleEndian.AppendUint64(nil, 1<<40),
	} {
		if _, err := readRefiner(file, name, 256); err == nil || !strings.HasPrefix(err.Error(), "the refiner's weights cannot be read") {
			t.Errorf("%s: %v", why, err)
		}
	}
	if _, err := readRefiner(trainedRefiner, name, 128); err == nil || !strings.Contains(err.Error(), "wrong shape") {
		t.Errorf("other dimension: %v", err)
	}
	bad := drawnRefiner(3)
	bad.offset[0] = float32(math.NaN())
	if bad.fits(16) {
		t.Error("NaN fits")
	}
}

// Whatever a tree looks like and whatever its vectors are, what is kept is a
// disjoint forest in order and nothing panics.
func FuzzRefine(f *testing.F) {
	f.Add(uint64(1), uint16(1), uint8(1), uint8(0))
	f.Add(uint64(2), uint16(10_000), uint8(1), uint8(3))
	f.Add(uint64(3), uint16(7), uint8(9), uint8(1))
	f.Add(uint64(4), uint16(0), uint8(0), uint8(2))
	f.Fuzz(func(t *testing.T, seed uint64, leaves uint16, units, odd uint8) {
		rng := rand.New(rand.NewPCG(seed, 5))
		v := randomView(rng, 1+int(leaves)%10_000, 1+int(units)%9)
		oddVectors(v, rng, odd)
		s := viewScored(v)
		r := &Refiner{Margin: float64(odd%2) / 10}
		set := drawnRefiner(draw(seed))
		set.down, set.up = nil, nil
		set.knows[groupUnit] = float32(odd % 3)
		r.sets[v.material()] = set
		at := 0
		r.refine(v.clips[0].groups, r.scorer(s, nil).score, func(g *group, _ float64) {
			if g.lo < at || g.hi <= g.lo || g.hi > len(v.units) {
				t.Fatalf("region [%d, %d) after %d", g.lo, g.hi, at)
			}
			at = g.hi
		})
		if at == 0 {
			t.Fatal("nothing was kept")
		}
	})
}

// oddVectors makes some vectors of a view zero, infinite or no numbers.
func oddVectors(v *view, rng *rand.Rand, odd uint8) {
	values := []float32{0, float32(math.NaN()), float32(math.Inf(1)), 1e38}
	for i := range v.units {
		if odd > 0 && rng.IntN(int(odd)) == 0 {
			for d := range v.units[i].vector {
				v.units[i].vector[d] = values[rng.IntN(len(values))]
			}
		}
	}
	v.clips[0].groups = v.clipGroups(0)
}

// viewScored is a view of random units as a question finds it.
func viewScored(v *view) *scored {
	for i := range v.leaves {
		v.leaves[i].node, v.leaves[i].vector = clipNode("l"), v.units[v.leaves[i].lo].vector
	}
	v.clips[0].vector = v.units[0].vector
	v.roots = []rootView{{clipHi: 1, vector: v.units[0].vector}}
	for i := range v.units {
		v.units[i].span = tree.MS(int64(i)*1000, int64(i+1)*1000)
	}
	v.around = v.surround()
	q := &question{text: "how many", terms: readQuestion("how many lenses"), vector: []float32{.5, .5, .5, .5}, trees: []*view{v}}
	q.weigh()
	return q.score(v)
}
