package ingest

import (
	"bytes"
	"context"
	"errors"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/reeltree/reeltree/tree"
)

// abreast runs everything that is queued at once, wave after wave.
type abreast struct{ *memory }

func (a abreast) Work(ctx context.Context, do func(context.Context, tree.Task) error) error {
	for range 20 {
		a.mu.Lock()
		wave := a.queue
		a.queue = nil
		a.mu.Unlock()
		if len(wave) == 0 {
			return nil
		}
		var all sync.WaitGroup
		for _, t := range wave {
			all.Go(func() {
				if err := do(ctx, t); err != nil {
					_ = a.Enqueue(ctx, t)
				}
			})
		}
		all.Wait()
	}
	return errors.New("the queue never gets empty")
}

func TestStretchesSideBySide(t *testing.T) {
	one := newMemory(t)
	src, _ := one.ingest(t, one.worker(talk(6000)), one.put(t, "a.mp4", []byte("x")), tree.IngestOptions{})
	m := newMemory(t)
	w := m.worker(talk(6000))
	w.Queue, w.Now = abreast{m}, nil
	_, job := m.ingest(t, w, m.put(t, "a.mp4", []byte("x")), tree.IngestOptions{})
	if job.State != tree.StateDone || len(job.Plan) < 8 || !bytes.Equal(m.trees[src.ID], one.trees[src.ID]) {
		t.Errorf("job %+v, tree equal: %v", job, bytes.Equal(m.trees[src.ID], one.trees[src.ID]))
	}
	ended := 0
	for _, s := range m.states {
		if s.Ended() {
			ended++
		}
	}
	if ended != 1 {
		t.Errorf("the end was told %d times", ended)
	}
}

// One stretch fails for good while others run: the job fails once, nothing of
// it stays searchable and no task is left.
func TestOneStretchFailsAmongOthers(t *testing.T) {
	m := newMemory(t)
	w := m.worker(&damaged{film: talk(6000), from: 2_000_000})
	w.Queue, w.Now = abreast{m}, nil
	src, job := m.ingest(t, w, m.put(t, "a.mp4", []byte("x")), tree.IngestOptions{})
	if src.State != tree.StateFailed || job.State != tree.StateFailed || job.Error != "It is damaged there." || len(m.indexed) != 0 || len(m.trees) != 0 {
		t.Errorf("source %+v, job %+v, %d indexed", src, job, len(m.indexed))
	}
}

// damaged is a film that cannot be read from some time on.
type damaged struct {
	*film
	from int64
}

func (d *damaged) Sample(ctx context.Context, file *os.File, req MediaRequest, sink SampleSink) error {
	if req.FromMS >= d.from {
		return &MediaError{Reason: "It is damaged there."}
	}
	return d.film.Sample(ctx, file, req, sink)
}

// A clip that got lost between its stretch and the end of the job is made
// again; the tree never lacks it.
func TestLostClipIsBuiltAgain(t *testing.T) {
	whole := newMemory(t)
	src, _ := whole.ingest(t, whole.worker(talk(1500)), whole.put(t, "a.mp4", []byte("x")), tree.IngestOptions{})
	m := newMemory(t)
	lost := false
	m.onClip = func(node string) {
		if node == "1.0" && !lost {
			lost = true
			m.mu.Lock()
			delete(m.clips, tree.NodeID(src.ID, 0, 2))
			m.mu.Unlock()
		}
	}
	got, job := m.ingest(t, m.worker(talk(1500)), m.put(t, "a.mp4", []byte("x")), tree.IngestOptions{})
	if !lost || got.State != tree.StateDone || job.Tries != 0 || !bytes.Equal(m.trees[src.ID], whole.trees[src.ID]) {
		t.Errorf("source %+v, job %+v", got, job)
	}
}

// A clip of an earlier cut that lies where the new one should is not taken.
func TestForeignClipIsBuiltAgain(t *testing.T) {
	whole := newMemory(t)
	src, _ := whole.ingest(t, whole.worker(talk(1500)), whole.put(t, "a.mp4", []byte("x")), tree.IngestOptions{})
	m := newMemory(t)
	m.onClip = func(node string) {
		if node == "1.0" {
			m.mu.Lock()
			id := tree.NodeID(src.ID, 0, 2)
			m.clips[id] = bytes.ReplaceAll(whole.clips[tree.NodeID(src.ID, 0, 3)], []byte(src.ID+"/0.3"), []byte(id))
			m.mu.Unlock()
			m.onClip = nil
		}
	}
	m.ingest(t, m.worker(talk(1500)), m.put(t, "a.mp4", []byte("x")), tree.IngestOptions{})
	if !bytes.Equal(m.trees[src.ID], whole.trees[src.ID]) {
		t.Error("another tree")
	}
}

// A job that another wish replaced no longer speaks for the source.
func TestReplacedJobIsSilent(t *testing.T) {
	m := newMemory(t)
	w := m.worker(talk(120))
	put := m.put(t, "a.mp4", []byte("x"))
	old, err := w.Submit(t.Context(), put, tree.IngestOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Submit(t.Context(), put, tree.IngestOptions{Detail: "low"}); err != nil {
		t.Fatal(err)
	}
	if err := w.do(t.Context(), tree.Task{Tenant: old.Tenant, Job: old.ID, Stretch: tree.PlanTask}); err != nil {
		t.Fatal(err)
	}
	if s := m.source(t, put.ID); s.State != tree.StateQueued || m.job(t, old.ID).State != tree.StateCancelled {
		t.Errorf("source %+v", s)
	}
}

// A store that fails now and then costs time, never the tree.
func TestFlakyStore(t *testing.T) {
	whole := newMemory(t)
	src, _ := whole.ingest(t, whole.worker(talk(900)), whole.put(t, "a.mp4", []byte("x")), tree.IngestOptions{})
	for _, op := range []string{"clip", "index"} {
		m := newMemory(t)
		n := 0
		m.fail = func(what string) error {
			if what != op {
				return nil
			}
			if n++; n == 4 || n == 9 {
				return errors.New("no space left on device")
			}
			return nil
		}
		w := m.worker(talk(900))
		w.Settings.Concurrency = 1
		got, _ := m.ingest(t, w, m.put(t, "a.mp4", []byte("x")), tree.IngestOptions{})
		if got.State != tree.StateDone || !bytes.Equal(m.trees[src.ID], whole.trees[src.ID]) {
			t.Errorf("%s: %+v", op, got)
		}
	}
}

func TestChosenSubtitles(t *testing.T) {
	cues := []tree.Cue{cue(0, 1, "", "x")}
	stream := func(lang string, isDefault, forced, bitmap bool) SubtitleFacts {
		s := SubtitleFacts{Language: lang, Default: isDefault, Forced: forced, Bitmap: bitmap}
		if !bitmap {
			s.Cues = cues
		}
		return s
	}
	cases := []struct {
		name, language string
		all            []SubtitleFacts
		want           string
	}{
		{"none", "", nil, ""},
		{"the default", "", []SubtitleFacts{stream("de", false, false, false), stream("en", true, false, false)}, "en"},
		{"not the forced default", "", []SubtitleFacts{stream("en", true, true, false), stream("de", false, false, false)}, "de"},
		{"forced rather than none", "", []SubtitleFacts{stream("en", true, true, false)}, "en"},
		{"the wanted language", "es-MX", []SubtitleFacts{stream("en", true, false, false), stream("es", false, false, false)}, "es"},
		{"the first of equals", "", []SubtitleFacts{stream("fr", false, false, false), stream("it", false, false, false)}, "fr"},
		{"text before pictures", "", []SubtitleFacts{stream("en", true, false, true), stream("de", false, false, false)}, "de"},
	}
	for _, c := range cases {
		if got, warning := chooseSubtitles(c.all, c.language); got.Language != c.want || warning != "" {
			t.Errorf("%s: %q (%s), want %q", c.name, got.Language, warning, c.want)
		}
	}
	if _, warning := chooseSubtitles([]SubtitleFacts{stream("en", true, false, true)}, ""); !strings.Contains(warning, "are pictures") {
		t.Errorf("warning %q", warning)
	}
}

func TestLanguageOfNames(t *testing.T) {
	for name, want := range map[string]string{"talk.de.srt": "de", "talk.pt-BR.vtt": "pt-BR", "talk.srt": "", "v1.2.srt": "", "my.talk.final.srt": "", "a.deu.ass": "deu"} {
		if got := nameLanguage(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// A task that the queue set aside ends its job, which nothing else would; a job
// that has ended already stays as it is.
func TestSetAsideTaskEndsItsJob(t *testing.T) {
	m := newMemory(t)
	w := m.worker(talk(120))
	put := m.put(t, "a.mp4", []byte("x"))
	job, err := w.Submit(t.Context(), put, tree.IngestOptions{})
	if err != nil {
		t.Fatal(err)
	}
	task := tree.Task{Tenant: put.Tenant, Job: job.ID, Stretch: 0}
	if err := w.GiveUp(t.Context(), task, "the disk is full"); err != nil {
		t.Fatal(err)
	}
	if s, j := m.source(t, put.ID), m.job(t, job.ID); s.State != tree.StateFailed || j.State != tree.StateFailed || !strings.Contains(j.Error, "the disk is full") {
		t.Errorf("source %+v, job %+v", s, j)
	}
	m.queue = nil
	if _, err := w.Resume(t.Context(), put.Tenant, job.ID, 0, 0); err != nil {
		t.Fatal(err)
	}
	if err := w.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := w.GiveUp(t.Context(), task, "late"); err != nil || m.job(t, job.ID).State != tree.StateDone {
		t.Errorf("a finished job: %+v, %v", m.job(t, job.ID), err)
	}
}
