package ingest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/reeltree/reeltree/tree"
)

func TestCancelKillsTheChild(t *testing.T) {
	m := newMemory(t)
	f := talk(1500)
	w := m.worker(f)
	put := m.put(t, "a.mp4", []byte("x"))
	job, err := w.Submit(t.Context(), put, tree.IngestOptions{})
	if err != nil {
		t.Fatal(err)
	}
	f.block = func(ctx context.Context) error {
		if err := w.Cancel(t.Context(), "", job.ID); err != nil {
			t.Error(err)
		}
		<-ctx.Done() // as the child would end
		return context.Cause(ctx)
	}
	if err := w.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s, j := m.source(t, put.ID), m.job(t, job.ID); s.State != tree.StateCancelled || j.State != tree.StateCancelled || j.Tries != 0 || len(m.queue) != 0 {
		t.Errorf("source %+v, job %+v", s, j)
	}
	if err := w.Cancel(t.Context(), "", job.ID); err != nil {
		t.Errorf("cancelled twice: %v", err)
	}
	f.block = nil
	if _, err := w.Resume(t.Context(), "", job.ID, 0, 0); err != nil {
		t.Fatal(err)
	}
	if err := w.Run(t.Context()); err != nil || m.source(t, put.ID).State != tree.StateDone {
		t.Errorf("after resuming: %v, %+v", err, m.source(t, put.ID))
	}
}

func TestCancelBetweenClips(t *testing.T) {
	m := newMemory(t)
	w := m.worker(talk(900))
	w.Settings.Concurrency = 1
	put := m.put(t, "a.mp4", []byte("x"))
	job, err := w.Submit(t.Context(), put, tree.IngestOptions{})
	if err != nil {
		t.Fatal(err)
	}
	other := m.worker(nil) // cancelled by another process, which knows nothing of the running task
	d := &counted{before: func(n int) error {
		if n == 3 {
			return other.Cancel(t.Context(), "", job.ID)
		}
		return nil
	}}
	w.Describer = d
	if err := w.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if d.n != 3 || m.job(t, job.ID).State != tree.StateCancelled {
		t.Errorf("%d clips were begun, job %+v", d.n, m.job(t, job.ID))
	}
	if len(m.indexed) != 0 {
		t.Errorf("still searchable: %v", m.indexed)
	}
}

func TestCapPausesAndGoesOn(t *testing.T) {
	m := newMemory(t)
	w := m.worker(talk(900))
	d := &counted{}
	w.Describer, w.Settings.Concurrency, w.Models = d, 4, map[string]string{"l2": "counted"}
	src, job := m.ingest(t, w, m.put(t, "a.mp4", []byte("x")), tree.IngestOptions{MaxCalls: 6})
	if job.State != tree.StatePaused || src.State != tree.StatePaused || !strings.Contains(job.Error, "6 calls") || d.n > 6 || d.n == 0 {
		t.Fatalf("%d calls, job %+v", d.n, job)
	}
	if _, err := w.Resume(t.Context(), "", job.ID, 1000, 0); err != nil {
		t.Fatal(err)
	}
	before := d.n
	if err := w.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if src = m.source(t, src.ID); src.State != tree.StateDone || src.Calls != src.Nodes.L2 || d.n != src.Nodes.L2 || before == d.n {
		t.Errorf("%d calls for %+v", d.n, src)
	}
}

func TestPauseKeepsWhatIsFound(t *testing.T) {
	m := newMemory(t)
	w := m.worker(talk(900))
	w.Settings.Concurrency = 1
	put := m.put(t, "a.mp4", []byte("x"))
	job, err := w.Submit(t.Context(), put, tree.IngestOptions{})
	if err != nil {
		t.Fatal(err)
	}
	d := &counted{before: func(n int) error {
		if n == 4 {
			return w.Pause(t.Context(), job.Tenant, job.ID)
		}
		return nil
	}}
	w.Describer = d
	if err := w.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s := m.source(t, put.ID); s.State != tree.StatePaused || len(m.indexed) < 3 {
		t.Errorf("source %+v, searchable %v", s, m.indexed)
	}
	if err := w.Pause(t.Context(), job.Tenant, job.ID); err != nil {
		t.Errorf("paused twice: %v", err)
	}
	// The same wish again goes on, too.
	if again, err := w.Submit(t.Context(), put, tree.IngestOptions{}); err != nil || again.State != tree.StateQueued {
		t.Fatalf("%+v, %v", again, err)
	}
	if err := w.Run(t.Context()); err != nil || m.source(t, put.ID).State != tree.StateDone {
		t.Errorf("%v, source %+v", err, m.source(t, put.ID))
	}
	if want := m.source(t, put.ID).Nodes.L2; d.n > want+1 {
		t.Errorf("%d L2 calls for %d clips", d.n, want)
	}
	if _, err := w.Resume(t.Context(), job.Tenant, job.ID, 0, 0); err != nil || m.job(t, job.ID).State != tree.StateDone {
		t.Errorf("a finished job was resumed: %v", err)
	}
	if err := w.Cancel(t.Context(), job.Tenant, "unknown"); err != nil {
		t.Errorf("cancelling what is not there: %v", err)
	}
	if _, err := w.Resume(t.Context(), job.Tenant, "unknown", 0, 0); !errors.Is(err, errGone) {
		t.Errorf("resuming what is not there: %v", err)
	}
}

// Resumed while the task of the stopped job is still ending: the task must
// come again, or nobody would go on.
func TestResumedWhileEnding(t *testing.T) {
	m := newMemory(t)
	f := talk(120)
	w := m.worker(f)
	put := m.put(t, "a.mp4", []byte("x"))
	job, err := w.Submit(t.Context(), put, tree.IngestOptions{})
	if err != nil {
		t.Fatal(err)
	}
	f.block = func(ctx context.Context) error {
		f.block = nil
		if err := w.Cancel(t.Context(), job.Tenant, job.ID); err != nil {
			t.Error(err)
		}
		if _, err := w.Resume(t.Context(), job.Tenant, job.ID, 0, 0); err != nil {
			t.Error(err)
		}
		<-ctx.Done()
		return context.Cause(ctx)
	}
	if err := w.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s, j := m.source(t, put.ID), m.job(t, job.ID); s.State != tree.StateDone || j.State != tree.StateDone || j.Tries != 0 {
		t.Errorf("source %+v, job %+v", s, j)
	}
}

func TestTokenCap(t *testing.T) {
	m := newMemory(t)
	w := m.worker(talk(900))
	d := &counted{}
	w.Describer, w.Settings.Concurrency = d, 1
	_, job := m.ingest(t, w, m.put(t, "a.mp4", []byte("x")), tree.IngestOptions{MaxTokens: 35})
	if job.State != tree.StatePaused || !strings.Contains(job.Error, "35 tokens") || d.n != 4 {
		t.Errorf("%d calls of 10 tokens, job %+v", d.n, job)
	}
	for want, opt := range map[string]tree.IngestOptions{
		"5 calls": {MaxCalls: 5}, "7 tokens": {MaxTokens: 7}, "5 calls, 7 tokens": {MaxCalls: 5, MaxTokens: 7},
	} {
		if got := capText(opt); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestOnlyFramesAreKept(t *testing.T) {
	for keep, want := range map[string]int{"": 0, "media": 0, "frames": 1} {
		m := newMemory(t)
		w := m.worker(talk(120))
		dropped := 0
		w.DropContent = func(_ context.Context, _, source string) error {
			if s := m.source(t, source); s.State != tree.StateDone || m.trees[source] == nil {
				t.Errorf("the content was dropped before the tree was stored: %+v", s)
			}
			dropped++
			return nil
		}
		src, _ := m.ingest(t, w, m.put(t, "a.mp4", []byte("x")), tree.IngestOptions{Keep: keep})
		if dropped != want || src.State != tree.StateDone {
			t.Errorf("keep %q: dropped %d times, %+v", keep, dropped, src)
		}
	}
}

// forgetless is a store that cannot drop clips.
type forgetless struct{ Results }

// told is a describer with words of its own for sections.
type told struct{ counted }

func (d *told) L2(ctx context.Context, r tree.ClipRequest) (string, tree.Calls, error) {
	text, calls, err := d.counted.L2(ctx, r)
	return "Told anew: " + text, calls, err
}

// Clips of another model must not be taken for this one's, even where the
// store cannot drop them.
func TestOtherModelsDescribeAnew(t *testing.T) {
	for _, can := range []bool{true, false} {
		m := newMemory(t)
		put := m.put(t, "a.mp4", []byte("x"))
		m.ingest(t, m.worker(talk(120)), put, tree.IngestOptions{})
		w := m.worker(talk(120))
		if !can {
			w.Results = forgetless{m}
		}
		d := &told{}
		w.Describer, w.Models = d, map[string]string{"l2": "another"}
		src, _ := m.ingest(t, w, put, tree.IngestOptions{})
		tr := m.tree(t, src.ID)
		if d.n != src.Nodes.L2 || src.State != tree.StateDone || tr.Models["l2"] != "another" || src.Calls != d.n {
			t.Errorf("can drop %v: %d clips described anew of %+v", can, d.n, src)
		}
	}
}

// Every operation of every store fails once, one after the other: the job
// always ends well, with the same tree.
func TestEveryStoreFailsOnce(t *testing.T) {
	whole := newMemory(t)
	src, _ := whole.ingest(t, whole.worker(talk(200)), whole.put(t, "a.mp4", []byte("x")), tree.IngestOptions{})
	for n := 1; ; n++ {
		m := newMemory(t)
		w := m.worker(talk(200))
		put := m.put(t, "a.mp4", []byte("x"))
		if _, err := w.Submit(t.Context(), put, tree.IngestOptions{}); err != nil {
			t.Fatal(err)
		}
		calls, failed := 0, ""
		m.fail = func(op string) error {
			if calls++; calls == n {
				failed = op
				return fmt.Errorf("no %s just now", op)
			}
			return nil
		}
		w.Settings.Concurrency = 1
		if err := w.Run(t.Context()); err != nil {
			t.Fatalf("%d: %v", n, err)
		}
		if failed == "" {
			if n < 40 {
				t.Errorf("only %d operations", n)
			}
			return
		}
		if s := m.source(t, put.ID); s.State != tree.StateDone || !bytes.Equal(m.trees[src.ID], whole.trees[src.ID]) {
			t.Errorf("operation %d (%s) failed once: %+v", n, failed, s)
		}
	}
}
