//go:build cgo

package ingest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/reeltree/reeltree/internal/testkit"
	"github.com/reeltree/reeltree/tree"
)

// ingestFile runs a real file through the real media worker.
func ingestFile(t *testing.T, path string, change func(*memory, *Worker, *tree.Source)) (tree.Source, *memory) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	m := newMemory(t)
	w := m.worker(Media{Command: selfWorker(t)})
	put := m.put(t, filepath.Base(path), data)
	if change != nil {
		change(m, w, &put)
	}
	src, _ := m.ingest(t, w, put, tree.IngestOptions{})
	return src, m
}

func TestRealFiles(t *testing.T) {
	leaves := func(tr *tree.Tree) (out []string) {
		for _, r := range tr.Roots {
			r.Leaves(func(l *tree.Node) { out = append(out, fmt.Sprintf("%d-%d", l.Span.StartMS, l.Span.EndMS)) })
		}
		return out
	}
	cases := []struct {
		file  string
		state tree.State
		check func(t *testing.T, tr *tree.Tree)
	}{
		{"threecuts.mp4", tree.StateDone, func(t *testing.T, tr *tree.Tree) {
			t.Helper()
			if got := fmt.Sprint(leaves(tr)); got != "[0-2000 2000-4000 4000-6000]" {
				t.Errorf("leaves %s, want the three scenes", got)
			}
		}},
		{"subs2.mkv", tree.StateDone, func(t *testing.T, tr *tree.Tree) {
			t.Helper()
			if cues := tr.Roots[0].Cues(); len(cues) == 0 || cues[0].Text == "" || cues[0].EndMS > 4000 {
				t.Errorf("cues %+v", cues)
			}
		}},
		{"movtext.mp4", tree.StateDone, func(t *testing.T, tr *tree.Tree) {
			t.Helper()
			if cues := tr.Roots[0].Cues(); len(cues) != 2 || !strings.Contains(cues[1].Text, "für Ünïcode") {
				t.Errorf("cues %+v", cues)
			}
		}},
		{"cutmdat.mp4", tree.StatePartial, func(t *testing.T, tr *tree.Tree) {
			t.Helper()
			if len(tr.Source.Warnings) != 1 || tr.Source.DurationMS > 4000 {
				t.Errorf("source %+v", tr.Source)
			}
		}},
		{"audioonly.mp4", tree.StateDone, func(t *testing.T, tr *tree.Tree) {
			t.Helper()
			if tr.Source.Kind != tree.KindAudio || tr.Roots[0].Frame() != nil || len(leaves(tr)) != 1 {
				t.Errorf("source %+v, leaves %v", tr.Source, leaves(tr))
			}
		}},
		{"long48h.mp4", tree.StateDone, func(t *testing.T, tr *tree.Tree) {
			t.Helper()
			if c := tr.Counts(); c.L1 > 10 || c.L3 < 24 || c.L3 > 400 {
				t.Errorf("nodes %+v", c)
			}
		}},
		{"strobe.mp4", tree.StateDone, func(t *testing.T, tr *tree.Tree) {
			t.Helper()
			if n := len(leaves(tr)); n > 4 {
				t.Errorf("%d leaves", n)
			}
		}},
		{"fps1000.mp4", tree.StateDone, func(t *testing.T, tr *tree.Tree) {
			t.Helper()
			if n := len(leaves(tr)); n > 6 {
				t.Errorf("%d leaves", n)
			}
		}},
		{"zero.mp4", tree.StateFailed, nil},
		{"html.mp4", tree.StateFailed, nil},
		{"nomoov.mp4", tree.StateFailed, nil},
		{"evil.svg", tree.StateFailed, nil},
		{"movie.mp4.txt", tree.StateDone, nil},
	}
	for _, c := range cases {
		t.Run(c.file, func(t *testing.T) {
			start := time.Now()
			src, m := ingestFile(t, testkit.Shared(t, "media", "odd", c.file), nil)
			if src.State != c.state || (src.Error != "") != (c.state == tree.StateFailed) {
				t.Fatalf("source %+v", src)
			}
			if c.state != tree.StateFailed {
				tr := m.tree(t, src.ID)
				if c.check != nil {
					c.check(t, tr)
				}
			} else if len(m.trees)+len(m.indexed) > 0 {
				t.Error("something half is visible")
			}
			t.Logf("%v %s %q", time.Since(start).Round(time.Millisecond), src.State, src.Error)
		})
	}
}

func TestSidecarOnARealClip(t *testing.T) {
	subtitles, err := os.ReadFile(testkit.Shared(t, "media", "real", "sintel-en.vtt"))
	if err != nil {
		t.Fatal(err)
	}
	src, m := ingestFile(t, testkit.Shared(t, "media", "real", "tears-of-steel-battle.webm"), func(m *memory, _ *Worker, put *tree.Source) {
		m.subName, m.subs[put.ID] = "sintel.en.vtt", subtitles
	})
	if src.State != tree.StateDone || src.Language != "en" {
		t.Fatalf("source %+v", src)
	}
	tr := m.tree(t, src.ID)
	if !strings.Contains(tr.Roots[0].Transcript(), "land of the gatekeepers") || tr.Counts().L3 < 10 {
		t.Errorf("nodes %+v", tr.Counts())
	}
}
