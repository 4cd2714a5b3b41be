package library

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/reeltree/reeltree/tree"
)

// perform runs one task and settles its message.
func (s *Store) perform(ctx context.Context, msg jetstream.Msg, do func(context.Context, tree.Task) error) {
	var t tree.Task
	if err := json.Unmarshal(msg.Data(), &t); err != nil {
		err = s.setAside(ctx, msg, t, "the task cannot be read")
		s.settled(s.settle(ctx, msg, t, err), t)
		return
	}
	s.queue.start(msg.Subject())
	signals := make(chan struct{})
	var signaller sync.WaitGroup
	signaller.Go(func() { s.signalProgress(msg, signals) })
	err := do(withTask(ctx, t), t)
	if err != nil && ctx.Err() == nil && s.queue.failed(msg.Subject()) >= maxFailures {
		err = s.setAside(ctx, msg, t, err.Error())
	}
	s.settled(s.settle(ctx, msg, t, err), t)
	close(signals)
	signaller.Wait()
}

func (q *queue) start(subject string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.running[subject] = &running{}
}

// failed counts a failure of a task in this process.
func (q *queue) failed(subject string) int {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.failures[subject]++
	return q.failures[subject]
}

// settle tells the queue how a task ended; nil stands for done or set aside. It
// excludes enqueueing: a wish that comes before is seen here, one that comes
// after finds its subject free.
func (s *Store) settle(ctx context.Context, msg jetstream.Msg, t tree.Task, err error) error {
	q, subject := &s.queue, msg.Subject()
	q.mu.Lock()
	defer q.mu.Unlock()
	r := q.running[subject]
	delete(q.running, subject)
	switch {
	case err == nil && r != nil && r.again:
		delete(q.failures, subject)
		return msg.Nak() // handed out again at once
	case err == nil:
		delete(q.failures, subject)
		ack, cancel := context.WithTimeout(context.WithoutCancel(ctx), q.ackWait)
		defer cancel()
		return msg.DoubleAck(ack)
	case ctx.Err() != nil:
		return msg.Nak() // shutting down: the next owner gets it at once
	}
	delay := q.retryAfter(q.failures[subject])
	s.log.Warn("a task failed and is tried again", "job", t.Job, "stretch", t.Stretch, "in", delay, "error", err)
	return msg.NakWithDelay(delay)
}

func (s *Store) settled(err error, t tree.Task) {
	if err != nil { // it will be delivered again, which is harmless
		s.log.Warn("a task could not be settled", "job", t.Job, "stretch", t.Stretch, "error", err)
	}
}

func (s *Store) signalProgress(msg jetstream.Msg, stop <-chan struct{}) {
	tick := time.NewTicker(s.queue.signalEvery)
	defer tick.Stop()
	for {
		select {
		case <-stop:
			return
		case <-tick.C:
			_ = msg.InProgress() // a lost signal is made good by the next
		}
	}
}

type taskKey struct{}

// withTask lets what is called while a task runs know for whom it works.
func withTask(ctx context.Context, t tree.Task) context.Context {
	return context.WithValue(ctx, taskKey{}, t)
}

func taskOf(ctx context.Context) (tree.Task, bool) {
	t, ok := ctx.Value(taskKey{}).(tree.Task)
	return t, ok
}
