package library

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reeltree/reeltree/tree"
)

// TestStoredSampleOpens: a data folder written by version 0.1.0 opens with its
// source, job and tree. The sample is never rewritten.
func TestStoredSampleOpens(t *testing.T) {
	sample, err := filepath.Abs(filepath.Join("testdata", "v0.1.0", "store.tgz"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if out, err := exec.Command("tar", "-C", dir, "-xzf", sample).CombinedOutput(); err != nil {
		t.Fatalf("tar: %v %s", err, out)
	}
	s := open(t, dir)
	all, err := s.Sources(t.Context(), tree.DefaultTenant)
	if err != nil || len(all) != 1 || all[0].Title != "lens.md" || all[0].State != tree.StateDone {
		t.Fatalf("%+v %v", all, err)
	}
	if job, err := s.Job(t.Context(), tree.DefaultTenant, all[0].Job); err != nil || job.State != tree.StateDone {
		t.Errorf("job %+v %v", job, err)
	}
	got, err := s.Tree(t.Context(), tree.DefaultTenant, all[0].ID)
	if err != nil || len(got.Roots) != 1 || !strings.Contains(got.Roots[0].Transcript(), "four tons") {
		t.Errorf("tree %+v %v", got, err)
	}
}
