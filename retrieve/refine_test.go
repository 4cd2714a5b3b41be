package retrieve

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/reeltree/reeltree/tree"
)

var tree0 = tree.Tree{Source: tree.Source{ID: "aaaabbbbccccddddeeeeffff22", Tenant: "default"}}

func clipNode(id string) *tree.Node { return &tree.Node{ID: id, Level: tree.L2} }

// made is a tree of regions written as text: "A.5(B.6 C.4(D.9))" is region A
// with score .5 and two parts.
func made(text string, scores map[*group]float64, names map[*group]string) *group {
	stack := []*group{{}}
	for _, part := range strings.FieldsFunc(strings.NewReplacer("(", " ( ", ")", " ) ").Replace(text), func(r rune) bool { return r == ' ' }) {
		top := stack[len(stack)-1]
		switch part {
		case "(":
			stack = append(stack, top.kids[len(top.kids)-1])
		case ")":
			stack = stack[:len(stack)-1]
		default:
			g := &group{kind: groupMany}
			if len(stack) > 1 {
				g.kind = groupKind(min(len(stack), int(groupUnit)))
			}
			names[g] = part[:1]
			if _, err := fmt.Sscanf(part[1:], "%f", new(float64)); err == nil {
				var s float64
				_, _ = fmt.Sscanf(part[1:], "%f", &s)
				scores[g] = s
			}
			top.kids = append(top.kids, g)
		}
	}
	return stack[0].kids[0]
}

// The parent-relative rule on trees made by hand.
func TestRefineByHand(t *testing.T) {
	for _, c := range []struct {
		name, tree, want string
		r                Refiner
	}{
		{"a child that beats its parent is gone on to", "A.5(B.6 C.4)", "B", Refiner{}},
		{"equal is enough", "A.5(B.5 C.4)", "B", Refiner{}},
		{"no child does: whole", "A.5(B.4 C.4)", "A", Refiner{}},
		{"several do", "A.5(B.6 C.5 D.2)", "BC", Refiner{}},
		{"down to different depths", "A.3(B.4(D.5(H.2 I.6) E.1) C.7(F.6 G.5))", "IC", Refiner{}},
		{"a better grandchild is not reached past a worse child", "A.5(B.4(D.9) C.3)", "A", Refiner{}},
		{"negative scores", "A-.5(B-.4 C-.6)", "B", Refiner{}},
		{"a lead under the margin keeps the whole", "A.5(B.52 C.4)", "A", Refiner{Margin: .05}},
		{"a lead of the margin does not", "A.5(B.56 C.51)", "BC", Refiner{Margin: .05}},
		{"an offset against the children", "A.5(B.55 C.4)", "A", Refiner{Offset: [groupKinds]float64{groupLeaf: -.1}}},
		{"an offset for the children", "A.5(B.45 C.3)", "B", Refiner{Offset: [groupKinds]float64{groupLeaf: .1}}},
		{"a leaf by itself", "A.5", "A", Refiner{}},
	} {
		scores, names := map[*group]float64{}, map[*group]string{}
		root := made(c.tree, scores, names)
		got := ""
		c.r.refine(root, func(g *group) float64 { return scores[g] }, func(g *group, s float64) {
			got += names[g]
			if s != scores[g] {
				t.Errorf("%s: %s was handed on with %g", c.name, names[g], s)
			}
		})
		if got != c.want {
			t.Errorf("%s: %s keeps %s, want %s", c.name, c.tree, got, c.want)
		}
	}
}

// Whatever the scores, what is kept is disjoint, in order and never empty.
func TestRefineKeepsADisjointForest(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		v := randomView(rng, 1+rng.IntN(9), 5)
		scores := map[*group]float64{}
		score := func(g *group) float64 {
			if _, ok := scores[g]; !ok {
				scores[g] = float64(rng.IntN(5))
			}
			return scores[g]
		}
		r := Refiner{Margin: float64(rng.IntN(2)) / 2}
		at, n := v.clips[0].lo, 0
		r.refine(v.clips[0].groups, score, func(g *group, _ float64) {
			if g.lo < at || g.hi <= g.lo || g.hi > v.clips[0].hi {
				t.Fatalf("region [%d, %d) after %d", g.lo, g.hi, at)
			}
			at, n = g.hi, n+1
		})
		if n == 0 {
			t.Fatal("nothing was kept")
		}
	}
}

// randomView is a clip of some leaves with up to most units each.
func randomView(rng *rand.Rand, leaves, most int) *view {
	v := &view{tree: &tree0}
	for l := range leaves {
		lo := len(v.units)
		for range 1 + rng.IntN(most) {
			v.units = append(v.units, unit{leaf: l, vector: []float32{rng.Float32() - .5, rng.Float32() - .5, rng.Float32() - .5, rng.Float32() - .5}})
		}
		v.leaves = append(v.leaves, leafView{lo: lo, hi: len(v.units)})
	}
	v.clips = []clipView{{node: clipNode("c"), leafHi: leaves, hi: len(v.units)}}
	v.clips[0].groups = v.clipGroups(0)
	return v
}

// Groups are balanced, nested, cover their clip and end in single units.
func TestGroupsCoverAndNest(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for leaves := 1; leaves < 20; leaves++ {
		v := randomView(rng, leaves, 6)
		var units, seen []int
		var visit func(g *group, depth int)
		visit = func(g *group, depth int) {
			if depth > 12 {
				t.Fatalf("%d leaves gave a group of depth %d", leaves, depth)
			}
			if len(g.kids) == 0 {
				if g.hi-g.lo != 1 {
					t.Fatalf("an undivided group of %d units", g.hi-g.lo)
				}
				units = append(units, g.lo)
				return
			}
			at := g.lo
			for _, k := range g.kids {
				if k.lo != at || len(g.kids) > defaultBranch {
					t.Fatalf("a part begins at %d instead of %d", k.lo, at)
				}
				at = k.hi
				visit(k, depth+1)
			}
			if at != g.hi {
				t.Fatalf("parts end at %d instead of %d", at, g.hi)
			}
			if g.kind == groupLeaf {
				seen = append(seen, g.leaf)
			}
		}
		visit(v.clips[0].groups, 0)
		if len(units) != len(v.units) || !slices.IsSorted(units) || !slices.IsSorted(seen) {
			t.Fatalf("%d of %d units reached", len(units), len(v.units))
		}
	}
}
