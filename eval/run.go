package eval

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/reeltree/reeltree/retrieve"
)

// Files of a run.
type Files struct {
	Data string // the task's lines
	Pool string // multihop: its passages
	Out  string // predictions are written here; "" for none

	Trial Trial
}

// job is a loaded task.
type job interface {
	// library builds its trees.
	library(context.Context, Config) (*library, error)
	// ask asks every question and gives the prediction lines with what they score.
	ask(context.Context, *session) ([]any, *tally, error)
}

// task is what is known of a task before its data is read.
type task struct {
	load func(Files) (job, error)
	// fill: the task fixes how many words are kept, so the choice fills the
	// budget instead of ending at the largest drop of utility.
	fill    bool
	unit    string   // what the bootstrap resamples
	headers []string // the metrics that tables of results show
}

var tasks = map[string]task{
	"moments":  {loadMoments, false, "video", append(slices.Clone(insideHeaders), "library_video_R1", "library_video_R10")},
	"meetings": {loadMeetings, true, "recording", []string{"recall@10%", "f1@10%", "hit@1"}},
	"multihop": {loadMultihop, false, "question", []string{"f1", "recall", "words"}},
	"passages": {loadPassages, true, "document", []string{"all_paragraph_R1", "all_paragraph_R5", "all_answer_in_60_words"}},
	"tables":   {loadTables, true, "document", []string{"all_evidence_complete", "all_words_kept"}},
}

// insideHeaders are the metrics of moments inside a video.
var insideHeaders = []string{"in_video_R1@0.3", "in_video_R1@0.5", "in_video_R1@0.7"}

// joinedHeaders are those of a long one.
var joinedHeaders = append(slices.Clone(insideHeaders), "in_video_R5@0.3", "in_video_R5@0.5")

// Report is what one run measured.
type Report struct {
	Task     string             `json:"task"`
	Data     string             `json:"data"`
	Pool     string             `json:"pool,omitempty"`
	Embedder string             `json:"embedder"`        // name of the vectors
	Version  string             `json:"version"`         // of the product, filled by the caller
	Trial    string             `json:"trial,omitempty"` // flags of a trial
	Metrics  Metrics            `json:"metrics"`
	Stats    map[string]Stats   `json:"stats,omitempty"` // by kind of question
	Ablation []Step             `json:"ablation,omitempty"`
	Curve    map[string][]Point `json:"curve,omitempty"` // answers: refusal by series
}

// Tasks are the names of the retrieval tasks, in order; Run also knows answers and refiner.
func Tasks() []string { return slices.Sorted(maps.Keys(tasks)) }

// Run runs a task, writes its predictions and measures them. With ablate it
// runs the task once more for every stage and baseline.
func Run(ctx context.Context, c Config, name string, f Files, ablate bool) (Report, error) {
	rep, err := run(ctx, c, name, f, ablate)
	rep.Task, rep.Data, rep.Pool, rep.Embedder, rep.Trial = name, f.Data, f.Pool, c.Embedder, f.Trial.flags()
	return rep, err
}

func run(ctx context.Context, c Config, name string, f Files, ablate bool) (Report, error) {
	switch name {
	case "answers":
		return runAnswers(ctx, c, f)
	case "refiner":
		return runRefiner(ctx, c, f)
	}
	t, ok := tasks[name]
	if !ok {
		return Report{}, fmt.Errorf("%q is not a task: choose one of answers, %s or refiner", name, strings.Join(Tasks(), ", "))
	}
	j, err := t.load(f)
	if err != nil {
		return Report{}, err
	}
	if j, err = f.Trial.on(name, j); err != nil {
		return Report{}, err
	}
	lib, err := j.library(ctx, c)
	if err != nil {
		return Report{}, err
	}
	if f.Trial.Join > 0 {
		t.headers = joinedHeaders
	}
	r := runner{task: t, job: j, lib: lib, config: c}
	all, err := r.run(ctx, stage{name: "all"})
	if err != nil {
		return Report{}, err
	}
	if f.Out != "" {
		if err := writeLines(f.Out, all.lines); err != nil {
			return Report{}, err
		}
	}
	rep := Report{Metrics: all.metrics(), Stats: all.session.stats.means()}
	switch {
	case f.Trial != (Trial{}):
		rep.Ablation, err = r.trial(ctx, f.Trial, all)
	case ablate:
		rep.Ablation, err = r.ablate(ctx, all)
	}
	return rep, err
}

// runner runs one task under several conditions.
type runner struct {
	task   task
	job    job
	lib    *library
	config Config
	known  map[condition][]retrieve.Result // what the engine found under each condition
}

// condition is what makes the engine find other things.
type condition struct {
	off   retrieve.Switches
	blind bool // no vectors at all
	// least and most rounds of a walk; 0: as trained
	least, most int
	// nodes of the entry and parts of a region; 0: as they are
	entry, branch int
}

// stage is a condition with what is kept of the evidence under it.
type stage struct {
	name string
	condition
	keep keep
}

// outcome is what a task gave under one condition.
type outcome struct {
	lines   []any
	tally   *tally
	session *session
}

func (o *outcome) metrics() Metrics {
	m := o.tally.metrics()
	m["predictions"] = float64(len(o.lines))
	return m
}

// run asks all questions; under a condition that was there before the engine
// need not be asked again.
func (r *runner) run(ctx context.Context, s stage) (*outcome, error) {
	s.off.Keff = s.off.Keff || r.task.fill
	o := &outcome{session: &session{lib: r.lib, keep: s.keep, known: r.known[s.condition]}}
	if o.session.known == nil {
		engine, err := r.open(ctx, s.condition)
		if err != nil {
			return nil, err
		}
		defer func() { _ = engine.Close() }() // it is in memory
		o.session.engine = engine
	}
	var err error
	if o.lines, o.tally, err = r.job.ask(ctx, o.session); err != nil {
		return nil, err
	}
	if o.session.known == nil {
		if r.known == nil {
			r.known = map[condition][]retrieve.Result{}
		}
		r.known[s.condition] = o.session.all
	}
	return o, nil
}

func (r *runner) open(ctx context.Context, s condition) (*retrieve.Engine, error) {
	c := r.config
	c.entry, c.branch = s.entry, s.branch
	if s.blind {
		c.Embed, c.Embedder = blind(c.Dim), "none"
	}
	var w *retrieve.Weights
	if s.most > 0 {
		var err error
		if w, err = retrieve.TrainedWeights(c.Embedder, c.Dim); err != nil {
			return nil, err
		}
		w.MinRounds, w.MaxRounds = s.least, s.most
	}
	return r.lib.open(ctx, c, s.off, w)
}

// blind embeds everything as the zero vector, so that words alone decide.
func blind(dim int) retrieve.Embed {
	return func(_ context.Context, texts []string) ([][]float32, error) {
		out := make([][]float32, len(texts))
		for i := range out {
			out[i] = make([]float32, dim)
		}
		return out, nil
	}
}
