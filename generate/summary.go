package generate

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

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
	var described, all int64
	for _, id := range q.Sources {
		t, err := a.Trees(ctx, q.Tenant, id)
		if err != nil {
			return FinishError, &Error{Kind: KindRetrieval, Message: fmt.Sprintf("the source %.40q is not here: check its id", id), Cause: err}
		}
		done, length := finished(t)
		described, all = described+done, all+length
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
	if all > 0 {
		w.coverage = min(1, float64(described)/float64(all))
	}
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

// finished is how many milliseconds of a source are described, and how many it has.
func finished(t *tree.Tree) (done, all int64) {
	for _, r := range t.Roots {
		for _, c := range r.Children {
			done += c.Span.Duration()
		}
	}
	return done, t.Source.DurationMS
}

// A source of fewer stretches than fewStretches is summed up clip by clip, in
// at most mostPoints points.
const (
	fewStretches = 3
	mostPoints   = 8
)

// distinctTexts drops nodes that say what one before them has said.
func distinctTexts(nodes []*tree.Node) []*tree.Node {
	var out []*tree.Node
	for _, n := range nodes {
		if !slices.ContainsFunc(out, func(o *tree.Node) bool { return strings.TrimSpace(o.Text) == strings.TrimSpace(n.Text) }) {
			out = append(out, n)
		}
	}
	return out
}

// leadingLeaves cuts the leaves that say something into n equal parts and takes
// the one with most words of each.
func leadingLeaves(t *tree.Tree, n int) []*tree.Node {
	var spoken, best []*tree.Node
	for _, r := range t.Roots {
		r.Leaves(func(l *tree.Node) {
			if l.Transcript() != "" {
				spoken = append(spoken, l)
			}
		})
	}
	for i := range n {
		part := spoken[i*len(spoken)/n : (i+1)*len(spoken)/n]
		if len(part) > 0 {
			best = append(best, slices.MaxFunc(part, func(a, b *tree.Node) int { return len(keywords(a.Transcript())) - len(keywords(b.Transcript())) }))
		}
	}
	return best
}

// overview turns a question about everything ("What is this about?") into a
// summary of the sources it is asked of, or of those that are found first.
func (a *Answerer) overview(ctx context.Context, q Question) (Question, error) {
	if a.Trees == nil || q.mode() != ModeAnswer || !asksForOverview(q.Text) {
		return q, nil
	}
	if len(q.Sources) == 0 {
		found, err := a.Find(ctx, q.query(), func(retrieve.Round) error { return nil })
		if err != nil {
			return q, err
		}
		for _, it := range append(found.Items, found.Nearest...) {
			if !slices.Contains(q.Sources, it.Source.ID) && len(q.Sources) < 3 {
				q.Sources = append(q.Sources, it.Source.ID)
			}
		}
	}
	if len(q.Sources) > 0 {
		q.Mode = ModeSummary
	}
	return q, nil
}

// overviewWords add nothing to a question about everything.
var overviewWords = []string{"about", "whole", "entire", "genera", "overal", "everyt", "conten", "video", "talk", "film", "movie", "record", "meetin", "docume", "summar", "overvi", "happen", "discus", "topic", "please", "give", "short", "main"}

func asksForOverview(question string) bool {
	words := keywords(question)
	for _, k := range words {
		if !slices.Contains(overviewWords, k) {
			return false
		}
	}
	return strings.IndexFunc(question, unicode.IsLetter) >= 0 && utf8.RuneCountInString(question) > 8
}

func summaryNodes(t *tree.Tree, mode string) []*tree.Node {
	if mode == ModeSummary && len(t.Roots) < fewStretches { // a short source: its clips say more
		var all []*tree.Node
		for _, r := range t.Roots {
			all = append(append(all, r), r.Children...)
		}
		if all = distinctTexts(all); len(all) < fewStretches { // too short for clips: its own words say more
			all = append(all, leadingLeaves(t, mostPoints-fewStretches-len(all))...)
		}
		return all[:min(len(all), mostPoints)]
	}
	if mode != ModeHighlights {
		return t.Roots
	}
	return highlights(t)
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
	return w.cite(i+1, 1, "")
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
	span := n.Span
	if cues := n.Evidence.Cues; len(cues) > 0 { // a moment with words is where they are said
		span = tree.MS(cues[0].StartMS, cues[len(cues)-1].EndMS)
	}
	return retrieve.Item{
		Node: n.ID, Level: n.Level, Source: src, Span: span, Quote: strings.TrimSpace(n.Text), Text: n.Text,
		Frame: n.Frame(), Score: 1, Tokens: tree.Tokens(n.Text),
	}
}
