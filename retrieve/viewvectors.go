package retrieve

import (
	"context"
	"strings"

	"github.com/reeltree/reeltree/tree"
)

// embed fills every vector of the view: from the tree where it holds vectors
// of this embedder, else by one call. Equal texts are embedded once.
func (b *viewBuilder) embed(ctx context.Context, embed Embed, dim int) error {
	var want wanted
	for i := range b.v.roots {
		r := &b.v.roots[i]
		want.node(&r.vector, r.node, r.node.Text, b.keep, dim)
	}
	for i := range b.v.clips {
		c := &b.v.clips[i]
		want.node(&c.vector, c.node, nodeText(c.node), b.keep, dim)
	}
	for i := range b.v.leaves {
		l := &b.v.leaves[i]
		want.node(&l.vector, l.node, nodeText(l.node), b.keep, dim)
		if l.hi-l.lo > 1 {
			for u := l.lo; u < l.hi; u++ {
				want.text(&b.v.units[u].vector, b.search[u])
			}
		}
	}
	if err := want.fill(ctx, embed, dim); err != nil {
		return err
	}
	for i := range b.v.leaves {
		if l := &b.v.leaves[i]; l.hi-l.lo == 1 {
			b.v.units[l.lo].vector = l.vector
		}
	}
	return nil
}

// nodeText is what a node is found by: its description and its raw words,
// unless the description repeats them.
func nodeText(n *tree.Node) string {
	var b strings.Builder
	var header string
	n.Leaves(func(l *tree.Node) {
		for _, c := range l.Evidence.Cues {
			b.WriteString(c.Text + " ")
		}
		b.WriteString(l.Evidence.Passage + " ")
		if h := strings.Join(l.Evidence.Header, " "); h != header {
			header = h
			b.WriteString(h + "\n")
		}
		for _, row := range l.Evidence.Rows {
			b.WriteString(strings.Join(row, " ") + "\n")
		}
		b.WriteString(screenText(l))
	})
	said := strings.TrimSpace(b.String())
	if strings.Contains(n.Text, said) {
		return n.Text
	}
	return n.Text + "\n" + said
}

// wanted collects texts and where their vectors go.
type wanted struct {
	texts   []string
	index   map[string]int
	targets [][]*[]float32
}

func (w *wanted) node(to *[]float32, n *tree.Node, text string, keep bool, dim int) {
	if keep && checkVector(n.Embedding, dim) == nil {
		*to = n.Embedding
		return
	}
	w.text(to, text)
}

func (w *wanted) text(to *[]float32, text string) {
	if w.index == nil {
		w.index = map[string]int{}
	}
	i, ok := w.index[text]
	if !ok {
		i = len(w.texts)
		w.index[text] = i
		w.texts, w.targets = append(w.texts, text), append(w.targets, nil)
	}
	w.targets[i] = append(w.targets[i], to)
}

func (w *wanted) fill(ctx context.Context, embed Embed, dim int) error {
	if len(w.texts) == 0 {
		return nil
	}
	vectors, err := embedChecked(ctx, embed, w.texts, dim)
	if err != nil {
		return err
	}
	for i, v := range vectors {
		for _, to := range w.targets[i] {
			*to = v
		}
	}
	return nil
}
