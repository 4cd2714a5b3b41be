package cli

import (
	"testing"

	"github.com/reeltree/reeltree/tree"
)

// TestLastFrame: the kept picture of a time is the last one up to it, at
// whatever level it hangs.
func TestLastFrame(t *testing.T) {
	at := func(ms int64) tree.Evidence {
		return tree.Evidence{Frame: &tree.FrameRef{ID: tree.Clock(ms), TimeMS: ms}}
	}
	roots := []*tree.Node{
		{Children: []*tree.Node{{Evidence: at(3000), Children: []*tree.Node{{Evidence: at(1000)}, {}, {Evidence: at(4000)}}}}},
		{Evidence: at(9000)},
	}
	for ms, want := range map[int64]int64{1000: 1000, 2999: 1000, 3500: 3000, 8999: 4000, 100_000: 9000} {
		if f := lastFrame(roots, ms); f == nil || f.TimeMS != want {
			t.Errorf("at %d: %+v, want %d", ms, f, want)
		}
	}
	if f := lastFrame(roots, 999); f != nil {
		t.Errorf("before the first: %+v", f)
	}
}
