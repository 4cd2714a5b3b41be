package retrieve

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/reeltree/reeltree/tree"
)

var librarySources = flag.Int("sources", 100, "two-hour sources of BenchmarkEntry; 1000 is the full run")

// speech draws words by Zipf's law from a made vocabulary, with a few words of
// its own for each minute, as talk has.
type speech struct {
	rng   *rand.Rand
	zipf  *rand.Zipf
	words []string
}

func newSpeech(seed uint64) *speech {
	s := &speech{rng: rand.New(rand.NewPCG(seed, 1))}
	s.zipf = rand.NewZipf(s.rng, 1.1, 4, 29_999)
	naming := rand.New(rand.NewPCG(1, 2))
	for range 30_000 {
		var b strings.Builder
		for range 2 + naming.IntN(3) {
			b.WriteByte("bcdfghklmnprstvz"[naming.IntN(16)])
			b.WriteByte("aeiou"[naming.IntN(5)])
		}
		s.words = append(s.words, b.String())
	}
	return s
}

func (s *speech) say(n int) string {
	own := [4]string{}
	for i := range own {
		own[i] = s.words[s.rng.IntN(len(s.words))]
	}
	out := make([]string, n)
	for i := range out {
		if out[i] = s.words[s.zipf.Uint64()]; i%12 == 5 {
			out[i] = own[s.rng.IntN(len(own))]
		}
	}
	return strings.Join(out, " ")
}

// twoHourNodes are the 132 L1 and L2 nodes of a source of two hours, 150 words
// a minute.
func (s *speech) twoHourNodes(src tree.Source) (nodes []*tree.Node) {
	for a := range 12 {
		at := int64(a) * 600_000
		l1 := &tree.Node{ID: tree.NodeID(src.ID, a), Level: tree.L1, Text: s.say(30), Span: tree.MS(at, at+600_000)}
		for b := range 10 {
			from := at + int64(b)*60_000
			id := tree.NodeID(src.ID, a, b)
			l1.Children = append(l1.Children, &tree.Node{ID: id, Level: tree.L2, Text: s.say(20), Span: tree.MS(from, from+60_000), Children: []*tree.Node{
				{ID: id + ".0", Level: tree.L3, Span: tree.MS(from, from+60_000), Evidence: tree.Evidence{Cues: []tree.Cue{{StartMS: from, EndMS: from + 60_000, Text: s.say(130)}}}},
			}})
		}
		nodes = append(append(nodes, l1), l1.Children...)
	}
	return nodes
}

// BenchmarkEntry asks a library of two-hour sources: the entry stage alone,
// without and with filters, and beside 16 readers and a writer. It also says
// what opening the kept library costs.
func BenchmarkEntry(b *testing.B) {
	dir := b.TempDir()
	cfg := Config{Dir: filepath.Join(dir, "index"), Embed: testEmbed, EmbedderName: "test", Dim: 64, Trees: shelf{}.trees}
	e, err := Open(cfg)
	if err != nil {
		b.Fatal(err)
	}
	s := newSpeech(7)
	source := func(i int) tree.Source {
		return tree.Source{ID: fmt.Sprintf("source%020d", i), Tenant: "default", Kind: tree.KindVideo, Title: s.say(4), DurationMS: 7_200_000, Collections: []string{fmt.Sprint("c", i%10)}}
	}
	for i := range *librarySources {
		src := source(i)
		if err := e.Add(b.Context(), src, s.twoHourNodes(src)); err != nil {
			b.Fatal(err)
		}
	}
	if err := e.Close(); err != nil {
		b.Fatal(err)
	}
	runtime.GC()
	began, used := time.Now(), processorTime()
	if e, err = Open(cfg); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = e.Close() })
	opening, openingUsed := time.Since(began), processorTime()-used

	ask := func(ctx context.Context, text string, scope Scope) error {
		vectors, err := testEmbed(ctx, []string{text})
		if err != nil {
			return err
		}
		_, err = e.enter(ctx, &question{text: text, terms: readQuestion(text), vector: vectors[0]}, scope)
		return err
	}
	for _, c := range []struct {
		name  string
		scope Scope
	}{
		{"all", Scope{Tenant: "default"}},
		{"collection", Scope{Tenant: "default", Collection: "c3"}},
		{"source", Scope{Tenant: "default", Sources: []string{source(*librarySources / 2).ID}}},
		{"span", Scope{Tenant: "default", Span: new(tree.MS(600_000, 1_200_000))}},
	} {
		b.Run(c.name, func(b *testing.B) {
			talk := newSpeech(9)
			var times []time.Duration
			before := processorTime()
			for b.Loop() {
				began := time.Now()
				if err := ask(b.Context(), talk.say(10), c.scope); err != nil {
					b.Fatal(err)
				}
				times = append(times, time.Since(began))
			}
			reportProcessorTime(b, before)
			reportTimes(b, times)
			b.ReportMetric(opening.Seconds(), "open-s")
			b.ReportMetric(openingUsed.Seconds(), "open-cpu-s")
		})
	}
	b.Run("16-readers-and-a-writer", func(b *testing.B) { beside(b, e, ask, source) })
}

// beside asks from 16 goroutines while one adds and removes a source again and again.
func beside(b *testing.B, e *Engine, ask func(context.Context, string, Scope) error, source func(int) tree.Source) {
	b.Helper()
	var wg, writer sync.WaitGroup
	var mu sync.Mutex
	var times []time.Duration
	stop := make(chan struct{})
	src := source(1_000_000)
	nodes := newSpeech(3).twoHourNodes(src)
	writer.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			if err := e.Add(b.Context(), src, nodes); err != nil {
				b.Error(err)
			}
			if err := e.Remove(b.Context(), src.Tenant, src.ID); err != nil {
				b.Error(err)
			}
		}
	})
	for r := range 16 {
		wg.Go(func() {
			talk := newSpeech(uint64(100 + r))
			for range max(1, b.N/16) {
				began := time.Now()
				if err := ask(b.Context(), talk.say(10), Scope{Tenant: "default"}); err != nil {
					b.Error(err)
				}
				mu.Lock()
				times = append(times, time.Since(began))
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	close(stop)
	writer.Wait()
	reportTimes(b, times)
}

func reportTimes(b *testing.B, times []time.Duration) {
	b.Helper()
	slices.Sort(times)
	b.ReportMetric(float64(times[len(times)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(times[len(times)*99/100].Microseconds())/1000, "p99-ms")
}
