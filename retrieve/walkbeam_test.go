package retrieve

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/reeltree/reeltree/tree"
)

// beamView has two L1: the first looks best and holds the worse leaf.
func beamView() *view {
	at := func(cosine float64) []float32 {
		return []float32{float32(cosine), float32(math.Sqrt(1 - cosine*cosine))}
	}
	v := &view{tree: &tree0}
	for r, cosines := range [][]float64{{.9, .8, .5, .4}, {.7, .6, .95, .3}} { // of the L1, its two L2, and a leaf of each
		v.roots = append(v.roots, rootView{vector: at(cosines[0]), clipLo: 2 * r, clipHi: 2*r + 2})
		for k := range 2 {
			n := len(v.leaves)
			v.clips = append(v.clips, clipView{node: clipNode("c"), root: r, leafLo: n, leafHi: n + 1, lo: n, hi: n + 1, vector: at(cosines[1] - .1*float64(k))})
			v.leaves = append(v.leaves, leafView{node: clipNode("l"), clip: n, lo: n, hi: n + 1, vector: at(cosines[2+k])})
			v.units = append(v.units, unit{leaf: n})
		}
	}
	return v
}

func beamWalk(v *view, b Beam, rounds int) (leaves []int, t *walk) {
	w := IdentityWeights(2)
	w.Beam, w.MaxRounds = b, rounds
	s := &scored{view: v, q: &question{vector: []float32{1, 0}}}
	t = s.newWalk(w, nil)
	for _, p := range t.paths(func(int) bool { return true }) {
		leaves = append(leaves, p.leaf)
	}
	return leaves, t
}

// The best alone ends below the L1 that looks best; two of each find the leaf
// that is best, first.
func TestABeamFindsWhatTheBestAloneMisses(t *testing.T) {
	if leaves, w := beamWalk(beamView(), Beam{}, 1); !slices.Equal(leaves, []int{0}) || w.scored != 2+2+1 {
		t.Errorf("the best alone found %v with %d nodes scored", leaves, w.scored)
	}
	leaves, w := beamWalk(beamView(), Beam{L1: 1, L2: 2}, 1)
	if !slices.Equal(leaves, []int{0, 1}) || w.scored != 2+4+2 {
		t.Errorf("two of four L2 found %v with %d nodes scored", leaves, w.scored)
	}
	leaves, w = beamWalk(beamView(), Beam{L1: 1, L2: 1}, 1)
	if !slices.Equal(leaves, []int{2, 0, 1, 3}) || w.scored != 2+4+4 || w.rounds != 1 {
		t.Errorf("all of them found %v with %d nodes scored in %d rounds", leaves, w.scored, w.rounds)
	}
}

// A later round goes on among the leaves that are left and scores no node again
// whose score cannot have changed.
func TestLaterRoundsScoreOnlyWhatIsNew(t *testing.T) {
	leaves, w := beamWalk(beamView(), Beam{}, 4)
	if !slices.Equal(leaves, []int{0, 1, 2, 3}) || w.rounds != 4 {
		t.Errorf("four rounds found %v", leaves)
	}
	if w.scored != 2+4+4 {
		t.Errorf("%d scores of ten nodes", w.scored)
	}
	rng := rand.New(rand.NewPCG(4, 4))
	v := walkView(rng, 16)
	s := &scored{view: v, q: &question{vector: randomUnit(rng, 16)}}
	moving := s.newWalk(of(16, randomAttention(rng, 16)), nil)
	moving.w.MinRounds = 2
	if moving.paths(func(int) bool { return true }); len(v.leaves) > 1 && moving.scored <= len(v.roots)+len(v.clips)/len(v.roots) {
		t.Errorf("a state that moves must score anew: %d", moving.scored)
	}
}

// Every leaf that may be looked at is found once, whatever the width.
func TestABeamFindsEveryLeafOnce(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 9))
	for range 50 {
		v := walkView(rng, 2)
		closed := rng.IntN(len(v.leaves))
		w := IdentityWeights(2)
		w.Beam, w.MaxRounds = Beam{1 + rng.IntN(3), 1 + rng.IntN(3)}, 1000
		s := &scored{view: v, q: &question{vector: []float32{1, 0}}}
		seen := map[int]int{}
		for _, p := range s.newWalk(w, nil).paths(func(l int) bool { return l != closed }) {
			if seen[p.leaf]++; v.leaves[p.leaf].clip != p.clip || v.clips[p.clip].root != p.root {
				t.Fatalf("%+v is no path", p)
			}
		}
		if len(seen) != len(v.leaves)-1 || seen[closed] > 0 {
			t.Fatalf("%d of %d leaves found", len(seen), len(v.leaves))
		}
		for l, n := range seen {
			if n != 1 {
				t.Fatalf("leaf %d found %d times", l, n)
			}
		}
	}
}

func TestWidthsByHand(t *testing.T) {
	for _, c := range []struct{ in, n, want int }{{0, 90, 1}, {16, 1, 1}, {16, 16, 1}, {16, 17, 2}, {40, 162, 5}, {1, 7, 7}} {
		if got := (Beam{L1: c.in}).width(0, c.n); got != c.want {
			t.Errorf("one in %d of %d is %d, want %d", c.in, c.n, got, c.want)
		}
	}
	w := IdentityWeights(4)
	if w.Beam.L1 = -1; w.check(4) == nil {
		t.Error("a negative width was taken")
	}
}

// Described videos of several L1 are walked by the weights learned on long
// ones, everything else by those of its material.
func TestLongTreesHaveWeightsOfTheirOwn(t *testing.T) {
	w := IdentityWeights(4)
	w.long = identity(4)
	long := &view{roots: make([]rootView, 2), leaves: []leafView{{layer: layerSeen}}}
	if c := w.of(long); c.set != w.long || !c.ranks || c.flat <= 0 {
		t.Errorf("a long video is walked by %+v", c)
	}
	short := &view{roots: make([]rootView, 1), leaves: long.leaves}
	spoken := &view{roots: long.roots, leaves: []leafView{{layer: layerSpoken}}}
	for _, v := range []*view{short, spoken} {
		if c := w.of(v); c.set == w.long || c.flat != 0 {
			t.Errorf("%d L1 of material %d are walked by %+v", len(v.roots), v.material(), c)
		}
	}
	w.long = nil
	if c := w.of(long); c.set != w.sets[layerSeen] {
		t.Error("without weights of its own a long video is not walked as a short one")
	}
	w.long = &attention{}
	if w.check(4) == nil {
		t.Error("weights of no head were taken")
	}
}

// What the mix says of a run is the mean of its leaves.
func TestARunScoresTheMeanOfItsLeaves(t *testing.T) {
	trees := map[string]*tree.Tree{fitID(0): videoTree(video{Video: "v", Duration: 30, Nodes: []struct {
		Start, End float64
		Text       string
	}{{0, 10, "A dog runs."}, {10, 20, "A cat sleeps."}, {20, 30, "The dog barks."}}}, fitID(0))}
	e := opened(t, trees)
	v, err := e.view(t.Context(), "default", fitID(0))
	if err != nil {
		t.Fatal(err)
	}
	s := (&questionOf{"the dog", make([]float32, 256), v}).scored()
	f := &finder{q: s.q}
	all := f.leafScores(s)
	near(t, "run of two", f.runScore(s, region{lo: v.leaves[0].lo, hi: v.leaves[1].hi, run: 2}), (all[0]+all[1])/2)
	if all[0] <= all[1] {
		t.Errorf("scores %v", all)
	}
}
