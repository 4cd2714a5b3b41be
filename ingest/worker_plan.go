package ingest

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/reeltree/reeltree/tree"
)

// jobPlan is what planning found out and every stretch of the job needs. It is
// stored, so that a stretch never probes again and all stretches see the same.
type jobPlan struct {
	Kind      tree.Kind   `json:"kind"`
	Document  string      `json:"document,omitempty"` // format of a document
	Video     bool        `json:"video"`              // has pictures to be sampled
	Format    string      `json:"format,omitempty"`
	From      int64       `json:"from_ms"`
	To        int64       `json:"to_ms"`
	Frames    int64       `json:"frames"`
	Cues      []tree.Cue  `json:"cues,omitempty"`
	Chapters  []Chapter   `json:"chapters,omitempty"`
	Stretches []Stretch   `json:"stretches"`
	Warnings  []string    `json:"warnings,omitempty"`
	Partial   bool        `json:"partial"`
	Stale     bool        `json:"stale"` // stored clips are of another build and cannot be removed
	Calls     tree.Calls  `json:"calls"` // what planning cost: transcription
	Source    tree.Source `json:"source"`
}

// facts are what the cutter gets to see of a plan.
func (p *jobPlan) facts() CutFacts {
	return CutFacts{FromMS: p.From, ToMS: p.To, Chapters: p.Chapters, Cues: p.Cues, Frames: p.Frames}
}

// weight is the whole of the job as progress counts it.
func (p *jobPlan) weight() int64 {
	if p.To > p.From {
		return p.To - p.From
	}
	return p.Source.Length
}

// clipForgetter is what a store of results may also know: to drop all clips of
// a source that were made with other settings, and its tree.
type clipForgetter interface {
	ForgetClips(ctx context.Context, tenant, source string) error
}

// plan probes the source, cuts it into stretches and queues them. A plan that
// is stored already is used again, so a resumed job never changes its mind.
func (w *Worker) plan(ctx context.Context, job tree.Job, l *live) error {
	if len(job.Plan) == 0 {
		w.report(job, tree.Progress{Stage: "probe"})
		src, err := w.Catalog.Source(ctx, job.Tenant, job.Source)
		if err != nil {
			return fmt.Errorf("cannot read the source: %w", err)
		}
		p, err := w.makePlan(ctx, src, job.Options, w.transcriber(job, l))
		if err != nil {
			return err
		}
		if err := w.clear(ctx, src, job, p); err != nil {
			return err
		}
		if job, err = w.savePlan(ctx, job, p); err != nil {
			return err
		}
		l.chargePlan(p)
	}
	now, err := w.changeJob(ctx, job, func(j *tree.Job) {
		if j.State == tree.StateQueued {
			j.State = tree.StateRunning
		}
	})
	if err != nil {
		return err
	}
	if err := w.mirror(ctx, now); err != nil {
		return err
	}
	var tasks []tree.Task
	for i := range now.Plan {
		if !slices.Contains(now.Finished, i) || allFinished(now) {
			tasks = append(tasks, tree.Task{Tenant: job.Tenant, Job: job.ID, Stretch: i})
		}
	}
	return w.Queue.Enqueue(ctx, tasks...)
}

// clear drops clips of a build with other settings, which must not be taken
// for this job's.
func (w *Worker) clear(ctx context.Context, src tree.Source, job tree.Job, p *jobPlan) error {
	if src.Fingerprint == "" || src.Fingerprint == w.fingerprint(job.Options) {
		return nil
	}
	f, ok := w.Results.(clipForgetter)
	if !ok {
		p.Stale = true
		return nil
	}
	if err := f.ForgetClips(ctx, src.Tenant, src.ID); err != nil {
		return fmt.Errorf("cannot drop what was made with other settings: %w", err)
	}
	if w.Forget == nil {
		return nil
	}
	if err := w.Forget(ctx, src.Tenant, src.ID); err != nil {
		return fmt.Errorf("cannot take what was made with other settings out of the index: %w", err)
	}
	return nil
}

// savePlan stores the plan, then shows its facts on the source and the job.
func (w *Worker) savePlan(ctx context.Context, job tree.Job, p *jobPlan) (tree.Job, error) {
	data, err := json.Marshal(p)
	if err != nil {
		return job, fmt.Errorf("cannot write down the plan: %w", err)
	}
	if err := w.Plans.SavePlan(ctx, job.Tenant, job.ID, data); err != nil {
		return job, fmt.Errorf("cannot store the plan: %w", err)
	}
	_, err = w.changeSource(ctx, job, func(s *tree.Source) {
		f, mark := p.Source, w.fingerprint(job.Options)
		if s.Fingerprint != mark && !p.Stale {
			s.Nodes, s.Calls = tree.Counts{}, 0 // the old tree is gone
		}
		s.Kind, s.DurationMS, s.Length, s.Width, s.Height = f.Kind, f.DurationMS, f.Length, f.Width, f.Height
		s.Title, s.Language, s.Fingerprint, s.Warnings = f.Title, f.Language, mark, p.Warnings
		s.MIME = cmp.Or(f.MIME, s.MIME)
	})
	if err != nil {
		return job, err
	}
	return w.changeJob(ctx, job, func(j *tree.Job) {
		j.Plan, j.Finished, j.Warnings = make([]tree.Span, len(p.Stretches)), nil, p.Warnings
		for i, st := range p.Stretches {
			j.Plan[i] = st.Span
		}
	})
}

// loadPlan reads the stored plan of a job.
func (w *Worker) loadPlan(ctx context.Context, job tree.Job) (*jobPlan, error) {
	data, err := w.Plans.Plan(ctx, job.Tenant, job.ID)
	if err != nil {
		return nil, fmt.Errorf("cannot read the plan: %w", err)
	}
	p := &jobPlan{}
	if err := json.Unmarshal(data, p); err != nil {
		return nil, fmt.Errorf("cannot understand the plan: %w", err)
	}
	if len(p.Stretches) != len(job.Plan) {
		return nil, fmt.Errorf("the plan has %d stretches, the job %d", len(p.Stretches), len(job.Plan))
	}
	return p, nil
}

// makePlan finds out what the content is and plans its stretches.
func (w *Worker) makePlan(ctx context.Context, src tree.Source, opt tree.IngestOptions, hear listener) (*jobPlan, error) {
	file, err := w.Files.OpenContent(ctx, src.Tenant, src.ID)
	if err != nil {
		return nil, fmt.Errorf("cannot open the content: %w", err)
	}
	defer func() { _ = file.Close() }()
	format, err := documentFormat(nameOf(src), src.MIME, file)
	if err != nil {
		return nil, err
	}
	if format == "" {
		return w.planMedia(ctx, src, opt, file, hear)
	}
	return w.planDocument(ctx, src, format, file)
}

// nameOf is the file name of a source, for its extension and for sentences.
func nameOf(src tree.Source) string {
	name := src.Origin
	if name == "" {
		name = src.Title
	}
	name, _, _ = strings.Cut(name, "?")
	return path.Base(strings.ReplaceAll(name, "\\", "/"))
}

// titled fills an empty title: the one inside the file, else the file's name.
func titled(src *tree.Source, inside string) {
	if src.Title == "" {
		src.Title = flatText(inside, 300)
	}
	if src.Title == "" {
		src.Title = nameOf(*src)
	}
}

// content opens a source's bytes for one call.
func (w *Worker) content(ctx context.Context, src tree.Source, use func(*os.File) error) error {
	file, err := w.Files.OpenContent(ctx, src.Tenant, src.ID)
	if err != nil {
		return fmt.Errorf("cannot open the content: %w", err)
	}
	defer func() { _ = file.Close() }()
	return use(file)
}
