package ingest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/reeltree/reeltree/tree"
)

func TestIngestOfATalk(t *testing.T) {
	m := newMemory(t)
	src, job := m.ingest(t, m.worker(talk(1500)), m.put(t, "talk.mp4", []byte("content")), tree.IngestOptions{})
	if src.State != tree.StateDone || job.State != tree.StateDone || src.Error != "" {
		t.Fatalf("source %+v, job %+v", src, job)
	}
	if src.Kind != tree.KindVideo || src.DurationMS != 1_500_000 || src.Width != 320 || src.Title != "A made talk" || src.Language != "en" {
		t.Errorf("facts of the source: %+v", src)
	}
	tr := m.tree(t, src.ID)
	if len(job.Plan) != 2 || src.Nodes != tr.Counts() || src.Nodes.L1 != 2 || src.Nodes.L2 < 20 || src.Nodes.L3 < 60 {
		t.Errorf("plan %v, nodes %+v", job.Plan, src.Nodes)
	}
	cues := 0
	for _, root := range tr.Roots {
		cues += len(root.Cues())
		if root.Frame() == nil || root.Text == "" {
			t.Errorf("stretch %s has no frame or text", root.ID)
		}
	}
	if cues != 300 {
		t.Errorf("%d of 300 cues stand in the tree", cues)
	}
	f := tr.Roots[1].Children[0].Frame()
	if got := m.frames[f.Blob][f.Offset : f.Offset+f.Length]; tree.FrameID(got) != f.ID || !strings.HasSuffix(string(got), fmt.Sprint(f.TimeMS)) {
		t.Errorf("frame %+v leads to %q", f, got)
	}
	if !m.indexed[tree.NodeID(src.ID, 1)] || !m.indexed[tree.NodeID(src.ID, 0, 3)] {
		t.Errorf("not everything is searchable: %v", m.indexed)
	}
	last := m.reports[len(m.reports)-1]
	if m.states[len(m.states)-1] != tree.StateDone || last.Done != 1_500_000 || last.Ready != tree.MS(0, 1_500_000) {
		t.Errorf("last progress %+v", last)
	}
	// A clip can be asked about as soon as it is stored, and only then.
	for i, what := range m.log {
		if node, ok := strings.CutPrefix(what, "index "); ok && strings.Contains(node, ".") && (m.log[i-1] != "clip "+node || m.log[i-2] != "frames "+node) {
			t.Errorf("before %q came %q", what, m.log[max(0, i-2):i])
		}
	}
}

func TestProgressRises(t *testing.T) {
	m := newMemory(t)
	m.ingest(t, m.worker(talk(1500)), m.put(t, "talk.mp4", []byte("x")), tree.IngestOptions{})
	last := int64(-1)
	var eta int64
	for _, p := range m.reports {
		if p.Stage != "describe" {
			continue
		}
		if p.Done < last || p.Total != 1_500_000 || p.Ready.EndMS > p.Done {
			t.Fatalf("progress %+v after %d", p, last)
		}
		last, eta = p.Done, max(eta, p.ETAMS)
	}
	if last != 1_500_000 || eta == 0 {
		t.Errorf("progress ends at %d, estimate %d", last, eta)
	}
}

// The heart of the matter: ended at any stored clip and started again, the
// tree is byte for byte that of an undisturbed run, and nothing that was
// stored is described again.
func TestKilledAtEveryClip(t *testing.T) {
	whole := newMemory(t)
	src, _ := whole.ingest(t, whole.worker(talk(1500)), whole.put(t, "talk.mp4", []byte("x")), tree.IngestOptions{})
	want := whole.trees[src.ID]
	stored := 0
	for _, what := range whole.log {
		if strings.HasPrefix(what, "clip ") {
			stored++
		}
	}
	for kill := 1; kill <= stored; kill++ {
		m := newMemory(t)
		put := m.put(t, "talk.mp4", []byte("x"))
		ctx, stop := context.WithCancel(t.Context())
		n := 0
		m.onClip = func(string) {
			if n++; n == kill {
				stop()
			}
		}
		w := m.worker(talk(1500))
		w.Settings.Concurrency = 2
		if _, err := w.Submit(ctx, put, tree.IngestOptions{}); err != nil {
			t.Fatal(err)
		}
		if err := w.Run(ctx); !errors.Is(err, context.Canceled) {
			t.Fatalf("kill at %d: %v", kill, err)
		}
		before := slices.Clone(m.log)
		m.log, m.onClip = nil, nil
		again := m.worker(talk(1500)) // a new process
		if err := again.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, what := range m.log {
			if _, place, _ := strings.Cut(what, " "); strings.HasPrefix(what, "clip ") && strings.Contains(place, ".") && slices.Contains(before, what) {
				t.Errorf("kill at %d: %s was described twice", kill, place)
			}
		}
		if !bytes.Equal(m.trees[src.ID], want) {
			t.Fatalf("kill at %d: another tree\n%s", kill, m.trees[src.ID])
		}
		if s := m.source(t, src.ID); s.State != tree.StateDone || s.Calls != 0 {
			t.Errorf("kill at %d: %+v", kill, s)
		}
	}
}

func TestSubmitIsOneJob(t *testing.T) {
	m := newMemory(t)
	w := m.worker(talk(120))
	put := m.put(t, "talk.mp4", []byte("x"))
	put.Collections = []string{"b", "a"}
	src, job := m.ingest(t, w, put, tree.IngestOptions{})
	if !tree.ValidID(job.ID) || len(job.ID) != 26 || src.Job != job.ID || fmt.Sprint(src.Collections) != "[a b]" {
		t.Errorf("job %+v of %+v", job, src)
	}
	put.Collections, put.Title = []string{"c"}, "Another title"
	again, err := w.Submit(t.Context(), put, tree.IngestOptions{MaxCalls: 5})
	if err != nil || again.ID != job.ID || again.State != tree.StateDone || len(m.queue) != 0 {
		t.Errorf("the same wish gave %+v, %v", again, err)
	}
	if s := m.source(t, src.ID); fmt.Sprint(s.Collections) != "[a b c]" || s.Title != "Another title" {
		t.Errorf("source %+v", s)
	}
	// Another wish is another job, and the source stays usable meanwhile.
	other, err := w.Submit(t.Context(), put, tree.IngestOptions{Detail: "high"})
	if err != nil || other.ID == job.ID || m.source(t, src.ID).State != tree.StateDone {
		t.Errorf("another wish gave %+v, %v", other, err)
	}
	if err := w.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if j := m.job(t, other.ID); j.State != tree.StateDone || !slices.Contains(m.log, "forget clips") {
		t.Errorf("job %+v", j)
	}
	// Back to the first wish: it is done anew, since the tree is another's.
	if back, err := w.Submit(t.Context(), put, tree.IngestOptions{}); err != nil || back.ID != job.ID || back.State != tree.StateQueued {
		t.Errorf("back to the first wish gave %+v, %v", back, err)
	}
	if _, err := w.Submit(t.Context(), tree.Source{ID: "../../etc"}, tree.IngestOptions{}); err == nil {
		t.Error("a path was taken for an id")
	}
}

// counted counts the L2 calls of a describer.
type counted struct {
	tree.Extractive
	mu     sync.Mutex
	n      int
	before func(n int) error
}

func (c *counted) L2(ctx context.Context, r tree.ClipRequest) (string, tree.Calls, error) {
	c.mu.Lock()
	c.n++
	n := c.n
	c.mu.Unlock()
	if c.before != nil {
		if err := c.before(n); err != nil {
			return "", tree.Calls{}, err
		}
	}
	text, _, err := c.Extractive.L2(ctx, r)
	return text, tree.Calls{L2: 1, TokensIn: 10}, err
}

func TestNewSubtitlesRedoOnlyWhatChanged(t *testing.T) {
	m := newMemory(t)
	f := talk(300)
	w := m.worker(f)
	d := &counted{}
	w.Describer, w.Settings.Concurrency = d, 1
	put := m.put(t, "talk.mp4", []byte("x"))
	m.ingest(t, w, put, tree.IngestOptions{})
	first := d.n
	m.subName, m.subs[put.ID] = "talk.de.srt", []byte(srtOf(f.facts.Subtitles[0].Cues, "Sentence 37 of", "Satz 37 von"))
	src, job := m.ingest(t, w, put, tree.IngestOptions{})
	if job.State != tree.StateDone || d.n-first != 1 || first != 5 {
		t.Errorf("%d clips were described, then %d; job %+v", first, d.n-first, job)
	}
	if text := m.tree(t, src.ID).Roots[0].Transcript(); !strings.Contains(text, "Satz 37") {
		t.Errorf("the new words are missing: %s", text)
	}
}

func srtOf(cues []tree.Cue, from, to string) string {
	var b strings.Builder
	at := func(ms int64) string { return fmt.Sprintf("%s,%03d", tree.Clock(ms), ms%1000) }
	for i, c := range cues {
		fmt.Fprintf(&b, "%d\n%s --> %s\n%s\n\n", i+1, at(c.StartMS), at(c.EndMS), strings.ReplaceAll(c.Text, from, to))
	}
	return b.String()
}

func TestRefusedFileFailsOnce(t *testing.T) {
	m := newMemory(t)
	f := talk(120)
	f.err = &MediaError{Reason: "No picture of this video could be decoded; convert it and try again."}
	src, job := m.ingest(t, m.worker(f), m.put(t, "bad.mp4", []byte("x")), tree.IngestOptions{})
	if src.State != tree.StateFailed || job.State != tree.StateFailed || src.Error != f.err.Error() || job.Error != src.Error || job.Tries != 0 {
		t.Errorf("source %+v, job %+v", src, job)
	}
	if len(m.indexed) != 0 || len(m.trees) != 0 || m.states[len(m.states)-1] != tree.StateFailed {
		t.Errorf("something half is visible: %v", m.indexed)
	}
	// Once mended, the same wish goes on.
	f.err = nil
	if src, job = m.ingest(t, m.worker(f), src, tree.IngestOptions{}); src.State != tree.StateDone || src.Error != "" || job.Error != "" {
		t.Errorf("after mending: %+v, %+v", src, job)
	}
}

func TestPoisonIsSetAside(t *testing.T) {
	for name, poison := range map[string]func(int) error{
		"error": func(int) error { return errors.New("the disk\nis full") },
		"panic": func(int) error { panic("nil map") },
	} {
		t.Run(name, func(t *testing.T) {
			m := newMemory(t)
			w := m.worker(talk(120))
			f := talk(120)
			tries := 0
			f.block = func(context.Context) error { tries++; return poison(tries) }
			w.Media = f
			src, job := m.ingest(t, w, m.put(t, "poison.mp4", []byte("x")), tree.IngestOptions{})
			if tries != maxTries || job.State != tree.StateFailed || src.State != tree.StateFailed || strings.Contains(src.Error, "\n") || !strings.Contains(src.Error, "3 times") {
				t.Errorf("%d tries, source %+v, job %+v", tries, src, job)
			}
		})
	}
}

// A media worker that breaks may have been killed from outside: its file is
// tried again before it is blamed.
func TestBrokenWorkersAreTriedAgain(t *testing.T) {
	for name, c := range map[string]struct {
		breaks, tries int
		state         tree.State
		reason        string
	}{
		"twice":         {maxTries - 1, maxTries, tree.StateDone, ""},
		"always":        {1 << 20, maxTries, tree.StateFailed, "The media worker broke on this file (signal: killed)"},
		"killed often":  {killedTries + 1, killedTries + 2, tree.StateDone, ""},
		"killed always": {1 << 20, killedTries * maxTries, tree.StateFailed, "The media worker broke on this file (signal: killed)"},
	} {
		t.Run(name, func(t *testing.T) {
			m, f, tries := newMemory(t), talk(120), 0
			f.block = func(context.Context) error {
				if tries++; tries > c.breaks {
					return nil
				}
				e := brokenWorker("signal: killed")
				e.killed = strings.HasPrefix(name, "killed")
				return e
			}
			src, job := m.ingest(t, m.worker(f), m.put(t, "a.mp4", []byte("x")), tree.IngestOptions{})
			if tries != c.tries || job.State != c.state || src.State != c.state || !strings.HasPrefix(src.Error, c.reason) || c.reason == "" && src.Error != "" {
				t.Errorf("%d tries, source %+v, job %+v", tries, src, job)
			}
		})
	}
}

func TestTriesAreForgivenAfterSuccess(t *testing.T) {
	m := newMemory(t)
	f := talk(1500)
	n := 0
	f.block = func(context.Context) error {
		if n++; n%2 == 1 {
			return errors.New("a hiccup")
		}
		return nil
	}
	if src, job := m.ingest(t, m.worker(f), m.put(t, "a.mp4", []byte("x")), tree.IngestOptions{}); src.State != tree.StateDone || job.Tries != 0 {
		t.Errorf("source %+v, job %+v", src, job)
	}
}

func TestPartialFileKeepsItsWarning(t *testing.T) {
	m := newMemory(t)
	f := talk(120)
	f.facts.Partial, f.facts.Warnings = true, []string{"The file is incomplete."}
	m.subName, m.subs = "a.srt", map[string][]byte{}
	put := m.put(t, "a.mp4", []byte("x"))
	if src, job := m.ingest(t, m.worker(f), put, tree.IngestOptions{}); src.State != tree.StatePartial || job.State != tree.StatePartial || fmt.Sprint(src.Warnings) != "[The file is incomplete.]" {
		t.Errorf("source %+v, job %+v", src, job)
	}
	// Subtitles that were handed over but cannot be read: never just done.
	m, f = newMemory(t), talk(120)
	put = m.put(t, "a.mp4", []byte("x"))
	m.subName, m.subs[put.ID] = "a.srt", []byte("no cues")
	if src, _ := m.ingest(t, m.worker(f), put, tree.IngestOptions{}); src.State != tree.StatePartial || len(src.Warnings) != 1 || !strings.Contains(src.Warnings[0], "is not a subtitle file") {
		t.Errorf("source %+v", src)
	}
}

func TestDeletedWhileRunning(t *testing.T) {
	m := newMemory(t)
	w := m.worker(talk(900))
	w.Settings.Concurrency = 1
	put := m.put(t, "a.mp4", []byte("x"))
	m.onClip = func(node string) {
		m.mu.Lock()
		defer m.mu.Unlock()
		if node == "0.2" {
			clear(m.jobs)
			clear(m.sources)
		}
	}
	if _, err := w.Submit(t.Context(), put, tree.IngestOptions{}); err != nil {
		t.Fatal(err)
	}
	// The task cannot find its job any more; the queue drops it with the source.
	done := errors.New("dropped")
	err := m.Work(t.Context(), func(ctx context.Context, task tree.Task) error {
		if err := w.do(ctx, task); err != nil && len(m.jobs) == 0 {
			m.queue = m.queue[:0]
			panicFree(t, err)
			m.queue = append(m.queue, task)
			return nil
		}
		return nil
	})
	if err != nil && !errors.Is(err, done) {
		t.Fatal(err)
	}
	if len(m.sources) != 0 || len(m.jobs) != 0 || len(m.trees) != 0 {
		t.Errorf("deleted records came back: %v %v", m.sources, m.jobs)
	}
}

func panicFree(t *testing.T, err error) {
	t.Helper()
	if strings.Contains(err.Error(), "internal error") {
		t.Error(err)
	}
}

func TestPartOfASource(t *testing.T) {
	m := newMemory(t)
	src, job := m.ingest(t, m.worker(talk(1500)), m.put(t, "a.mp4", []byte("x")), tree.IngestOptions{FromMS: 62_000, ToMS: 182_000, Visual: "off"})
	tr := m.tree(t, src.ID)
	if fmt.Sprint(job.Plan) != "[0:01:02-0:03:02]" || tr.Roots[0].Frame() != nil {
		t.Errorf("plan %v", job.Plan)
	}
	cues := tr.Roots[0].Cues()
	if len(cues) != 25 || cues[0].StartMS != 62_000 || cues[24].StartMS != 180_000 {
		t.Errorf("%d cues from %+v", len(cues), cues[0])
	}
	m = newMemory(t)
	if src, _ = m.ingest(t, m.worker(talk(60)), m.put(t, "a.mp4", []byte("x")), tree.IngestOptions{FromMS: 90_000}); src.State != tree.StateFailed || !strings.Contains(src.Error, "does not lie in this source") {
		t.Errorf("source %+v", src)
	}
}
