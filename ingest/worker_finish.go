package ingest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/reeltree/reeltree/tree"
)

// finish puts the tree together from what is stored and ends the job. Every
// step may be repeated after a crash.
func (w *Worker) finish(ctx context.Context, job tree.Job, p *jobPlan) error {
	src, err := w.Catalog.Source(ctx, job.Tenant, job.Source)
	if err != nil {
		return fmt.Errorf("cannot read the source: %w", err)
	}
	state := tree.StateDone
	if p.Partial {
		state = tree.StatePartial
	}
	t := &tree.Tree{Source: inTree(src, state), Models: w.modelsOf(p), Settings: w.fingerprint(job.Options), Calls: p.Calls}
	for i := range job.Plan {
		root, err := w.collect(ctx, job, i)
		if err != nil {
			return err
		}
		t.Roots = append(t.Roots, root)
		t.Calls = t.Calls.Add(root.Calls)
		for _, c := range root.Children {
			t.Calls = t.Calls.Add(c.Calls)
		}
	}
	warnings := p.Warnings
	if warning, err := unsaid(ctx, t); err != nil {
		return fmt.Errorf("cannot read the descriptions again: %w", err)
	} else if warning != "" {
		warnings = append(slices.Clip(warnings), warning)
	}
	t.Source.Nodes, t.Source.Calls, t.Source.Warnings = t.Counts(), t.Calls.Total(), warnings
	if err := w.Results.SaveTree(ctx, job.Tenant, t); err != nil {
		return fmt.Errorf("cannot store the tree: %w", err)
	}
	if _, err := w.changeSource(ctx, job, func(s *tree.Source) {
		s.State, s.Error, s.Nodes, s.Calls, s.Warnings = state, "", t.Source.Nodes, t.Source.Calls, warnings
	}); err != nil {
		return err
	}
	if job.Options.Keep == "frames" && w.DropContent != nil {
		if err := w.DropContent(ctx, job.Tenant, job.Source); err != nil {
			return fmt.Errorf("cannot remove the content: %w", err)
		}
	}
	return w.close(ctx, job, p, state, warnings)
}

// close records the end of a job and tells its listeners.
func (w *Worker) close(ctx context.Context, job tree.Job, p *jobPlan, state tree.State, warnings []string) error {
	now, err := w.changeJob(ctx, job, func(j *tree.Job) {
		if !j.State.Ended() {
			j.State, j.Error, j.Tries, j.Warnings = state, "", 0, warnings
		}
	})
	if err != nil {
		return err
	}
	w.report(now, tree.Progress{Stage: "ended", Done: p.weight(), Total: p.weight(), Ready: whole(p)})
	w.drop(job)
	return nil
}

// whole is the media span of a plan.
func whole(p *jobPlan) tree.Span {
	if p.To <= p.From {
		return tree.Span{}
	}
	return tree.MS(p.From, p.To)
}

// inTree is a source's record without what changes while its tree does not:
// two builds of the same bytes give the same tree.
func inTree(s tree.Source, state tree.State) tree.Source {
	s.Created, s.Job, s.Collections, s.Error = time.Time{}, "", nil, ""
	s.State = state
	return s
}

// collect reads a finished stretch back. Clips of an earlier build that was cut
// into more of them are left alone: a medium's clips lie side by side up to the
// end of the stretch.
func (w *Worker) collect(ctx context.Context, job tree.Job, index int) (*tree.Node, error) {
	root, err := w.Results.Clip(ctx, job.Tenant, tree.NodeID(job.Source, index))
	if err != nil {
		return nil, fmt.Errorf("cannot read a finished stretch: %w", err)
	}
	if root == nil {
		return nil, w.reopen(ctx, job, index)
	}
	alone := *root
	alone.Children = nil
	at, media := root.Span.StartMS, root.Span.Unit == tree.UnitMS
	for k := 0; !media || at < root.Span.EndMS; k++ {
		n, err := w.Results.Clip(ctx, job.Tenant, tree.NodeID(job.Source, index, k))
		switch {
		case err != nil:
			return nil, fmt.Errorf("cannot read a finished clip: %w", err)
		case n == nil && !media && k > 0:
			return &alone, nil
		case n == nil || media && n.Span.StartMS != at:
			return nil, w.reopen(ctx, job, index)
		}
		alone.Children = append(alone.Children, n)
		at = n.Span.EndMS
	}
	return &alone, nil
}

// reopen puts a stretch whose clips are missing or damaged back to work, and
// says so: the task that found it comes again as well.
func (w *Worker) reopen(ctx context.Context, job tree.Job, index int) error {
	_, err := w.changeJob(ctx, job, func(j *tree.Job) {
		j.Finished = slices.DeleteFunc(j.Finished, func(i int) bool { return i == index })
	})
	if err != nil {
		return err
	}
	err = w.Queue.Enqueue(ctx, tree.Task{Tenant: job.Tenant, Job: job.ID, Stretch: index})
	return errors.Join(err, fmt.Errorf("stretch %d lacks a stored clip and is built again", index))
}
