package library

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/reeltree/reeltree/tree"
)

// watch starts a feed and returns once it is live: what happens then is told.
func watch(t *testing.T, s *Store, tenant string, see func(string, tree.Source)) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	live, ended := make(chan struct{}, 100), make(chan struct{})
	go func() {
		defer close(ended)
		_ = s.Watch(ctx, tenant, func(op string, src tree.Source) {
			if src.ID == liveID || op == OpRemoved && src.ID == liveID {
				live <- struct{}{}
				return
			}
			see(op, src)
		})
	}()
	t.Cleanup(func() { cancel(); <-ended })
	for {
		addSource(t, s, tenant, liveID, "are you there?")
		select {
		case <-live:
			return
		case <-time.After(20 * time.Millisecond):
		}
	}
}

const liveID = "liveliveliveliveliveliveli"

func TestFeedTellsInOrder(t *testing.T) {
	s := open(t, t.TempDir())
	addSource(t, s, "default", otherID, "was there before")
	seen := make(chan string, 10)
	watch(t, s, "default", func(op string, src tree.Source) { seen <- op + " " + src.ID + " " + src.Title })
	wait := func(want string) {
		t.Helper()
		select {
		case got := <-seen:
			if got != want {
				t.Fatalf("got %q, want %q", got, want)
			}
		case <-time.After(5 * time.Second):
			t.Fatalf("%q was not told", want)
		}
	}
	addSource(t, s, "other", sourceID, "not ours")
	addSource(t, s, "default", sourceID, "talk")
	wait("added " + sourceID + " talk")
	addSource(t, s, "default", otherID, "new title")
	wait("changed " + otherID + " new title")
	if err := s.DeleteSource(t.Context(), "default", otherID); err != nil {
		t.Fatal(err)
	}
	wait("removed " + otherID + " ")
	addSource(t, s, "default", otherID, "again")
	wait("added " + otherID + " again")
}

// TestSlowListenerHoldsUpNobody holds that a listener that stands still gets
// one change per source afterwards, the newest.
func TestSlowListenerHoldsUpNobody(t *testing.T) {
	s := open(t, t.TempDir())
	const changes = 600 // more than any buffer on the way
	hold, held := make(chan struct{}), make(chan struct{}, 1)
	seen := make(chan string, changes)
	watch(t, s, "default", func(op string, src tree.Source) {
		if src.ID == otherID {
			held <- struct{}{}
			<-hold
			return
		}
		seen <- op + " " + src.Title
	})
	addSource(t, s, "default", otherID, "stand still")
	<-held
	for i := range changes {
		addSource(t, s, "default", sourceID, fmt.Sprint(i))
	}
	close(hold)
	addSource(t, s, "default", sourceID, "the end")
	told := 0
	for last := ""; last != "changed the end" && last != "added the end"; told++ {
		select {
		case last = <-seen:
			if strings.HasPrefix(last, OpRemoved) {
				t.Fatal("told of a removal that never was")
			}
		case <-time.After(5 * time.Second):
			t.Fatalf("the newest change was not told, the last one is %q", last)
		}
	}
	if told > changes/2 {
		t.Errorf("%d of %d changes piled up", told, changes)
	}
}

func TestFeedForgetsWhatCameAndWentUntold(t *testing.T) {
	f := &feed{tenant: "default", told: map[string]bool{"b": true}, latest: map[string]*tree.Source{"a": nil, "b": nil}, order: []string{"a", "b"}}
	if op, _, more := f.next(); op != "" || !more {
		t.Errorf("told %q of a source nobody knew", op)
	}
	if op, src, more := f.next(); op != OpRemoved || src.ID != "b" || !more {
		t.Errorf("told %q of %q", op, src.ID)
	}
	if _, _, more := f.next(); more || len(f.told) != 0 || len(f.latest) != 0 {
		t.Error("something is left")
	}
}
