package ingest

import (
	"math/bits"
	"sort"

	"github.com/reeltree/reeltree/tree"
)

// CutLeaves makes the L3 of one clip. Where there are frames, the kept ones
// make the leaves: each runs from its frame, or from the cut just before it, to
// the next, the last to the clip's end, and carries the cues that start in it.
// Without frames every cue is a leaf, and a clip without either is one leaf.
// Frames, shots and cues may be those of the whole stretch; frames must be
// sorted by time and keep their pictures.
func CutLeaves(clip tree.Span, frames []MediaFrame, shots []MediaShot, cues []tree.Cue, s Settings) []tree.Leaf {
	mine := cuesIn(cues, clip.StartMS, clip.EndMS)
	kept := keepFrames(framesIn(frames, clip), shots, s.distance(), clip.EndMS-shortestLeafMS)
	if len(kept) == 0 {
		return cueLeaves(clip, mine)
	}
	leaves := make([]tree.Leaf, len(kept))
	for i, k := range kept {
		leaf := &leaves[i]
		leaf.Span, leaf.JPEG = tree.MS(k.startMS, clip.EndMS), k.frame.JPEG
		if i == 0 {
			leaf.Span.StartMS = clip.StartMS
		} else {
			leaves[i-1].Span.EndMS = k.startMS
		}
		leaf.Evidence.Frame = &tree.FrameRef{
			ID: tree.FrameID(k.frame.JPEG), TimeMS: k.frame.TimeMS, Width: k.frame.Width, Height: k.frame.Height,
		}
	}
	i := 0
	for _, c := range mine {
		for i+1 < len(leaves) && c.StartMS >= leaves[i].Span.EndMS {
			i++
		}
		leaves[i].Evidence.Cues = append(leaves[i].Evidence.Cues, c)
	}
	return leaves
}

// shortestLeafMS keeps the first frames of the next clip's picture, which come
// a moment before a chapter's mark or a pause, from making a leaf of their own.
const shortestLeafMS = 500

// keptFrame is a frame that differs from the one kept before it, with the time
// from which its picture is on screen.
type keptFrame struct {
	frame   *MediaFrame
	startMS int64
}

// keepFrames drops near-duplicates: a frame stays if its hash differs from the
// last kept one's, or if a cut lies between it and the frame before it. The
// first always stays, later ones only if they are on screen before lastMS.
func keepFrames(frames []MediaFrame, shots []MediaShot, distance int, lastMS int64) []keptFrame {
	var kept []keptFrame
	for i := range frames {
		f := &frames[i]
		if i == 0 {
			kept = append(kept, keptFrame{f, f.TimeMS})
			continue
		}
		cut, isCut := lastShot(shots, frames[i-1].TimeMS, f.TimeMS)
		last := kept[len(kept)-1].frame
		if !isCut && bits.OnesCount64(f.Hash^last.Hash) < distance {
			continue
		}
		start := f.TimeMS
		if isCut {
			start = cut
		}
		if start <= lastMS {
			kept = append(kept, keptFrame{f, start})
		}
	}
	return kept
}

// lastShot is the last cut in (after, upTo].
func lastShot(shots []MediaShot, after, upTo int64) (int64, bool) {
	i := sort.Search(len(shots), func(i int) bool { return shots[i].TimeMS > upTo })
	if i == 0 || shots[i-1].TimeMS <= after {
		return 0, false
	}
	return shots[i-1].TimeMS, true
}

// framesIn are the frames of a span; frames must be sorted.
func framesIn(frames []MediaFrame, span tree.Span) []MediaFrame {
	at := func(t int64) int {
		return sort.Search(len(frames), func(i int) bool { return frames[i].TimeMS >= t })
	}
	return frames[at(span.StartMS):at(span.EndMS)]
}

// firstCue is the position of the first cue that starts at or after t.
func firstCue(cues []tree.Cue, t int64) int {
	return sort.Search(len(cues), func(i int) bool { return cues[i].StartMS >= t })
}

// cueLeaves are the leaves of sound alone.
func cueLeaves(clip tree.Span, cues []tree.Cue) []tree.Leaf {
	if len(cues) == 0 {
		return []tree.Leaf{{Span: clip}}
	}
	leaves := make([]tree.Leaf, len(cues))
	for i, c := range cues {
		leaves[i].Span = tree.MS(c.StartMS, min(max(c.EndMS, c.StartMS+1), clip.EndMS))
		leaves[i].Evidence.Cues = []tree.Cue{c}
	}
	return leaves
}
