package generate

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/reeltree/reeltree/tree"
)

// writeChapters is a line per chapter, in the form video sites read: time, title.
func writeChapters(b *bytes.Buffer, t *tree.Tree) error {
	for _, c := range chaptersOf(t) {
		place := c.span.String()
		if c.span.Unit == tree.UnitMS {
			place = tree.Clock(c.span.StartMS)
		}
		fmt.Fprintf(b, "%s %s\n", place, c.title)
	}
	return nil
}

func writeChaptersVTT(b *bytes.Buffer, t *tree.Tree) error {
	b.WriteString("WEBVTT\n")
	n := 0
	for _, c := range chaptersOf(t) {
		if c.span.Duration() <= 0 {
			continue
		}
		n++
		fmt.Fprintf(b, "\n%d\n%s --> %s\n%s\n", n, clock(c.span.StartMS, "."), clock(c.span.EndMS, "."), cueText(c.title))
	}
	return nil
}

// chapterTitle is the chapter's own title, else its first sentence.
func chapterTitle(n *tree.Node) string {
	if n.Evidence.Title != "" {
		return n.Evidence.Title
	}
	if s := cutSentences(n.Text); len(s) > 0 {
		return s[0]
	}
	return n.Text
}

func writeMarkdown(b *bytes.Buffer, t *tree.Tree) error {
	fmt.Fprintf(b, "# %s\n", markdownText(t.Source.Title))
	for _, r := range t.Roots {
		fmt.Fprintf(b, "\n## %s %s\n\n%s\n", deepLink(t, r), markdownText(chapterTitle(r)), markdownText(r.Text))
		for _, c := range r.Children {
			fmt.Fprintf(b, "\n- %s %s\n", deepLink(t, c), markdownText(c.Text))
		}
	}
	return nil
}

// deepLink is a link that opens the page at a node's place.
func deepLink(t *tree.Tree, n *tree.Node) string { return placeLink(t.Source.ID, n.Span) }

func placeLink(source string, s tree.Span) string {
	if s.Unit != tree.UnitMS {
		return "(" + s.String() + ")"
	}
	return fmt.Sprintf("[%s](/#/s/%s?t=%d)", tree.Clock(s.StartMS), source, s.StartMS/1000)
}

func markdownText(s string) string {
	return strings.NewReplacer("\\", "\\\\", "[", "\\[", "]", "\\]", "<", "&lt;", "*", "\\*", "_", "\\_", "`", "\\`").Replace(oneLine(s))
}
