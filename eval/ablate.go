package eval

import (
	"context"
	"slices"

	"github.com/reeltree/reeltree/retrieve"
)

// Step is one row of the ablation: a stage added to those above it, or a
// baseline. Change compares it with the row that Against names.
type Step struct {
	Name    string                `json:"name"`
	Metrics Metrics               `json:"metrics"`
	Tokens  float64               `json:"tokens"`                 // evidence tokens of a question
	Scored  float64               `json:"nodes_scored,omitempty"` // by walks and flat search, for a question
	Pieces  float64               `json:"pieces_ranked,omitempty"`
	Walked  float64               `json:"walk_rounds,omitempty"`
	Against string                `json:"against,omitempty"`
	Change  map[string]Difference `json:"change,omitempty"`
}

// fullPipeline names the product as it is in comparisons.
const fullPipeline = "all stages"

// Switches of the flat ranking: no walk, no refinement, no limit by utility.
var flat = retrieve.Switches{Walk: true, Refine: true, Keff: true, Bridge: true}

// stages are what is added one after the other. Ranking by words alone has no
// vector at all; ranking by vectors has them in entry and ranking, where the
// engine has no switch that would take the words out again.
func stages() []stage {
	vectors := flat
	vectors.Keywords = true
	walk := flat
	walk.Walk = false
	refine := walk
	refine.Refine = false
	return []stage{
		{"BM25", condition{off: flat, blind: true}, nil},
		{"vectors", condition{off: vectors}, nil},
		{"fused", condition{off: flat}, nil},
		{"navigator", condition{off: walk}, nil},
		{"refiner", condition{off: refine}, nil},
		{"controller", condition{off: retrieve.Switches{Bridge: true}}, nil},
		{"bridges", condition{}, nil},
	}
}

// baselines cut the flat ranking in the ways the field does.
func baselines(full []int) []stage {
	at := condition{off: flat}
	return []stage{
		{"fixed top-5", at, topK(5)},
		{"fixed top-10", at, topK(10)},
		{"fixed top-20", at, topK(20)},
		{"largest drop", at, largestDrop},
		{"flat top-k at equal words", at, equalTokens(full)},
	}
}

// topK keeps the best k.
func topK(k int) keep {
	return func(_ int, ranked []retrieve.Item) []retrieve.Item { return first(ranked, k) }
}

// largestDrop cuts where the score falls most from one to the next (Adaptive-k).
func largestDrop(_ int, ranked []retrieve.Item) []retrieve.Item {
	at, drop := len(ranked), 0.0
	for i := 1; i < len(ranked); i++ {
		if d := ranked[i-1].Score - ranked[i].Score; d > drop {
			at, drop = i, d
		}
	}
	return ranked[:at]
}

// equalTokens keeps the best items that take no more than the full pipeline's
// evidence for the same question; one that does not fit is skipped.
func equalTokens(full []int) keep {
	return func(n int, ranked []retrieve.Item) []retrieve.Item {
		room := full[n]
		var out []retrieve.Item
		for _, it := range ranked {
			if it.Tokens <= room {
				out = append(out, it)
				room -= it.Tokens
			}
		}
		return out
	}
}

// ablate runs every stage and baseline. Each stage is compared with the one
// before it, the full pipeline with every baseline.
func (r *runner) ablate(ctx context.Context, full *outcome) ([]Step, error) {
	var steps []Step
	var before *outcome
	for _, s := range stages() {
		o, err := r.run(ctx, s)
		if err != nil {
			return nil, err
		}
		step := r.step(s.name, o)
		if before != nil {
			step.Against, step.Change = steps[len(steps)-1].Name, r.changes(before, o)
		}
		steps, before = append(steps, step), o
	}
	for _, s := range baselines(full.session.tokens) {
		o, err := r.run(ctx, s)
		if err != nil {
			return nil, err
		}
		step := r.step(s.name, o)
		step.Against, step.Change = fullPipeline, r.changes(full, o)
		steps = append(steps, step)
	}
	return steps, nil
}

func (r *runner) step(name string, o *outcome) Step {
	m := o.metrics()
	for k := range m {
		if !slices.Contains(r.task.headers, k) {
			delete(m, k)
		}
	}
	all := o.session.stats.means()["all"]
	return Step{Name: name, Metrics: m, Tokens: all.EvidenceTokens, Scored: all.NodesScored + all.LeavesScored, Pieces: all.PiecesRanked, Walked: all.WalkRounds}
}

func (r *runner) changes(before, after *outcome) map[string]Difference {
	out := map[string]Difference{}
	for _, name := range r.task.headers {
		out[name] = difference(name, before.tally, after.tally)
	}
	return out
}
