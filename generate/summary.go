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

// summarise answers the modes that need no question: a paragraph per L1
// (summary) or per leading L2 (highlights) of each source, or its chapters. Each
// paragraph is a piece of evidence, each sentence cited where it is said.
func (a *Answerer) summarise(ctx context.Context, q Question, w *writer) (string, error) {
	if a.Trees == nil || len(q.Sources) == 0 {
		return FinishError, &Error{Kind: KindBadQuestion, Message: "a " + q.mode() + " needs at least one source: name it in sources"}
	}
	var all []paragraph
	var described, length int64
	said := map[string]bool{}
	for _, id := range q.Sources {
		t, err := a.Trees(ctx, q.Tenant, id)
		if err != nil {
			return FinishError, &Error{Kind: KindRetrieval, Message: fmt.Sprintf("the source %.40q is not here: check its id", id), Cause: err}
		}
		done, whole := finished(t)
		described, length = described+done, length+whole
		all = append(all, paragraphs(t, q, said)...)
	}
	w.coverage = 1
	if length > 0 {
		w.coverage = min(1, float64(described)/float64(length))
	}
	for _, p := range all {
		if err := w.prove(p.item, false); err != nil {
			return FinishError, err
		}
	}
	if len(all) == 0 {
		return FinishNotFound, w.say("Nothing has been described here yet.")
	}
	for i, p := range all {
		if err := sayParagraph(ctx, q.mode(), i, p, w); err != nil {
			return FinishError, err
		}
	}
	return FinishStop, nil
}

// paragraphs are what a mode says of one source.
func paragraphs(t *tree.Tree, q Question, said map[string]bool) []paragraph {
	r := newRetelling(t, q.Span, said)
	switch q.mode() {
	case ModeChapters:
		return r.chapters(t)
	case ModeHighlights:
		return r.each(highlights(t))
	}
	if len(t.Roots) < fewStretches {
		return r.short(t)
	}
	return r.each(t.Roots)
}

// each is a paragraph for each node that has something to say.
func (r *retelling) each(nodes []*tree.Node) []paragraph {
	var out []paragraph
	for _, n := range nodes {
		if !r.asked(n) {
			continue
		}
		if p, ok := r.of(n, cutSentences(n.Text)); ok {
			out = append(out, p)
		}
	}
	return out
}

// asked reports whether a node is described and lies in what is asked about.
func (r *retelling) asked(n *tree.Node) bool {
	return n.Text != "" && (r.within == nil || n.Span.Overlap(*r.within) > 0)
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

// short sums up a source of few stretches by its clips, which say more than its
// stretches, and where they are few as well by its leading moments.
func (r *retelling) short(t *tree.Tree) []paragraph {
	var stretches, clips []*tree.Node
	for _, root := range t.Roots {
		stretches, clips = append(stretches, root), append(clips, root.Children...)
	}
	nodes := clips
	if !r.quotes { // a model has written of the whole what stands in none of the clips
		nodes = append(stretches, clips...)
	}
	if len(clips) == 0 {
		nodes = stretches
	}
	more := map[*tree.Node][]string{}
	if n := len(nodes); n < fewStretches {
		for _, l := range leadingLeaves(t, mostPoints-fewStretches-n) {
			if r.quotes {
				clip := clipOf(t, l)
				more[clip] = append(more[clip], slices.DeleteFunc(cutSentences(l.Transcript()), isFragment)...)
			} else {
				nodes = append(nodes, l)
			}
		}
	}
	var out []paragraph
	for _, n := range nodes {
		if !r.asked(n) || len(out) == mostPoints {
			continue
		}
		if joinsTitles(n) {
			r.said[sameWords(n.Evidence.Title)] = true // each title stands over its own clip
		}
		if p, ok := r.of(n, append(cutSentences(n.Text), more[n]...)); ok {
			out = append(out, p)
		}
	}
	return out
}

// isFragment reports whether a sentence says nothing by itself ("So...").
func isFragment(s string) bool { return tree.Words(s) < 3 }

// clipOf is the L2 that holds a leaf.
func clipOf(t *tree.Tree, leaf *tree.Node) *tree.Node {
	for _, root := range t.Roots {
		for _, c := range root.Children {
			if slices.Contains(c.Children, leaf) {
				return c
			}
		}
	}
	return nil
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
// summary of the sources it is asked of, or of those that are found first. A
// question about a place ("And what happened after that?") is not one.
func (a *Answerer) overview(ctx context.Context, q Question) (Question, error) {
	if a.Trees == nil || q.mode() != ModeAnswer || q.placed || !asksForOverview(q.Text) {
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

// sayParagraph says the lines of a paragraph, evidence i+1.
func sayParagraph(ctx context.Context, mode string, i int, p paragraph, w *writer) error {
	before := ""
	if i > 0 {
		before = "\n\n"
		if mode == ModeChapters {
			before = "\n"
		}
	}
	for _, l := range p.lines {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := w.say(before + l.text); err != nil {
			return err
		}
		if before = " "; l.title {
			before = "\n"
		}
		c := Citation{N: i + 1, At: w.points, Support: 1}
		if l.place != p.item.Span {
			c.Span = &l.place
		}
		if err := w.send(c); err != nil {
			return err
		}
	}
	return nil
}
