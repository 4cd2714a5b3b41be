package library

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/reeltree/reeltree/tree"
)

func TestListsAreSortedByCreationThenID(t *testing.T) {
	s := open(t, t.TempDir())
	at := time.Unix(1_700_000_000, 0).UTC()
	for i, id := range []string{"c", "a", "b"} {
		created := at.Add(-time.Duration(i/2) * time.Hour) // c and a at once, b before them
		id = strings.Repeat(id, 26)
		_, src := s.UpdateSource(t.Context(), "default", id, func(v *tree.Source) error { v.Created = created; return nil })
		_, job := s.UpdateJob(t.Context(), "default", id, func(v *tree.Job) error { v.Created = created; return nil })
		if err := errors.Join(src, job, s.SaveAnswer(t.Context(), "default", Answer{Stream: id, Created: created})); err != nil {
			t.Fatal(err)
		}
	}
	sources, err1 := s.Sources(t.Context(), "default")
	jobs, err2 := s.Jobs(t.Context(), "default")
	answers, err3 := s.Answers(t.Context(), "default")
	if err := errors.Join(err1, err2, err3); err != nil || len(sources) != 3 || len(jobs) != 3 || len(answers) != 3 {
		t.Fatal(err, len(sources), len(jobs), len(answers))
	}
	for i, id := range []string{"b", "a", "c"} {
		if id = strings.Repeat(id, 26); sources[i].ID != id || jobs[i].ID != id || answers[i].Stream != id {
			t.Errorf("place %d: %s %s %s, want %s", i, sources[i].ID, jobs[i].ID, answers[i].Stream, id)
		}
	}
}

func TestErrorOfAChangeStopsIt(t *testing.T) {
	s := open(t, t.TempDir())
	no := errors.New("no")
	if _, err := s.UpdateSource(t.Context(), "default", sourceID, func(*tree.Source) error { return no }); !errors.Is(err, no) {
		t.Errorf("got %v", err)
	}
	if all, err := s.Sources(t.Context(), "default"); err != nil || len(all) != 0 {
		t.Errorf("%+v %v", all, err)
	}
}

func TestOldAnswersGoFirst(t *testing.T) {
	s, err := Open(t.Context(), Config{Dir: t.TempDir(), Answers: 3})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	for i := range 5 {
		if err := s.SaveAnswer(t.Context(), "default", answerOf(i)); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.SaveAnswer(t.Context(), "other", answerOf(0)); err != nil {
		t.Fatal(err)
	}
	all, err := s.Answers(t.Context(), "default")
	if err != nil || len(all) != 3 || all[0].Stream != answerOf(2).Stream {
		t.Errorf("%d answers, %v", len(all), err)
	}
	if all, err := s.Answers(t.Context(), "other"); err != nil || len(all) != 1 {
		t.Errorf("another tenant has %d, %v", len(all), err)
	}
}

func TestLongAnswerIsOneRecord(t *testing.T) {
	s := open(t, t.TempDir())
	a := answerOf(1)
	for range 20 {
		a.Events = append(a.Events, json.RawMessage(`{"text":"`+strings.Repeat("x", 200_000)+`"}`))
	}
	if err := s.SaveAnswer(t.Context(), "default", a); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Answer(t.Context(), "default", a.Stream); err != nil || len(got.Events) != 20 {
		t.Errorf("%d events, %v", len(got.Events), err)
	}
	a.Question = strings.Repeat("x", maxRecord)
	if err := s.SaveAnswer(t.Context(), "default", a); err == nil || !strings.Contains(err.Error(), "bytes") {
		t.Errorf("an answer without bounds: %v", err)
	}
}

// TestReaderOfTheLockIsNotTakenForAnOwner holds the lock for a moment as
// ReadLock does.
func TestReaderOfTheLockIsNotTakenForAnOwner(t *testing.T) {
	dir := t.TempDir()
	reader, err := os.Create(filepath.Join(dir, "lock"))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Flock(int(reader.Fd()), syscall.LOCK_SH|syscall.LOCK_NB); err != nil {
		t.Fatal(err)
	}
	gone := time.AfterFunc(lockPause/2, func() { _ = reader.Close() })
	defer gone.Stop()
	f, _, err := takeLock(t.Context(), dir)
	if err != nil {
		t.Fatalf("a reader was taken for an owner: %v", err)
	}
	_ = f.Close()
}

func TestOrderlyEndLeavesNoTokenBehind(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	if err := s.SetAddr("http://127.0.0.1:1", "secret token"); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(filepath.Join(dir, "lock"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("lock file: %v %v", info.Mode(), err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadFile(filepath.Join(dir, "lock")); err != nil || len(left) > 0 {
		t.Errorf("left: %q %v", left, err)
	}
}

func TestNewerLayoutIsRefusedUntouched(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "version"), []byte("2"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), Config{Dir: dir}); err == nil || !strings.Contains(err.Error(), `version "2"`) {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "nats")); err == nil {
		t.Error("the folder was changed")
	}
}

// failing is an upload that breaks off.
type failing struct{ left int }

func (f *failing) Read(p []byte) (int, error) {
	if f.left -= len(p); f.left < 0 {
		return 0, io.ErrUnexpectedEOF
	}
	return len(p), nil
}

func TestBrokenUploadLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	if _, _, err := s.PutContent(t.Context(), "default", &failing{left: 1 << 20}, 0); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("got %v", err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := s.PutContent(gone, "default", strings.NewReader("x"), 0); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if left := append(files(t, dir), globbed(filepath.Join(dir, "tmp", "*"))...); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

func TestContentIsRemovedAndPutAgain(t *testing.T) {
	s := open(t, t.TempDir())
	id, _, err := s.PutContent(t.Context(), "default", strings.NewReader("hello"), 5)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := s.RemoveContent(t.Context(), "default", id); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.OpenContent(t.Context(), "default", id); !errors.Is(err, ErrNotFound) {
		t.Errorf("removed: %v", err)
	}
	if again, _, err := s.PutContent(t.Context(), "default", strings.NewReader("hello"), 5); err != nil || again != id {
		t.Errorf("%s %v", again, err)
	}
	if err := s.VerifyContent(t.Context(), "default", id); err != nil {
		t.Error(err)
	}
}

func FuzzNamesNeverLeaveTheFolder(f *testing.F) {
	for _, s := range []string{"", "default", "../../etc", "a/b", "a.b", "*", ">", "_61", "Ünïcode", "\x00", strings.Repeat("x", 300)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		got := safe(name)
		if got == "" || len(got) > 200 || strings.Trim(got, "abcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
			t.Errorf("%q is written %q", name, got)
		}
		if back, ok := unsafe(got); ok && back != name {
			t.Errorf("%q comes back as %q", name, back)
		}
	})
}

// BenchmarkOpenEmpty is what every command on a folder pays.
func BenchmarkOpenEmpty(b *testing.B) {
	for b.Loop() {
		s, err := Open(b.Context(), Config{Dir: b.TempDir()})
		if err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
}

// BenchmarkSaveClip is what a finished clip pays for being durable.
func BenchmarkSaveClip(b *testing.B) {
	s, err := Open(b.Context(), Config{Dir: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	_, err = s.UpdateSource(b.Context(), "default", filmID, func(v *tree.Source) error { v.Created = time.Unix(1, 0); return nil })
	if err != nil {
		b.Fatal(err)
	}
	for i := 0; b.Loop(); i++ {
		if err := s.SaveClip(b.Context(), "default", nodeOf(i%1000)); err != nil {
			b.Fatal(err)
		}
	}
	status, _ := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(status)) {
		var kb float64
		if _, err := fmt.Sscanf(line, "VmRSS: %f kB", &kb); err == nil {
			b.ReportMetric(kb/1024, "rss-MB")
		}
	}
}
