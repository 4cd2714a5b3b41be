package retrieve

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/reeltree/reeltree/tree"
)

var (
	librarySources = flag.Int("sources", 100, "two-hour sources of BenchmarkEntry; 1000 is the full run")
	libraryFolder  = flag.String("library", "", "folder the index of BenchmarkEntry is kept in and taken from; empty: made anew")
)

// speech draws words by Zipf's law from a made vocabulary, with a few words of
// its own for each minute, as talk has.
type speech struct {
	rng   *rand.Rand
	zipf  *rand.Zipf
	words []string
}

const spokenWords = 30_000

// vocabulary are the words speech is made of, and a vector of each.
var vocabulary = sync.OnceValues(func() (words []string, vectors map[string][]float32) {
	naming := rand.New(rand.NewPCG(1, 2))
	vectors = make(map[string][]float32, spokenWords)
	for range spokenWords {
		var b strings.Builder
		for range 2 + naming.IntN(3) {
			b.WriteByte("bcdfghklmnprstvz"[naming.IntN(16)])
			b.WriteByte("aeiou"[naming.IntN(5)])
		}
		v := make([]float32, spokenDim)
		for d := range v {
			v[d] = float32(naming.NormFloat64())
		}
		words, vectors[b.String()] = append(words, b.String()), v
	}
	return words, vectors
})

const spokenDim = 256

// spokenEmbed sums the vectors of the words, as the built-in embedder does.
func spokenEmbed(_ context.Context, texts []string) ([][]float32, error) {
	_, vectors := vocabulary()
	out := make([][]float32, len(texts))
	for i, text := range texts {
		sum := make([]float32, spokenDim)
		for word := range strings.FieldsSeq(text) {
			for d, x := range vectors[word] {
				sum[d] += x
			}
		}
		if n := float32(math.Sqrt(dot(sum, sum))); n > 0 {
			for d := range sum {
				sum[d] /= n
			}
		}
		out[i] = sum
	}
	return out, nil
}

func newSpeech(seed uint64) *speech {
	s := &speech{rng: rand.New(rand.NewPCG(seed, 1))}
	s.zipf = rand.NewZipf(s.rng, 1.1, 4, spokenWords-1)
	s.words, _ = vocabulary()
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

// cues are speech of 150 words a minute in cues of ten words.
func (s *speech) cues(from, to int64) (cues []tree.Cue) {
	const length = 4000
	for at := from; at < to; at += length {
		cues = append(cues, tree.Cue{StartMS: at, EndMS: at + length, Text: s.say(10)})
	}
	return cues
}

// twoHours are the 12 L1 and 120 L2 nodes of a source of two hours.
func (s *speech) twoHours(src tree.Source) *tree.Tree {
	t := &tree.Tree{Source: src, Models: map[string]string{"l3": "extractive"}}
	for a := range 12 {
		at := int64(a) * 600_000
		l1 := &tree.Node{ID: tree.NodeID(src.ID, a), Level: tree.L1, Text: s.say(30), Span: tree.MS(at, at+600_000)}
		for b := range 10 {
			from := at + int64(b)*60_000
			id := tree.NodeID(src.ID, a, b)
			l1.Children = append(l1.Children, &tree.Node{ID: id, Level: tree.L2, Text: s.say(20), Span: tree.MS(from, from+60_000), Children: []*tree.Node{
				{ID: id + ".0", Level: tree.L3, Span: tree.MS(from, from+60_000), Evidence: tree.Evidence{Cues: s.cues(from, from+60_000)}},
			}})
		}
		t.Roots = append(t.Roots, l1)
	}
	return t
}

// spokenLibrary is a kept library of two-hour sources.
type spokenLibrary struct{ cfg Config }

// source is the i-th source and its tree, made of its number alone.
func (spokenLibrary) source(i int) *tree.Tree {
	s := newSpeech(uint64(1000 + i))
	return s.twoHours(tree.Source{
		ID: fmt.Sprintf("source%020d", i), Tenant: "default", Kind: tree.KindVideo, Title: s.say(4),
		DurationMS: 7_200_000, Collections: []string{fmt.Sprint("c", i%10)},
	})
}

func (l spokenLibrary) trees(_ context.Context, _, id string) (*tree.Tree, error) {
	i, err := strconv.Atoi(strings.TrimPrefix(id, "source"))
	return l.source(i), err
}

// openLibrary opens the library, which it makes first where there is none, and
// reports what that costs.
func openLibrary(b *testing.B) (*Engine, spokenLibrary) {
	b.Helper()
	dir := *libraryFolder
	if dir == "" {
		dir = b.TempDir()
	}
	var l spokenLibrary
	l.cfg = Config{Dir: filepath.Join(dir, fmt.Sprint(*librarySources)), Embed: spokenEmbed, EmbedderName: "spoken", Dim: spokenDim, Trees: l.trees}
	if _, err := os.Stat(l.cfg.Dir); err != nil {
		e, err := Open(l.cfg)
		if err != nil {
			b.Fatal(err)
		}
		for i := range *librarySources {
			if err := e.AddTree(b.Context(), l.source(i)); err != nil {
				b.Fatal(err)
			}
		}
		if err := e.Close(); err != nil {
			b.Fatal(err)
		}
	}
	before := liveBytes()
	began, used := time.Now(), processorTime()
	e, err := Open(l.cfg)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := e.Close(); err != nil {
			b.Error(err)
		}
	})
	b.Logf("opening %d nodes: %.2f s, of the processor %.2f s, %d MB kept", e.words.Len(), time.Since(began).Seconds(), (processorTime() - used).Seconds(), (liveBytes()-before)>>20)
	return e, l
}

// liveBytes is what the heap holds after a collection.
func liveBytes() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// ask runs the entry stage alone.
func (e *Engine) ask(ctx context.Context, text string, scope Scope) error {
	vectors, err := e.cfg.Embed(ctx, []string{text})
	if err != nil {
		return err
	}
	hits, err := e.enter(ctx, &question{text: text, terms: readQuestion(text), vector: vectors[0]}, scope)
	if err == nil && len(hits) == 0 {
		err = errors.New("nothing is found")
	}
	return err
}

// BenchmarkEntry asks a library of two-hour sources: the entry stage alone,
// without and with filters, and from 16 goroutines without and beside a writer.
func BenchmarkEntry(b *testing.B) {
	e, l := openLibrary(b)
	for _, c := range []struct {
		name  string
		scope Scope
	}{
		{"all", Scope{Tenant: "default"}},
		{"collection", Scope{Tenant: "default", Collection: "c3"}},
		{"source", Scope{Tenant: "default", Sources: []string{l.source(*librarySources / 2).Source.ID}}},
		{"span", Scope{Tenant: "default", Span: new(tree.MS(600_000, 1_200_000))}},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			talk := newSpeech(9)
			var times []time.Duration
			before := processorTime()
			for b.Loop() {
				began := time.Now()
				if err := e.ask(b.Context(), talk.say(10), c.scope); err != nil {
					b.Fatal(err)
				}
				times = append(times, time.Since(began))
			}
			reportProcessorTime(b, before)
			reportTimes(b, times)
		})
	}
	b.Run("16-readers", func(b *testing.B) { readers(b, e) })
	b.Run("16-readers-and-a-writer", func(b *testing.B) { besideWriter(b, e, l) })
}

// BenchmarkWhole asks the library from the question to the chosen evidence:
// with the trees at hand that it enters, and with none.
func BenchmarkWhole(b *testing.B) {
	e, l := openLibrary(b)
	rng := rand.New(rand.NewPCG(5, 5))
	questions := make([]string, 64)
	for i := range questions {
		said := l.source(rng.IntN(*librarySources)).Roots[rng.IntN(12)].Children[rng.IntN(10)].Children[0].Evidence.Cues
		questions[i] = said[rng.IntN(len(said))].Text
	}
	for _, c := range []struct {
		name  string
		cache int
	}{{"ready", 8 << 30}, {"cold", 1}} {
		e.views = newViewCache(c.cache)
		ask := func(i int) {
			if _, err := e.Query(b.Context(), Query{Text: questions[i%len(questions)], Scope: Scope{Tenant: "default"}}, nil); err != nil {
				b.Fatal(err)
			}
		}
		for i := range questions {
			if c.cache > 1 {
				ask(i)
			}
		}
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			var times []time.Duration
			before := processorTime()
			for i := 0; b.Loop(); i++ {
				began := time.Now()
				ask(i)
				times = append(times, time.Since(began))
			}
			reportProcessorTime(b, before)
			reportTimes(b, times)
		})
	}
}

// readers asks from 16 goroutines.
func readers(b *testing.B, e *Engine) {
	b.Helper()
	var wg sync.WaitGroup
	var mu sync.Mutex
	var times []time.Duration
	for r := range 16 {
		wg.Go(func() {
			talk := newSpeech(uint64(100 + r))
			for range max(1, b.N/16) {
				text := talk.say(10)
				began := time.Now()
				if err := e.ask(b.Context(), text, Scope{Tenant: "default"}); err != nil {
					b.Error(err)
				}
				took := time.Since(began)
				mu.Lock()
				times = append(times, took)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	reportTimes(b, times)
}

// besideWriter asks from 16 goroutines while one adds and removes a source again and again.
func besideWriter(b *testing.B, e *Engine, l spokenLibrary) {
	b.Helper()
	var writer sync.WaitGroup
	stop := make(chan struct{})
	added := l.source(1_000_000)
	writes := 0
	writer.Go(func() {
		for ; ; writes++ {
			select {
			case <-stop:
				return
			default:
			}
			if err := e.AddTree(b.Context(), added); err != nil {
				b.Error(err)
			}
			if err := e.Remove(b.Context(), added.Source.Tenant, added.Source.ID); err != nil {
				b.Error(err)
			}
		}
	})
	readers(b, e)
	close(stop)
	writer.Wait()
	b.ReportMetric(float64(writes), "writes")
}

func reportTimes(b *testing.B, times []time.Duration) {
	b.Helper()
	slices.Sort(times)
	b.ReportMetric(float64(times[len(times)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(times[len(times)*99/100].Microseconds())/1000, "p99-ms")
}
