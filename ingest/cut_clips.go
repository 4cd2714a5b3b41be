package ingest

import (
	"github.com/reeltree/reeltree/tree"
)

// CutClips cuts one stretch into L2 spans near the L2 target, at chapters, cuts
// between shots and pauses in speech. They cover the stretch in order without
// holes. Shots are those inside the stretch, in time order.
func CutClips(st Stretch, f CutFacts, shots []MediaShot, s Settings) []tree.Span {
	from, to := st.Span.StartMS, st.Span.EndMS
	target := s.l2()
	if whole := s.l1() * 3 / 2; to-from > whole { // a stretch that was made longer for lack of events
		target = target * (to - from) / whole
	}
	cues := cuesIn(f.Cues, from, to)
	f.FromMS, f.ToMS = from, to
	c := cutting{target: target, min: target * 2 / 5, max: target * 8 / 5, length: 1, crossing: 0.6, usual: costUsual, marks: chapterMarks(f)}
	places := chapterPlaces(f.Chapters)
	places = append(places, pausePlaces(cues, nil)...)
	places = append(places, shotPlaces(shots, cues)...)
	places = append(places, evenPlaces(from, to, target, costEven)...)
	cuts := append([]int64{from}, c.bounds(from, to, places)...)
	cuts = append(cuts, to)
	out := make([]tree.Span, 0, len(cuts)-1)
	for i := 1; i < len(cuts); i++ {
		out = append(out, tree.MS(cuts[i-1], cuts[i]))
	}
	return out
}

// shotPlaces are the cuts between shots: a weak one costs more, one in the
// middle of a sentence as well.
func shotPlaces(shots []MediaShot, cues []tree.Cue) []place {
	out := make([]place, 0, len(shots))
	k, end := 0, int64(0)
	for _, s := range shots {
		for k < len(cues) && cues[k].StartMS < s.TimeMS {
			end = max(end, cues[k].EndMS)
			k++
		}
		cost := costShot + 0.2*(1-min(1, max(0, s.Score)))
		if end > s.TimeMS {
			cost += 0.2
		}
		out = append(out, place{at: s.TimeMS, cost: cost})
	}
	return out
}

// cuesIn are the cues that start in [from, to); cues must be sorted.
func cuesIn(cues []tree.Cue, from, to int64) []tree.Cue {
	lo, hi := firstCue(cues, from), firstCue(cues, to)
	return cues[lo:max(lo, hi)]
}
