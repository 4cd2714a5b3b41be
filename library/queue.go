package library

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/reeltree/reeltree/tree"
)

// maxFailures is how often a task may fail before it is set aside.
const maxFailures = 5

// queue is what this process knows about the work queue beside the stream.
type queue struct {
	ackWait     time.Duration           // how long a task without a sign of life belongs to its worker
	signalEvery time.Duration           // well inside ackWait
	retryAfter  func(int) time.Duration // wait after the n-th failure, n from 1
	working     sync.Mutex              // one Work at a time
	mu          sync.Mutex              // orders enqueueing and acknowledging
	running     map[string]*running     // by subject
	failures    map[string]int          // by subject, in this process
}

// running is a task that do works on.
type running struct {
	again bool // enqueued meanwhile: it must come once more
}

func newQueue() queue {
	return queue{
		ackWait: 30 * time.Second, signalEvery: 8 * time.Second,
		retryAfter: func(failures int) time.Duration { return time.Second << min(failures, 6) },
		running:    map[string]*running{}, failures: map[string]int{},
	}
}

func taskSubject(t tree.Task) string {
	return "work." + safe(t.Tenant) + "." + safe(t.Job) + "." + strconv.Itoa(t.Stretch+1)
}

// Enqueue adds tasks to the durable queue. One that waits already is not added
// again; one that runs is run once more when it has ended, since it may not have
// seen what made the caller ask.
func (s *Store) Enqueue(ctx context.Context, tasks ...tree.Task) error {
	for _, t := range tasks {
		if err := s.enqueue(ctx, t); err != nil {
			return fmt.Errorf("the task %s/%d cannot be queued: %w", t.Job, t.Stretch, err)
		}
	}
	return nil
}

func (s *Store) enqueue(ctx context.Context, t tree.Task) error {
	data, err := json.Marshal(t)
	if err != nil {
		return err
	}
	s.queue.mu.Lock()
	defer s.queue.mu.Unlock()
	_, err = s.js.Publish(ctx, taskSubject(t), data)
	if subjectFull(err) {
		if r := s.queue.running[taskSubject(t)]; r != nil {
			r.again = true
		}
		return nil
	}
	return err
}

// subjectFull tells the refusal of a second message on a subject from the other
// reasons, such as a full disk, that share its code.
func subjectFull(err error) bool {
	var api *jetstream.APIError
	return errors.As(err, &api) && api.ErrorCode == jetstream.ErrorCode(server.JSStreamStoreFailedF) &&
		strings.Contains(api.Description, server.ErrMaxMsgsPerSubject.Error())
}

// Work hands out tasks to do, Config.Parallel at once, until ctx ends; then it
// waits for those that run. A task is acknowledged when do returns nil and
// handed out again, later each time, when it fails; after maxFailures it is set
// aside in the list of dead tasks. What an earlier run had taken and not
// acknowledged is handed out again at once.
func (s *Store) Work(ctx context.Context, do func(context.Context, tree.Task) error) error {
	if !s.queue.working.TryLock() {
		return errors.New("the work queue of this data folder is already being worked on")
	}
	defer s.queue.working.Unlock()
	consumer, err := s.freshConsumer(ctx)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var workers sync.WaitGroup
	errs := make(chan error, s.cfg.Parallel)
	for range s.cfg.Parallel {
		workers.Go(func() {
			err := s.workOne(ctx, consumer, do)
			if err != nil {
				cancel() // the others would only wait
			}
			errs <- err
		})
	}
	workers.Wait()
	close(errs)
	var all error
	for err := range errs {
		all = errors.Join(all, err)
	}
	return all
}

// freshConsumer starts the one consumer anew. This process is the only one on
// the folder, so nothing that is pending on an older consumer still runs:
// without it those tasks would wait for the end of their ack wait.
func (s *Store) freshConsumer(ctx context.Context) (jetstream.Consumer, error) {
	if err := s.work.DeleteConsumer(ctx, "workers"); err != nil && !errors.Is(err, jetstream.ErrConsumerNotFound) {
		return nil, fmt.Errorf("the work queue cannot be resumed: %w", err)
	}
	consumer, err := s.work.CreateConsumer(ctx, jetstream.ConsumerConfig{
		Durable: "workers", AckPolicy: jetstream.AckExplicitPolicy, AckWait: s.queue.ackWait, MaxAckPending: 1000,
	})
	if err != nil {
		return nil, fmt.Errorf("the work queue cannot be resumed: %w", err)
	}
	return consumer, nil
}

// workOne takes one task at a time; none is fetched ahead, so none waits behind
// a long one while another worker is idle.
func (s *Store) workOne(ctx context.Context, consumer jetstream.Consumer, do func(context.Context, tree.Task) error) error {
	for ctx.Err() == nil {
		msg, err := consumer.Next(jetstream.FetchContext(ctx))
		switch {
		case err == nil:
			s.perform(ctx, msg, do)
		case ctx.Err() != nil:
		case s.conn.IsClosed():
			return errors.New("the work queue was closed while it was worked on")
		default: // no task within the wait of one fetch, or a broken connection
			if err := s.pause(ctx, err); err != nil {
				return err
			}
		}
	}
	return nil
}

// pause waits a moment after anything but an ordinary empty fetch.
func (s *Store) pause(ctx context.Context, err error) error {
	if noTask(err) {
		return nil
	}
	if errors.Is(err, jetstream.ErrConsumerDeleted) || errors.Is(err, jetstream.ErrConsumerNotFound) {
		return fmt.Errorf("the work queue was taken away: %w", err)
	}
	s.log.Warn("the work queue could not be read", "error", err)
	select {
	case <-ctx.Done():
	case <-time.After(100 * time.Millisecond):
	}
	return nil
}

func noTask(err error) bool {
	return errors.Is(err, jetstream.ErrNoMessages) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, nats.ErrTimeout)
}
