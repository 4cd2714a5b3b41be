package generate

import (
	"slices"
	"strings"

	"github.com/reeltree/reeltree/tree"
)

// chapter is one line of a table of contents.
type chapter struct {
	node  *tree.Node // where it begins
	span  tree.Span
	title string
	named bool // the title is the chapter's own, not a sentence of it
}

// chaptersOf are the chapters of a source, no title twice: its L1, or the L2 of
// one whose title only joins theirs. What has no title of its own is named by
// the first of its sentences that names no other chapter; parts that follow each
// other under one title are one chapter.
func chaptersOf(t *tree.Tree) []chapter {
	var out []chapter
	taken := map[string]bool{}
	for _, root := range t.Roots {
		nodes := []*tree.Node{root}
		if joinsTitles(root) {
			nodes = root.Children
		}
		for _, n := range nodes {
			c := chapter{node: n, span: n.Span, title: oneLine(n.Evidence.Title), named: true}
			last := len(out) - 1
			if same := last >= 0 && c.title != "" && out[last].title == c.title; same {
				out[last].span = joinPlace(out[last].span, n.Span)
				continue
			}
			if c.title == "" || taken[sameWords(c.title)] {
				c.title, c.named = firstFree(t, n, taken), false
			}
			if c.title == "" && last >= 0 {
				out[last].span = joinPlace(out[last].span, n.Span)
				continue
			}
			taken[sameWords(c.title)] = true
			out = append(out, c)
		}
	}
	return out
}

// joinsTitles reports whether the title of an L1 is made of those of its clips.
func joinsTitles(root *tree.Node) bool {
	var titles []string
	for _, c := range root.Children {
		if title := c.Evidence.Title; title != "" && (len(titles) == 0 || titles[len(titles)-1] != title) {
			titles = append(titles, title)
		}
	}
	n := len(titles)
	return n > 1 && strings.HasPrefix(root.Evidence.Title, titles[0]+"; ") && strings.HasSuffix(root.Evidence.Title, "; "+titles[n-1])
}

// firstFree is the first sentence of a node that is no title yet; one that is
// said, where no model has written a better one.
func firstFree(t *tree.Tree, n *tree.Node, taken map[string]bool) string {
	sentences := slices.DeleteFunc(cutSentences(n.Text), func(s string) bool { return taken[sameWords(s)] })
	if quotes(t) {
		said := spokenOf(nodeItem(t.Source, n).Parts)
		for _, s := range sentences {
			if _, _, ok := said.find(s); ok {
				return oneLine(s)
			}
		}
	}
	if len(sentences) == 0 {
		return ""
	}
	return oneLine(sentences[0])
}

// chapters are the chapters of a source as lines of an answer.
func (r *retelling) chapters(t *tree.Tree) []paragraph {
	var out []paragraph
	for _, c := range chaptersOf(t) {
		if c.title == "" || !r.asked(c.node) || !r.fresh(c.title, c.span) {
			continue
		}
		p := paragraph{item: nodeItem(r.src, c.node), lines: []line{{text: c.title, place: c.span, title: true}}}
		if p.item.Span = c.span; !c.named {
			if closer := placeOf(p.item, c.title); closer != nil {
				p.lines[0].place = *closer
			}
		}
		if !strings.Contains(oneLine(p.item.Quote), c.title) {
			p.item.Quote = c.title
		}
		out = append(out, p)
	}
	return out
}
