package library

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"flag"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/reeltree/reeltree/tree"
)

var rewrite = flag.Bool("update", false, "write the sample of the store format again")

// samples are data folders with one of everything that a version wrote, made by
// -update before its release. They are added at
// a release and never written again.
var samples = []string{"v0.1.0"}

func sampleFile(version string) string {
	return filepath.Join("testdata", version, "everything.tar.gz")
}

// TestStoresOfReleasedVersionsOpen holds that everything a version stored is
// read by this one.
func TestStoresOfReleasedVersionsOpen(t *testing.T) {
	if *rewrite {
		writeSample(t, sampleFile(samples[len(samples)-1]))
	}
	for _, version := range samples {
		t.Run(version, func(t *testing.T) {
			dir := t.TempDir()
			unpack(t, sampleFile(version), dir)
			checkSample(t, open(t, dir))
		})
	}
}

// writeSample stores one of everything.
func writeSample(t *testing.T, file string) {
	t.Helper()
	dir := t.TempDir()
	s, err := Open(t.Context(), Config{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	fill(t, s, "default", sourceID, jobID)
	fill(t, s, "Other Tenant", otherID, jobID)
	if _, _, err := s.PutContent(t.Context(), "default", strings.NewReader("content"), 0); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	pack(t, dir, file)
}

func checkSample(t *testing.T, s *Store) {
	t.Helper()
	ctx := t.Context()
	for tenant, id := range map[string]string{"default": sourceID, "Other Tenant": otherID} {
		src, err := s.Sources(ctx, tenant)
		if err != nil || len(src) != 1 || src[0].ID != id || src[0].Title != "full" || src[0].State != tree.StateDone {
			t.Errorf("%s: sources %+v %v", tenant, src, err)
		}
		jobs, err := s.Jobs(ctx, tenant)
		if err != nil || len(jobs) != 1 || jobs[0].ID != jobID || jobs[0].Source != id {
			t.Errorf("%s: jobs %+v %v", tenant, jobs, err)
		}
		tr, err := s.Tree(ctx, tenant, id)
		if err != nil || tr.Counts() != (tree.Counts{L1: 1, L2: 1, L3: 1}) {
			t.Errorf("%s: tree %+v %v", tenant, tr, err)
		}
		if n, err := s.Clip(ctx, tenant, tree.NodeID(id, 0, 0)); err != nil || n == nil || n.Text != "section" || len(n.Children) != 1 {
			t.Errorf("%s: clip %+v %v", tenant, n, err)
		}
		answers, err := s.Answers(ctx, tenant)
		if err != nil || len(answers) != 1 || answers[0].Stream != "answer"+id || len(answers[0].Events) != 1 {
			t.Errorf("%s: answers %+v %v", tenant, answers, err)
		}
		wantFrame(t, s, tenant, "frame of "+tenant+id)
		checkSampleBlobs(t, s, tenant, id)
	}
	hash := tree.NewIDHash("default")
	_, _ = io.WriteString(hash, "content")
	if err := s.VerifyContent(ctx, "default", hash.ID()); err != nil {
		t.Error(err)
	}
	var mu sync.Mutex
	got := map[string]bool{}
	work(t, s, 20*time.Second, func(_ context.Context, task tree.Task) (bool, error) {
		mu.Lock()
		defer mu.Unlock()
		got[task.Tenant] = task.Job == jobID && task.Stretch == tree.PlanTask
		return len(got) == 2, nil
	})
	if !got["default"] || !got["Other Tenant"] {
		t.Errorf("tasks %v", got)
	}
}

func checkSampleBlobs(t *testing.T, s *Store, tenant, id string) {
	t.Helper()
	plan, err := s.Plan(t.Context(), tenant, jobID)
	if err != nil || string(plan) != "plan" {
		t.Errorf("%s: plan %q %v", tenant, plan, err)
	}
	name, subtitles, err := s.Subtitles(t.Context(), tenant, id)
	if err != nil || name != "talk.en.srt" || string(subtitles) != "1\n" {
		t.Errorf("%s: subtitles %s %q %v", tenant, name, subtitles, err)
	}
	vectors, err := s.Vectors(t.Context(), tenant, id, "builtin v1")
	if err != nil || string(vectors) != "vectors" {
		t.Errorf("%s: vectors %q %v", tenant, vectors, err)
	}
	reply, err := s.Recall(withTask(t.Context(), tree.Task{Tenant: tenant, Job: jobID}), strings.Repeat("a", 64))
	if err != nil || string(reply) != "reply" {
		t.Errorf("%s: reply %q %v", tenant, reply, err)
	}
}

func pack(t *testing.T, dir, file string) {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return err
		}
		err = w.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Size: int64(len(data))})
		_, writeErr := w.Write(data)
		return errors.Join(err, writeErr)
	})
	err = errors.Join(err, w.Close(), z.Close(), os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, b.Bytes(), 0o644))
	if err != nil {
		t.Fatal(err)
	}
}

func unpack(t *testing.T, file, dir string) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(r)
		name := filepath.Join(dir, filepath.FromSlash(h.Name))
		if err = errors.Join(err, os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, data, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
}
