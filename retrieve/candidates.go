package retrieve

import (
	"cmp"
	"slices"
	"strings"

	"github.com/reeltree/reeltree/tree"
)

const (
	flatLeaves  = 24  // best leaves of the entered trees that join the walk's
	nearlyBest  = .8  // of the best part's score, at which another part stays
	maxRegion   = 100 // tokens of one piece of evidence: a viewer wants the place, not a minute of talk
	maxRegionMS = 30_000
	maxQuote    = 200 // the same for questions about all of something
)

// candidate is a region that may become evidence: units [lo, hi) of one clip.
type candidate struct {
	s       *scored
	clip    int
	lo, hi  int
	run     int     // neighbouring leaves it joins; 0 for a region of one clip
	rel     float64 // RelQ, 0..1
	logit   float64 // of the navigator
	signals [signals]float64
	tokens  int
	terms   []uint64 // distinct content words, sorted
	facts   []uint64 // those of the question, names and numbers, sorted
	vector  []float32
	utility float64
	quote   string
	lines   []line // of what it says, nil until asked for
}

// finder collects candidates of the entered trees for one query text.
type finder struct {
	q       *question
	span    *tree.Span
	weights *Weights
	refiner *Refiner
	off     Switches
	most    int                // tokens of one piece of evidence
	whole   bool               // an aggregate question keeps whole stretches
	fill    bool               // every clip is a candidate, in pieces
	compare bool               // the question compares or reckons
	entry   map[string]float64 // scores of the nodes the indexes hit, 0..1
	trace   func(stage, action, node string, score float64)
}

// candidates are the regions that walk, flat ranking and entry propose,
// tightened by refinement, best first. Flat ranking proposes, the tree decides
// depth; with untrained weights the walk only adds.
func (f *finder) candidates(hits []Hit) []*candidate {
	var all []*candidate
	views := make([]*scored, len(f.q.trees))
	for i, v := range f.q.trees {
		views[i] = f.q.score(v)
	}
	clips, leaves := f.flat(views)
	for i, s := range views {
		w := f.navigate(s)
		leaves[i] = f.walked(w, clips[i], leaves[i])
		f.entered(s, hits, clips[i])
		for c := range s.clips {
			if (f.fill || f.whole) && inSpan(s.clips[c].node.Span, f.span) {
				clips[i][c] = true
			}
		}
		r := f.refiner.scorer(s, w.f)
		var own []*candidate
		for _, c := range sortedKeys(clips[i]) {
			own = append(own, f.refined(r, c, leaves[i])...)
		}
		all = append(all, f.ranked(w, own, leaves[i])...)
		f.traceCost(w)
	}
	slices.SortStableFunc(all, func(a, b *candidate) int { return cmp.Or(cmp.Compare(b.rel, a.rel), a.before(b)) })
	return all
}

func (c *candidate) before(o *candidate) int {
	return cmp.Or(cmp.Compare(c.s.tree.Source.ID, o.s.tree.Source.ID), cmp.Compare(c.lo, o.lo), cmp.Compare(c.hi, o.hi))
}

func sortedKeys(m map[int]bool) []int {
	var keys []int
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// flat gives per view the best leaves over all entered trees and marks their clips.
func (f *finder) flat(views []*scored) (clips []map[int]bool, leaves [][]int) {
	clips, leaves = make([]map[int]bool, len(views)), make([][]int, len(views))
	type ranked struct {
		view, leaf int
		score      float64
	}
	var best []ranked
	for i, s := range views {
		clips[i] = map[int]bool{}
		if f.off.Flat {
			continue
		}
		f.trace("cost", "leaves", s.tree.Source.ID, float64(len(s.leaves)))
		for l, score := range f.leafScores(s) {
			if f.allowed(s, l) {
				best = append(best, ranked{i, l, score})
			}
		}
	}
	slices.SortFunc(best, func(a, b ranked) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.view, b.view), cmp.Compare(a.leaf, b.leaf))
	})
	for _, r := range best[:min(len(best), flatLeaves)] {
		l := views[r.view].leaves[r.leaf]
		clips[r.view][l.clip] = true
		leaves[r.view] = append(leaves[r.view], r.leaf)
		f.trace("flat", "hit", l.node.ID, r.score)
	}
	return clips, leaves
}

// leafScores rate every leaf.
func (f *finder) leafScores(s *scored) []float64 {
	out := make([]float64, len(s.leaves))
	for i := range s.leaves {
		out[i] = f.leafScore(s, i)
	}
	return out
}

func (f *finder) leafScore(s *scored, leaf int) float64 {
	l := &s.leaves[leaf]
	return mixes[l.layer].of(s.signals(l.group, f.entry[s.clips[l.clip].node.ID]))
}

func (f *finder) allowed(s *scored, leaf int) bool { return inSpan(s.leaves[leaf].node.Span, f.span) }

// walked adds the clips and leaves of the navigator's paths.
func (f *finder) walked(w *walk, clips map[int]bool, leaves []int) []int {
	if f.off.Walk {
		return leaves
	}
	s := w.s
	for _, p := range w.paths(func(l int) bool { return f.allowed(s, l) }) {
		clips[p.clip] = true
		if !slices.Contains(leaves, p.leaf) {
			leaves = append(leaves, p.leaf)
		}
		f.trace("walk", "step", s.leaves[p.leaf].node.ID, p.scores[2])
	}
	return leaves
}

// traceCost notes what the navigator's work on one tree came to.
func (f *finder) traceCost(w *walk) {
	if w.scored > 0 {
		f.trace("cost", "rounds", w.s.tree.Source.ID, float64(w.rounds))
		f.trace("cost", "scored", w.s.tree.Source.ID, float64(w.scored))
		f.trace("cost", "pieces", w.s.tree.Source.ID, float64(w.pieces))
	}
}

// entered adds the L2 nodes that the indexes hit.
func (f *finder) entered(s *scored, hits []Hit, clips map[int]bool) {
	if f.off.Entered {
		return
	}
	for _, h := range hits {
		if c, ok := s.byNode[h.Node]; ok && h.Source == s.tree.Source.ID && inSpan(s.clips[c].node.Span, f.span) {
			clips[c] = true
		}
	}
}

// refined are the candidates of one clip: what refinement keeps of it, and of
// the flat ranking's leaves in it that refinement passed by. A question of two
// parts has its second answer there: only one part of the clip beats the whole.
func (f *finder) refined(r *refineScorer, clip int, leaves []int) []*candidate {
	s := r.s
	top := s.clips[clip].groups
	score := func(g *group) float64 { return relevance(s.regionLexical(g.lo, g.hi), s.groupCosine(g)) }
	var out []*candidate
	if f.off.Refine || f.whole || f.fill {
		f.keepWhole(s, top, func(g *group) { out = f.add(out, s, g) })
		return out
	}
	keep := func(g *group, rel float64) {
		for _, g := range f.fitting(s, g, score) {
			out = f.add(out, s, g)
		}
		f.trace("refine", "kept", s.name(g.lo, g.hi), rel)
	}
	f.refiner.refine(top, r.score, keep)
	for _, l := range leaves {
		g := s.leaves[l].group
		covered := slices.ContainsFunc(out, func(c *candidate) bool { return c.lo < g.hi && g.lo < c.hi })
		if g.clip == clip && !covered {
			f.refiner.refine(g, r.score, keep)
		}
	}
	return out
}

// fitting are g, or where it is longer than a quote may be those of its parts
// that are nearly as good as its best part.
func (f *finder) fitting(s *scored, g *group, score func(*group) float64) []*group {
	if f.fits(s, g.lo, g.hi) || len(g.kids) == 0 {
		return []*group{g}
	}
	f.trace("refine", "split", s.name(g.lo, g.hi), score(g))
	var best float64
	scores := make([]float64, len(g.kids))
	for i, k := range g.kids {
		scores[i] = score(k)
		best = max(best, scores[i])
	}
	var out []*group
	for i, k := range g.kids {
		if scores[i] >= nearlyBest*best {
			out = append(out, f.fitting(s, k, score)...)
		}
	}
	return out
}

// fits reports whether units [lo, hi) can be one piece of evidence.
func (f *finder) fits(s *scored, lo, hi int) bool {
	return s.tokens(lo, hi) <= f.most && (f.whole || joinSpans(s.units[lo].span, s.units[hi-1].span).Duration() <= maxRegionMS)
}

// keepWhole hands on the largest regions that a quote may hold, in order; of a
// table that is not wanted whole, its rows.
func (f *finder) keepWhole(s *scored, g *group, keep func(*group)) {
	if len(g.kids) == 0 || f.fits(s, g.lo, g.hi) && (f.whole || s.units[g.lo].span.Unit != tree.UnitRows) {
		keep(g)
		return
	}
	for _, k := range g.kids {
		f.keepWhole(s, k, keep)
	}
}

// add appends the region as a candidate, joined with the one before where they
// touch, and cut to the span that was asked for.
func (f *finder) add(out []*candidate, s *scored, g *group) []*candidate {
	lo, hi := g.lo, g.hi
	for lo < hi && !inSpan(s.units[lo].span, f.span) {
		lo++
	}
	for hi > lo && !inSpan(s.units[hi-1].span, f.span) {
		hi--
	}
	if lo == hi {
		return out
	}
	signals := f.tabular(s, g)
	if n := len(out); n > 0 && !f.whole && !f.fill && out[n-1].hi == lo && f.fits(s, out[n-1].lo, hi) {
		lo = out[n-1].lo
		for i, x := range out[n-1].signals {
			signals[i] = max(x, signals[i])
		}
		out = out[:n-1]
	}
	rel := mixes[s.leaves[s.units[lo].leaf].layer].of(signals)
	return append(out, &candidate{s: s, clip: g.clip, lo: lo, hi: hi, rel: rel, signals: signals, tokens: s.tokens(lo, hi)})
}

// tokens is what units [lo, hi) cost when shown.
func (v *view) tokens(lo, hi int) int {
	n := 0
	for _, u := range v.units[lo:hi] {
		n += u.tokens
	}
	return n
}

// name is the id of the tightest stored node that holds units [lo, hi).
func (v *view) name(lo, hi int) string { return v.holder(lo, hi).ID }

// holder is the tightest stored node that holds units [lo, hi).
func (v *view) holder(lo, hi int) *tree.Node {
	first, last := v.units[lo].leaf, v.units[hi-1].leaf
	switch a, b := v.leaves[first].clip, v.leaves[last].clip; {
	case first == last:
		return v.leaves[first].node
	case a == b:
		return v.clips[a].node
	default:
		return v.roots[v.clips[a].root].node
	}
}

// words is what units [lo, hi) show, in one text.
func (v *view) words(lo, hi int) string { return joinParts(v.parts(lo, hi)) }

// joinParts is one text of parts. Descriptions alone are not raw and are bounded.
func joinParts(parts []Part, raw bool) string {
	var all []string
	for _, p := range parts {
		all = append(all, p.Text)
	}
	if raw {
		return strings.Join(all, " ")
	}
	return bounded(strings.Join(all, " "))
}

// parts are the words that units [lo, hi) show with their places: raw ones, and
// where a leaf has none its description. raw is whether there are any raw ones.
func (v *view) parts(lo, hi int) (parts []Part, raw bool) {
	last := -1
	for _, u := range v.units[lo:hi] {
		switch {
		case u.quote != "":
			raw, parts = true, append(parts, Part{u.span, u.quote})
		case u.leaf != last && v.leaves[u.leaf].node.Text != "":
			parts = append(parts, Part{u.span, v.leaves[u.leaf].node.Text})
		}
		last = u.leaf
	}
	return parts, raw
}
