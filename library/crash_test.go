package library

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/reeltree/reeltree/tree"
)

// killed runs the named test of this binary again as the owner of dir until it
// has printed the given number of lines, lets it run a little further, and kills
// it. It gives back what was printed.
func killed(t *testing.T, test, dir string, lines int, further time.Duration) []string {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^"+test+"$", "-test.v")
	cmd.Env = append(os.Environ(), "LIBRARY_TEST_OWNER="+dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var done, all []string
	in := bufio.NewScanner(out)
	for in.Scan() {
		all = append(all, in.Text())
		if d, ok := strings.CutPrefix(in.Text(), "done "); ok {
			if done = append(done, d); len(done) == lines {
				time.AfterFunc(further, func() { _ = cmd.Process.Kill() })
			}
		}
	}
	if err := cmd.Wait(); err == nil || len(done) < lines {
		t.Fatalf("the owner was not killed (%v) or did too little:\n%s", err, strings.Join(all, "\n"))
	}
	return done
}

const filmID = "filmfilmfilmfilmfilmfilmfi"

func contentOf(i int) string { return strings.Repeat(fmt.Sprintf("content %d ", i), 3000) }

func answerOf(i int) Answer {
	return Answer{Stream: fmt.Sprintf("stream%026d", i), Epoch: "e", Question: contentOf(i), Created: time.Unix(int64(i), 0).UTC()}
}

func nodeOf(i int) *tree.Node {
	n := &tree.Node{ID: tree.NodeID(filmID, 0, i), Level: tree.L2, Text: contentOf(i), Span: tree.MS(int64(i)*1000, int64(i)*1000+1000)}
	n.Children = []*tree.Node{{ID: tree.NodeID(filmID, 0, i, 0), Level: tree.L3, Text: "moment", Span: n.Span}}
	return n
}

// writeOne stores number i in every way there is.
func writeOne(ctx context.Context, s *Store, i int) error {
	_, frames := s.SaveFrames(ctx, "default", tree.NodeID(filmID, 0, i), []Picture{{JPEG: []byte(contentOf(i))}})
	_, _, content := s.PutContent(ctx, "default", strings.NewReader(contentOf(i)), 0)
	err := errors.Join(frames, content,
		s.SaveClip(ctx, "default", nodeOf(i)), s.SavePlan(ctx, "default", jobID, []byte(contentOf(i))),
		s.SaveAnswer(ctx, "default", answerOf(i)), s.Enqueue(ctx, task(i)))
	_, last := s.UpdateJob(ctx, "default", jobID, func(j *tree.Job) error {
		j.Created, j.Tries, j.Finished = time.Unix(1, 0).UTC(), i, append(j.Finished, i)
		return nil
	})
	return errors.Join(err, last)
}

func writeUntilKilled(t *testing.T, dir string) {
	t.Helper()
	s, err := Open(t.Context(), Config{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	addSource(t, s, "default", filmID, "film")
	first := 0
	if j, err := s.Job(t.Context(), "default", jobID); err == nil {
		first = j.Tries + 1
	}
	for i := first; ; i++ {
		if err := writeOne(t.Context(), s, i); err != nil {
			t.Fatal(err)
		}
		fmt.Println("done", i)
	}
}

func TestWhatWasAcknowledgedSurvivesAKill(t *testing.T) {
	if dir := os.Getenv("LIBRARY_TEST_OWNER"); dir != "" {
		writeUntilKilled(t, dir)
		return
	}
	dir := t.TempDir()
	for round := range 4 {
		done := killed(t, "TestWhatWasAcknowledgedSurvivesAKill", dir, 4, time.Duration(round*7)*time.Millisecond)
		var last int
		_, _ = fmt.Sscan(done[len(done)-1], &last)
		checkWritten(t, dir, last)
	}
}

// checkWritten holds that numbers up to last are whole and the next, which was
// being written, is whole or absent.
func checkWritten(t *testing.T, dir string, last int) {
	t.Helper()
	s, err := Open(t.Context(), Config{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	job, err := s.Job(t.Context(), "default", jobID)
	if err != nil || job.Tries != last && job.Tries != last+1 || len(job.Finished) != job.Tries+1 {
		t.Errorf("the job is at %d of %d, %v", job.Tries, last, err)
	}
	if n := waiting(t, s); n != uint64(last+1) && n != uint64(last+2) {
		t.Errorf("%d tasks wait, %d were queued", n, last+1)
	}
	for i := 0; i <= last+1; i++ {
		checkNumber(t, s, i, i > last)
	}
	plan, err := s.Plan(t.Context(), "default", jobID)
	if err != nil || string(plan) != contentOf(last) && string(plan) != contentOf(last+1) {
		t.Errorf("plan: %d bytes, %v", len(plan), err)
	}
	for _, f := range append(files(t, dir), globbed(filepath.Join(dir, "tmp", "*"))...) {
		if strings.HasSuffix(f, unfinished) || strings.Contains(f, "/tmp/content-") {
			t.Errorf("left over: %s", f)
		}
	}
}

func globbed(pattern string) []string { all, _ := filepath.Glob(pattern); return all }

func checkNumber(t *testing.T, s *Store, i int, mayMiss bool) {
	t.Helper()
	want := nodeOf(i)
	n, err := s.Clip(t.Context(), "default", want.ID)
	if err != nil || n == nil && !mayMiss || n != nil && n.Text != want.Text {
		t.Errorf("clip %d: %v %v", i, n != nil, err)
	}
	a, err := s.Answer(t.Context(), "default", answerOf(i).Stream)
	if missing := errors.Is(err, ErrNotFound); missing && !mayMiss || err != nil && !missing || !missing && a.Question != contentOf(i) {
		t.Errorf("answer %d: %v", i, err)
	}
	hash := tree.NewIDHash("default")
	_, _ = io.WriteString(hash, contentOf(i))
	if err := s.VerifyContent(t.Context(), "default", hash.ID()); err != nil && (!mayMiss || !errors.Is(err, ErrNotFound)) {
		t.Errorf("content %d: %v", i, err)
	}
}

func workUntilKilled(t *testing.T, dir string) {
	t.Helper()
	s, err := Open(t.Context(), Config{Dir: dir, Parallel: 2})
	if err != nil {
		t.Fatal(err)
	}
	_ = s.Work(t.Context(), func(ctx context.Context, task tree.Task) error {
		fmt.Println("done", task.Stretch) // taken, not acknowledged
		<-time.After(5 * time.Millisecond)
		return s.SaveClip(ctx, "default", nodeOf(task.Stretch))
	})
}

func TestTasksOfAKilledOwnerAreFinishedByTheNext(t *testing.T) {
	if dir := os.Getenv("LIBRARY_TEST_OWNER"); dir != "" {
		workUntilKilled(t, dir)
		return
	}
	const tasks = 24
	dir := t.TempDir()
	s := open(t, dir)
	addSource(t, s, "default", filmID, "film")
	for i := range tasks {
		enqueue(t, s, task(i))
	}
	_ = s.Close()
	for round := range 3 {
		killed(t, "TestTasksOfAKilledOwnerAreFinishedByTheNext", dir, 4, time.Duration(round*4)*time.Millisecond)
	}
	s = open(t, dir)
	left := waiting(t, s)
	if left == 0 || left == tasks {
		t.Fatalf("%d tasks left: the kills hit nothing", left)
	}
	began, took := time.Now(), time.Duration(0)
	first := sync.OnceFunc(func() { took = time.Since(began) })
	var mu sync.Mutex
	ran := map[int]bool{}
	work(t, s, 20*time.Second, func(ctx context.Context, task tree.Task) (bool, error) {
		first()
		mu.Lock()
		defer mu.Unlock()
		ran[task.Stretch] = true
		return uint64(len(ran)) == left, s.SaveClip(ctx, "default", nodeOf(task.Stretch))
	})
	if took > time.Second {
		t.Errorf("the first task came after %s", took)
	}
	for i := range tasks {
		if n, err := s.Clip(t.Context(), "default", nodeOf(i).ID); err != nil || n == nil || n.Text != contentOf(i) {
			t.Errorf("task %d has no result: %v", i, err)
		}
	}
	if n := waiting(t, s); n != 0 {
		t.Errorf("%d tasks left", n)
	}
}

func TestDeletionIsCompletedWhereverItStopped(t *testing.T) {
	for i := range kinds {
		dir := t.TempDir()
		s := open(t, dir)
		fill(t, s, "default", sourceID, jobID)
		fill(t, s, "default", otherID, strings.Repeat("k", 26))
		before := kinds[:i]
		if _, err := s.UpdateSource(t.Context(), "default", sourceID, func(v *tree.Source) error { v.State = stateDeleting; return nil }); err != nil {
			t.Fatal(err)
		}
		for _, kind := range before {
			if err := s.remove(t.Context(), blobKey(kind, "default", sourceID)); err != nil {
				t.Fatal(err)
			}
		}
		_ = s.Close()
		s = open(t, dir)
		if all, err := s.Sources(t.Context(), "default"); err != nil || len(all) != 1 || all[0].ID != otherID {
			t.Errorf("after %v: %+v %v", before, all, err)
		}
		for _, f := range files(t, dir) {
			if strings.Contains(f, sourceID) {
				t.Errorf("after %v, left: %s", before, f)
			}
		}
		_ = s.Close()
	}
}
