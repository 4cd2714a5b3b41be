package tree

import "testing"

// TestLastFrame: the kept picture of a time is the last one up to it, at
// whatever level it hangs.
func TestLastFrame(t *testing.T) {
	at := func(ms int64) Evidence {
		return Evidence{Frame: &FrameRef{ID: Clock(ms), TimeMS: ms}}
	}
	whole := &Tree{Roots: []*Node{
		{Children: []*Node{{Evidence: at(3000), Children: []*Node{{Evidence: at(1000)}, {}, {Evidence: at(4000)}}}}},
		{Evidence: at(9000)},
	}}
	frames := whole.Frames()
	for ms, want := range map[int64]int64{1000: 1000, 2999: 1000, 3500: 3000, 8999: 4000, 100_000: 9000} {
		if i := LastFrame(frames, ms); i < 0 || frames[i].TimeMS != want {
			t.Errorf("at %d: %d, want %d", ms, i, want)
		}
	}
	if i := LastFrame(frames, 999); i != -1 {
		t.Errorf("before the first: %d", i)
	}
}
