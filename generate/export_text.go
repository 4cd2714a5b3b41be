package generate

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/reeltree/reeltree/tree"
)

// writeChapters is a line per L1, in the form video sites read: time, title.
func writeChapters(b *bytes.Buffer, t *tree.Tree) error {
	for _, r := range t.Roots {
		place := r.Span.String()
		if r.Span.Unit == tree.UnitMS {
			place = tree.Clock(r.Span.StartMS)
		}
		fmt.Fprintf(b, "%s %s\n", place, oneLine(chapterTitle(r)))
	}
	return nil
}

func writeChaptersVTT(b *bytes.Buffer, t *tree.Tree) error {
	b.WriteString("WEBVTT\n")
	n := 0
	for _, r := range t.Roots {
		if r.Span.Duration() <= 0 {
			continue
		}
		n++
		fmt.Fprintf(b, "\n%d\n%s --> %s\n%s\n", n, clock(r.Span.StartMS, "."), clock(r.Span.EndMS, "."), cueText(chapterTitle(r)))
	}
	return nil
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
