package retrieve

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	"github.com/reeltree/reeltree/tree"
)

// How long videos are made of short ones, and what is noted of them: joined so
// many at a time, one question of so many, and beside the gold the L2 of the
// L1 that look best and the spans around the leaves that do.
var longJoins = [...]int{50, 150, 450}

const (
	longEvery  = 6
	longRoots  = 5
	longLeaves = 16
)

// longTree lays videos out after one another as one source: a new L1 at the
// first video that begins ten minutes or more after the last one did.
func longTree(t *testing.T, vs []video, id string) (*tree.Tree, []lessonQuestion) {
	t.Helper()
	out := &tree.Tree{Models: map[string]string{"l3": "people"}}
	var asked []lessonQuestion
	var root *tree.Node
	var at int64
	for _, v := range vs {
		if root == nil || at-root.Span.StartMS >= 600_000 {
			root = &tree.Node{ID: tree.NodeID(id, len(out.Roots)), Level: tree.L1, Span: tree.MS(at, at+1)}
			out.Roots = append(out.Roots, root)
		}
		end := at + int64(v.Duration*1000)
		short := videoTree(v, id).Roots[0].Children
		slices.SortStableFunc(short, func(a, b *tree.Node) int { return cmp.Compare(a.Span.StartMS, b.Span.StartMS) })
		for _, n := range short {
			n.ID = tree.NodeID(id, len(out.Roots)-1, len(root.Children))
			n.Span = tree.MS(at+n.Span.StartMS, at+n.Span.EndMS)
			n.Children[0].ID, n.Children[0].Span = n.ID+".0", n.Span
			root.Children, end = append(root.Children, n), max(end, n.Span.EndMS)
		}
		for _, q := range v.Queries {
			asked = append(asked, lessonQuestion{q.Text, []tree.Span{tree.MS(at+int64(q.Start*1000), at+int64(q.End*1000))}})
		}
		at, root.Span.EndMS = end, end
	}
	out.Source = tree.Source{ID: id, Tenant: "default", Kind: tree.KindVideo, DurationMS: at}
	for _, r := range out.Roots {
		r.Text = toldOf(t, out.Source, r)
	}
	return out, asked
}

// toldOf is an L1 in the words of the extractive describer.
func toldOf(t *testing.T, src tree.Source, n *tree.Node) string {
	t.Helper()
	var texts []string
	for _, c := range n.Children {
		texts = append(texts, c.Text)
	}
	text, _, err := tree.Extractive{}.L1(t.Context(), tree.StretchRequest{Source: src, Span: n.Span, L2: texts})
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// long notes the questions of joined videos, each on a part of its tree.
func (l *lessons) long(name string) {
	rest := bothWays(l.t, name)
	trees, asked := map[string]*tree.Tree{}, map[string][]lessonQuestion{}
	var ids []string
	for len(rest) > 0 {
		n := min(len(rest), longJoins[len(ids)%len(longJoins)])
		id := fitID(len(ids))
		trees[id], asked[id] = longTree(l.t, rest[:n], id)
		ids, rest = append(ids, id), rest[n:]
	}
	e := opened(l.t, trees)
	for i, id := range ids {
		v, err := e.view(l.t.Context(), "default", id)
		if err != nil {
			l.t.Fatal(err)
		}
		p := l.part(v)
		for k := i % longEvery; k < len(asked[id]); k += longEvery {
			l.asked(e, p, fmt.Sprint("part", i%7), asked[id][k])
		}
	}
}

// longPart is a long tree whose vectors are written.
type longPart struct {
	v            *view
	roots, clips int // first row of each
	regions      map[[2]int]int
}

func (l *lessons) part(v *view) *longPart {
	p := &longPart{v: v, roots: l.rows, regions: map[[2]int]int{}}
	for _, r := range v.roots {
		l.vector(r.vector)
	}
	p.clips = l.rows
	for _, c := range v.clips {
		l.vector(c.vector)
	}
	for _, r := range lessonRegions(v) {
		p.regions[[2]int{r.lo, r.hi}] = l.vector(v.unitVector(r.lo, r.hi))
	}
	return p
}

// asked notes one question: all L1, the L2 of the best of them, the spans
// around the best leaves, and all that is gold.
func (l *lessons) asked(e *Engine, p *longPart, series string, asked lessonQuestion) {
	v := p.v
	q := &question{text: asked.text, terms: readQuestion(asked.text), trees: []*view{v}}
	vectors, err := e.cfg.Embed(l.t.Context(), []string{asked.text})
	if err != nil {
		l.t.Fatal(err)
	}
	q.vector = vectors[0]
	q.weigh()
	s := q.score(v)
	out := lessonTree{Series: series, Layer: "seen", Roots: len(v.roots), Ask: []int{l.vector(q.vector)}, Phi: []int{l.notes}}
	note := l.noting(s, asked.gold)
	best := bestOf((&finder{q: q}).leafScores(s))
	near := slices.Clone(best[:min(longLeaves, len(best))])
	roots := map[int]bool{}
	for i := range v.leaves {
		x := &v.leaves[i]
		if goldOf(v, x.lo, x.hi, asked.gold)[1] > 0 {
			near, roots[v.clips[x.clip].root] = append(near, i), true
		}
	}
	for _, i := range best {
		if root := v.clips[v.leaves[i].clip].root; len(roots) < longRoots {
			roots[root] = true
		}
	}
	for i, r := range v.roots {
		out.Nodes = append(out.Nodes, p.roots+i)
		note(v.clips[r.clipLo].lo, v.clips[r.clipHi-1].hi, 1, 0, dot(q.vector, r.vector))
	}
	for i, c := range v.clips {
		if roots[c.root] {
			out.Clips, out.Nodes = append(out.Clips, c.root), append(out.Nodes, p.clips+i)
			note(c.lo, c.hi, 1, 1, dot(q.vector, c.vector))
		}
	}
	for _, r := range around(v, near) {
		row := p.regions[[2]int{r.lo, r.hi}]
		out.Regions, out.Nodes = append(out.Regions, r.clip), append(out.Nodes, row)
		note(r.lo, r.hi, r.run, 2, dot(q.vector, v.unitVector(r.lo, r.hi)))
	}
	l.trees = append(l.trees, out)
}

// bestOf are the indexes of scores, best first.
func bestOf(scores []float64) []int {
	order := make([]int, len(scores))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Or(cmp.Compare(scores[b], scores[a]), cmp.Compare(a, b)) })
	return order
}

// around are leaves and the runs that hold them, each once.
func around(v *view, leaves []int) (out []region) {
	seen := map[[2]int]bool{}
	add := func(r region) {
		if at := [2]int{r.lo, r.hi}; !seen[at] {
			seen[at] = true
			out = append(out, r)
		}
	}
	for _, l := range leaves {
		x := &v.leaves[l]
		add(region{x.clip, x.lo, x.hi, 1})
		v.runs(l, add)
	}
	return out
}
