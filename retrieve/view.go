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
	prose    bool            // every leaf holds a passage
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
	b := &viewBuilder{v: &view{tree: t, branch: branch, postings: map[uint64][]posting{}, byNode: map[string]int{}, prose: true}, plain: !described(t)}
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
	terms    []uint64 // scratch of one unit
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
	b.v.prose = b.v.prose && n.Evidence.Passage != ""
	b.v.tables = b.v.tables || len(n.Evidence.Rows) > 0
	raws := leafUnits(n, len(b.v.leaves))
	read := make([]reading, len(raws))
	for i := range raws {
		read[i] = readText(raws[i].search, n.Evidence.Passage != "")
	}
	about := b.about(n, read)
	for i := range raws {
		b.unit(&raws[i], read[i], about)
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

// about is what a leaf is found by beside what its units hold: its description
// and its screen text, in terms that no unit has.
func (b *viewBuilder) about(n *tree.Node, units []reading) reading {
	screen := readText(screenText(n), false)
	var told reading
	if !b.plain || !worded(n) {
		told = readText(n.Text, false)
	}
	all := reading{append(told.terms, screen.terms...), append(told.words, screen.words...)}
	if len(all.terms) == 0 {
		return all
	}
	said := map[uint64]bool{}
	for _, u := range units {
		for _, key := range u.terms {
			said[key] = true
		}
	}
	all.terms = slices.DeleteFunc(all.terms, func(key uint64) bool { return said[key] })
	return all
}

// reading is what a text holds: its terms, as often as each occurs, and its
// words in order.
type reading struct {
	terms []uint64
	words []token
}

// readText reads a text, groups of Latin letters only where letters are wanted.
func readText(text string, letters bool) (r reading) {
	if text == "" {
		return r
	}
	r.terms, r.words = make([]uint64, 0, len(text)/2), make([]token, 0, len(text)/5+1)
	scan(text, func(t term) {
		if letters || t.kind != kindGroup || !t.latin {
			r.terms = append(r.terms, t.key)
		}
		if t.whole() {
			r.words = append(r.words, t.token(len(r.words) == 0))
		}
	})
	return r
}

// unit adds one unit with its terms and those of the description it stands
// under: whoever asks for what was seen finds what was said meanwhile.
func (b *viewBuilder) unit(r *raw, own, about reading) {
	at := int32(len(b.v.units))
	b.terms = append(append(b.terms[:0], own.terms...), about.terms...)
	slices.Sort(b.terms)
	for rest := b.terms; len(rest) > 0; b.postings++ {
		key, n := rest[0], 1
		for n < len(rest) && rest[n] == key {
			n++
		}
		b.v.postings[key] = append(b.v.postings[key], posting{at, float32(n)})
		rest = rest[n:]
	}
	r.words = slices.Concat(own.words, about.words)
	r.length = float32(len(r.words))
	b.v.units = append(b.v.units, r.unit)
	b.search = append(b.search, r.search)
}

// counts are the terms of a text with how often each occurs.
type counts map[uint64]float32
