package tree

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
)

// scripted is a describer whose calls tests can watch, delay and fail.
type scripted struct {
	before func(ctx context.Context, level Level, clip int) error // runs inside the call
	mu     sync.Mutex
	log    []string
	prev   []string
}

func clipOf(c Clip) int { return int(c.Span.StartMS / 25000) }

func (s *scripted) enter(ctx context.Context, level Level, clip int) error {
	s.mu.Lock()
	s.log = append(s.log, fmt.Sprintf("L%d %d", level, clip))
	s.mu.Unlock()
	if s.before == nil {
		return nil
	}
	return s.before(ctx, level, clip)
}

func (s *scripted) L2(ctx context.Context, r ClipRequest) (string, Calls, error) {
	err := s.enter(ctx, L2, clipOf(r.Clip))
	s.mu.Lock()
	s.prev = append(s.prev, r.Prev)
	s.mu.Unlock()
	return fmt.Sprintf(" clip %d ", clipOf(r.Clip)), Calls{L2: 1, TokensIn: 10}, err
}

func (s *scripted) L3(ctx context.Context, r LeafRequest) ([]string, Calls, error) {
	err := s.enter(ctx, L3, clipOf(r.Clip))
	out := make([]string, len(r.Clip.Leaves))
	for i := range out {
		out[i] = fmt.Sprintf("leaf %d of %s", i, r.L2)
	}
	return out, Calls{L3: 1, TokensOut: 5}, err
}

func (s *scripted) L1(ctx context.Context, r StretchRequest) (string, Calls, error) {
	err := s.enter(ctx, L1, 0)
	return strings.Join(r.L2, " + "), Calls{L1: 1}, err
}

// jitter yields a varying number of times, so that calls end in another order
// in every run without any clock.
func jitter(seed int) func(context.Context, Level, int) error {
	return func(_ context.Context, level Level, clip int) error {
		for range (seed*31 + int(level)*17 + clip*13) % 97 * 20 {
			runtime.Gosched()
		}
		return nil
	}
}

func TestBuildIsTheSameForAnyConcurrencyAndDelay(t *testing.T) {
	var want string
	for seed := range 12 {
		for _, n := range []int{1, 2, 16} {
			root, calls, err := BuildStretch(context.Background(), &scripted{before: jitter(seed)}, film(7), BuildOptions{Concurrency: n})
			if err != nil {
				t.Fatal(err)
			}
			if calls.L2 != 7 || calls.L3 != 7 || calls.L1 != 1 || calls.TokensIn != 70 || calls.TokensOut != 35 {
				t.Fatalf("calls = %+v", calls)
			}
			b, err := json.Marshal(root)
			if err != nil {
				t.Fatal(err)
			}
			if want == "" {
				want = string(b)
			}
			if string(b) != want {
				t.Fatalf("seed %d, concurrency %d gave another tree\n%s\n%s", seed, n, b, want)
			}
		}
	}
	if !strings.Contains(want, "clip 0 + clip 1 + clip 2") {
		t.Errorf("the L1 did not read its L2 texts in order: %s", want)
	}
}

func TestBuildOrderAtConcurrencyOne(t *testing.T) {
	s := &scripted{}
	var done []string
	opt := BuildOptions{Concurrency: 1, OnClip: func(_ context.Context, n *Node) error {
		done = append(done, n.ID[27:])
		return nil
	}}
	root, _, err := BuildStretch(context.Background(), s, film(3), opt)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := strings.Join(s.log, ", "), "L2 0, L3 0, L2 1, L3 1, L2 2, L1 0, L3 2"; got != want {
		t.Errorf("calls in order %s, want %s", got, want)
	}
	if fmt.Sprint(done) != "[1.0 1.1 1.2]" {
		t.Errorf("finished clips %v", done)
	}
	if got := s.prev; got[0] != "" || got[1] != "Anna: Clip 0 is about drying." {
		t.Errorf("the transcript before = %q", got)
	}
	c := root.Children[1]
	if c.ID != NodeID(testVideo.ID, 1, 1) || c.Level != L2 || c.Text != "clip 1" || c.Calls.Total() != 2 || len(c.Children) != 5 {
		t.Errorf("clip = %+v", c)
	}
	if l := c.Children[4]; l.ID != NodeID(testVideo.ID, 1, 1, 4) || l.Level != L3 || l.Text != "leaf 4 of clip 1" || l.Evidence.Frame == nil {
		t.Errorf("leaf = %+v", l)
	}
	if root.Calls != (Calls{L1: 1}) || root.Evidence.Title != "Drying" {
		t.Errorf("root = %+v", root)
	}
}

// The order rules at full concurrency: an L3 never starts before its L2 ended,
// the L1 never before all L2 ended, yet without waiting for any L3.
func TestBuildOrderAtFullConcurrency(t *testing.T) {
	const n = 6
	var mu sync.Mutex
	running, most := 0, 0
	ended := map[string]bool{}
	l1Started, allL2 := make(chan struct{}), make(chan struct{})
	entered := 0
	s := &scripted{}
	s.before = func(ctx context.Context, level Level, clip int) error {
		mu.Lock()
		defer mu.Unlock()
		running++
		most = max(most, running)
		defer func() { running--; ended[fmt.Sprintf("L%d %d", level, clip)] = true }()
		switch level {
		case L2:
			if entered++; entered == n {
				close(allL2)
			}
			mu.Unlock()
			<-allL2 // every L2 waits for the others: they must all be called at once
			mu.Lock()
		case L3:
			if !ended[fmt.Sprintf("L2 %d", clip)] {
				t.Errorf("L3 of clip %d started before its L2 ended", clip)
			}
			mu.Unlock()
			<-l1Started // leaves stay open until the L1 has begun: it must not wait for them
			mu.Lock()
		case L1:
			for i := range n {
				if !ended[fmt.Sprintf("L2 %d", i)] {
					t.Errorf("L1 started before L2 of clip %d ended", i)
				}
			}
			close(l1Started)
		}
		return nil
	}
	if _, _, err := BuildStretch(context.Background(), s, film(n), BuildOptions{}); err != nil {
		t.Fatal(err)
	}
	if most > DefaultConcurrency {
		t.Errorf("%d calls ran at once", most)
	}
}

func TestBuildHoldsItsConcurrency(t *testing.T) {
	for _, limit := range []int{1, 3} {
		var mu sync.Mutex
		running := 0
		s := &scripted{before: func(context.Context, Level, int) error {
			mu.Lock()
			running++
			over := running > limit
			mu.Unlock()
			if over {
				t.Errorf("more than %d calls at once", limit)
			}
			for range 200 {
				runtime.Gosched()
			}
			mu.Lock()
			running--
			mu.Unlock()
			return nil
		}}
		if _, _, err := BuildStretch(context.Background(), s, film(9), BuildOptions{Concurrency: limit}); err != nil {
			t.Fatal(err)
		}
	}
}

func TestBuildTakesWhatIsStored(t *testing.T) {
	full, _, err := BuildStretch(context.Background(), &scripted{}, film(4), BuildOptions{})
	if err != nil {
		t.Fatal(err)
	}
	stored := map[string]*Node{full.ID: {ID: full.ID, Level: L1, Span: full.Span, Text: full.Text, Calls: full.Calls}}
	for _, c := range full.Children {
		stored[c.ID] = c
	}
	have := func(id string) (*Node, error) { return stored[id], nil }

	s := &scripted{}
	again, calls, err := BuildStretch(context.Background(), s, film(4), BuildOptions{Have: have, OnClip: func(_ context.Context, n *Node) error {
		return fmt.Errorf("%s was handed over again", n.ID)
	}})
	if err != nil || len(s.log) != 0 || calls != (Calls{}) {
		t.Fatalf("everything was stored, yet calls %v (%+v), error %v", s.log, calls, err)
	}
	sameJSON(t, again, full)

	delete(stored, full.Children[2].ID)
	stale := *full.Children[1]
	stale.Span = MS(25000, 49000)
	stored[stale.ID] = &stale
	var handed []string
	s = &scripted{}
	again, calls, err = BuildStretch(context.Background(), s, film(4), BuildOptions{Concurrency: 1, Have: have, OnClip: func(_ context.Context, n *Node) error {
		handed = append(handed, n.ID[27:])
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := strings.Join(s.log, ", "), "L2 1, L3 1, L2 2, L1 0, L3 2"; got != want {
		t.Errorf("calls %s, want %s: only what is missing or cut elsewhere, and the L1 anew", got, want)
	}
	if calls.Total() != 5 || fmt.Sprint(handed) != "[1.1 1.2]" {
		t.Errorf("calls %+v, handed over %v", calls, handed)
	}
	sameJSON(t, again, full)

	broken := errors.New("flipped bit")
	_, _, err = BuildStretch(context.Background(), s, film(4), BuildOptions{Have: func(string) (*Node, error) { return nil, broken }})
	if !errors.Is(err, broken) {
		t.Errorf("error of the store was lost: %v", err)
	}
}

func sameJSON(t *testing.T, got, want any) {
	t.Helper()
	g, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	w, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	if string(g) != string(w) {
		t.Errorf("got\n%s\nwant\n%s", g, w)
	}
}

func TestBuildErrorLosesNothingPaid(t *testing.T) {
	boom := errors.New("the model is down")
	for _, level := range []Level{L2, L3} {
		for _, n := range []int{1, 16} {
			s := &scripted{before: func(_ context.Context, l Level, clip int) error {
				if l == level && (clip == 1 || clip == 3) {
					return fmt.Errorf("call %d: %w", clip, boom)
				}
				return nil
			}}
			var handed []string
			root, calls, err := BuildStretch(context.Background(), s, film(5), BuildOptions{Concurrency: n, OnClip: func(_ context.Context, n *Node) error {
				handed = append(handed, n.ID[27:])
				return nil
			}})
			slices.Sort(handed)
			if root != nil || !errors.Is(err, boom) || !strings.Contains(err.Error(), "/1.1: call 1:") {
				t.Errorf("root %v, error %v: want the earliest clip's", root, err)
			}
			if fmt.Sprint(handed) != "[1.0 1.2 1.4]" {
				t.Errorf("handed over %v, want all clips but the failed ones", handed)
			}
			if calls.L2 != 5 {
				t.Errorf("calls %+v, want those of failed clips counted too", calls)
			}
			if (level == L2 || n == 1) && slices.Contains(s.log, "L1 0") {
				t.Error("an L1 was paid for though its stretch had failed")
			}
		}
	}
}

func TestBuildStopsPayingWhenNothingIsKept(t *testing.T) {
	full := errors.New("disk full")
	s := &scripted{}
	_, _, err := BuildStretch(context.Background(), s, film(6), BuildOptions{Concurrency: 1, OnClip: func(context.Context, *Node) error { return full }})
	if !errors.Is(err, full) {
		t.Errorf("error = %v", err)
	}
	if len(s.log) > 3 {
		t.Errorf("calls went on after the store had failed: %v", s.log)
	}
}

func TestBuildCancelled(t *testing.T) {
	for _, at := range []struct {
		level Level
		clip  int
	}{{L2, 0}, {L2, 2}, {L3, 1}, {L1, 0}} {
		ctx, cancel := context.WithCancel(context.Background())
		s := &scripted{before: func(_ context.Context, l Level, clip int) error {
			if l == at.level && clip == at.clip {
				cancel()
			}
			return nil // a call that still ends well is kept
		}}
		var handed int
		root, calls, err := BuildStretch(ctx, s, film(4), BuildOptions{Concurrency: 1, OnClip: func(ctx context.Context, _ *Node) error {
			handed++
			if ctx.Err() != nil {
				t.Error("a paid clip is handed over with a dead context, so it cannot be stored")
			}
			return nil
		}})
		if root != nil || !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled at %v: root %v, error %v", at, root, err)
		}
		if calls.Total() != len(s.log) || handed != calls.L3 {
			t.Errorf("cancelled at %v: %d handed over, calls %+v", at, handed, calls)
		}
		cancel()
	}
}

type badDescriber struct {
	Extractive
	l2 string
	l3 []string
	l1 string
}

func (b badDescriber) L2(context.Context, ClipRequest) (string, Calls, error) {
	return b.l2, Calls{}, nil
}

func (b badDescriber) L3(context.Context, LeafRequest) ([]string, Calls, error) {
	return b.l3, Calls{}, nil
}

func (b badDescriber) L1(context.Context, StretchRequest) (string, Calls, error) {
	return b.l1, Calls{}, nil
}

func TestBuildRefusesABadDescriber(t *testing.T) {
	five := []string{"a", "b", "c", "d", "e"}
	for name, d := range map[string]badDescriber{
		"empty L2":   {l2: " \x00", l3: five, l1: "x"},
		"short L3":   {l2: "x", l3: five[:4], l1: "x"},
		"empty leaf": {l2: "x", l3: []string{"a", "b", "", "d", "e"}, l1: "x"},
		"empty L1":   {l2: "x", l3: five, l1: ""},
	} {
		if root, _, err := BuildStretch(context.Background(), d, film(2), BuildOptions{}); err == nil || root != nil {
			t.Errorf("%s was accepted", name)
		}
	}
	root, _, err := BuildStretch(context.Background(), badDescriber{l2: "a\xffb", l3: five, l1: "x\x00y"}, film(1), BuildOptions{})
	if err != nil || root.Text != "xy" || root.Children[0].Text != "a\uFFFDb" {
		t.Errorf("texts were not made fit to store: %v, %v", root, err)
	}
	if _, _, err := BuildStretch(context.Background(), Extractive{}, Material{Source: testVideo}, BuildOptions{}); err == nil {
		t.Error("a stretch without clips was built")
	}
}

func TestBuildFitsSpans(t *testing.T) {
	m := film(2)
	m.Clips[1].Span.EndMS += 900
	m.Clips[1].Leaves[4].Span.EndMS += 5000
	m.Clips[0].Leaves[4].Span = MS(26000, 27000)
	root, _, err := BuildStretch(context.Background(), Extractive{}, m, BuildOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got := root.Children[1].Span; got != MS(25000, 50000) {
		t.Errorf("clip span %v", got)
	}
	if got := root.Children[1].Children[4].Span; got != MS(45000, 50000) {
		t.Errorf("leaf span %v", got)
	}
	if got := root.Children[0].Children[4].Span; got != MS(25000, 25000) {
		t.Errorf("leaf span %v", got)
	}
	if m.Clips[1].Span.EndMS != 50900 {
		t.Error("the caller's material was changed")
	}
}
