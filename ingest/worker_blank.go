package ingest

import (
	"context"
	"fmt"
	"maps"

	"github.com/reeltree/reeltree/tree"
)

// blanks tells what a model was asked to describe and gave no words for: the
// build took the source's own words instead, the same that are written without
// a model. They are found in the finished tree, so a restart forgets none.
type blanks struct{ asked, plain map[tree.Level]int }

func blanksOf(ctx context.Context, t *tree.Tree) (blanks, error) {
	b := blanks{map[tree.Level]int{}, map[tree.Level]int{}}
	for _, root := range t.Roots {
		r := tree.StretchRequest{Source: t.Source, Title: root.Evidence.Title, Span: root.Span}
		for _, n := range root.Children {
			r.L2 = append(r.L2, n.Text)
			if err := b.clip(ctx, t.Source, n); err != nil {
				return b, err
			}
		}
		text, _, err := tree.Extractive{}.L1(ctx, r)
		if err != nil {
			return b, err
		}
		b.count(root, text)
	}
	return b, nil
}

// clip compares an L2 and those of its leaves that have pictures, which is what
// a model is asked about.
func (b blanks) clip(ctx context.Context, src tree.Source, n *tree.Node) error {
	c := tree.Clip{Span: n.Span, Title: n.Evidence.Title}
	for _, l := range n.Children {
		c.Leaves = append(c.Leaves, tree.Leaf{Span: l.Span, Evidence: l.Evidence})
	}
	text, _, err := tree.Extractive{}.L2(ctx, tree.ClipRequest{Source: src, Clip: c})
	if err != nil {
		return err
	}
	b.count(n, text)
	texts, _, err := tree.Extractive{}.L3(ctx, tree.LeafRequest{Source: src, Clip: c})
	if err != nil {
		return err
	}
	for i, l := range n.Children {
		if l.Evidence.Frame != nil {
			b.count(l, texts[i])
		}
	}
	return nil
}

func (b blanks) count(n *tree.Node, plain string) {
	b.asked[n.Level]++
	if n.Text == plain {
		b.plain[n.Level]++
	}
}

// all reports whether a model gave no words at all for a level.
func (b blanks) all(l tree.Level) bool { return b.asked[l] > 0 && b.plain[l] == b.asked[l] }

// roles name the levels in tree.Tree.Models.
var roles = map[tree.Level]string{tree.L1: "l1", tree.L2: "l2", tree.L3: "l3"}

const extractive = "extractive"

// unsaid notes on a tree which levels no model has described, whatever was
// asked, and gives the warning for people; "" where there is nothing to say.
func unsaid(ctx context.Context, t *tree.Tree) (string, error) {
	model := t.Models["l2"]
	if model == "" || model == extractive {
		return "", nil
	}
	b, err := blanksOf(ctx, t)
	if err != nil {
		return "", err
	}
	asked, plain := 0, 0
	t.Models = maps.Clone(t.Models)
	for level, role := range roles {
		asked, plain = asked+b.asked[level], plain+b.plain[level]
		if b.all(level) {
			t.Models[role] = extractive
		}
	}
	if plain == 0 {
		return "", nil
	}
	return fmt.Sprintf("The vision model %.80q gave no words for %d of %d descriptions, so those are sentences of the source itself: try the model with doctor, or name another with --vlm-model, and ingest again.", model, plain, asked), nil
}
