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
	held int  // reserved by this stretch; under the lock of live
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

// reserve takes n calls from the job's cap until settle gives them back.
func (g *gate) reserve(n int) error {
	g.live.mu.Lock()
	defer g.live.mu.Unlock()
	calls, tokens := g.live.calls.Total()+g.live.held+g.live.retries(), g.live.calls.TokensIn+g.live.calls.TokensOut
	opt := g.job.Options
	if !g.free && (opt.MaxCalls > 0 && calls+n > opt.MaxCalls || opt.MaxTokens > 0 && tokens >= opt.MaxTokens) {
		return ErrCap
	}
	g.live.held += n
	g.held += n
	return nil
}

func (g *gate) settle(n int, spent tree.Calls) {
	g.live.mu.Lock()
	defer g.live.mu.Unlock()
	g.live.held -= n
	g.held -= n
	g.live.calls = g.live.calls.Add(spent)
}

// close gives back what was reserved for calls that were never made. No call
// runs any more.
func (g *gate) close() {
	g.live.mu.Lock()
	defer g.live.mu.Unlock()
	g.live.held -= g.held
	g.held = 0
}

// L2 checks the job and reserves the calls of the whole clip, since an L2
// without its L3 would be paid for in vain; then it describes.
func (g *gate) L2(ctx context.Context, r tree.ClipRequest) (string, tree.Calls, error) {
	if err := g.check(ctx); err != nil {
		return "", tree.Calls{}, err
	}
	if err := g.reserve(1 + leafCalls(r.Clip.Leaves, g.w.Settings.batch())); err != nil {
		return "", tree.Calls{}, err
	}
	text, calls, err := g.next.L2(ctx, r)
	g.settle(1, calls)
	return text, calls, err
}

// L3 describes the leaves with the calls reserved by their L2.
func (g *gate) L3(ctx context.Context, r tree.LeafRequest) ([]string, tree.Calls, error) {
	texts, calls, err := g.next.L3(ctx, r)
	g.settle(leafCalls(r.Clip.Leaves, g.w.Settings.batch()), calls)
	return texts, calls, err
}

// L1 describes the stretch within the cap.
func (g *gate) L1(ctx context.Context, r tree.StretchRequest) (string, tree.Calls, error) {
	if err := g.reserve(1); err != nil {
		return "", tree.Calls{}, err
	}
	text, calls, err := g.next.L1(ctx, r)
	g.settle(1, calls)
	return text, calls, err
}
