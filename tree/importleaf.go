package tree

import (
	"errors"
	"fmt"
	"math"
)

// moments adds the timed leaves of an L2: each lasts until the next begins,
// the last one until the L2 ends.
func (im *importer) moments(n *Node, leaves []origL3, span Span) (Span, error) {
	starts := make([]int64, len(leaves))
	at := span.StartMS
	for i, l := range leaves {
		if l.Timestamp != nil {
			ms, err := toMS(*l.Timestamp)
			if err != nil {
				return span, fmt.Errorf("tree: %.80q: timestamp: %w", l.ID, err)
			}
			at = min(max(at, ms), span.EndMS) // never back, never out
		}
		starts[i] = at
	}
	if span.EndMS == math.MaxInt64 { // no range given here or above
		span.EndMS = at
		if len(starts) > 0 {
			span.StartMS = starts[0]
		}
	}
	for i, l := range leaves {
		end := span.EndMS
		if i+1 < len(leaves) {
			end = starts[i+1]
		}
		n.Children = append(n.Children, im.leaf(l, MS(starts[i], end)))
	}
	return span, nil
}

// paragraphs adds the leaves of a document's section.
func (im *importer) paragraphs(n *Node, leaves []origL3) {
	for _, l := range leaves {
		im.paragraph++
		chars := 0
		if l.RawContent != nil {
			chars = len([]rune(*l.RawContent))
		}
		im.chars += int64(chars)
		n.Children = append(n.Children, im.leaf(l, Span{Unit: UnitText, Paragraph: im.paragraph, EndChar: chars}))
	}
}

func (im *importer) leaf(o origL3, span Span) *Node {
	n := &Node{Level: L3, Text: tidy(o.Description), Span: span, Embedding: vector(o.Embedding)}
	if o.FramePath != nil && *o.FramePath != "" {
		n.Evidence.FramePath = *o.FramePath
		im.pictures = true
	}
	if o.RawContent != nil && *o.RawContent != "" {
		if im.timed {
			n.Evidence.Cues = []Cue{{StartMS: span.StartMS, EndMS: span.EndMS, Text: *o.RawContent}}
		} else {
			n.Evidence.Passage = *o.RawContent
		}
	}
	return n
}

// vector treats an empty vector as none.
func vector(v []float32) []float32 {
	if len(v) == 0 {
		return nil
	}
	return v
}

// span is the range in milliseconds inside outer; outer itself without one.
func (s *seconds) span(outer Span) (Span, error) {
	if s == nil || len(*s) == 0 {
		return outer, nil
	}
	if len(*s) != 2 {
		return Span{}, errors.New("time_range wants [start, end] in seconds")
	}
	start, err := toMS((*s)[0])
	if err != nil {
		return Span{}, err
	}
	end, err := toMS((*s)[1])
	if err != nil {
		return Span{}, err
	}
	return clamp(MS(start, end), outer), nil
}

// toMS rounds seconds to milliseconds; what lies before 0 counts as 0.
func toMS(s float64) (int64, error) {
	if s > 1e9 { // thirty years: not seconds of any recording
		return 0, fmt.Errorf("%g seconds is past the end of any recording", s)
	}
	return int64(math.Round(max(0, s) * 1000)), nil
}
