package library

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/reeltree/reeltree/tree"
)

func taskSubject(t tree.Task) string {
	return "work." + safe(t.Tenant) + "." + safe(t.Job) + "." + strconv.Itoa(t.Stretch+1)
}

// Enqueue adds tasks to the durable queue; one that already waits or runs is
// not added again.
func (s *Store) Enqueue(ctx context.Context, tasks ...tree.Task) error {
	for _, t := range tasks {
		data, err := json.Marshal(t)
		if err != nil {
			return err
		}
		var api *jetstream.APIError
		_, err = s.js.Publish(ctx, taskSubject(t), data)
		if errors.As(err, &api) && api.ErrorCode == errSubjectFull {
			continue
		}
		if err != nil {
			return fmt.Errorf("the task %s/%d cannot be queued: %w", t.Job, t.Stretch, err)
		}
	}
	return nil
}

// errSubjectFull is the server's code for "maximum messages per subject
// exceeded" (JSStreamStoreFailedF).
const errSubjectFull jetstream.ErrorCode = 10077

// Work hands out tasks to do, Config.Parallel at once, until ctx ends; then it
// waits for those that run. A task is acknowledged when do returns nil and
// handed out again, later each time, when it fails; after maxDeliveries it is
// set aside in the list of dead tasks.
func (s *Store) Work(ctx context.Context, do func(context.Context, tree.Task) error) error {
	var workers sync.WaitGroup
	errs := make(chan error, s.cfg.Parallel)
	for range s.cfg.Parallel {
		workers.Go(func() { errs <- s.workOne(ctx, do) })
	}
	workers.Wait()
	close(errs)
	var all error
	for err := range errs {
		all = errors.Join(all, err)
	}
	return all
}

func (s *Store) workOne(ctx context.Context, do func(context.Context, tree.Task) error) error {
	messages, err := s.consumer.Messages(jetstream.PullMaxMessages(1), jetstream.PullExpiry(5*time.Second))
	if err != nil {
		return fmt.Errorf("the work queue cannot be read: %w", err)
	}
	stop := context.AfterFunc(ctx, messages.Stop)
	defer stop()
	for ctx.Err() == nil {
		msg, err := messages.Next()
		if errors.Is(err, jetstream.ErrMsgIteratorClosed) {
			return nil
		}
		if err != nil {
			s.log.Warn("the work queue could not be read", "error", err)
			continue
		}
		s.perform(ctx, msg, do)
	}
	return nil
}

// perform runs one task and settles its message.
func (s *Store) perform(ctx context.Context, msg jetstream.Msg, do func(context.Context, tree.Task) error) {
	var t tree.Task
	if err := json.Unmarshal(msg.Data(), &t); err != nil {
		s.settle(s.bury(msg, "the task cannot be read"), t)
		return
	}
	signals := make(chan struct{})
	var signaller sync.WaitGroup
	signaller.Go(func() { signalProgress(msg, signals) })
	err := do(ctx, t)
	close(signals)
	signaller.Wait()
	switch meta, metaErr := msg.Metadata(); {
	case err == nil:
		s.settle(msg.DoubleAck(context.WithoutCancel(ctx)), t)
	case ctx.Err() != nil:
		s.settle(msg.Nak(), t) // shutting down: hand it back at once
	case metaErr == nil && meta.NumDelivered >= maxDeliveries:
		s.settle(s.bury(msg, err.Error()), t)
	default:
		delay := time.Second << min(meta.NumDelivered, 6)
		s.log.Warn("a task failed and is tried again", "job", t.Job, "stretch", t.Stretch, "in", delay, "error", err)
		s.settle(msg.NakWithDelay(delay), t)
	}
}

func (s *Store) settle(err error, t tree.Task) {
	if err != nil { // it will be delivered again, which is harmless
		s.log.Warn("a task could not be settled", "job", t.Job, "stretch", t.Stretch, "error", err)
	}
}

func signalProgress(msg jetstream.Msg, stop <-chan struct{}) {
	tick := time.NewTicker(signalEvery)
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

// DeadTask is a task that was set aside with the reason of its last failure.
type DeadTask struct {
	Task   json.RawMessage `json:"task"`
	Reason string          `json:"reason"`
	Time   time.Time       `json:"time"`
}

// bury sets a task aside.
func (s *Store) bury(msg jetstream.Msg, reason string) error {
	data, err := json.Marshal(DeadTask{Task: msg.Data(), Reason: reason, Time: time.Now().UTC()})
	if err != nil { // the task is not JSON
		if data, err = json.Marshal(DeadTask{Task: json.RawMessage("null"), Reason: reason, Time: time.Now().UTC()}); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if _, err := s.js.Publish(ctx, "dead."+msg.Subject(), data); err != nil {
		return err
	}
	return msg.Term()
}

// Dead lists the tasks that were set aside, oldest first.
func (s *Store) Dead(ctx context.Context) ([]DeadTask, error) {
	info, err := s.dead.Info(ctx)
	if err != nil {
		return nil, fmt.Errorf("the dead tasks cannot be listed: %w", err)
	}
	var all []DeadTask
	for seq := info.State.FirstSeq; seq <= info.State.LastSeq && seq > 0; seq++ {
		msg, err := s.dead.GetMsg(ctx, seq)
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("the dead tasks cannot be listed: %w", err)
		}
		var d DeadTask
		if err := json.Unmarshal(msg.Data, &d); err != nil {
			return nil, fmt.Errorf("a dead task is damaged: %w", err)
		}
		all = append(all, d)
	}
	return all, nil
}
