package retrieve

import (
	"cmp"
	"context"
	"slices"
	"strings"
)

// Two clips of different sources are copies of one another, damaged or edited a
// little, from this cosine on; shorter ones are alike by chance.
const (
	copyCosine = .9
	copyTokens = 20
)

// copyReach is how many times the trees of a question are looked through for
// ones that are no copies.
const copyReach = 4

// unlike are the views of the sources with the best hits, at most most, and of
// copies of the place that was hit only one, whose name its words say best: five
// uploads of one talk would leave no room for anything else.
func (e *Engine) unlike(ctx context.Context, tenant string, hits []Hit, most int) ([]*view, error) {
	best := map[string]string{} // the best L2 of a source
	var sources []string
	for _, h := range hits {
		if !slices.Contains(sources, h.Source) && len(sources) < copyReach*most {
			sources = append(sources, h.Source)
		}
		if best[h.Source] == "" && strings.Contains(h.Node, ".") {
			best[h.Source] = h.Node
		}
	}
	rarity := e.words.rarity(tenant)
	said := func(v *view) float64 {
		l := e.catalog.get(tenant, v.tree.Source.ID)
		if l == nil {
			return 0
		}
		return l.name.saidBy(v, rarity)
	}
	var out []*view
	for len(out) < most && len(sources) > 0 {
		n := min(most-len(out), len(sources))
		views, err := e.trees(ctx, tenant, slices.Clone(sources[:n]))
		if err != nil {
			return nil, err
		}
		slices.SortFunc(views, func(a, b *view) int {
			return cmp.Compare(slices.Index(sources, a.tree.Source.ID), slices.Index(sources, b.tree.Source.ID))
		})
		for _, v := range views {
			at := slices.IndexFunc(out, func(o *view) bool { return v.copyAt(o, best[v.tree.Source.ID], best[o.tree.Source.ID]) })
			switch {
			case at < 0:
				out = append(out, v)
			case said(v) > said(out[at]):
				out[at] = v
			}
		}
		sources = sources[n:]
	}
	slices.SortFunc(out, func(a, b *view) int { return cmp.Compare(a.tree.Source.ID, b.tree.Source.ID) })
	return out, nil
}

// copyAt reports whether the clips of two nodes are copies.
func (v *view) copyAt(o *view, node, other string) bool {
	a, in := v.byNode[node]
	b, too := o.byNode[other]
	return in && too && v.copies(a, o, b)
}

// copies reports whether clip a of v is a copy of clip b of another source.
func (v *view) copies(a int, o *view, b int) bool {
	x, y := &v.clips[a], &o.clips[b]
	return min(v.tokens(x.lo, x.hi), o.tokens(y.lo, y.hi)) >= copyTokens && dot(x.vector, y.vector) >= copyCosine
}

// copies reports whether two candidates of different sources lie in copies of
// one clip, or say the same in most of their words: where an upload begins
// later, or is a cut of the other, its clips hold other words.
func (c *candidate) copies(o *candidate) bool {
	return c.s.tree.Source.ID != o.s.tree.Source.ID && (c.s.copies(c.clip, o.s.view, o.clip) || c.repeatsWords(o))
}

// A line of fewer words than lineWords is not told apart by them, and two pieces
// that share fewer than sameWords are alike by chance.
const (
	lineWords = 5
	sameWords = 10
)

// line is one unit of a candidate that has words of its own.
type line struct {
	key   uint64
	words int
}

// said are the lines of a candidate.
func (c *candidate) said() []line {
	if c.lines == nil {
		c.lines = []line{}
		for _, u := range c.s.units[c.lo:c.hi] {
			if u.quote != "" && len(u.words) >= lineWords {
				c.lines = append(c.lines, line{lineKey(u.words), len(u.words)})
			}
		}
	}
	return c.lines
}

// lineKey is the FNV-1a hash of words in order.
func lineKey(words []token) uint64 {
	h := uint64(14695981039346656037)
	for _, w := range words {
		h = (h ^ uint64(w&tokenKey)) * 1099511628211
	}
	return h
}

// repeatsWords reports whether at least half of the words in either candidate's
// lines stand in the same lines of the other.
func (c *candidate) repeatsWords(o *candidate) bool {
	shared, own, other := 0, 0, 0
	for _, x := range o.said() {
		other += x.words
	}
	for _, x := range c.said() {
		own += x.words
		if slices.ContainsFunc(o.lines, func(y line) bool { return x.key == y.key }) {
			shared += x.words
		}
	}
	return shared >= sameWords && 2*shared >= min(own, other)
}

// repeats reports whether a candidate's clip is a copy of one that evidence of
// another source was chosen from: a second upload adds nothing.
func (l *ledger) repeats(c *candidate) bool { return slices.ContainsFunc(l.chosen, c.copies) }
