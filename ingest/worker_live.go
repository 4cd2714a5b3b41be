package ingest

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/reeltree/reeltree/tree"
)

// live is what this process knows about a job it works on: how to stop it, and
// how far it is. Several stretches of one job may run at once.
type live struct {
	stop  context.Context //nolint:containedctx // the job's own end, not a call's context
	end   context.CancelCauseFunc
	mu    sync.Mutex
	total int64 // weight of the whole job
	from  int64 // where the wanted part of a medium begins
	seen  map[string]bool
	done  int64 // weight of the finished clips
	fresh int64 // of those finished in this process
	spans []tree.Span
	start time.Time
	calls tree.Calls
	held  int // calls reserved by describer calls that run
	meter Meter
}

// speechKey marks in seen that the plan's calls are counted.
const speechKey = "plan"

// forgetSpeech takes transcription out of the count.
func (l *live) forgetSpeech() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.calls.ASR = 0
}

// chargePlan counts what planning cost, once.
func (l *live) chargePlan(p *jobPlan) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.seen[speechKey] {
		l.seen[speechKey], l.calls.ASR = true, 0
		l.calls = l.calls.Add(p.Calls)
	}
}

// metered makes the calls under ctx count against what is left of the job's caps.
func (l *live) metered(ctx context.Context, w *Worker, opt tree.IngestOptions) context.Context {
	if w.Meter == nil {
		return ctx
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.meter == nil {
		l.meter = w.Meter(left(opt.MaxCalls, l.calls.Total()), left(opt.MaxTokens, l.calls.TokensIn+l.calls.TokensOut))
	}
	return l.meter.Bind(ctx)
}

// left is what remains of a cap; 0 stands for none, so a used-up one leaves 1,
// which the gate holds back.
func left(limit, spent int) int {
	if limit == 0 {
		return 0
	}
	return max(1, limit-spent)
}

// retries are the tries beyond the first; the caller holds the lock.
func (l *live) retries() int {
	if l.meter == nil {
		return 0
	}
	return l.meter.Retries()
}

// track gives the live state of a job, made at its first task here.
func (w *Worker) track(job tree.Job) *live {
	w.mu.Lock()
	defer w.mu.Unlock()
	key := job.Tenant + "\x00" + job.ID
	l := w.live[key]
	if l == nil {
		l = &live{seen: map[string]bool{}, start: w.now()}
		l.stop, l.end = context.WithCancelCause(context.Background())
		if w.live == nil {
			w.live = map[string]*live{}
		}
		w.live[key] = l
	}
	return l
}

// drop forgets a job that has ended and stops what still runs of it here.
func (w *Worker) drop(job tree.Job) {
	w.mu.Lock()
	defer w.mu.Unlock()
	key := job.Tenant + "\x00" + job.ID
	if l := w.live[key]; l != nil {
		l.end(errStopped)
		delete(w.live, key)
	}
	w.texts.forget(job.Tenant, job.Source)
}

func (l *live) ctx() context.Context { return l.stop }

// enter gives a context that ends with ctx or with the job.
func (l *live) enter(ctx context.Context) (context.Context, func()) {
	inner, cancel := context.WithCancelCause(ctx)
	unhook := context.AfterFunc(l.stop, func() { cancel(context.Cause(l.stop)) })
	return inner, func() { unhook(); cancel(nil) }
}

// size sets the weight of the whole job and its beginning once they are known.
func (l *live) size(total, from int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.total, l.from = total, from
}

// add counts a finished clip once; fresh ones were made in this process.
func (l *live) add(n *tree.Node, fresh bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.seen[n.ID] {
		return
	}
	l.seen[n.ID] = true
	weight := clipWeight(n)
	l.done += weight
	if fresh {
		l.fresh += weight
	} else {
		l.calls = l.calls.Add(n.Calls)
	}
	l.spans = append(l.spans, n.Span)
}

// charge counts calls that were made before this process began.
func (l *live) charge(c tree.Calls) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.calls = l.calls.Add(c)
}

// progress is where the job stands now.
func (l *live) progress(stage string, now time.Time) tree.Progress {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := tree.Progress{
		Stage: stage, Done: min(l.done, l.total), Total: l.total,
		Calls: l.calls.Total(), Tokens: l.calls.TokensIn + l.calls.TokensOut, Ready: l.ready(),
	}
	if l.fresh > 0 && l.total > l.done {
		p.ETAMS = int64(float64(now.Sub(l.start).Milliseconds()) * float64(l.total-l.done) / float64(l.fresh))
	}
	return p
}

// ready is the media span from the beginning that is finished without holes.
func (l *live) ready() tree.Span {
	slices.SortFunc(l.spans, func(a, b tree.Span) int { return cmp.Compare(a.StartMS, b.StartMS) })
	r := tree.MS(l.from, l.from)
	for _, s := range l.spans {
		if s.Unit != tree.UnitMS || s.StartMS > r.EndMS {
			break
		}
		r.EndMS = max(r.EndMS, s.EndMS)
	}
	return r
}

// clipWeight measures a clip for progress: milliseconds of media, characters
// of a document.
func clipWeight(n *tree.Node) int64 {
	if n.Span.Unit == tree.UnitMS {
		return n.Span.Duration()
	}
	sum := int64(0)
	n.Leaves(func(l *tree.Node) { sum += int64(l.Span.EndChar - l.Span.StartChar) })
	return sum
}
