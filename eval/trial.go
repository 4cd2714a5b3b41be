package eval

import (
	"context"
	"fmt"

	"github.com/reeltree/reeltree/retrieve"
)

// Trial is a run of a task on material or under conditions that its data alone
// does not have. At most one field is set.
type Trial struct {
	Join    int    // moments: so many videos, in the order of the file, are one source
	Stress  string // meetings: "copies" or "damage"
	Halting bool   // meetings: the learned stop beside walks of fixed length
	Numbers bool   // any task: other numbers of entry nodes and of parts of a region
}

// on is a loaded task under the trial.
func (t Trial) on(name string, j job) (job, error) {
	switch {
	case t.Join < 0 || t.set() > 1:
		return nil, fmt.Errorf("a run takes one of --join, --stress, --halting and --sensitivity, and only positive numbers: leave the others out")
	case t.Join > 0:
		if m, ok := j.(*moments); ok {
			return &moments{joined(m.data, t.Join), true}, nil
		}
		return nil, fmt.Errorf("%s has no videos to join: choose moments", name)
	case t.Stress != "":
		if m, ok := j.(*meetings); ok {
			return m.stressed(t.Stress)
		}
		return nil, fmt.Errorf("%s has no recordings to copy or damage: choose meetings", name)
	case t.Halting:
		if _, ok := j.(*meetings); !ok {
			return nil, fmt.Errorf("%s takes a round or two of any walk: choose meetings", name)
		}
	}
	return j, nil
}

func (t Trial) set() (n int) {
	for _, on := range []bool{t.Join != 0, t.Stress != "", t.Halting, t.Numbers} {
		if on {
			n++
		}
	}
	return n
}

// flags is how the trial is asked for, "" for none.
func (t Trial) flags() string {
	switch {
	case t.Join > 0:
		return fmt.Sprint(" --join ", t.Join)
	case t.Stress != "":
		return " --stress " + t.Stress
	case t.Halting:
		return " --halting"
	case t.Numbers:
		return " --sensitivity"
	}
	return ""
}

// Walks of fixed length are compared with the learned stop after at least one
// and at least two rounds.
const fixedRounds = 5

// rows are the conditions of the trial that its result is compared with; each
// names the one before it, the first one nothing.
func (t Trial) rows() []stage {
	walk := retrieve.Switches{Flat: true, Entered: true}
	rounds := func(off retrieve.Switches, least, most int) condition {
		return condition{off: off, least: least, most: most}
	}
	switch {
	case t.Join > 0:
		return []stage{
			{"walk and flat search", condition{}, nil},
			{"flat search alone", condition{off: retrieve.Switches{Walk: true}}, nil},
			{"walk alone", condition{off: walk}, nil},
		}
	case t.Halting:
		return []stage{
			{"five rounds", rounds(retrieve.Switches{}, fixedRounds, fixedRounds), nil},
			{"learned stop, at least 1", rounds(retrieve.Switches{}, 1, fixedRounds), nil},
			{"learned stop, at least 2", rounds(retrieve.Switches{}, 2, fixedRounds), nil},
		}
	case t.Numbers:
		return []stage{
			{"10 nodes, 2 parts", condition{}, nil},
			{"5 nodes", condition{entry: 5}, nil},
			{"20 nodes", condition{entry: 20}, nil},
			{"4 parts", condition{branch: 4}, nil},
		}
	}
	return nil
}

// trial runs the rows of a trial. Each is compared with the first.
func (r *runner) trial(ctx context.Context, t Trial, all *outcome) ([]Step, error) {
	if m, ok := r.job.(*meetings); ok && m.plain != nil {
		return r.stress(ctx, t, m, all)
	}
	var out []Step
	var before *outcome
	for _, s := range t.rows() {
		o, err := r.run(ctx, s)
		if err != nil {
			return nil, err
		}
		step := r.step(s.name, o)
		if before == nil {
			before = o
		} else {
			step.Against, step.Change = out[0].Name, r.changes(before, o)
		}
		out = append(out, step)
	}
	return out, nil
}

// stress compares stressed recordings with themselves as they were.
func (r *runner) stress(ctx context.Context, t Trial, m *meetings, all *outcome) ([]Step, error) {
	lib, err := m.plain.library(ctx, r.config)
	if err != nil {
		return nil, err
	}
	plain := &runner{task: r.task, job: m.plain, lib: lib, config: r.config}
	o, err := plain.run(ctx, stage{name: "all"})
	if err != nil {
		return nil, err
	}
	before, after := r.step("as recorded", o), r.step(t.Stress, all)
	after.Against, after.Change = before.Name, r.changes(o, all)
	return []Step{before, after}, nil
}
