package eval

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
)

// momentLine is one prediction of moments, best first.
type momentLine struct {
	Video string      `json:"video"`
	Query int         `json:"query"`
	Spans []interval  `json:"spans"`
	Hits  []momentHit `json:"hits"`
}

// momentHit is a span of some video of the library, [video, start, end].
type momentHit struct {
	video string
	span  interval
}

// MarshalJSON writes the triple.
func (h momentHit) MarshalJSON() ([]byte, error) {
	return json.Marshal([]any{h.video, h.span[0], h.span[1]})
}

type momentKey struct {
	video string
	query int
}

// scoreMoments measures R1 and R5 at three overlaps and the mean overlap inside
// the video, and over the whole file as one library how often the right video
// and the right moment are among the first. A question without a prediction
// scores 0; an unknown or repeated one is an error.
func scoreMoments(data []video, lines []momentLine) (*tally, error) {
	left, err := keyed(lines, func(l momentLine) momentKey { return momentKey{l.Video, l.Query} })
	if err != nil {
		return nil, err
	}
	known := map[string]bool{}
	for _, v := range data {
		known[v.Video] = true
	}
	t := &tally{}
	for _, v := range data {
		for i, q := range v.Queries {
			key := momentKey{v.Video, i}
			l := left[key]
			delete(left, key)
			for _, h := range l.Hits {
				if !known[h.video] {
					return nil, fmt.Errorf("a prediction names the unknown video %q", h.video)
				}
			}
			t.question(cmp.Or(q.from, v.Video))
			l.inVideo(t, interval{q.Start, q.End})
			if q.from == "" { // else one source is the whole library
				l.library(t, v.Video, interval{q.Start, q.End})
			}
		}
	}
	return t, unknown(left)
}

func (l momentLine) inVideo(t *tally, gold interval) {
	for _, at := range []float64{.3, .5, .7} {
		near := func(s interval) bool { return iou(s, gold) >= at }
		for _, k := range []int{1, 5} {
			t.yes(fmt.Sprintf("in_video_R%d@%.1f", k, at), slices.ContainsFunc(first(l.Spans, k), near))
		}
	}
	best := 0.0
	if len(l.Spans) > 0 {
		best = iou(l.Spans[0], gold)
	}
	t.add("in_video_mIoU", best)
}

func (l momentLine) library(t *tally, video string, gold interval) {
	var videos []string
	for _, h := range l.Hits {
		if !slices.Contains(videos, h.video) {
			videos = append(videos, h.video)
		}
	}
	for _, k := range []int{1, 5, 10} {
		t.yes(fmt.Sprintf("library_video_R%d", k), slices.Contains(first(videos, k), video))
	}
	near := func(h momentHit) bool { return h.video == video && iou(h.span, gold) >= .5 }
	for _, k := range []int{1, 10} {
		t.yes(fmt.Sprintf("library_moment_R%d@0.5", k), slices.ContainsFunc(first(l.Hits, k), near))
	}
}

func first[T any](all []T, k int) []T { return all[:min(k, len(all))] }

// keyed indexes predictions; two for one question are an error.
func keyed[K comparable, L any](lines []L, key func(L) K) (map[K]L, error) {
	out := map[K]L{}
	for _, l := range lines {
		k := key(l)
		if _, twice := out[k]; twice {
			return nil, fmt.Errorf("there are two predictions for %v", k)
		}
		out[k] = l
	}
	return out, nil
}

// unknown refuses what is left of the predictions after all questions.
func unknown[K comparable, L any](left map[K]L) error {
	for k := range left {
		return fmt.Errorf("a prediction is for the unknown question %v", k)
	}
	return nil
}
