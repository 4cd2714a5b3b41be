package library

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/reeltree/reeltree/tree"
)

const otherID = "bcdefghijklmnopqrstuvwxyza"

// fill gives a source one of everything.
func fill(t *testing.T, s *Store, tenant, id, job string) tree.FrameRef {
	t.Helper()
	addSource(t, s, tenant, id, "full")
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	_, err := s.UpdateJob(t.Context(), tenant, job, func(j *tree.Job) error {
		j.Source, j.Created = id, time.Unix(1, 0).UTC()
		return nil
	})
	must(err)
	must(s.Enqueue(t.Context(), tree.Task{Tenant: tenant, Job: job, Stretch: tree.PlanTask}))
	must(s.SavePlan(t.Context(), tenant, job, []byte("plan")))
	must(s.SaveSubtitles(t.Context(), tenant, id, "talk.en.srt", []byte("1\n")))
	must(s.SaveVectors(t.Context(), tenant, id, "builtin v1", []byte("vectors")))
	refs, err := s.SaveFrames(t.Context(), tenant, tree.NodeID(id, 0, 0), []Picture{{JPEG: []byte("frame of " + tenant + id), TimeMS: 5}})
	must(err)
	n := &tree.Node{ID: tree.NodeID(id, 0, 0), Level: tree.L2, Text: "section", Span: tree.MS(0, 1000)}
	n.Children = []*tree.Node{{ID: tree.NodeID(id, 0, 0, 0), Level: tree.L3, Text: "moment", Span: n.Span, Evidence: tree.Evidence{Frame: &refs[0]}}}
	must(s.SaveClip(t.Context(), tenant, n))
	root := &tree.Node{ID: tree.NodeID(id, 0), Level: tree.L1, Text: "wide", Span: n.Span, Children: []*tree.Node{n}}
	must(s.SaveTree(t.Context(), tenant, &tree.Tree{Source: tree.Source{ID: id, Tenant: tenant}, Roots: []*tree.Node{root}}))
	must(s.Keep(withTask(t.Context(), tree.Task{Tenant: tenant, Job: job}), strings.Repeat("a", 64), []byte("reply")))
	must(s.SaveAnswer(t.Context(), tenant, Answer{
		Stream: "answer" + id, Created: time.Unix(2, 0).UTC(),
		Events: []json.RawMessage{json.RawMessage(`{"type":"evidence","node":"` + id + `/0.0"}`)},
	}))
	return refs[0]
}

// files are all blobs on the disk.
func files(t *testing.T, dir string) (all []string) {
	t.Helper()
	err := filepath.WalkDir(filepath.Join(dir, "blobs"), func(name string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			all = append(all, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestDeletionLeavesNothingOfOneSourceAndAllOfTheOthers(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	gone := fill(t, s, "default", sourceID, jobID)
	stays := fill(t, s, "default", otherID, strings.Repeat("k", 26))
	theirs := fill(t, s, "other", sourceID, jobID)
	before := len(files(t, dir))
	if err := s.DeleteSource(t.Context(), "default", sourceID); err != nil {
		t.Fatal(err)
	}
	left := files(t, dir)
	for _, f := range left {
		if strings.Contains(f, "/default/"+sourceID) || strings.Contains(f, "/default/"+jobID) {
			t.Errorf("left: %s", f)
		}
	}
	if want := (before-2)*2/3 + 2; len(left) != want { // one note for each tenant, since all have the same reply
		t.Errorf("%d files left, want %d", len(left), want)
	}
	if _, err := s.Frame(t.Context(), "default", gone.ID); !errors.Is(err, ErrNotFound) {
		t.Errorf("deleted frame: %v", err)
	}
	for tenant, f := range map[string]tree.FrameRef{"default": stays, "other": theirs} {
		if _, err := s.Frame(t.Context(), tenant, f.ID); err != nil {
			t.Errorf("frame of %s: %v", tenant, err)
		}
	}
	if all, err := s.Answers(t.Context(), "default"); err != nil || len(all) != 1 || all[0].Stream != "answer"+otherID {
		t.Errorf("answers %+v %v", all, err)
	}
	if _, err := s.Job(t.Context(), "default", jobID); !errors.Is(err, ErrNotFound) {
		t.Errorf("job: %v", err)
	}
	if jobs, err := s.Jobs(t.Context(), "default"); err != nil || len(jobs) != 1 {
		t.Errorf("jobs %+v %v", jobs, err)
	}
	if n := waiting(t, s); n != 2 {
		t.Errorf("%d tasks wait, want 2", n)
	}
	if err := s.DeleteSource(t.Context(), "default", sourceID); !errors.Is(err, ErrNotFound) {
		t.Errorf("deleted twice: %v", err)
	}
}

func TestLateWritesDoNotBringADeletedSourceBack(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	fill(t, s, "default", sourceID, jobID)
	if err := s.DeleteSource(t.Context(), "default", sourceID); err != nil {
		t.Fatal(err)
	}
	_, frames := s.SaveFrames(t.Context(), "default", tree.NodeID(sourceID, 0, 1), []Picture{{JPEG: []byte("late")}})
	_, src := s.UpdateSource(t.Context(), "default", sourceID, func(v *tree.Source) error { v.State = tree.StateDone; return nil })
	_, job := s.UpdateJob(t.Context(), "default", jobID, func(v *tree.Job) error { v.State = tree.StateDone; return nil })
	for what, err := range map[string]error{
		"clip": s.SaveClip(t.Context(), "default", clip(0, 1)), "frames": frames, "source": src, "job": job,
		"vectors": s.SaveVectors(t.Context(), "default", sourceID, "e", nil),
	} {
		if !errors.Is(err, ErrNotFound) {
			t.Errorf("late %s: %v", what, err)
		}
	}
	if left := files(t, dir); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
	if err := s.Keep(withTask(t.Context(), task(0)), strings.Repeat("a", 64), []byte("reply")); err != nil {
		t.Errorf("late reply: %v", err)
	}
	fill(t, s, "default", sourceID, jobID) // handed over again, it is as new
	if _, err := s.Tree(t.Context(), "default", sourceID); err != nil {
		t.Error(err)
	}
}

func TestSourceIsGoneAsSoonAsItsDeletionIsRecorded(t *testing.T) {
	s := open(t, t.TempDir())
	fill(t, s, "default", sourceID, jobID)
	if _, err := s.UpdateSource(t.Context(), "default", sourceID, func(v *tree.Source) error { v.State = stateDeleting; return nil }); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Source(t.Context(), "default", sourceID); !errors.Is(err, ErrNotFound) {
		t.Errorf("source: %v", err)
	}
	_, err := s.UpdateSource(t.Context(), "default", sourceID, func(v *tree.Source) error { v.State = tree.StateRunning; return nil })
	if !errors.Is(err, ErrNotFound) {
		t.Errorf("the deletion was overwritten: %v", err)
	}
	if err := s.DeleteSource(t.Context(), "default", sourceID); err != nil {
		t.Errorf("a deletion that stopped half way cannot be repeated: %v", err)
	}
}

func TestDeletionWhileItsTaskRuns(t *testing.T) {
	s := open(t, t.TempDir())
	fill(t, s, "default", sourceID, jobID)
	fill(t, s, "default", otherID, strings.Repeat("k", 26))
	runs := map[string]int{}
	s.cfg.Parallel = 1
	work(t, s, 20*time.Second, func(ctx context.Context, task tree.Task) (bool, error) {
		runs[task.Job]++
		if task.Job == jobID {
			return false, s.DeleteSource(ctx, "default", sourceID)
		}
		return true, nil
	})
	if runs[jobID] != 1 || waiting(t, s) != 0 {
		t.Errorf("runs %v, %d left", runs, waiting(t, s))
	}
}

func TestRepliesLieWithTheirSource(t *testing.T) {
	s := open(t, t.TempDir())
	fill(t, s, "default", sourceID, jobID)
	key := strings.Repeat("a", 64)
	mine := withTask(t.Context(), task(3))
	if got, err := s.Recall(mine, key); err != nil || string(got) != "reply" {
		t.Errorf("%q %v", got, err)
	}
	for name, ctx := range map[string]context.Context{
		"no task": t.Context(), "no job": withTask(t.Context(), tree.Task{Tenant: "default", Job: otherID}),
		"other tenant": withTask(t.Context(), tree.Task{Tenant: "other", Job: jobID}),
	} {
		if got, err := s.Recall(ctx, key); got != nil || err != nil {
			t.Errorf("%s: %q %v", name, got, err)
		}
	}
	if err := s.Keep(t.Context(), key, []byte("x")); err != nil {
		t.Error(err)
	}
}

// A reply serves every source of its tenant whose prompt is the same, for as
// long as one of them is there, and no other tenant's.
func TestRepliesServeOtherSourcesOfTheTenant(t *testing.T) {
	s := open(t, t.TempDir())
	key := strings.Repeat("b", 64)
	within := func(tenant, source, job string) context.Context {
		addSource(t, s, tenant, source, "cut")
		if _, err := s.UpdateJob(t.Context(), tenant, job, func(j *tree.Job) error {
			j.Source, j.Created = source, time.Unix(1, 0).UTC()
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		return withTask(t.Context(), tree.Task{Tenant: tenant, Job: job})
	}
	recall := func(ctx context.Context) string {
		t.Helper()
		got, err := s.Recall(ctx, key)
		if err != nil {
			t.Fatal(err)
		}
		return string(got)
	}
	drop := func(source string) {
		t.Helper()
		if err := s.DeleteSource(t.Context(), "default", source); err != nil {
			t.Fatal(err)
		}
	}
	third := strings.Repeat("c", 26)
	first, second := within("default", sourceID, jobID), within("default", otherID, "job2")
	if err := s.Keep(first, key, []byte("a red barn")); err != nil {
		t.Fatal(err)
	}
	if got := recall(within("other", sourceID, jobID)); got != "" {
		t.Errorf("another tenant reads %q", got)
	}
	if got := recall(second); got != "a red barn" {
		t.Errorf("the second cut has %q", got)
	}
	drop(sourceID)
	if got := recall(second); got != "a red barn" {
		t.Errorf("after the first one went the second has %q", got)
	}
	if got := recall(within("default", third, "job3")); got != "a red barn" {
		t.Errorf("the third has %q", got)
	}
	drop(otherID)
	drop(third)
	if got := recall(within("default", sourceID, "job4")); got != "" {
		t.Errorf("after all went there is still %q", got)
	}
}

// TestOrphansGoAndSourcesStay: content nobody names is dropped with its
// subtitles; that of a source is not touched.
func TestOrphansGoAndSourcesStay(t *testing.T) {
	s := open(t, t.TempDir())
	id, _, err := s.PutContent(t.Context(), "default", strings.NewReader("looked at"), 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.SaveSubtitles(t.Context(), "default", id, "a.srt", []byte("1\n")); err != nil {
		t.Fatal(err)
	}
	kept, _, err := s.PutContent(t.Context(), "default", strings.NewReader("kept"), 0)
	if err != nil {
		t.Fatal(err)
	}
	addSource(t, s, "default", kept, "kept")
	for range 2 { // a second time there is nothing to do
		for _, orphan := range []string{id, kept} {
			if err := s.DropOrphan(t.Context(), "default", orphan); err != nil {
				t.Fatal(err)
			}
		}
	}
	if _, err := s.OpenContent(t.Context(), "default", id); !errors.Is(err, ErrNotFound) {
		t.Errorf("the orphan: %v", err)
	}
	if _, data, err := s.Subtitles(t.Context(), "default", id); err != nil || data != nil {
		t.Errorf("its subtitles: %q, %v", data, err)
	}
	f, err := s.OpenContent(t.Context(), "default", kept)
	if err != nil {
		t.Fatal(err)
	}
	_ = f.Close()
}

// TestAnswersOfADeletedSourceAreNotStored: an answer that ends after a source it
// quotes was deleted leaves none of its words behind, also when both happen at once.
func TestAnswersOfADeletedSourceAreNotStored(t *testing.T) {
	s := open(t, t.TempDir())
	fill(t, s, "default", sourceID, jobID)
	fill(t, s, "default", otherID, strings.Repeat("k", 26))
	quoting := func(stream string, ids ...string) Answer {
		a := Answer{Stream: stream, Created: time.Unix(3, 0).UTC()}
		for _, id := range ids {
			a.Events = append(a.Events, json.RawMessage(`{"type":"evidence","n":1,"node":"`+id+`/0.0.1","quote":"secret"}`))
		}
		return a
	}
	saved := make(chan error, 20)
	for i := range 20 {
		go func() {
			saved <- s.SaveAnswer(t.Context(), "default", quoting(fmt.Sprint("race", i), otherID, sourceID))
		}()
	}
	if err := s.DeleteSource(t.Context(), "default", sourceID); err != nil {
		t.Fatal(err)
	}
	for range 20 {
		if err := <-saved; err != nil && !errors.Is(err, ErrNotFound) {
			t.Error(err)
		}
	}
	if err := s.SaveAnswer(t.Context(), "default", quoting("late", otherID, sourceID)); !errors.Is(err, ErrNotFound) {
		t.Errorf("a late answer: %v", err)
	}
	if err := s.SaveAnswer(t.Context(), "default", quoting("theirs", otherID)); err != nil {
		t.Errorf("an answer about what is there: %v", err)
	}
	all, err := s.Answers(t.Context(), "default")
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range all {
		if strings.Contains(fmt.Sprint(quotedSources(a.Events)), sourceID) {
			t.Errorf("%s still quotes what was deleted", a.Stream)
		}
	}
}
