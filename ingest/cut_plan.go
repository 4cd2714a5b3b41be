package ingest

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/reeltree/reeltree/tree"
)

// Stretch is one planned L1.
type Stretch struct {
	Span  tree.Span `json:"span"`
	Title string    `json:"title,omitempty"` // of its chapters
}

// CutFacts is what the cutter knows before any frame is decoded.
type CutFacts struct {
	FromMS, ToMS int64
	Chapters     []Chapter
	Cues         []tree.Cue // sorted
	KeyFrames    []int64    // ascending
	Frames       int64      // of the video stream, 0 without one
}

// Prices of a cut (see place). A pause of three seconds is as good as a hard
// cut in the picture; what is worse than 1 is only taken to keep the lengths.
const (
	costChapter = 0
	costShot    = 0.15
	costPause   = 0.10 // of pauseFull and longer
	costBreath  = 0.45 // between two cues without a pause
	costEven    = 1.00
	costUsual   = 0.35
	pauseFull   = 3000 // ms
)

// CutStretches plans the L1 of a medium: near the L1 target, at chapters,
// pauses in speech and key frames. They cover [FromMS, ToMS) in order without
// holes; what is at most one and a half targets long is one stretch.
func CutStretches(f CutFacts, s Settings) []Stretch {
	f.ToMS = max(f.ToMS, f.FromMS+1)
	target := s.l1() * stretchFactor(f, s.l1())
	c := cutting{target: target, min: target / 2, max: target * 3 / 2, length: 1, crossing: 0.4, usual: costUsual, marks: chapterMarks(f)}
	cuts := []int64{f.FromMS}
	if f.ToMS-f.FromMS > target*3/2 {
		places := chapterPlaces(f.Chapters)
		places = append(places, pausePlaces(f.Cues, f.KeyFrames)...)
		places = append(places, evenPlaces(f.FromMS, f.ToMS, target, costEven)...)
		for _, k := range keyPlaces(f, target) {
			places = append(places, place{at: k, cost: 0.8 * costEven})
		}
		cuts = append(cuts, c.bounds(f.FromMS, f.ToMS, places)...)
	}
	cuts = append(cuts, f.ToMS)
	out := make([]Stretch, 0, len(cuts)-1)
	for i := 1; i < len(cuts); i++ {
		span := tree.MS(cuts[i-1], cuts[i])
		out = append(out, Stretch{Span: span, Title: chapterTitle(f.Chapters, span)})
	}
	return out
}

// stretchFactor makes stretches longer where next to nothing happens, as in a
// recording of one frame an hour: a stretch should hold at least eight frames
// or cues, or be a day long.
func stretchFactor(f CutFacts, target int64) int64 {
	events := f.Frames + int64(len(f.Cues))
	length := f.ToMS - f.FromMS
	if events == 0 || length <= target*3/2 {
		return 1
	}
	return min(max(1, 8*length/(events*target)), max(1, 24*3600*1000/target))
}

// keyPlaces are the key frames nearest to the even cuts: a stretch that begins
// at one decodes nothing in vain.
func keyPlaces(f CutFacts, target int64) []int64 {
	var out []int64
	for _, p := range evenPlaces(f.FromMS, f.ToMS, target, 0) {
		if k, ok := nearest(f.KeyFrames, p.at); ok && k-p.at < target/10 && p.at-k < target/10 {
			out = append(out, k)
		}
	}
	return out
}

func nearest(sorted []int64, at int64) (int64, bool) {
	if len(sorted) == 0 {
		return 0, false
	}
	i, _ := slices.BinarySearch(sorted, at)
	if i == len(sorted) || i > 0 && at-sorted[i-1] <= sorted[i]-at {
		i--
	}
	return sorted[i], true
}

func chapterPlaces(chapters []Chapter) []place {
	out := make([]place, 0, len(chapters))
	for _, c := range chapters {
		out = append(out, place{at: c.StartMS, cost: costChapter})
	}
	return out
}

// chapterMarks are the starts of chapters inside the medium.
func chapterMarks(f CutFacts) []int64 {
	var out []int64
	for _, c := range f.Chapters {
		if c.StartMS > f.FromMS && c.StartMS < f.ToMS {
			out = append(out, c.StartMS)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// chapterTitle joins the titles of the chapters that a span is made of: those
// it covers by half, or that cover half of it.
func chapterTitle(chapters []Chapter, span tree.Span) string {
	var titles []string
	for i, c := range chapters {
		end := c.EndMS
		if i+1 < len(chapters) && (end <= c.StartMS || end > chapters[i+1].StartMS) {
			end = chapters[i+1].StartMS
		}
		shared := span.Overlap(tree.MS(c.StartMS, max(c.StartMS, end)))
		if shared > 0 && shared*2 >= min(end-c.StartMS, span.Duration()) && c.Title != "" && !slices.Contains(titles, c.Title) {
			titles = append(titles, c.Title)
		}
	}
	if len(titles) > maxTitles {
		titles = append(titles[:maxTitles-1:maxTitles-1], titles[len(titles)-1])
	}
	return strings.Join(titles, "; ")
}

// maxTitles is how many chapter titles a node's title names at most.
const maxTitles = 4

// pausePlaces are the gaps between cues, cheaper the longer they are: at a key
// frame in the gap if there is one, else in its middle.
func pausePlaces(cues []tree.Cue, keys []int64) []place {
	var out []place
	end := int64(0)
	for i, c := range cues {
		if i > 0 && c.StartMS > cues[i-1].StartMS && c.StartMS >= end {
			at := end + (c.StartMS-end)/2
			if k, ok := nearest(keys, at); ok && k >= end && k <= c.StartMS {
				at = k
			}
			out = append(out, place{at: at, cost: pauseCost(c.StartMS-end, cues[i-1].Text)})
		}
		end = max(end, c.EndMS)
	}
	return out
}

// pauseCost prices a gap by its length and by whether a sentence ends before it.
func pauseCost(gap int64, before string) float64 {
	share := min(1, float64(gap)/pauseFull)
	cost := costBreath - (costBreath-costPause)*share
	if r, _ := utf8.DecodeLastRuneInString(strings.TrimRight(before, "\"'”’»)")); !strings.ContainsRune(".!?。！？…।؟", r) {
		cost += 0.2 * (1 - share)
	}
	return cost
}
