package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"sync"

	"github.com/reeltree/reeltree/library"
)

// makings makes the derived files of sources, each once however many want it,
// a few at a time.
type makings struct {
	store   *library.Store
	ctx     context.Context //nolint:containedctx // the life of the service: a file is made on while nobody waits
	stop    context.CancelCauseFunc
	free    chan struct{}
	running sync.WaitGroup

	mu  sync.Mutex
	now map[madeOf]*making
}

type madeOf struct{ tenant, source, name string }

// making is a file that is being made, or could not be.
type making struct {
	done   chan struct{}
	err    error // once done
	cancel context.CancelCauseFunc
}

// makingsAtOnce bounds the media workers that work for players.
const makingsAtOnce = 1

var errGone = errors.New("the source was deleted")

func newMakings(store *library.Store) *makings {
	ctx, stop := context.WithCancelCause(context.Background())
	return &makings{store: store, ctx: ctx, stop: stop, free: make(chan struct{}, makingsAtOnce), now: map[madeOf]*making{}}
}

// close ends what is being made and waits for it.
func (m *makings) close() {
	m.stop(context.Canceled)
	m.running.Wait()
}

// start is the making of a file; work begins when nobody made it yet and it is
// not there. A nil making means that the file is there. One that failed is told
// once and tried again at the next call.
func (m *makings) start(of madeOf, write func(context.Context, io.Writer) error) (*making, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if old := m.now[of]; old != nil {
		select {
		case <-old.done:
			delete(m.now, of)
			if old.err != nil {
				return old, nil
			}
		default:
			return old, nil
		}
	}
	f, err := m.store.OpenDerived(m.ctx, of.tenant, of.source, of.name)
	if err == nil {
		return nil, f.Close()
	}
	if !errors.Is(err, library.ErrNotFound) {
		return nil, err
	}
	ctx, cancel := context.WithCancelCause(m.ctx)
	work := &making{done: make(chan struct{}), cancel: cancel}
	m.now[of] = work
	m.running.Go(func() {
		defer close(work.done)
		defer cancel(nil)
		select {
		case m.free <- struct{}{}:
			defer func() { <-m.free }()
		case <-ctx.Done():
			work.err = context.Cause(ctx)
			return
		}
		work.err = m.store.SaveDerived(ctx, of.tenant, of.source, of.name, func(w io.Writer) error { return write(ctx, w) })
	})
	return work, nil
}

// open waits for a file and opens it.
func (m *makings) open(ctx context.Context, of madeOf, write func(context.Context, io.Writer) error) (*os.File, error) {
	work, err := m.start(of, write)
	if err != nil {
		return nil, err
	}
	if work != nil {
		select {
		case <-work.done:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		if work.err != nil {
			m.drop(of, work)
			return nil, work.err
		}
	}
	return m.store.OpenDerived(ctx, of.tenant, of.source, of.name)
}

// drop lets a file that could not be made be tried again.
func (m *makings) drop(of madeOf, work *making) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.now[of] == work {
		delete(m.now, of)
	}
}

// forget ends what is being made of a source that is going.
func (m *makings) forget(tenant, source string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for of, work := range m.now {
		if of.tenant == tenant && of.source == source {
			work.cancel(errGone)
			delete(m.now, of)
		}
	}
}
