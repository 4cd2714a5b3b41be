package library

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/reeltree/reeltree/tree"
)

// TestDamagedStateIsRepairedOrRefused cuts and flips each file of the state
// store: the folder then opens or is refused in one sentence, and what it still
// gives is true.
func TestDamagedStateIsRepairedOrRefused(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	fill(t, s, "default", sourceID, jobID)
	fill(t, s, "default", otherID, strings.Repeat("k", 26))
	want, err := s.Sources(t.Context(), "default")
	if err != nil {
		t.Fatal(err)
	}
	_ = s.Close()
	random := rand.New(rand.NewPCG(1, 2))
	for _, file := range stateFiles(t, dir) {
		whole, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil {
			t.Fatal(err)
		}
		if len(whole) == 0 {
			continue
		}
		cut := whole[:random.IntN(len(whole))]
		flipped := append([]byte(nil), whole...)
		flipped[random.IntN(len(flipped))] ^= 1 << random.IntN(8)
		how := map[string][]byte{"flipped": flipped}
		if filepath.Ext(file) == ".blk" {
			how["cut"] = cut
		}
		for how, bytes := range how {
			damaged := t.TempDir()
			if err := os.CopyFS(damaged, os.DirFS(dir)); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(damaged, file), bytes, 0o600); err != nil {
				t.Fatal(err)
			}
			checkDamaged(t, damaged, how+" "+file, want)
		}
	}
}

func stateFiles(t *testing.T, dir string) (all []string) {
	t.Helper()
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() && (strings.HasPrefix(name, "nats/") || name == "lock" || name == "version") {
			all = append(all, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func checkDamaged(t *testing.T, dir, what string, want []tree.Source) {
	t.Helper()
	s, err := Open(t.Context(), Config{Dir: dir})
	if err != nil {
		if strings.ContainsRune(err.Error(), '\n') || len(err.Error()) > 400 {
			t.Errorf("%s: not one sentence: %v", what, err)
		}
		return
	}
	defer func() {
		if err := s.Close(); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}()
	got, err := s.Sources(t.Context(), "default")
	if err != nil {
		t.Errorf("%s: it opened but cannot be listed: %v", what, err)
	}
	for _, src := range got {
		if src.Title == "" { // restored from its tree, which was saved without a title
			continue
		}
		if !reflect.DeepEqual(src, want[0]) && !reflect.DeepEqual(src, want[1]) {
			t.Errorf("%s: a wrong record: %+v", what, src)
		}
	}
	if len(got) < len(want) && strings.HasPrefix(what, "flipped") {
		t.Errorf("%s: %d of %d records are left", what, len(got), len(want))
	}
	if err := writeAll(t, s); err != nil {
		t.Errorf("%s: it opened but cannot be written: %v", what, err)
	}
}

// writeAll changes everything once that a damaged store held.
func writeAll(t *testing.T, s *Store) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	var all error
	for _, id := range []string{sourceID, otherID} {
		_, err := s.UpdateSource(ctx, "default", id, func(v *tree.Source) error { v.Title, v.Created = "new", time.Unix(1, 0); return nil })
		all = errors.Join(all, err, s.SaveAnswer(ctx, "default", Answer{Stream: "answer" + id, Created: time.Unix(2, 0).UTC()}))
	}
	for _, id := range []string{jobID, strings.Repeat("k", 26)} {
		_, err := s.UpdateJob(ctx, "default", id, func(v *tree.Job) error { v.Created = time.Unix(1, 0); return nil })
		all = errors.Join(all, err, s.Enqueue(ctx, tree.Task{Tenant: "default", Job: id, Stretch: tree.PlanTask}))
	}
	if n := waiting(t, s); n != 2 {
		all = errors.Join(all, fmt.Errorf("%d tasks wait, want 2", n))
	}
	return all
}

func TestDamagedBlobsOfEveryKind(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	ref := fill(t, s, "default", sourceID, jobID)
	id, _, err := s.PutContent(t.Context(), "default", strings.NewReader("content"), 0)
	if err != nil {
		t.Fatal(err)
	}
	reads := map[string]func() error{
		"plans":     func() error { _, err := s.Plan(t.Context(), "default", jobID); return err },
		"vectors":   func() error { _, err := s.Vectors(t.Context(), "default", sourceID, "builtin v1"); return err },
		"subtitles": func() error { _, _, err := s.Subtitles(t.Context(), "default", sourceID); return err },
		"frames":    func() error { _, err := s.Frame(t.Context(), "default", ref.ID); return err },
		"trees":     func() error { _, err := s.savedTree(t.Context(), "default", sourceID); return err },
		"content":   func() error { return s.VerifyContent(t.Context(), "default", id) },
	}
	for kind, read := range reads {
		if err := read(); err != nil {
			t.Fatalf("%s: %v", kind, err)
		}
		for _, file := range files(t, dir) {
			if !strings.Contains(file, "/blobs/"+kind+"/") {
				continue
			}
			whole, _ := os.ReadFile(file)
			flipped := append([]byte(nil), whole...)
			flipped[len(flipped)/2] ^= 4
			for _, bytes := range [][]byte{flipped, whole[:len(whole)-1], nil} {
				if err := os.WriteFile(file, bytes, 0o600); err != nil {
					t.Fatal(err)
				}
				if err := read(); !errors.Is(err, ErrDamaged) {
					t.Errorf("%s with %d of %d bytes: %v", kind, len(bytes), len(whole), err)
				}
			}
		}
	}
	if _, err := s.Tree(t.Context(), "default", sourceID); err != nil {
		t.Errorf("a damaged tree is not made of its clips: %v", err)
	}
}
