package retrieve

import (
	"cmp"
	"math"
	"slices"

	"github.com/reeltree/reeltree/tree"
)

// item is a candidate as evidence: the tightest stored node, the raw words,
// the place of just those words.
func (c *candidate) item(src tree.Source) Item {
	v := c.s.view
	first := v.units[c.lo]
	node := v.holder(c.lo, c.hi)
	parts, raw := v.parts(c.lo, c.hi)
	it := Item{
		Node: node.ID, Level: node.Level, Source: src, Span: first.span, Text: node.Text, Speaker: first.speaker,
		Frame: c.frame(), Score: math.Round(max(0, min(1, c.rel))*1e6) / 1e6, Tokens: c.tokens, Quote: joinParts(parts, raw), Parts: parts,
	}
	for _, u := range v.units[c.lo:c.hi] {
		it.Span = joinSpans(it.Span, u.span)
		if u.speaker != first.speaker {
			it.Speaker = "" // several speak
		}
	}
	return it
}

// frame is the picture nearest to the beginning of the candidate.
func (c *candidate) frame() *tree.FrameRef {
	v := c.s.view
	first, last := v.units[c.lo].leaf, v.units[c.hi-1].leaf
	for l := first; l <= last; l++ {
		if f := v.leaves[l].node.Frame(); f != nil {
			return f
		}
	}
	for l := first - 1; l >= v.clips[c.clip].leafLo; l-- {
		if f := v.leaves[l].node.Frame(); f != nil {
			return f
		}
	}
	return v.clips[c.clip].node.Frame()
}

// joinSpans is the smallest span over two; places that cannot be joined keep a.
func joinSpans(a, b tree.Span) tree.Span {
	switch {
	case a.Unit != b.Unit:
	case a.Unit == tree.UnitMS:
		a.StartMS, a.EndMS = min(a.StartMS, b.StartMS), max(a.EndMS, b.EndMS)
	case a.Unit == tree.UnitRows && a.Table == b.Table:
		a.RowStart, a.RowEnd = min(a.RowStart, b.RowStart), max(a.RowEnd, b.RowEnd)
	case a.Unit == tree.UnitText && a.Page == b.Page && a.Paragraph == b.Paragraph:
		a.StartChar, a.EndChar = min(a.StartChar, b.StartChar), max(a.EndChar, b.EndChar)
	}
	return a
}

// sortItems puts items into final order: source, then place.
func sortItems(items []Item) {
	slices.SortStableFunc(items, func(a, b Item) int {
		return cmp.Or(cmp.Compare(a.Source.ID, b.Source.ID), compareSpans(a.Span, b.Span), cmp.Compare(a.Node, b.Node))
	})
}

func compareSpans(a, b tree.Span) int {
	return cmp.Or(
		cmp.Compare(a.StartMS, b.StartMS), cmp.Compare(a.EndMS, b.EndMS), cmp.Compare(a.Page, b.Page),
		cmp.Compare(a.Paragraph, b.Paragraph), cmp.Compare(a.StartChar, b.StartChar),
		cmp.Compare(a.Table, b.Table), cmp.Compare(a.RowStart, b.RowStart))
}
