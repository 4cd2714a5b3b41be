//go:build e2e

package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/reeltree/reeltree/internal/testkit"
)

// wide and narrow are two embedders of one endpoint, of 64 and 32 dimensions.
const wide, narrow = "wide", "narrow"

// takeover is a copy of a shelf under a service with another embedder.
type takeover struct {
	lib   shelf
	data  string
	index string
	end   *testkit.Endpoint
	s     *service
	gone  map[string]bool // deleted sources

	mu    sync.Mutex
	since map[string]int // calls since the last start that embed nodes of a source
	gate  gate
}

// gate holds back the nth call since a start that embeds nodes of a source:
// until open is closed, or for ever.
type gate struct {
	source  string
	n       int
	reached chan struct{}
	open    chan struct{}
}

func newTakeover(t *testing.T, lib shelf, index string) *takeover {
	t.Helper()
	o := &takeover{lib: lib, data: t.TempDir(), index: index, end: testkit.NewEndpoint(t), gone: map[string]bool{}}
	if err := os.CopyFS(o.data, os.DirFS(lib.data)); err != nil {
		t.Fatal(err)
	}
	o.end.Script(o.embed)
	t.Cleanup(func() {
		for _, c := range o.end.Calls() {
			if !strings.HasSuffix(c.Path, "/embeddings") {
				t.Errorf("a change of embedder asked %s", c.Path)
				return
			}
		}
	})
	return o
}

// embed gives the mode of a call once it may go on.
func (o *takeover) embed(c testkit.Call) (mode string) {
	if c.Model == narrow {
		mode = "dim-change"
	}
	source := o.lib.embedded(c)
	if source == "" {
		return mode
	}
	o.mu.Lock()
	o.since[source]++
	g := o.gate
	hold := g.source == source && g.n == o.since[source]
	o.mu.Unlock()
	if !hold {
		return mode
	}
	close(g.reached)
	if g.open == nil {
		return "hang"
	}
	<-g.open
	return mode
}

// start serves with an embedder, with a gate before one call.
func (o *takeover) start(t *testing.T, embedder string, g gate) {
	t.Helper()
	o.mu.Lock()
	o.since, o.gate = map[string]int{}, g
	o.mu.Unlock()
	o.s = serve(t, o.data, visionArgs(o.end, "--index", o.index, "--embed-url", o.end.URL, "--embed-model", embedder)...)
}

// hold serves until the nth call for the nodes of the source at a place is
// there; it stays open until the service is killed.
func (o *takeover) hold(t *testing.T, at, n int) {
	t.Helper()
	g := gate{source: o.lib.ids[at], n: n, reached: make(chan struct{})}
	o.start(t, wide, g)
	o.arrived(t, g)
}

func (o *takeover) arrived(t *testing.T, g gate) {
	t.Helper()
	select {
	case <-g.reached:
	case <-time.After(time.Minute):
		t.Fatalf("call %d for %s never came; the index is of %v", g.n, g.source, o.embedders(t))
	}
}

// kill ends the service in the middle.
func (o *takeover) kill() { o.s.kill() }

// remove deletes the source at a place.
func (o *takeover) remove(t *testing.T, at int) {
	t.Helper()
	id := o.lib.ids[at]
	if code := requestJSON(t, http.MethodDelete, o.s.addr+"/v1/sources/"+id, nil); code >= 300 {
		t.Fatalf("deleting %s: %d", id, code)
	}
	o.gone[id] = true
}

// embedders are those of the sources' vectors, in the order of the shelf, ""
// for one that is not in the index.
func (o *takeover) embedders(t *testing.T) []string {
	t.Helper()
	kept, out := keptIndex(t, o.data), make([]string, len(o.lib.ids))
	for i, id := range o.lib.ids {
		out[i] = kept[id].Embedder
	}
	return out
}

// renewed reports whether every source that is left has vectors of an embedder.
func (o *takeover) renewed(t *testing.T, embedder string) bool {
	t.Helper()
	for i, e := range o.embedders(t) {
		if e != embedder && !o.gone[o.lib.ids[i]] {
			return false
		}
	}
	return true
}

// until polls for a condition.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(time.Minute)
	for !ok() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("after a minute: %s", what)
		}
	}
}

// holds fails unless the sources before a place, and no others, are taken over,
// those before from by earlier starts, whose work is not done again.
func (o *takeover) holds(t *testing.T, from, done int) {
	t.Helper()
	o.mu.Lock()
	defer o.mu.Unlock()
	for i, e := range o.embedders(t) {
		id := o.lib.ids[i]
		want := o.lib.kept[id].Embedder
		if i < done {
			want = wide
		}
		if o.gone[id] {
			want = ""
		}
		if e != want {
			t.Errorf("with %d sources taken over the vectors of source %d are of %q, want %q", done, i, e, want)
		}
		if n := o.since[id]; n > 0 && (i < from || i > done) {
			t.Errorf("with %d sources taken over before, source %d is embedded in %d calls", from, i, n)
		}
	}
}

// answers asks for what the source at a place says and wants it cited.
func (o *takeover) answers(t *testing.T, at int, scope ...string) {
	t.Helper()
	args := append([]string{"ask", "--server", o.s.addr, "--json", "--answerer", "extractive"}, scope...)
	all := cited(lines[event](t, must(t, append(args, questionFor(at))...)))
	if !slices.ContainsFunc(all, func(e event) bool { return e.Source.ID == o.lib.ids[at] }) {
		t.Errorf("%q %v cites %v, not source %d", questionFor(at), scope, all, at)
	}
}

// found is what a search gives, with scores that depend on every vector.
type found struct {
	Evidence []struct {
		Node, Quote string
		Score       float64
		Source      struct{ ID string }
	}
}

func search(ctx context.Context, addr, question string) (out found, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, addr+"/v1/search?q="+url.QueryEscape(question), nil)
	if err != nil {
		return out, err
	}
	reply, err := http.DefaultClient.Do(req)
	if err != nil {
		return out, err
	}
	defer func() { _ = reply.Body.Close() }()
	if reply.StatusCode != http.StatusOK {
		return out, fmt.Errorf("%w: %s", errRefused, reply.Status)
	}
	return out, json.NewDecoder(reply.Body).Decode(&out)
}

var errRefused = errors.New("a search was refused")

// outcomeOf is all that a user sees of a library: trees, answers, searches.
type outcomeOf struct {
	Trees    map[string]string
	Answers  map[string]string
	Searches map[string]found
}

func (o *takeover) outcome(t *testing.T) outcomeOf {
	t.Helper()
	out := outcomeOf{map[string]string{}, map[string]string{}, map[string]found{}}
	for id := range states(t, o.s) {
		out.Trees[id] = must(t, "show", "--server", o.s.addr, "--json", id)
	}
	for _, at := range []int{1, renewBook, 6} { // one that is deleted and two that are left
		out.Answers[questionFor(at)] = must(t, "ask", "--server", o.s.addr, "--answerer", "extractive", questionFor(at))
	}
	questions := []string{"Who lives on island 530?", "Which films are about storage?"}
	for at := range o.lib.ids {
		questions = append(questions, questionFor(at))
	}
	for _, q := range questions {
		hits, err := search(t.Context(), o.s.addr, q)
		if err != nil {
			t.Fatal(err)
		}
		out.Searches[q] = hits
	}
	return out
}

// equal compares what is asked of two libraries.
func (got outcomeOf) equal(t *testing.T, want outcomeOf) {
	t.Helper()
	for q, hits := range want.Searches {
		if !reflect.DeepEqual(got.Searches[q], hits) {
			t.Errorf("a search for %q gives\n%+v, undisturbed\n%+v", q, got.Searches[q], hits)
		}
	}
	for q, text := range want.Answers {
		if got.Answers[q] != text {
			t.Errorf("%q is answered\n%s, undisturbed\n%s", q, got.Answers[q], text)
		}
	}
}

// whole fails where a source that is left is not what it was made as, or its
// vectors are not the embedder's, or anything of a deleted one is there.
func (o *takeover) whole(t *testing.T, got outcomeOf) {
	t.Helper()
	kept := keptIndex(t, o.data)
	if len(got.Trees) != len(o.lib.ids)-len(o.gone) || len(kept) != len(got.Trees) {
		t.Errorf("%d sources are listed and %d in the index, want %d without %d", len(got.Trees), len(kept), len(o.lib.ids), len(o.gone))
	}
	for id, tree := range got.Trees {
		if tree != o.lib.trees[id] {
			t.Errorf("the tree of %s is another one: %d bytes of %d", id, len(tree), len(o.lib.trees[id]))
		}
		if !reflect.DeepEqual(kept[id].texts, o.lib.kept[id].texts) {
			t.Errorf("the index of %s has %d texts that are not the %d it had", id, len(kept[id].texts), len(o.lib.kept[id].texts))
		}
		for node, v := range kept[id].vectors {
			if want := testkit.WordVector(kept[id].texts[node], testkit.EndpointDim); !near(v, want) {
				t.Errorf("the vector of %s is of %s, want %s", node, kept[id].Embedder, wide)
				break
			}
		}
	}
	for q, hits := range got.Searches {
		for _, e := range hits.Evidence {
			if o.gone[e.Source.ID] {
				t.Errorf("%q finds the deleted %s", q, e.Node)
			}
		}
	}
}

func near(a, b []float32) bool {
	return slices.EqualFunc(a, b, func(x, y float32) bool { return math.Abs(float64(x-y)) < 1e-6 })
}

// finish serves until all is taken over, and once more: then nothing is left to
// be embedded for the index, and words are counted without deleted sources,
// which a running service counts on until enough is deleted.
func (o *takeover) finish(t *testing.T) outcomeOf {
	t.Helper()
	o.start(t, wide, gate{})
	until(t, "sources wait for another embedder", func() bool { return o.renewed(t, wide) })
	o.kill()
	o.start(t, wide, gate{})
	out := o.outcome(t)
	until(t, "graphs of other embedders are there", func() bool {
		graphs, err := filepath.Glob(filepath.Join(o.data, "index", "graph", "*"))
		return err == nil && !slices.ContainsFunc(graphs, func(dir string) bool { return filepath.Base(dir) != wide })
	})
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.since) > 0 {
		t.Errorf("nodes of %d sources were embedded again: %v", len(o.since), o.since)
	}
	return out
}

// heldBack kills the service in the middle of chosen calls: between two
// sources, between two calls for one, and beside deletions.
func (o *takeover) heldBack(t *testing.T) {
	t.Helper()
	o.hold(t, 1, 1)
	o.holds(t, 0, 1)
	for _, at := range []int{0, 1, 2, renewBook} { // taken over, in the middle, waiting
		o.answers(t, at)
	}
	o.answers(t, 0, "--source", o.lib.ids[0])
	o.answers(t, 1, "--source", o.lib.ids[1])
	o.remove(t, 2) // while it waits
	o.kill()

	o.hold(t, renewBook, 2)
	o.holds(t, 1, renewBook)
	o.answers(t, renewBook)
	o.answers(t, 1)
	o.kill()

	g := gate{source: o.lib.ids[4], n: 1, reached: make(chan struct{}), open: make(chan struct{})}
	o.start(t, wide, g)
	o.arrived(t, g)
	o.remove(t, 4) // while it is embedded
	next := gate{source: o.lib.ids[5], n: 1, reached: make(chan struct{})}
	o.mu.Lock()
	o.gate = next
	o.mu.Unlock()
	close(g.open)
	o.arrived(t, next)
	o.holds(t, renewBook, 5)
	o.answers(t, 6)
	o.kill()
}

// atRandom kills the service at random moments while it goes from one embedder
// to the other and back, and asks until it falls.
func (o *takeover) atRandom(t *testing.T, rng *rand.Rand, kills int) {
	t.Helper()
	for i := range kills {
		embedder := []string{narrow, wide}[i%2]
		from := o.end.Count() + 1 // the first call asks for the dimension
		o.start(t, embedder, gate{})
		if i == 0 {
			o.remove(t, 1) // of which the other embedder's vectors are kept
		}
		stop := o.asking(t)
		n, end := from+rng.IntN(8), rng.IntN(2) == 0
		until(t, "nothing is embedded", func() bool {
			calls := o.end.Calls()
			return len(calls) > n && (!end || testkit.Ended(calls[n])) || o.renewed(t, embedder)
		})
		time.Sleep(time.Duration(rng.Int64N(int64(10 * time.Millisecond)))) // a random moment, not a wait
		o.kill()
		t.Logf("killed at %v", o.embedders(t))
		stop()
	}
}

// asking searches again and again until stop, and fails where a living service
// refuses or finds nothing.
func (o *takeover) asking(t *testing.T) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	addr := o.s.addr
	var running sync.WaitGroup
	running.Go(func() {
		for ctx.Err() == nil {
			hits, err := search(ctx, addr, questionFor(0))
			if errors.Is(err, errRefused) || err == nil && len(hits.Evidence) == 0 {
				t.Errorf("a question while vectors are made anew: %v, %v", err, hits)
				return
			}
		}
	})
	return func() { cancel(); running.Wait() }
}

// TestKilledWhileAnotherEmbedderTakesOver: a service that is killed again and
// again while the vectors of its sources are made anew answers meanwhile, and is
// in the end what one is that nobody disturbed. No model but the embedder is
// asked anything.
func TestKilledWhileAnotherEmbedderTakesOver(t *testing.T) {
	t.Parallel()
	lib := newShelf(t)
	calm := newTakeover(t, lib, "exact")
	calm.start(t, wide, gate{})
	for _, at := range []int{1, 2, 4} {
		calm.remove(t, at)
	}
	until(t, "sources wait for another embedder", func() bool { return calm.renewed(t, wide) })
	calm.kill()
	want := calm.finish(t)
	calm.whole(t, want)
	for i, index := range []string{"exact", "hnsw"} {
		t.Run(index, func(t *testing.T) {
			t.Parallel()
			o := newTakeover(t, lib, index)
			o.heldBack(t)
			o.atRandom(t, rand.New(rand.NewPCG(*killSeed, uint64(i))), max(1, *kills))
			got := o.finish(t)
			o.whole(t, got)
			got.equal(t, want)
		})
	}
}
