package model

import (
	"context"
	"fmt"
	"time"
)

// deadline is the cause of a context that one of the deadlines ended.
type deadline struct {
	what  string
	after time.Duration
}

func (d *deadline) Error() string { return fmt.Sprintf("over %s %s", d.after, d.what) }

// watch ends its context when the next sign of life does not come in time.
// One goroutine uses it.
type watch struct {
	cancel context.CancelCauseFunc
	timer  *time.Timer
}

func newWatch(ctx context.Context) (context.Context, *watch) {
	ctx, cancel := context.WithCancelCause(ctx)
	return ctx, &watch{cancel: cancel}
}

// expect starts waiting anew: the context ends after d unless expect or rest
// is called before.
func (w *watch) expect(what string, d time.Duration) {
	w.expire(d, &deadline{what, d})
}

// expire is expect with a cause of its own.
func (w *watch) expire(d time.Duration, cause error) {
	w.rest()
	w.timer = time.AfterFunc(d, func() { w.cancel(cause) })
}

// rest stops waiting: the time a listener takes is not the model's.
func (w *watch) rest() {
	if w.timer != nil {
		w.timer.Stop()
	}
}

// stop releases the timer and ends the context, which closes the connection
// of a request that still runs.
func (w *watch) stop() {
	w.rest()
	w.cancel(context.Canceled)
}
