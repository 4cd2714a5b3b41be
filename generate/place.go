package generate

import (
	"github.com/reeltree/reeltree/retrieve"
	"github.com/reeltree/reeltree/tree"
)

// Shares of a sentence's words that must stand in a piece of its evidence, or in
// two pieces that follow each other, for the piece to be the place where it is said.
const (
	shareOfOne = .5
	shareOfTwo = .7
)

// placeOf is where in a piece of evidence a sentence is said: the cues, sentences
// or rows it stands in word for word; else the one that holds most of its words,
// two of them where it runs over both. nil where none holds enough, as for words
// that are said anew, and where that is all of the evidence.
func placeOf(it retrieve.Item, sentence string) *tree.Span {
	return placeFrom(it, sentence, shareOfOne)
}

// placeFrom is placeOf with the share of words that makes a place.
func placeFrom(it retrieve.Item, sentence string, least float64) *tree.Span {
	span, _, ok := spokenOf(it.Parts).find(sentence)
	if !ok {
		var share float64
		span, share = nearPlace(it, sentence)
		ok = share >= least
	}
	if !ok || span == it.Span {
		return nil
	}
	return &span
}

// nearPlace is where most of a sentence's words stand, and their share.
func nearPlace(it retrieve.Item, sentence string) (tree.Span, float64) {
	wanted := keywords(sentence)
	if len(wanted) == 0 || len(it.Parts) == 0 {
		return tree.Span{}, 0
	}
	held := make([]map[string]bool, len(it.Parts))
	for i, p := range it.Parts {
		held[i] = map[string]bool{}
		for _, k := range keywords(p.Text) {
			held[i][k] = true
		}
	}
	share := func(parts ...map[string]bool) float64 {
		n := 0
		for _, k := range wanted {
			for _, p := range parts {
				if p[k] {
					n++
					break
				}
			}
		}
		return float64(n) / float64(len(wanted))
	}
	best, at := 0.0, 0
	for i := range held {
		if s := share(held[i]); s > best {
			best, at = s, i
		}
	}
	span := it.Parts[at].Span
	if best < 1 {
		for _, other := range []int{at - 1, at + 1} {
			if other < 0 || other >= len(held) {
				continue
			}
			if s := share(held[at], held[other]); s >= shareOfTwo && s >= best+.2 {
				joined := joinPlace(it.Parts[min(at, other)].Span, it.Parts[max(at, other)].Span)
				best, span = s, joined
			}
		}
	}
	return span, best
}

// joinPlace is one span over two that follow each other; of documents the first
// names the place.
func joinPlace(a, b tree.Span) tree.Span {
	switch {
	case a.Unit == tree.UnitMS && b.Unit == tree.UnitMS:
		a.EndMS = max(a.EndMS, b.EndMS)
	case a.Unit == tree.UnitRows && b.Unit == tree.UnitRows && a.Table == b.Table:
		a.RowEnd = max(a.RowEnd, b.RowEnd)
	}
	return a
}
