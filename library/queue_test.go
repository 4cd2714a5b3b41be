package library

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/reeltree/reeltree/tree"
)

func task(stretch int) tree.Task {
	return tree.Task{Tenant: "default", Job: jobID, Stretch: stretch}
}

func enqueue(t *testing.T, s *Store, tasks ...tree.Task) {
	t.Helper()
	if err := s.Enqueue(t.Context(), tasks...); err != nil {
		t.Fatal(err)
	}
}

// waiting is the number of tasks in the queue, running ones included.
func waiting(t *testing.T, s *Store) uint64 {
	t.Helper()
	info, err := s.work.Info(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return info.State.Msgs
}

// work runs the queue until do has returned done or the time is over.
func work(t *testing.T, s *Store, limit time.Duration, do func(context.Context, tree.Task) (done bool, err error)) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	var ended atomic.Bool
	err := s.Work(ctx, func(ctx context.Context, task tree.Task) error {
		done, err := do(ctx, task)
		if done {
			ended.Store(true)
			// The acknowledgement of this task comes first: it is not an end by force.
			time.AfterFunc(200*time.Millisecond, cancel)
		}
		return err
	})
	if err != nil || !ended.Load() {
		t.Fatalf("the work did not end by itself: %v", err)
	}
}

func TestTaskThatRunsIsRunAgainWhenAskedForMeanwhile(t *testing.T) {
	s := open(t, t.TempDir())
	enqueue(t, s, task(0))
	runs := 0
	work(t, s, 20*time.Second, func(ctx context.Context, _ tree.Task) (bool, error) {
		if runs++; runs == 1 {
			return false, errors.Join(s.Enqueue(ctx, task(0)), s.Enqueue(ctx, task(0)))
		}
		return true, nil
	})
	if runs != 2 || waiting(t, s) != 0 {
		t.Errorf("%d runs, %d left, want 2 and 0", runs, waiting(t, s))
	}
}

func TestLongTaskRunsOnce(t *testing.T) {
	s := open(t, t.TempDir())
	s.queue.ackWait, s.queue.signalEvery = 300*time.Millisecond, 50*time.Millisecond
	enqueue(t, s, task(0))
	var runs atomic.Int32
	work(t, s, 20*time.Second, func(context.Context, tree.Task) (bool, error) {
		runs.Add(1)
		<-time.After(4 * s.queue.ackWait)
		return true, nil
	})
	if runs.Load() != 1 || waiting(t, s) != 0 {
		t.Errorf("a task of four ack waits ran %d times, %d left", runs.Load(), waiting(t, s))
	}
}

func TestSilentTaskIsHandedOutAgain(t *testing.T) {
	s := open(t, t.TempDir())
	s.queue.ackWait, s.queue.signalEvery = 200*time.Millisecond, time.Hour
	enqueue(t, s, task(0))
	first := make(chan struct{})
	var runs atomic.Int32
	work(t, s, 20*time.Second, func(context.Context, tree.Task) (bool, error) {
		if runs.Add(1) == 1 {
			<-first
			return false, nil
		}
		close(first)
		return true, nil
	})
}

// TestNoTaskWaitsBehindALongOne holds that a worker fetches nothing ahead.
func TestNoTaskWaitsBehindALongOne(t *testing.T) {
	s := open(t, t.TempDir())
	for i := range 6 {
		enqueue(t, s, task(i))
	}
	others := make(chan struct{})
	var mu sync.Mutex
	seen := map[int]int{}
	work(t, s, 20*time.Second, func(_ context.Context, task tree.Task) (bool, error) {
		mu.Lock()
		seen[task.Stretch]++
		n := len(seen)
		mu.Unlock()
		if n == 1 {
			<-others // the first one taken ends last
			return true, nil
		}
		if n == 6 {
			close(others)
		}
		return false, nil
	})
	for i := range 6 {
		if seen[i] != 1 {
			t.Errorf("task %d ran %d times", i, seen[i])
		}
	}
}

func TestParallelIsKept(t *testing.T) {
	s := open(t, t.TempDir())
	for i := range 8 {
		enqueue(t, s, task(i))
	}
	var now, most, runs atomic.Int32
	work(t, s, 20*time.Second, func(context.Context, tree.Task) (bool, error) {
		if n := now.Add(1); n > most.Load() {
			most.Store(n)
		}
		<-time.After(20 * time.Millisecond)
		now.Add(-1)
		return runs.Add(1) == 8, nil
	})
	if most.Load() != 2 {
		t.Errorf("%d tasks ran at once, want 2", most.Load())
	}
}

func TestTaskThatAlwaysFailsIsSetAside(t *testing.T) {
	var told []string
	s, err := Open(t.Context(), Config{Dir: t.TempDir(), SetAside: func(_ context.Context, task tree.Task, reason string) {
		told = append(told, task.Job+": "+reason)
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	s.queue.retryAfter = func(int) time.Duration { return time.Millisecond }
	enqueue(t, s, task(7), task(8))
	tries := 0
	work(t, s, 20*time.Second, func(_ context.Context, task tree.Task) (bool, error) {
		if task.Stretch == 8 {
			return false, nil
		}
		tries++
		return tries == maxFailures, errors.New("no luck")
	})
	dead, err := s.Dead(t.Context())
	if err != nil || tries != maxFailures || len(dead) != 1 || waiting(t, s) != 0 {
		t.Fatalf("%d tries, dead %+v, %d left, %v", tries, dead, waiting(t, s), err)
	}
	var got tree.Task
	if err := json.Unmarshal(dead[0].Task, &got); err != nil || got != task(7) || dead[0].Reason != "no luck" {
		t.Errorf("dead task %+v because of %q, %v", got, dead[0].Reason, err)
	}
	if len(told) != 1 || told[0] != jobID+": no luck" {
		t.Errorf("told %q", told)
	}
	enqueue(t, s, task(7)) // somebody mended it
	if waiting(t, s) != 1 {
		t.Error("a task that was set aside cannot be queued again")
	}
}

func TestUnreadableTaskIsSetAside(t *testing.T) {
	s := open(t, t.TempDir())
	if _, err := s.js.Publish(t.Context(), "work.default.x.1", []byte("{not JSON")); err != nil {
		t.Fatal(err)
	}
	enqueue(t, s, task(0))
	work(t, s, 20*time.Second, func(context.Context, tree.Task) (bool, error) { return true, nil })
	if dead, err := s.Dead(t.Context()); err != nil || len(dead) != 1 || string(dead[0].Task) != "null" {
		t.Errorf("dead %+v %v", dead, err)
	}
}

func TestTasksOfAnEndedWorkAreHandedOutAtOnce(t *testing.T) {
	s := open(t, t.TempDir())
	enqueue(t, s, task(0), task(1))
	ctx, cancel := context.WithCancel(t.Context())
	if err := s.Work(ctx, func(ctx context.Context, _ tree.Task) error { cancel(); <-ctx.Done(); return ctx.Err() }); err != nil {
		t.Fatal(err)
	}
	var runs atomic.Int32
	began := time.Now()
	work(t, s, 10*time.Second, func(context.Context, tree.Task) (bool, error) { return runs.Add(1) == 2, nil })
	if took := time.Since(began); took > 3*time.Second {
		t.Errorf("it took %s", took)
	}
}

func TestOnlyOneWorks(t *testing.T) {
	s := open(t, t.TempDir())
	enqueue(t, s, task(0))
	work(t, s, 10*time.Second, func(ctx context.Context, _ tree.Task) (bool, error) {
		if err := s.Work(ctx, nil); err == nil {
			t.Error("a second Work took the queue away")
		}
		return true, nil
	})
}

func TestWorkEndsWhenTheStoreIsClosed(t *testing.T) {
	s := open(t, t.TempDir())
	ended, begun := make(chan error, 1), make(chan struct{})
	enqueue(t, s, task(0))
	go func() {
		ended <- s.Work(t.Context(), func(context.Context, tree.Task) error { close(begun); return nil })
	}()
	<-begun
	_ = s.Close()
	select {
	case err := <-ended:
		if err == nil {
			t.Error("nobody is told")
		}
	case <-time.After(20 * time.Second):
		t.Fatal("the work goes on without a store")
	}
}

func TestFullQueueIsNotTakenForAWaitingTask(t *testing.T) {
	s := open(t, t.TempDir())
	info, err := s.work.Info(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	tight := info.Config
	tight.MaxBytes = 200
	if _, err := s.js.UpdateStream(t.Context(), tight); err != nil {
		t.Fatal(err)
	}
	var failed error
	for i := range 10 {
		failed = errors.Join(failed, s.Enqueue(t.Context(), task(i)))
	}
	if failed == nil {
		t.Error("tasks that found no room were dropped without a word")
	}
}
