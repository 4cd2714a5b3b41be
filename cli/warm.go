package cli

import (
	"context"
	"log/slog"
	"sync"

	"github.com/reeltree/reeltree/tree"
)

// warmer lays finished trees out so that the first question need not wait. It
// stands beside the library feed, which must not be held up by a large tree.
type warmer struct {
	warm func(tree.Source) error
	log  *slog.Logger
	wake chan struct{}

	mu    sync.Mutex
	queue []tree.Source
	known map[string]string // by source: the job whose tree was laid out last
}

func newWarmer(warm func(tree.Source) error, log *slog.Logger) *warmer {
	return &warmer{warm: warm, log: log, wake: make(chan struct{}, 1), known: map[string]string{}}
}

// add asks for the tree of a source; the same tree is laid out once.
func (w *warmer) add(src tree.Source) {
	w.mu.Lock()
	defer w.mu.Unlock()
	key := src.Tenant + "\x00" + src.ID
	if job, ok := w.known[key]; ok && job == src.Job {
		return
	}
	w.known[key] = src.Job
	w.queue = append(w.queue, src)
	select {
	case w.wake <- struct{}{}:
	default: // it will look anyway
	}
}

// run works until ctx ends.
func (w *warmer) run(ctx context.Context) {
	for {
		for src, ok := w.next(); ok && ctx.Err() == nil; src, ok = w.next() {
			if err := w.warm(src); err != nil && ctx.Err() == nil {
				w.log.Warn("a finished tree cannot be loaded", "source", src.ID, "error", err)
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-w.wake:
		}
	}
}

func (w *warmer) next() (src tree.Source, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.queue) == 0 {
		return src, false
	}
	src, w.queue = w.queue[0], w.queue[1:]
	return src, true
}
