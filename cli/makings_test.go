package cli

import (
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/reeltree/reeltree/library"
	"github.com/reeltree/reeltree/tree"
)

const madeSource = "abcdefghijklmnopqrstuvwxyz"

func madeStore(t *testing.T) (*makings, madeOf) {
	t.Helper()
	store, err := library.Open(t.Context(), library.Config{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	m := newMakings(store)
	t.Cleanup(func() {
		m.close()
		_ = store.Close()
	})
	_, err = store.UpdateSource(t.Context(), tree.DefaultTenant, madeSource, func(s *tree.Source) error {
		s.Title, s.Created = "A talk", time.Unix(1, 0)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return m, madeOf{tree.DefaultTenant, madeSource, "peaks-json"}
}

func TestDerivedFilesAreMadeOnce(t *testing.T) {
	m, of := madeStore(t)
	var runs atomic.Int64
	write := func(_ context.Context, w io.Writer) error {
		runs.Add(1)
		_, err := io.WriteString(w, "made")
		return err
	}
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			f, err := m.open(t.Context(), of, write)
			if err != nil {
				t.Error(err)
				return
			}
			defer func() { _ = f.Close() }()
			if data, _ := io.ReadAll(f); string(data) != "made" {
				t.Errorf("the file holds %q", data)
			}
		})
	}
	all.Wait()
	if n := runs.Load(); n != 1 {
		t.Errorf("made %d times", n)
	}
}

func TestAFailedMakingIsTriedAgain(t *testing.T) {
	m, of := madeStore(t)
	broken := errors.New("broken")
	for range 2 {
		if _, err := m.open(t.Context(), of, func(context.Context, io.Writer) error { return broken }); !errors.Is(err, broken) {
			t.Fatalf("err = %v", err)
		}
	}
	f, err := m.open(t.Context(), of, func(context.Context, io.Writer) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	_ = f.Close()
}

func TestMakingEndsWithItsSource(t *testing.T) {
	m, of := madeStore(t)
	begun, ended := make(chan struct{}), make(chan error, 1)
	_, err := m.start(of, func(ctx context.Context, _ io.Writer) error {
		close(begun)
		<-ctx.Done()
		ended <- context.Cause(ctx)
		return context.Cause(ctx)
	})
	if err != nil {
		t.Fatal(err)
	}
	<-begun
	m.forget(of.tenant, of.source)
	if err := <-ended; !errors.Is(err, errGone) {
		t.Errorf("ended with %v", err)
	}
	if err := m.store.DeleteSource(t.Context(), of.tenant, of.source); err != nil {
		t.Fatal(err)
	}
	if _, err := m.open(t.Context(), of, func(context.Context, io.Writer) error { return nil }); !errors.Is(err, library.ErrNotFound) {
		t.Errorf("a file of a deleted source: %v", err)
	}
}

func TestCloseEndsMakings(t *testing.T) {
	m, of := madeStore(t)
	work, err := m.start(of, func(ctx context.Context, _ io.Writer) error {
		<-ctx.Done()
		return ctx.Err()
	})
	if err != nil {
		t.Fatal(err)
	}
	m.close()
	<-work.done
	if _, err := m.store.OpenDerived(t.Context(), of.tenant, of.source, of.name); !errors.Is(err, library.ErrNotFound) {
		t.Errorf("half a file is there: %v", err)
	}
}
