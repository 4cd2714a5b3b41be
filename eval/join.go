package eval

import (
	"cmp"
	"slices"
	"strings"

	"github.com/reeltree/reeltree/tree"
)

// stretchSeconds is the length from which on a joined source begins its next
// L1, always at the begin of a video.
const stretchSeconds = 600

// joined puts each n videos after one another on one timeline, as a channel's
// recordings of a day are. What is left at the end joins a source of its own
// only where there is no other.
func joined(data []video, n int) []video {
	var out []video
	for group := range slices.Chunk(data, n) {
		if len(group) < n && len(out) > 0 {
			break
		}
		var long video
		var names []string
		at, last := 0.0, 0.0
		for _, v := range group {
			if len(long.stretches) == 0 || at-last >= stretchSeconds {
				long.stretches, last = append(long.stretches, at), at
			}
			end := v.Duration
			for _, c := range v.Nodes {
				end = max(end, c.End)
				long.Nodes = append(long.Nodes, c.moved(at, v.Video))
			}
			for _, c := range v.Queries {
				long.Queries = append(long.Queries, c.moved(at, v.Video))
			}
			at += end
			names = append(names, v.Video)
		}
		long.Video, long.Duration = strings.Join(names, "+"), at
		out = append(out, long)
	}
	return out
}

// moved is a caption of a video that begins at a time of a longer one.
func (c caption) moved(at float64, from string) caption {
	return caption{c.Start + at, c.End + at, c.Text, from}
}

// cut shares clips out to the stretches in which they begin. A source that was
// not joined is one stretch.
func (v *video) cut(src tree.Source, clips []tree.Clip) []tree.Material {
	begins := v.stretches
	if len(begins) == 0 {
		begins = []float64{0}
	}
	slices.SortStableFunc(clips, func(a, b tree.Clip) int {
		if len(v.stretches) == 0 { // as the annotator wrote them down
			return 0
		}
		return cmp.Or(cmp.Compare(a.Span.StartMS, b.Span.StartMS), cmp.Compare(a.Span.EndMS, b.Span.EndMS))
	})
	var out []tree.Material
	for i, begin := range begins {
		end := src.DurationMS
		if i+1 < len(begins) {
			end = milliseconds(begins[i+1])
		}
		m := tree.Material{Source: src, Index: len(out), Span: tree.MS(milliseconds(begin), end)}
		for _, c := range clips {
			if len(begins) == 1 || c.Span.StartMS >= m.Span.StartMS && c.Span.StartMS < end {
				m.Clips = append(m.Clips, c)
			}
		}
		if len(m.Clips) > 0 {
			out = append(out, m)
		}
	}
	return out
}
