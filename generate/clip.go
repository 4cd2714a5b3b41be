package generate

import (
	"context"
	"io"

	"github.com/reeltree/reeltree/tree"
)

// Cutter writes places of the tenant's media, one behind the other, as one
// playable file. Exact begins and ends within one frame of each place, which
// means new encoding; else the file is a copy of the stream from the key frame
// at or before each place. An error before the first byte is a refusal in one
// sentence; the file is not whole after any other. The media worker fills it.
type Cutter func(ctx context.Context, c Cut, w io.Writer) (mime string, err error)

// Cut is what a Cutter is asked for. Places are media spans of some length, in
// the order they are to be played; those of one source that touch are one.
type Cut struct {
	Tenant string
	Places []Place
	Exact  bool
}

// Limits of a clip.
const (
	mostPlaces = 200
	longestCut = 4 * 3_600_000 // milliseconds in all
)

// Clip cuts places into one file, or refuses in one sentence.
func Clip(ctx context.Context, cut Cutter, c Cut, w io.Writer) (mime string, err error) {
	if cut == nil {
		return "", refuse("clips cannot be cut here because this server has no media worker: export the edit list instead")
	}
	if c.Places = joinPlaces(c.Places); len(c.Places) == 0 {
		return "", refuse("there is no moment of a recording to cut: choose places that have times")
	}
	var all int64
	for _, p := range c.Places {
		all += p.Span.Duration()
	}
	if len(c.Places) > mostPlaces || all > longestCut {
		return "", refuse("the clip would have %d pieces and %s, and %d and %s are the most: choose fewer moments",
			len(c.Places), tree.Clock(all), mostPlaces, tree.Clock(longestCut))
	}
	return cut(ctx, c, w)
}

// joinPlaces leaves out what has no time, and joins places of one source that
// follow each other and touch.
func joinPlaces(places []Place) []Place {
	var out []Place
	for _, p := range places {
		if p.Span.Unit != tree.UnitMS || p.Span.Duration() <= 0 {
			continue
		}
		if n := len(out); n > 0 && out[n-1].Source == p.Source && p.Span.StartMS <= out[n-1].Span.EndMS && p.Span.EndMS >= out[n-1].Span.StartMS {
			last := &out[n-1].Span
			last.StartMS, last.EndMS = min(last.StartMS, p.Span.StartMS), max(last.EndMS, p.Span.EndMS)
			continue
		}
		out = append(out, p)
	}
	return out
}
