package library

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/reeltree/reeltree/tree"
)

func open(t *testing.T, dir string) *Store {
	t.Helper()
	s, err := Open(t.Context(), Config{Dir: dir, Parallel: 2})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

const (
	sourceID = "abcdefghijklmnopqrstuvwxyz"
	jobID    = "jobjobjobjobjobjobjobjobjo"
)

func addSource(t *testing.T, s *Store, tenant, id, title string) {
	t.Helper()
	if _, err := s.UpdateSource(t.Context(), tenant, id, func(src *tree.Source) error {
		src.Title, src.State, src.Kind, src.Created = title, tree.StateDone, tree.KindVideo, time.Unix(1_700_000_000, 0).UTC()
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

func TestSecondOpenerIsToldWhoHoldsTheFolder(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	if err := s.SetAddr("http://127.0.0.1:8400", "token"); err != nil {
		t.Fatal(err)
	}
	_, err := Open(t.Context(), Config{Dir: dir})
	if !errors.Is(err, ErrLocked) || !strings.Contains(err.Error(), "http://127.0.0.1:8400") {
		t.Errorf("second opener: %v", err)
	}
	l, held, err := ReadLock(dir)
	if err != nil || !held || l.Token != "token" || l.PID != os.Getpid() {
		t.Errorf("lock: %+v held=%v %v", l, held, err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, held, _ := ReadLock(dir); held {
		t.Error("the lock outlives its owner")
	}
	open(t, dir)
}

func TestCatalogIsPerTenantAndSurvives(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	addSource(t, s, "default", sourceID, "mine")
	addSource(t, s, "Other. Tenant*", sourceID, "theirs")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, dir)
	for tenant, title := range map[string]string{"default": "mine", "Other. Tenant*": "theirs"} {
		all, err := s.Sources(t.Context(), tenant)
		if err != nil || len(all) != 1 || all[0].Title != title || all[0].Tenant != tenant {
			t.Errorf("%s: %+v %v", tenant, all, err)
		}
	}
	if _, err := s.Source(t.Context(), "default", "nope"); !errors.Is(err, ErrNotFound) {
		t.Errorf("absent source: %v", err)
	}
}

func TestConcurrentUpdatesLoseNothing(t *testing.T) {
	s := open(t, t.TempDir())
	const writers, each = 8, 10
	done := make(chan error, writers)
	for range writers {
		go func() {
			for range each {
				if _, err := s.UpdateJob(t.Context(), "default", jobID, func(j *tree.Job) error { j.Tries++; j.Created = time.Unix(1, 0); return nil }); err != nil {
					done <- err
					return
				}
			}
			done <- nil
		}()
	}
	for range writers {
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
	j, err := s.Job(t.Context(), "default", jobID)
	if err != nil || j.Tries != writers*each {
		t.Errorf("tries %d, want %d; %v", j.Tries, writers*each, err)
	}
}

func TestContentIsNamedByItsHash(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	id, n, err := s.PutContent(t.Context(), "default", strings.NewReader("hello"), 0)
	again, _, _ := s.PutContent(t.Context(), "default", strings.NewReader("hello"), 0)
	other, _, _ := s.PutContent(t.Context(), "other", strings.NewReader("hello"), 0)
	if err != nil || n != 5 || id != again || id == other || !tree.ValidID(id) {
		t.Fatalf("ids %s %s %s, %d bytes, %v", id, again, other, n, err)
	}
	if _, _, err := s.PutContent(t.Context(), "default", strings.NewReader("too long"), 7); !errors.Is(err, ErrTooLarge) {
		t.Errorf("over the limit: %v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "tmp", "*")); len(left) > 0 {
		t.Errorf("left over: %v", left)
	}
	f, err := s.OpenContent(t.Context(), "default", id)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	_, _ = b.ReadFrom(f)
	_ = f.Close()
	if b.String() != "hello" {
		t.Errorf("content %q", b.String())
	}
}

func clip(at ...int) *tree.Node {
	n := &tree.Node{ID: tree.NodeID(sourceID, at...), Level: tree.Level(len(at)), Text: fmt.Sprint("text ", at), Span: tree.MS(int64(at[len(at)-1])*1000, int64(at[len(at)-1])*1000+1000)}
	if len(at) == 1 {
		n.Span = tree.MS(0, 60_000)
	}
	if len(at) == 2 {
		n.Children = []*tree.Node{{ID: tree.NodeID(sourceID, append(at, 0)...), Level: tree.L3, Text: "leaf", Span: n.Span}}
	}
	return n
}

func TestTreeIsAssembledWhileItGrows(t *testing.T) {
	s := open(t, t.TempDir())
	addSource(t, s, "default", sourceID, "talk")
	for _, n := range []*tree.Node{clip(1, 0), clip(0, 2), clip(0, 0), clip(0)} {
		if err := s.SaveClip(t.Context(), "default", n); err != nil {
			t.Fatal(err)
		}
	}
	got, err := s.Tree(t.Context(), "default", sourceID)
	if err != nil {
		t.Fatal(err)
	}
	if c := got.Counts(); c.L1 != 2 || c.L2 != 4 {
		t.Errorf("counts %+v", c)
	}
	if n := got.Find([]int{0, 2}); n == nil || n.Text != "text [0 2]" || len(n.Children) != 1 {
		t.Errorf("0.2 is %+v", n)
	}
	if n := got.Find([]int{0, 1}); n == nil || n.Text != "" {
		t.Errorf("the gap is %+v", n)
	}
	if _, err := json.Marshal(got); err != nil {
		t.Errorf("a tree with gaps cannot be sent: %v", err)
	}
	if n := got.Find([]int{0}); n.Text != "text [0]" {
		t.Errorf("L1 is %+v", n)
	}
}

func TestDamagedBlobsAreNeverServed(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	addSource(t, s, "default", sourceID, "talk")
	if err := s.SaveClip(t.Context(), "default", clip(0, 0)); err != nil {
		t.Fatal(err)
	}
	refs, err := s.SaveFrames(t.Context(), "default", tree.NodeID(sourceID, 0, 0), []Picture{{JPEG: []byte("one")}, {JPEG: []byte("two")}})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := s.Frame(t.Context(), "default", refs[1].ID); err != nil || string(got) != "two" {
		t.Fatalf("frame: %q %v", got, err)
	}
	if _, err := s.Frame(t.Context(), "other", refs[1].ID); !errors.Is(err, ErrNotFound) {
		t.Errorf("another tenant's frame: %v", err)
	}
	_ = filepath.Walk(filepath.Join(dir, "blobs"), func(path string, info os.FileInfo, _ error) error {
		if info.Mode().IsRegular() {
			data, _ := os.ReadFile(path)
			data[len(data)-1] ^= 1
			return os.WriteFile(path, data, 0o600)
		}
		return nil
	})
	if n, err := s.Clip(t.Context(), "default", tree.NodeID(sourceID, 0, 0)); n != nil || err != nil {
		t.Errorf("a damaged clip was served: %+v %v", n, err)
	}
	if _, err := s.Frame(t.Context(), "default", refs[1].ID); !errors.Is(err, ErrDamaged) {
		t.Errorf("a damaged frame was served: %v", err)
	}
}

func TestQueueRunsEveryTaskOnceAndAgainAfterFailure(t *testing.T) {
	s := open(t, t.TempDir())
	for range 2 { // the second time everything still waits and is not added
		for i := range 3 {
			if err := s.Enqueue(t.Context(), tree.Task{Tenant: "default", Job: jobID, Stretch: i - 1}); err != nil {
				t.Fatal(err)
			}
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	var runs, failed atomic.Int32
	err := s.Work(ctx, func(_ context.Context, task tree.Task) error {
		if task.Stretch == 1 && failed.Add(1) == 1 {
			return errors.New("once")
		}
		if runs.Add(1) == 3 {
			cancel()
		}
		return nil
	})
	if err != nil || runs.Load() != 3 || failed.Load() != 2 {
		t.Errorf("%d runs, %d tries of the failing one, %v", runs.Load(), failed.Load(), err)
	}
}

// TestKilledOwner runs this test binary again as an owner that takes a task,
// records a deletion half and is killed; the next owner gets the task at once.
func TestKilledOwner(t *testing.T) {
	if dir := os.Getenv("LIBRARY_TEST_OWNER"); dir != "" {
		ownUntilKilled(t, dir)
		return
	}
	dir := t.TempDir()
	cmd := exec.Command(os.Args[0], "-test.run=^TestKilledOwner$")
	cmd.Env = append(os.Environ(), "LIBRARY_TEST_OWNER="+dir)
	if out, err := cmd.CombinedOutput(); err == nil {
		t.Fatalf("the owner was not killed: %s", out)
	}
	s := open(t, dir)
	if all, err := s.Sources(t.Context(), "default"); err != nil || len(all) != 1 || all[0].ID == sourceID {
		t.Errorf("the deletion was not completed: %+v %v", all, err)
	}
	if _, err := s.Tree(t.Context(), "default", sourceID); !errors.Is(err, ErrNotFound) {
		t.Errorf("the deleted source still has a tree: %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	got := false
	if err := s.Work(ctx, func(context.Context, tree.Task) error { got = true; cancel(); return nil }); err != nil || !got {
		t.Errorf("the task of the killed owner was not handed out again within 5 s: %v", err)
	}
}

func ownUntilKilled(t *testing.T, dir string) {
	t.Helper()
	s, err := Open(t.Context(), Config{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	addSource(t, s, "default", sourceID, "half deleted")
	addSource(t, s, "default", strings.Repeat("b", 26), "stays")
	if err := s.SaveClip(t.Context(), "default", clip(0, 0)); err != nil {
		t.Fatal(err)
	}
	if _, err := s.UpdateSource(t.Context(), "default", sourceID, func(src *tree.Source) error { src.State, src.Created = stateDeleting, time.Unix(1, 0); return nil }); err != nil {
		t.Fatal(err)
	}
	if err := s.Enqueue(t.Context(), tree.Task{Tenant: "default", Job: jobID, Stretch: 0}); err != nil {
		t.Fatal(err)
	}
	_ = s.Work(t.Context(), func(context.Context, tree.Task) error {
		self, _ := os.FindProcess(os.Getpid())
		_ = self.Kill()
		select {}
	})
}

func TestAnswersAndFeed(t *testing.T) {
	s := open(t, t.TempDir())
	ctx, cancel := context.WithCancel(t.Context())
	seen, ended := make(chan string, 10), make(chan struct{})
	go func() {
		defer close(ended)
		_ = s.Watch(ctx, "default", func(op string, src tree.Source) { seen <- op + " " + src.ID[:1] })
	}()
	defer func() { cancel(); <-ended }()
	// The watch begins somewhere during the first updates: change until it is seen.
	for first := ""; first == ""; {
		addSource(t, s, "default", sourceID, "talk")
		select {
		case first = <-seen:
		case <-time.After(50 * time.Millisecond):
		}
	}
	if err := s.DeleteSource(t.Context(), "default", sourceID); err != nil {
		t.Fatal(err)
	}
	for op := ""; op != "removed a"; {
		select {
		case op = <-seen:
		case <-time.After(5 * time.Second):
			t.Fatal("the removal was not told")
		}
	}
	want := Answer{Stream: "streamstreamstream", Epoch: "e", Question: "why?", Created: time.Now()}
	if err := s.SaveAnswer(t.Context(), "default", want); err != nil {
		t.Fatal(err)
	}
	got, err := s.Answer(t.Context(), "default", want.Stream)
	all, listErr := s.Answers(t.Context(), "default")
	if err != nil || listErr != nil || got.Question != "why?" || len(all) != 1 {
		t.Errorf("%+v %v %v", got, err, listErr)
	}
	if _, err := s.Answer(t.Context(), "other", want.Stream); !errors.Is(err, ErrNotFound) {
		t.Errorf("another tenant's answer: %v", err)
	}
}
