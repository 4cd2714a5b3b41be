package retrieve

import (
	"context"
	"slices"

	"github.com/reeltree/reeltree/tree"
)

// Junction is one region at which refinement decides, and what it decides
// between, for one question. Regions below a wholly gold one are left out, and
// so are those that cover no gold or have one part alone: nothing is decided there.
type Junction struct {
	Level string    // of the region: "l1", "l2", "group" of L3, "l3", "part" of one
	Layer string    // of the tree: "seen", "spoken", "shown", "written"
	Asked []float32 // vector of the question
	Whole Side
	Parts []Side
}

// Side is a region as the refiner sees it.
type Side struct {
	Level  string    // as Junction.Level, and "unit"
	Gold   float64   // share of its units that are gold
	Tokens int       // of its units
	Score  float64   // s(q,v) + o
	Terms  []float32 // the scalar terms of the score
	Vector []float32 // of the region, of unit length
}

// Held are the preferences of a junction (DESIGN 4.3) that the scores hold, and
// all there are. Wholly gold: it beats each part. Partly: each part with gold
// beats it and every part without, and it beats those.
func (j *Junction) Held() (held, all int) {
	over := func(a, b *Side) {
		all++
		if a.Score > b.Score {
			held++
		}
	}
	for i := range j.Parts {
		p := &j.Parts[i]
		switch {
		case j.Whole.Gold == 1:
			over(&j.Whole, p)
		case p.Gold == 0:
			over(&j.Whole, p)
		default:
			over(p, &j.Whole)
			for k := range j.Parts {
				if j.Parts[k].Gold == 0 {
					over(p, &j.Parts[k])
				}
			}
		}
	}
	return held, all
}

// levelNames are what Junction.Level says of each kind of region.
var levelNames = [groupKinds]string{groupClip: "l2", groupMany: "group", groupLeaf: "l3", groupPart: "part", groupUnit: "unit", groupRoot: "l1"}

// layerNames are what Junction.Layer says of each kind of material.
var layerNames = [layers]string{"seen", "spoken", "shown", "written"}

// Junctions are the decisions of the refiner on one source for a question whose
// gold places are known, from L1 down. It finds nothing: it is how refinement
// is measured and learned.
func (e *Engine) Junctions(ctx context.Context, tenant, source, text string, gold []tree.Span) ([]Junction, error) {
	v, err := e.view(ctx, tenant, source)
	if err != nil {
		return nil, err
	}
	vectors, err := embedChecked(ctx, e.cfg.Embed, []string{clip(text)}, e.cfg.Dim)
	if err != nil {
		return nil, err
	}
	q := &question{text: text, terms: readQuestion(text), trees: []*view{v}, vector: vectors[0]}
	q.weigh()
	s := q.score(v)
	r := e.cfg.Refiner
	j := judge{rule: r, scorer: &refineScorer{s: s, set: r.sets[v.material()]}, gold: v.goldUnits(gold)}
	for i := range v.roots {
		j.at(v.rootGroup(i))
	}
	return j.out, nil
}

// rootGroup is L1 i over its L2.
func (v *view) rootGroup(i int) *group {
	r := &v.roots[i]
	g := &group{kind: groupRoot, lo: v.clips[r.clipLo].lo, hi: v.clips[r.clipHi-1].hi, clip: r.clipLo, leaf: -1}
	for c := r.clipLo; c < r.clipHi; c++ {
		g.kids = append(g.kids, v.clips[c].groups)
	}
	g.norm = v.norm(g.lo, g.hi)
	return g
}

// judge collects junctions of one source.
type judge struct {
	rule   *Refiner
	scorer *refineScorer
	gold   []int // running count of gold units
	out    []Junction
}

func (j *judge) share(g *group) float64 {
	return float64(j.gold[g.hi]-j.gold[g.lo]) / float64(g.hi-g.lo)
}

func (j *judge) side(g *group) Side {
	t := j.scorer.of(g)
	return Side{
		Level: levelNames[g.kind], Gold: j.share(g), Tokens: j.scorer.s.tokens(g.lo, g.hi), Score: j.scorer.score(g) + j.rule.Offset[g.kind],
		Terms: t[:], Vector: j.scorer.s.vectorOf(g),
	}
}

// at notes the decision at g and goes on below.
func (j *judge) at(g *group) {
	share := j.share(g)
	if share == 0 || len(g.kids) == 0 {
		return
	}
	if len(g.kids) > 1 {
		d := Junction{Level: levelNames[g.kind], Layer: layerNames[j.scorer.s.material()], Asked: j.scorer.s.q.vector, Whole: j.side(g)}
		for _, k := range g.kids {
			d.Parts = append(d.Parts, j.side(k))
		}
		j.out = append(j.out, d)
	}
	if share == 1 && len(g.kids) > 1 {
		return
	}
	for _, k := range g.kids {
		j.at(k)
	}
}

// goldUnits counts, before each unit, those that are gold: they share at least
// half of the shorter of the two with a gold place.
func (v *view) goldUnits(gold []tree.Span) []int {
	out := make([]int, len(v.units)+1)
	for i := range v.units {
		out[i+1] = out[i]
		if slices.ContainsFunc(gold, func(g tree.Span) bool { return halfShared(v.units[i].span, g) }) {
			out[i+1]++
		}
	}
	return out
}

// halfShared reports whether two places share at least half of the shorter one.
func halfShared(a, b tree.Span) bool {
	if a.Unit != b.Unit || a.Page != b.Page || a.Paragraph != b.Paragraph || a.Table != b.Table {
		return false
	}
	ends := func(s tree.Span) (int64, int64) {
		switch s.Unit {
		case tree.UnitRows:
			return int64(s.RowStart), int64(s.RowEnd)
		case tree.UnitText:
			return int64(s.StartChar), int64(s.EndChar)
		}
		return s.StartMS, s.EndMS
	}
	aLo, aHi := ends(a)
	bLo, bHi := ends(b)
	shared := min(aHi, bHi) - max(aLo, bLo)
	return shared > 0 && 2*shared >= min(aHi-aLo, bHi-bLo)
}
