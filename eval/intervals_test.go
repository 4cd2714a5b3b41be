package eval

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestUnionAndCommon(t *testing.T) {
	got := union([]interval{{5, 7}, {0, 2}, {2, 3}, {6, 6.5}, {9, 10}})
	if want := []interval{{0, 3}, {5, 7}, {9, 10}}; !slices.Equal(got, want) || measure(got) != 6 {
		t.Errorf("%v, measure %v", got, measure(got))
	}
	if got := common([]interval{{0, 4}, {8, 9}}, []interval{{3, 8.5}}); !slices.Equal(got, []interval{{3, 4}, {8, 8.5}}) {
		t.Errorf("%v", got)
	}
	if got := common([]interval{{0, 1}}, []interval{{1, 2}}); got != nil {
		t.Errorf("touching stretches share nothing: %v", got)
	}
}

func TestIoU(t *testing.T) {
	for _, c := range []struct {
		a, b interval
		want float64
	}{{interval{0, 10}, interval{5, 15}, 1. / 3}, {interval{0, 10}, interval{0, 10}, 1}, {interval{0, 1}, interval{2, 3}, 0}, {interval{2, 2}, interval{2, 2}, 0}} {
		if got := iou(c.a, c.b); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%v and %v: %v, want %v", c.a, c.b, got, c.want)
		}
	}
}

// TestUnionKeepsWhatIsCovered holds against a count of points.
func TestUnionKeepsWhatIsCovered(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		var all []interval
		covered := map[int]bool{}
		for range r.IntN(8) {
			a := r.IntN(30)
			b := a + 1 + r.IntN(9)
			all = append(all, interval{float64(a), float64(b)})
			for x := a; x < b; x++ {
				covered[x] = true
			}
		}
		u := union(all)
		if int(measure(u)) != len(covered) {
			t.Fatalf("%v: %v", all, u)
		}
		for i := 1; i < len(u); i++ {
			if u[i][0] <= u[i-1][1] {
				t.Fatalf("not disjoint: %v", u)
			}
		}
	}
}
