package library

import (
	"errors"
	"io"
	"path/filepath"
	"testing"

	"github.com/reeltree/reeltree/tree"
)

func put(text string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	}
}

func TestDerivedFiles(t *testing.T) {
	s := open(t, t.TempDir())
	addSource(t, s, tree.DefaultTenant, otherID, "talk")
	save := func(name, text string) {
		t.Helper()
		if err := s.SaveDerived(t.Context(), tree.DefaultTenant, otherID, name, put(text)); err != nil {
			t.Fatal(err)
		}
	}
	read := func(name string) string {
		t.Helper()
		f, err := s.OpenDerived(t.Context(), tree.DefaultTenant, otherID, name)
		if errors.Is(err, ErrNotFound) {
			return "none"
		}
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = f.Close() }()
		data, _ := io.ReadAll(f)
		return string(data)
	}
	save("sprites-1-0", "old")
	save("sprites-2-0", "new")
	save("peaks-json", "{}")
	if _, err := s.OpenDerived(t.Context(), "other", otherID, "peaks-json"); !errors.Is(err, ErrNotFound) {
		t.Errorf("another tenant's file: %v", err)
	}
	if err := s.DropDerived(t.Context(), tree.DefaultTenant, otherID, "sprites-", "sprites-2"); err != nil {
		t.Fatal(err)
	}
	if got := read("sprites-1-0") + read("sprites-2-0") + read("peaks-json"); got != "nonenew{}" {
		t.Errorf("files %q", got)
	}
}

func TestDerivedFilesGoWithTheirSource(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	addSource(t, s, tree.DefaultTenant, otherID, "talk")
	broken := errors.New("broken")
	err := s.SaveDerived(t.Context(), tree.DefaultTenant, otherID, "a", func(w io.Writer) error {
		return errors.Join(put("half")(w), broken)
	})
	if !errors.Is(err, broken) || len(files(t, dir)) > 0 {
		t.Errorf("after a failure: %v, files %v", err, files(t, dir))
	}
	if err := s.SaveDerived(t.Context(), tree.DefaultTenant, otherID, "a", put("whole")); err != nil {
		t.Fatal(err)
	}
	err = s.SaveDerived(t.Context(), tree.DefaultTenant, otherID, "b", func(w io.Writer) error { // deleted meanwhile
		return errors.Join(put("late")(w), s.DeleteSource(t.Context(), tree.DefaultTenant, otherID))
	})
	if !errors.Is(err, ErrNotFound) {
		t.Errorf("a file of a deleted source: %v", err)
	}
	if left := files(t, dir); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "tmp", "*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}
