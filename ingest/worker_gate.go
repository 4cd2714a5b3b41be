package ingest

import (
	"context"
	"fmt"

	"github.com/reeltree/reeltree/tree"
)

// gate stands before the describer: no clip is begun for a job that was
// stopped, and no call is made beyond the caps of the job. Caps are counted
// before the call.
type gate struct {
	w    *Worker
	job  tree.Job
	live *live
	next tree.Describer
	free bool // the describer makes no calls, so caps do not matter
}

var _ tree.Describer = (*gate)(nil)

func (w *Worker) gate(job tree.Job, l *live) *gate {
	d := w.describer()
	_, free := d.(tree.Extractive)
	return &gate{w: w, job: job, live: l, next: d, free: free}
}

// check fails when the job was stopped, by this process or any other.
func (g *gate) check(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	now, err := g.w.Catalog.Job(ctx, g.job.Tenant, g.job.ID)
	if err != nil {
		return fmt.Errorf("cannot read the job: %w", err)
	}
	if now.State.Ended() {
		return errStopped
	}
	return nil
}

// reserve takes n calls from the job's cap until release gives them back.
func (g *gate) reserve(n int) error {
	g.live.mu.Lock()
	defer g.live.mu.Unlock()
	calls, tokens := g.live.calls.Total()+g.live.held, g.live.calls.TokensIn+g.live.calls.TokensOut
	opt := g.job.Options
	if !g.free && (opt.MaxCalls > 0 && calls+n > opt.MaxCalls || opt.MaxTokens > 0 && tokens >= opt.MaxTokens) {
		return errCapped
	}
	g.live.held += n
	return nil
}

func (g *gate) release(n int, spent tree.Calls) {
	g.live.mu.Lock()
	defer g.live.mu.Unlock()
	g.live.held -= n
	g.live.calls = g.live.calls.Add(spent)
}

// L2 checks the job, then describes.
func (g *gate) L2(ctx context.Context, r tree.ClipRequest) (string, tree.Calls, error) {
	if err := g.check(ctx); err != nil {
		return "", tree.Calls{}, err
	}
	if err := g.reserve(1); err != nil {
		return "", tree.Calls{}, err
	}
	text, calls, err := g.next.L2(ctx, r)
	g.release(1, calls)
	return text, calls, err
}

// L3 describes the leaves within the cap.
func (g *gate) L3(ctx context.Context, r tree.LeafRequest) ([]string, tree.Calls, error) {
	n := leafCalls(r.Clip.Leaves, g.w.Settings.batch())
	if err := g.reserve(n); err != nil {
		return nil, tree.Calls{}, err
	}
	texts, calls, err := g.next.L3(ctx, r)
	g.release(n, calls)
	return texts, calls, err
}

// L1 describes the stretch within the cap.
func (g *gate) L1(ctx context.Context, r tree.StretchRequest) (string, tree.Calls, error) {
	if err := g.reserve(1); err != nil {
		return "", tree.Calls{}, err
	}
	text, calls, err := g.next.L1(ctx, r)
	g.release(1, calls)
	return text, calls, err
}
