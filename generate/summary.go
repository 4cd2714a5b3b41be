package generate

import (
	"context"
	"fmt"
	"strings"

	"github.com/reeltree/reeltree/retrieve"
	"github.com/reeltree/reeltree/tree"
)

// summarise answers the modes that need no question: one cited point per L1
// (chapters, summary) or per leading L2 (highlights) of each source.
func (a *Answerer) summarise(ctx context.Context, q Question, w *writer) (string, error) {
	if a.Trees == nil || len(q.Sources) == 0 {
		return FinishError, &Error{Kind: KindBadQuestion, Message: "a " + q.mode() + " needs at least one source: name it in sources"}
	}
	var nodes []*tree.Node
	for _, id := range q.Sources {
		t, err := a.Trees(ctx, q.Tenant, id)
		if err != nil {
			return FinishError, &Error{Kind: KindRetrieval, Message: fmt.Sprintf("the source %.40q is not here: check its id", id), Cause: err}
		}
		for _, n := range summaryNodes(t, q.mode()) {
			if n.Text == "" || q.Span != nil && n.Span.Overlap(*q.Span) == 0 {
				continue
			}
			nodes = append(nodes, n)
			if err := w.prove(nodeItem(t.Source, n), false); err != nil {
				return FinishError, err
			}
		}
	}
	w.coverage = 1
	if len(nodes) == 0 {
		return FinishNotFound, w.say("Nothing has been described here yet.")
	}
	for i, n := range nodes {
		if err := a.summaryPoint(ctx, q.mode(), i, n, w); err != nil {
			return FinishError, err
		}
	}
	return FinishStop, nil
}

func summaryNodes(t *tree.Tree, mode string) []*tree.Node {
	if mode != ModeHighlights {
		return t.Roots
	}
	var best []*tree.Node
	for _, r := range t.Roots {
		if len(r.Children) > 0 {
			best = append(best, r.Children[len(r.Children)/2])
		}
	}
	return best
}

func (a *Answerer) summaryPoint(ctx context.Context, mode string, i int, n *tree.Node, w *writer) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	text := strings.TrimSpace(n.Text)
	switch {
	case mode == ModeChapters:
		text = chapterTitle(n)
		if i > 0 {
			text = "\n" + text
		}
	case i > 0:
		text = "\n\n" + text
	}
	if err := w.say(text); err != nil {
		return err
	}
	return w.cite(i+1, 1)
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

func nodeItem(src tree.Source, n *tree.Node) retrieve.Item {
	return retrieve.Item{
		Node: n.ID, Level: n.Level, Source: src, Span: n.Span, Quote: strings.TrimSpace(n.Text), Text: n.Text,
		Frame: n.Frame(), Score: 1, Tokens: tree.Tokens(n.Text),
	}
}
