package ingest

import (
	"context"
	"fmt"

	"github.com/reeltree/reeltree/tree"
)

// changeJob changes the record of a job that exists; errGone where it does not.
func (w *Worker) changeJob(ctx context.Context, job tree.Job, change func(*tree.Job)) (tree.Job, error) {
	return w.Catalog.UpdateJob(ctx, job.Tenant, job.ID, func(j *tree.Job) error {
		if j.Created.IsZero() {
			return errGone
		}
		change(j)
		j.Updated = w.now()
		return nil
	})
}

// changeSource changes the record of a source that exists and is not being
// deleted, as long as job is its last one.
func (w *Worker) changeSource(ctx context.Context, job tree.Job, change func(*tree.Source)) (tree.Source, error) {
	return w.Catalog.UpdateSource(ctx, job.Tenant, job.Source, func(s *tree.Source) error {
		if s.Created.IsZero() || !knownState(s.State) || s.Job != job.ID {
			return errGone
		}
		change(s)
		return nil
	})
}

// knownState tells the states of an ingest from those of a deletion.
func knownState(s tree.State) bool {
	return s == "" || s == tree.StateQueued || s == tree.StateRunning || s.Ended()
}

// built reports whether a tree of the source was finished before: then a later
// ingest that fails leaves it as it is.
func built(s *tree.Source) bool { return s.Nodes.L1 > 0 }

// mirror shows the state of a job on its source, also after a crash between
// the two records.
func (w *Worker) mirror(ctx context.Context, job tree.Job) error {
	_, err := w.changeSource(ctx, job, func(s *tree.Source) {
		if !built(s) && job.State != tree.StateDone && job.State != tree.StatePartial {
			s.State, s.Error = job.State, job.Error
		}
	})
	return ignoreGone(err)
}

// ended tells source, index and listeners that a job has ended early.
func (w *Worker) ended(ctx context.Context, job tree.Job) error {
	if err := w.mirror(ctx, job); err != nil {
		return err
	}
	if err := w.hide(ctx, job); err != nil {
		return err
	}
	w.report(job, tree.Progress{Stage: "ended"})
	return nil
}

// hide takes a source that was never finished out of the index, unless its job
// is only paused.
func (w *Worker) hide(ctx context.Context, job tree.Job) error {
	src, err := w.Catalog.Source(ctx, job.Tenant, job.Source)
	half := err == nil && src.Job == job.ID && !built(&src) && job.State != tree.StatePaused
	if !half || w.Forget == nil {
		return nil
	}
	if err := w.Forget(ctx, job.Tenant, job.Source); err != nil {
		return fmt.Errorf("cannot take the unfinished source out of the index: %w", err)
	}
	return nil
}

// GiveUp fails the job of a task that the queue set aside for good: no task
// would ever end it.
func (w *Worker) GiveUp(ctx context.Context, t tree.Task, reason string) error {
	return w.fail(ctx, tree.Job{Tenant: t.Tenant, ID: t.Job}, fmt.Sprintf("The ingest was set aside because it failed again and again, the last time because of this: %s; retry it once that is mended.", flatText(reason, 300)))
}

// fail ends a job with one sentence.
func (w *Worker) fail(ctx context.Context, job tree.Job, reason string) error {
	return w.finishEarly(ctx, job, tree.StateFailed, reason)
}

// capped pauses a job that would cost more than it may.
func (w *Worker) capped(ctx context.Context, job tree.Job) error {
	return w.finishEarly(ctx, job, tree.StatePaused, fmt.Sprintf("The next description would cost more than the cap of this job (%s), so it is paused; raise the cap to go on from here.", capText(job.Options)))
}

func capText(o tree.IngestOptions) string {
	switch {
	case o.MaxCalls > 0 && o.MaxTokens > 0:
		return fmt.Sprintf("%d calls, %d tokens", o.MaxCalls, o.MaxTokens)
	case o.MaxTokens > 0:
		return fmt.Sprintf("%d tokens", o.MaxTokens)
	}
	return fmt.Sprintf("%d calls", o.MaxCalls)
}

// finishEarly ends a job unless it has ended meanwhile, and stops its other
// tasks in this process.
func (w *Worker) finishEarly(ctx context.Context, job tree.Job, state tree.State, reason string) error {
	w.log().InfoContext(ctx, "a job ended early", "job", job.ID, "source", job.Source, "state", state, "reason", reason)
	now, err := w.changeJob(ctx, job, func(j *tree.Job) {
		if !j.State.Ended() {
			j.State, j.Error = state, reason
		}
	})
	w.drop(job)
	if err != nil {
		return ignoreGone(err)
	}
	return w.ended(ctx, now)
}

// stopped ends a task whose job was stopped; if the job was resumed while this
// task was ending, the task must come again.
func (w *Worker) stopped(ctx context.Context, job tree.Job) error {
	now, err := w.Catalog.Job(ctx, job.Tenant, job.ID)
	if err != nil {
		return fmt.Errorf("cannot read the job: %w", err)
	}
	if !now.State.Ended() {
		return errAgain
	}
	w.drop(now)
	return w.hide(ctx, now) // a clip may have been stored after the job was stopped
}

func (w *Worker) report(job tree.Job, p tree.Progress) {
	if w.Report != nil {
		w.Report(job, p)
	}
}
