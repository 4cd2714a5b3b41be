package generate

import (
	"cmp"
	"slices"
	"strings"

	"github.com/reeltree/reeltree/retrieve"
	"github.com/reeltree/reeltree/tree"
)

// retelling turns nodes of one source into paragraphs of a summary, in which
// nothing is said twice. Where no model wrote the descriptions, a paragraph is
// made of titles and of sentences that are said, at the places where they are.
type retelling struct {
	src    tree.Source
	quotes bool       // no model wrote the descriptions
	within *tree.Span // nil: everything
	said   map[string]bool
	titles map[string]bool
}

// paragraph is what is said of one node: one piece of evidence and its lines.
type paragraph struct {
	item  retrieve.Item
	lines []line
}

// line is a title, or sentences that stand at one place.
type line struct {
	text  string
	place tree.Span
	at    int // its first word among those of the node
	title bool
}

// newRetelling begins one; said is what the answer has said of other sources.
func newRetelling(t *tree.Tree, within *tree.Span, said map[string]bool) *retelling {
	r := &retelling{src: t.Source, quotes: quotes(t), within: within, said: said, titles: map[string]bool{}}
	for _, root := range t.Roots {
		for _, n := range append([]*tree.Node{root}, root.Children...) {
			r.titles[sameWords(n.Evidence.Title)] = true
		}
	}
	return r
}

// quotes reports whether the texts of a tree are sentences of the source itself.
func quotes(t *tree.Tree) bool { return t.Models["l2"] == "extractive" }

// of is what some sentences say of a node, under its title; false where that
// has been said before.
func (r *retelling) of(n *tree.Node, sentences []string) (paragraph, bool) {
	p := paragraph{item: nodeItem(r.src, n)}
	if title := oneLine(n.Evidence.Title); title != "" && r.fresh(title, n.Span) {
		p.lines = append(p.lines, line{text: title, place: beginning(n.Span), title: true})
	}
	if !r.quotes {
		p.lines = append(p.lines, r.keep(p.item, sentences)...)
		return p, len(p.lines) > 0
	}
	quoted, told := r.sort(n, spokenOf(p.item.Parts), sentences)
	if len(quoted) == 0 {
		p.lines = append(p.lines, told...)
		return p, len(p.lines) > 0
	}
	p.lines = append(p.lines, joinLines(thinned(quoted))...)
	var quote []string
	for _, l := range p.lines {
		quote = append(quote, l.text)
	}
	p.item.Quote = strings.Join(quote, " … ")
	p.item.Tokens = tree.Tokens(p.item.Quote)
	return p, true
}

// sort parts sentences into those that are said, in their order, and others.
// A sentence loses the name before it, which the evidence has beside it.
func (r *retelling) sort(n *tree.Node, said spoken, sentences []string) (quoted, told []line) {
	for _, s := range sentences {
		s = whole(n, s)
		place, at, ok := said.find(s)
		if _, rest, named := strings.Cut(s, ": "); named && !ok {
			if place, at, ok = said.find(rest); ok {
				s = rest
			}
		}
		switch {
		case ok && r.fresh(s, place):
			quoted = append(quoted, line{text: s, place: place, at: at})
		case !ok && !r.titles[sameWords(s)]:
			told = append(told, line{text: s, place: n.Span})
		}
	}
	slices.SortStableFunc(quoted, func(a, b line) int { return cmp.Compare(a.at, b.at) })
	if len(quoted) > 0 {
		return quoted, nil
	}
	return nil, slices.DeleteFunc(told, func(l line) bool { return !r.fresh(l.text, l.place) })
}

// keep are sentences that a model wrote and that were not said yet: of the whole
// node, unless they only repeat what is said at one place in it.
func (r *retelling) keep(it retrieve.Item, sentences []string) []line {
	var out []line
	for _, s := range sentences {
		place := it.Span
		if closer := placeFrom(it, s, repeats); closer != nil {
			place = *closer
		}
		if r.fresh(s, place) {
			out = append(out, line{text: s, place: place})
		}
	}
	return joinLines(out)
}

// fresh reports whether a text lies within what is asked about and was not said
// before, and notes it as said.
func (r *retelling) fresh(text string, place tree.Span) bool {
	key := sameWords(text)
	if key == "" || r.said[key] || r.within != nil && place.Overlap(*r.within) == 0 {
		return false
	}
	r.said[key] = true
	return true
}

// whole is a sentence that a describer has cut short as the clips below have it.
func whole(n *tree.Node, s string) string {
	start, cut := strings.CutSuffix(s, "…")
	if !cut || n.Level != tree.L1 {
		return s
	}
	for _, c := range n.Children {
		for _, longer := range cutSentences(c.Text) {
			if _, rest, named := strings.Cut(longer, ": "); named && strings.HasPrefix(rest, start) {
				return rest
			}
			if strings.HasPrefix(longer, start) {
				return longer
			}
		}
	}
	return s
}

// paragraphWords is how many words of a source one paragraph quotes at most.
const paragraphWords = 110

// thinned are as many lines as a paragraph may have, evenly from all of it.
func thinned(lines []line) []line {
	for n := len(lines); n > 1; n-- {
		var out []line
		words := 0
		for i := range n {
			l := lines[i*(len(lines)-1)/(n-1)]
			out, words = append(out, l), words+tree.Words(l.text)
		}
		if words <= paragraphWords {
			return out
		}
	}
	return lines[:min(1, len(lines))]
}

// joinLines makes one line of sentences that stand at the same place.
func joinLines(lines []line) []line {
	var out []line
	for _, l := range lines {
		if n := len(out); n > 0 && out[n-1].place == l.place {
			out[n-1].text += " " + l.text
			continue
		}
		out = append(out, l)
	}
	return out
}

// beginning is the point of a recording where a span begins: what stands over
// the span is not itself a moment to be played.
func beginning(s tree.Span) tree.Span {
	if s.Unit == tree.UnitMS {
		s.EndMS = s.StartMS
	}
	return s
}

// nodeItem is a node as evidence, with the words below it.
func nodeItem(src tree.Source, n *tree.Node) retrieve.Item {
	it := retrieve.Item{
		Node: n.ID, Level: n.Level, Source: src, Span: n.Span, Quote: strings.TrimSpace(n.Text), Text: n.Text,
		Frame: n.Frame(), Score: 1, Tokens: tree.Tokens(n.Text),
	}
	n.Leaves(func(l *tree.Node) { it.Parts = append(it.Parts, retrieve.PartsOf(l)...) })
	if n.Level == tree.L3 && len(it.Parts) > 0 { // a moment with words is where they are said
		it.Span = joinPlace(it.Parts[0].Span, it.Parts[len(it.Parts)-1].Span)
	}
	return it
}
