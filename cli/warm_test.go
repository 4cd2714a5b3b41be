package cli

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"testing"

	"github.com/reeltree/reeltree/tree"
)

// TestWarmerNeverHoldsUp: a tree that takes long to lay out delays nobody who
// asks, each tree is laid out once a job, and one that fails does not stop the rest.
func TestWarmerNeverHoldsUp(t *testing.T) {
	begun, goOn := make(chan string), make(chan error)
	w := newWarmer(func(src tree.Source) error {
		begun <- src.ID + src.Job
		return <-goOn
	}, slog.New(slog.DiscardHandler))
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); w.run(ctx) }()
	for _, s := range []tree.Source{{ID: "a", Job: "1"}, {ID: "a", Job: "1"}, {ID: "b", Job: "1"}, {ID: "a", Job: "2"}, {ID: "b", Job: "1"}} {
		w.add(s) // returns although nothing has been laid out yet
	}
	var got []string
	for range 3 {
		got = append(got, <-begun)
		goOn <- errors.New("unreadable")
	}
	if want := []string{"a1", "b1", "a2"}; !slices.Equal(got, want) {
		t.Errorf("laid out %v, want %v", got, want)
	}
	w.add(tree.Source{ID: "c", Job: "1"}) // after it has gone to sleep
	if id := <-begun; id != "c1" {
		t.Errorf("laid out %s", id)
	}
	goOn <- nil
	stop()
	<-ended
}
