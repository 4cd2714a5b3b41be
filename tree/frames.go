package tree

import (
	"cmp"
	"slices"
)

// Frames are the kept pictures, in the order of their times.
func (t *Tree) Frames() []*FrameRef {
	frames := framesOf(t.Roots, nil)
	slices.SortStableFunc(frames, func(a, b *FrameRef) int { return cmp.Compare(a.TimeMS, b.TimeMS) })
	return frames
}

func framesOf(nodes []*Node, all []*FrameRef) []*FrameRef {
	for _, n := range nodes {
		if n.Evidence.Frame != nil {
			all = append(all, n.Evidence.Frame)
		}
		all = framesOf(n.Children, all)
	}
	return all
}

// LastFrame is the place of the last of some sorted pictures up to a time, -1
// where all are later.
func LastFrame(frames []*FrameRef, ms int64) int {
	after, _ := slices.BinarySearchFunc(frames, ms+1, func(f *FrameRef, ms int64) int { return cmp.Compare(f.TimeMS, ms) })
	return after - 1
}
