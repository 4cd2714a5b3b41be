package retrieve

import "github.com/reeltree/reeltree/tree"

// PartsOf are the raw words of a leaf in order, each with a place of its own:
// cues, sentences of long cues and of passages, rows. None where it has no words.
func PartsOf(leaf *tree.Node) []Part {
	var out []Part
	for _, u := range leafUnits(leaf, 0) {
		if u.quote != "" {
			out = append(out, Part{Span: u.span, Text: u.quote})
		}
	}
	return out
}
