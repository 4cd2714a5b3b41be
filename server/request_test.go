package server

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/reeltree/reeltree/generate"
	"github.com/reeltree/reeltree/tree"
)

func TestRequestIsFoundAfterARestart(t *testing.T) {
	var runs atomic.Int32
	var mu sync.Mutex
	now := time.Unix(1_800_000_000, 0)
	clock := func() time.Time { mu.Lock(); defer mu.Unlock(); return now }
	s := newService(t, func(c *Config) {
		answer := c.Answer
		c.Now = clock
		c.Answer = func(ctx context.Context, q generate.Question, emit generate.Emit) error {
			runs.Add(1)
			return answer(ctx, q, emit)
		}
	})
	ask := func(question string) []map[string]any {
		conn := s.hello(t)
		say(t, conn, fmt.Sprintf(`{"type":"ask","id":"q","question":%q}`, question))
		all, _ := stream(t, conn)
		return all
	}
	first := ask("How far?")
	waitFor(t, func() bool { s.shelf.mu.Lock(); defer s.shelf.mu.Unlock(); return len(s.shelf.answers) == 1 })
	func() { s.hub.mu.Lock(); defer s.hub.mu.Unlock(); clear(s.hub.streams); clear(s.hub.requests) }()
	if again := ask("How far?"); again[0]["epoch"] != first[0]["epoch"] || runs.Load() != 1 {
		t.Errorf("%d runs, %v after %v", runs.Load(), again[0], first[0])
	}
	func() { s.hub.mu.Lock(); defer s.hub.mu.Unlock(); clear(s.hub.streams); clear(s.hub.requests) }()
	if other := ask("How heavy?"); other[0]["code"] != float64(codeIDReused) {
		t.Errorf("another body: %v", other[0])
	}
	mu.Lock()
	now = now.Add(11 * time.Minute)
	mu.Unlock()
	if later := ask("How heavy?"); later[0]["type"] != "accepted" || later[0]["epoch"] == first[0]["epoch"] || runs.Load() != 2 {
		t.Errorf("after its life: %d runs, %v", runs.Load(), later[0])
	}
}

func TestSameIngestIsOneJob(t *testing.T) {
	var taken atomic.Int32
	s := newService(t, func(c *Config) {
		c.Submit = func(context.Context, Upload) (tree.Job, error) {
			taken.Add(1)
			return tree.Job{ID: strings.Repeat("j", 26)}, nil
		}
	})
	s.shelf.jobs[strings.Repeat("j", 26)] = tree.Job{State: tree.StateRunning}
	conn := s.hello(t)
	for url, want := range map[string]any{"http://example.com/a": "accepted"} {
		for range 2 {
			say(t, conn, fmt.Sprintf(`{"type":"ingest","id":"i","url":%q}`, url))
			if m := hear(t, conn); m["type"] != want {
				t.Errorf("%v", m)
			}
		}
	}
	say(t, conn, `{"type":"ingest","id":"i","url":"http://example.com/b"}`)
	if m := hear(t, conn); m["code"] != float64(codeIDReused) || taken.Load() != 1 {
		t.Errorf("%v, taken %d times", m, taken.Load())
	}
}

func TestPingsDoNotStretchHello(t *testing.T) {
	s := newService(t, func(c *Config) { c.HelloWait = 200 * time.Millisecond })
	conn := s.dial(t, nil)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		wantClose(t, conn, closeNoHello)
	}()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ended:
			return
		case <-tick.C:
			_ = conn.WriteControl(websocket.PingMessage, nil, time.Now().Add(time.Second))
		}
	}
}

// TestLateStepsReopenNothing: a task that did not know of the end reports on.
func TestLateStepsReopenNothing(t *testing.T) {
	s := newService(t, nil)
	job := tree.Job{ID: strings.Repeat("j", 26), Tenant: "default", State: tree.StateRunning}
	s.Report(job, tree.Progress{Stage: "describe"})
	ended := job
	ended.State = tree.StatePaused
	s.shelf.jobs[job.ID] = ended
	s.Report(ended, tree.Progress{Stage: "ended"})
	s.Report(job, tree.Progress{Stage: "late"})
	conn := s.hello(t)
	say(t, conn, fmt.Sprintf(`{"type":"subscribe","stream":%q}`, job.ID))
	all, _ := stream(t, conn)
	if last := all[len(all)-1]; last["state"] != "paused" || last["seq"] != 2.0 {
		t.Errorf("%v", all)
	}
}
