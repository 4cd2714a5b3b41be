package ingest

import (
	"fmt"
	"strings"
	"syscall"
	"testing"

	"github.com/reeltree/reeltree/tree"
)

// refusal is the failure of a model as the model room writes it.
type refusal struct{ permanent bool }

func (r refusal) Error() string   { return r.Sentence() }
func (refusal) Sentence() string  { return `the vision model "eyes" at 127.0.0.1:9 failed (status 500)` }
func (r refusal) Permanent() bool { return r.permanent }
func wrapped(err error) error {
	return fmt.Errorf("describe %s/0.0: /data/blobs/x: %w", strings.Repeat("a", 26), err)
}

// TestFailuresAreToldInWordsForPeople: a refused key ends the job at once, what
// may pass after three tries; neither sentence holds an id or a path, and a full
// disk is called one.
func TestFailuresAreToldInWordsForPeople(t *testing.T) {
	for name, c := range map[string]struct {
		err   error
		tries int
		want  string
	}{
		"refused for good": {refusal{true}, 1, `because the vision model "eyes" at`},
		"may pass":         {refusal{}, maxTries, `the vision model "eyes" at`},
		"full disk":        {fmt.Errorf("write: %w", syscall.ENOSPC), maxTries, "the disk that holds the data folder is full"},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMemory(t)
			w := m.worker(talk(60))
			d := &counted{before: func(int) error { return wrapped(c.err) }}
			w.Describer, w.Settings.Concurrency = d, 1
			src, job := m.ingest(t, w, m.put(t, "talk.mp4", []byte("x")), tree.IngestOptions{})
			if job.State != tree.StateFailed || d.n != c.tries || !strings.Contains(job.Error, c.want) || src.Error != job.Error {
				t.Errorf("%d tries, %s: %q, want %q", d.n, job.State, job.Error, c.want)
			}
			if strings.Contains(job.Error, "aaaa") || strings.Contains(job.Error, "/data") || strings.Contains(job.Error, "\n") || strings.Count(job.Error, ".") > 5 {
				t.Errorf("not for people: %q", job.Error)
			}
		})
	}
}
