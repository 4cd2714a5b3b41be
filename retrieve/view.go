package retrieve

import (
	"context"
	"fmt"
	"slices"

	"github.com/reeltree/reeltree/tree"
)

// view is a tree made ready for questions: its nodes and units in order with
// vectors, and for each term the units that hold it. It is read only once made.
type view struct {
	tree     *tree.Tree
	roots    []rootView
	clips    []clipView
	leaves   []leafView
	units    []unit
	postings map[uint64][]posting
	around   surroundings
	windows  [scales][]reach // of the units, as features read them
	byNode   map[string]int  // L2 id -> clip
	tables   bool            // some leaf holds rows
	branch   int             // parts that a virtual group falls into
	bytes    int             // about what it takes in memory
}

type rootView struct {
	node           *tree.Node
	clipLo, clipHi int
	vector         []float32
}

type clipView struct {
	node           *tree.Node
	root           int
	leafLo, leafHi int
	lo, hi         int // units
	vector         []float32
	groups         *group // the regions below it
}

type leafView struct {
	node   *tree.Node
	clip   int
	layer  layer
	lo, hi int // units
	vector []float32
	group  *group // the region it is
}

func hasTables(trees []*view) bool {
	return slices.ContainsFunc(trees, func(v *view) bool { return v.tables })
}

// posting is one unit that holds a term.
type posting struct {
	unit  int32
	count float32
}

// newView lays a tree out and embeds what has no vector of this embedder yet.
// A clip without text is not finished and left out.
func newView(ctx context.Context, t *tree.Tree, embed Embed, embedder string, dim, branch int) (*view, error) {
	b := &viewBuilder{v: &view{tree: t, branch: branch, postings: map[uint64][]posting{}, byNode: map[string]int{}}, plain: !described(t)}
	b.keep = embedder != "" && t.Embedder == embedder && t.EmbedDim == dim
	for _, n := range t.Roots {
		b.root(n)
	}
	if err := b.embed(ctx, embed, dim); err != nil {
		return nil, fmt.Errorf("the tree of %s cannot be embedded: %w", t.Source.ID, err)
	}
	for i := range b.v.clips {
		b.v.clips[i].groups = b.v.clipGroups(i)
	}
	b.v.around = b.v.surround()
	for k, width := range phiScales {
		b.v.windows[k] = windows(b.v.around.mass, width)
	}
	b.v.bytes = len(b.v.units)*(4*dim+232) + (len(b.v.leaves)+len(b.v.clips))*(4*dim+120) + b.postings*12
	return b.v, nil
}

// viewBuilder lays out one tree.
type viewBuilder struct {
	v        *view
	keep     bool     // stored vectors are of this embedder
	plain    bool     // leaves were described from their own words alone
	search   []string // per unit, what it is found by
	postings int
}

func (b *viewBuilder) root(n *tree.Node) {
	r := rootView{node: n, clipLo: len(b.v.clips)}
	for _, l2 := range n.Children {
		if l2.Text != "" || len(l2.Children) > 0 {
			b.clip(l2)
		}
	}
	if r.clipHi = len(b.v.clips); r.clipHi > r.clipLo {
		b.v.roots = append(b.v.roots, r)
	}
}

func (b *viewBuilder) clip(n *tree.Node) {
	c := clipView{node: n, root: len(b.v.roots), leafLo: len(b.v.leaves), lo: len(b.v.units)}
	spoken := slices.ContainsFunc(n.Children, worded)
	for _, l3 := range n.Children {
		if !b.plain || !spoken || worded(l3) { // beside words, "a picture" says nothing
			b.leaf(l3, len(b.v.clips))
		}
	}
	if len(n.Children) == 0 { // an L2 without leaves stands for itself
		b.leaf(&tree.Node{ID: n.ID, Level: tree.L2, Text: n.Text, Span: n.Span, Evidence: n.Evidence}, len(b.v.clips))
	}
	c.leafHi, c.hi = len(b.v.leaves), len(b.v.units)
	b.v.byNode[n.ID] = len(b.v.clips)
	b.v.clips = append(b.v.clips, c)
}

func (b *viewBuilder) leaf(n *tree.Node, clip int) {
	l := leafView{node: n, clip: clip, layer: layerOf(n, b.plain), lo: len(b.v.units)}
	b.v.tables = b.v.tables || len(n.Evidence.Rows) > 0
	raws := leafUnits(n, len(b.v.leaves))
	said := map[uint64]bool{}
	for _, r := range raws {
		scan(r.search, func(t term) { said[t.key] = true })
	}
	about, besides := counts{}, tokensOf(screenText(n))
	if !b.plain || !worded(n) {
		about.add(n.Text, said)
		besides = append(tokensOf(n.Text), besides...)
	}
	about.add(screenText(n), said)
	for i := range raws {
		b.unit(&raws[i], about, besides)
	}
	l.hi = len(b.v.units)
	b.v.leaves = append(b.v.leaves, l)
}

// described reports whether a model has looked at the pictures of a tree; the
// extractive describer only notes that there is one.
func described(t *tree.Tree) bool {
	l3 := t.Models["l3"]
	return l3 != "" && l3 != "extractive" || t.Imported != nil
}

// worded reports whether a leaf has words of its own.
func worded(n *tree.Node) bool {
	e := &n.Evidence
	return len(e.Cues) > 0 || e.Passage != "" || len(e.Rows) > 0 || len(e.Screen) > 0
}

// unit adds one unit with its terms and those of the description it stands
// under: whoever asks for what was seen finds what was said meanwhile.
func (b *viewBuilder) unit(r *raw, about counts, besides []token) {
	own := counts{}
	own.add(r.search, nil)
	for key, n := range about {
		own[key] += n
	}
	at := int32(len(b.v.units))
	for key, n := range own {
		b.v.postings[key] = append(b.v.postings[key], posting{at, n})
	}
	b.postings += len(own)
	r.words = slices.Concat(tokensOf(r.search), besides)
	r.length = float32(len(r.words))
	b.v.units = append(b.v.units, r.unit)
	b.search = append(b.search, r.search)
}

// counts are the terms of a text with how often each occurs.
type counts map[uint64]float32

// add counts the terms of text that are not in known.
func (c counts) add(text string, known map[uint64]bool) {
	scan(text, func(t term) {
		if !known[t.key] {
			c[t.key]++
		}
	})
}
