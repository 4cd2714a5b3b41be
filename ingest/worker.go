package ingest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/reeltree/reeltree/tree"
)

// Worker turns queued tasks into trees. A job is one planning task and one task
// per L1 stretch; each stores what it finished before it is acknowledged, so a
// crash costs at most the clips that were being described. A Worker must not be
// copied after its first use.
type Worker struct {
	Catalog   Catalog
	Queue     Queue
	Results   Results
	Files     Files
	Plans     Plans
	Index     Index          // nil: nothing is made searchable
	Report    Report         // nil: nobody listens
	Media     Prober         // reads media files
	Describer tree.Describer // nil means tree.Extractive
	// Models names what describes each level, as tree.Tree.Models has it; nil
	// means the extractive describer. Another model is another tree.
	Models map[string]string
	// Transcribe reads speech where a medium brings no text; nil leaves such
	// media without a transcript. Models names its model as "asr".
	Transcribe Transcribe
	// Meter counts the tries of a job's model calls, retries too, and fails
	// them with ErrCap beyond what is left of its caps (0 = no cap); nil means
	// that only the calls the worker itself makes are counted.
	Meter    func(calls, tokens int) Meter
	Settings Settings
	Log      *slog.Logger // nil discards

	// Forget takes a source out of the index after its first ingest failed or
	// was cancelled, so that nothing half is found; nil where there is no index.
	Forget func(ctx context.Context, tenant, source string) error
	// DropContent removes the bytes of a source whose options say to keep only
	// its frames; nil keeps them all.
	DropContent func(ctx context.Context, tenant, source string) error
	// Now is the clock; nil means time.Now. No time goes into a tree.
	Now func() time.Time

	mu   sync.Mutex
	live map[string]*live

	texts texts
}

// maxTries is how often a task of a job may fail before the job is set aside.
const maxTries = 3

// ErrCap stops a job that would cost more than it may; it goes on when the cap
// is raised. A describer or transcriber whose budget is used up wraps it.
var ErrCap = errors.New("the job has reached its cap")

// Reasons for which a running task is stopped from inside.
var (
	errStopped = errors.New("the job was stopped")                     // cancelled, paused or failed meanwhile
	errGone    = errors.New("the job or its source was deleted")       // nothing is written any more
	errAgain   = errors.New("the job was resumed while it was ending") // to be delivered again
)

// Run works on tasks until ctx ends.
func (w *Worker) Run(ctx context.Context) error { return w.Queue.Work(ctx, w.do) }

// do is one delivery of a task. A nil return acknowledges it for good.
func (w *Worker) do(ctx context.Context, t tree.Task) error {
	job, err := w.Catalog.Job(ctx, t.Tenant, t.Job)
	if err != nil {
		return fmt.Errorf("cannot read the job of a task: %w", err)
	}
	if job.State.Ended() {
		return w.mirror(ctx, job)
	}
	l := w.track(job)
	inner, done := l.enter(ctx)
	err = w.perform(inner, job, t, l)
	done()
	return w.settle(ctx, job, t, l, err)
}

// perform runs a task; a panic is a failed try, not the end of the server.
func (w *Worker) perform(ctx context.Context, job tree.Job, t tree.Task, l *live) (err error) {
	defer func() {
		if r := recover(); r != nil {
			w.log().ErrorContext(ctx, "a task broke", "job", job.ID, "stretch", t.Stretch, "panic", r, "stack", string(debug.Stack()))
			err = fmt.Errorf("an internal error: %v", r)
		}
	}()
	if t.Stretch == tree.PlanTask {
		return w.plan(ctx, job, l)
	}
	if t.Stretch < 0 || t.Stretch >= len(job.Plan) || slices.Contains(job.Finished, t.Stretch) && !allFinished(job) {
		return nil // a task of an earlier plan, or done already
	}
	return w.stretch(ctx, job, t.Stretch, l)
}

// settle decides what an outcome means for the job and the queue. ctx is the
// worker's own: it ends on shutdown only.
func (w *Worker) settle(ctx context.Context, job tree.Job, t tree.Task, l *live, err error) error {
	keep := context.WithoutCancel(ctx)
	reason, isFinal := final(err)
	switch {
	case err == nil:
		return w.forgive(keep, job)
	case errors.Is(err, errGone):
		w.drop(job)
		return nil
	case errors.Is(err, errStopped) || errors.Is(context.Cause(l.ctx()), errStopped):
		return w.stopped(keep, job)
	case errors.Is(err, ErrCap):
		return w.capped(keep, job)
	case isFinal:
		return w.fail(keep, job, reason)
	case ctx.Err() != nil:
		return err // shutting down: the task is handed out again
	}
	w.log().WarnContext(ctx, "a task failed", "job", job.ID, "stretch", t.Stretch, "error", err)
	now, updateErr := w.changeJob(keep, job, func(j *tree.Job) { j.Tries++ })
	switch {
	case errors.Is(updateErr, errGone):
		return nil
	case updateErr != nil:
		return errors.Join(err, updateErr)
	case now.Tries >= maxTries:
		if media, isMedia := errors.AsType[*MediaError](err); isMedia {
			return w.fail(keep, now, media.Reason)
		}
		return w.fail(keep, now, fmt.Sprintf("The ingest failed %d times and was set aside, the last time because of this: %s; retry it once that is mended.", maxTries, reasonOf(err)))
	}
	return err
}

// forgive clears the failed tries after a task succeeded.
func (w *Worker) forgive(ctx context.Context, job tree.Job) error {
	now, err := w.Catalog.Job(ctx, job.Tenant, job.ID)
	if err != nil || now.Tries == 0 || now.State.Ended() {
		return nil //nolint:nilerr // the task is done; the count is a courtesy
	}
	_, err = w.changeJob(ctx, job, func(j *tree.Job) { j.Tries = 0 })
	return ignoreGone(err)
}

func (w *Worker) log() *slog.Logger {
	if w.Log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return w.Log
}

func (w *Worker) now() time.Time {
	if w.Now == nil {
		return time.Now().UTC()
	}
	return w.Now().UTC()
}

func (w *Worker) describer() tree.Describer {
	if w.Describer == nil {
		return tree.Extractive{}
	}
	return w.Describer
}

// models names what describes, also where nobody said so.
func (w *Worker) models() map[string]string {
	if w.Models != nil {
		return w.Models
	}
	return map[string]string{"l1": extractive, "l2": extractive, "l3": extractive}
}

// modelsOf names what described a source: a speech model only where it was asked.
func (w *Worker) modelsOf(p *jobPlan) map[string]string {
	models := maps.Clone(w.models())
	if p.Calls.ASR == 0 {
		delete(models, "asr")
	}
	return models
}

func allFinished(job tree.Job) bool { return len(job.Plan) > 0 && len(job.Finished) == len(job.Plan) }

func ignoreGone(err error) error {
	if errors.Is(err, errGone) {
		return nil
	}
	return err
}
