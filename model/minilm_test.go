package model

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// counted is an encoder that makes a token's vector from its number alone, so
// that sums can be told; seen notes the windows.
type counted struct {
	sync.Mutex
	windows [][]int64
}

func (c *counted) encode(ids []int64) ([]float32, error) {
	c.Lock()
	c.windows = append(c.windows, slices.Clone(ids))
	c.Unlock()
	hidden := make([]float32, len(ids)*miniLMDim)
	for i, id := range ids {
		hidden[i*miniLMDim+int(id)] = 1
	}
	return hidden, nil
}

func TestVectorIsTheMeanOfAllTokensAtUnitLength(t *testing.T) {
	var c counted
	m := newMiniLM(smallWordPiece(t), c.encode, 1)
	vectors, err := m.Embed(t.Context(), []string{"the lighthouse", "", "  \n", "the the the"})
	if err != nil {
		t.Fatal(err)
	}
	ids := func(pieces ...string) (out []int64) {
		for _, p := range pieces {
			out = append(out, int64(slices.Index(smallPieces, p)))
		}
		return out
	}
	want := [][]int64{ids("[CLS]", "the", "light", "##house", "[SEP]"), ids("[CLS]", "the", "the", "the", "[SEP]")}
	if !slices.EqualFunc(c.windows, want, slices.Equal) {
		t.Errorf("windows %v instead of %v", c.windows, want)
	}
	for i, squares := range []float64{1, 0, 0, 1} {
		var sum float64
		for _, x := range vectors[i] {
			sum += float64(x) * float64(x)
		}
		if len(vectors[i]) != miniLMDim || math.Abs(sum-squares) > 1e-6 {
			t.Errorf("text %d: %d values, length² %g instead of %g", i, len(vectors[i]), sum, squares)
		}
	}
	the, cls := vectors[3][ids("the")[0]], vectors[3][ids("[CLS]")[0]]
	if math.Abs(float64(the-3*cls)) > 1e-6 || cls <= 0 {
		t.Errorf("three tokens weigh %g, one %g", the, cls)
	}
}

func TestLongTextIsReadInWindows(t *testing.T) {
	var c counted
	m := newMiniLM(smallWordPiece(t), c.encode, 1)
	const words = 2*(miniLMWindow-2) + 10
	if _, err := m.Embed(t.Context(), []string{strings.Repeat("the ", words)}); err != nil {
		t.Fatal(err)
	}
	var sizes []int
	content := 0
	for _, w := range c.windows {
		sizes = append(sizes, len(w))
		if content += len(w) - 2; w[0] != m.pieces.cls || w[len(w)-1] != m.pieces.sep {
			t.Errorf("a window begins and ends with %d and %d", w[0], w[len(w)-1])
		}
	}
	if !slices.Equal(sizes, []int{miniLMWindow, miniLMWindow, 12}) || content != words {
		t.Errorf("windows of %v hold %d of %d words", sizes, content, words)
	}
}

func TestEmbeddingStopsBetweenWindows(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	enough := errors.New("enough")
	runs := 0
	m := newMiniLM(smallWordPiece(t), func(ids []int64) ([]float32, error) {
		if runs++; runs == 3 {
			cancel(enough)
		}
		return make([]float32, len(ids)*miniLMDim), nil
	}, 1)
	_, err := m.Embed(ctx, []string{"the", strings.Repeat("the ", 3000), "a"})
	if !errors.Is(err, enough) || runs != 3 || !strings.Contains(err.Error(), "1 of 3 texts") {
		t.Errorf("%d runs: %v", runs, err)
	}
}

func TestWaitingForASlotEndsWithItsContext(t *testing.T) {
	started, release := make(chan struct{}), make(chan struct{})
	m := newMiniLM(smallWordPiece(t), func(ids []int64) ([]float32, error) {
		close(started)
		<-release
		return make([]float32, len(ids)*miniLMDim), nil
	}, 1)
	var busy sync.WaitGroup
	busy.Go(func() {
		if _, err := m.Embed(t.Context(), []string{"the"}); err != nil {
			t.Error(err)
		}
	})
	<-started
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := m.Embed(ctx, []string{"a"}); !errors.Is(err, context.Canceled) {
		t.Errorf("waiting ended with %v", err)
	}
	close(release)
	busy.Wait()
}

func TestNoMoreWindowsAtOnceThanAllowed(t *testing.T) {
	var now, most atomic.Int32
	m := newMiniLM(smallWordPiece(t), func(ids []int64) ([]float32, error) {
		n := now.Add(1)
		defer now.Add(-1)
		for old := most.Load(); n > old && !most.CompareAndSwap(old, n); old = most.Load() {
		}
		return make([]float32, len(ids)*miniLMDim), nil
	}, 2)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if _, err := m.Embed(t.Context(), slices.Repeat([]string{"the lighthouse"}, 50)); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if most.Load() > 2 {
		t.Errorf("%d windows at once", most.Load())
	}
}

func TestBrokenEncoderIsAnError(t *testing.T) {
	failing := errors.New("out of memory")
	for name, run := range map[string]encode{
		"failing": func([]int64) ([]float32, error) { return nil, failing },
		"short":   func(ids []int64) ([]float32, error) { return make([]float32, len(ids)*miniLMDim-1), nil },
	} {
		if v, err := newMiniLM(smallWordPiece(t), run, 0).Embed(t.Context(), []string{"the"}); err == nil || v != nil {
			t.Errorf("%s: %v, %v", name, v, err)
		}
	}
}

func TestMissingFilesAreOneSentenceWithTheTarget(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{miniLMModel, miniLMTokenizer, miniLMRuntime} {
		_, err := NewMiniLM(MiniLMConfig{Dir: dir})
		if err == nil {
			t.Fatal("it opens without its files")
		}
		if s := err.Error(); !strings.Contains(s, filepath.Join(dir, name)) || !strings.Contains(s, "make minilm") || !strings.Contains(s, "--embedder builtin") || strings.Contains(s, "\n") {
			t.Errorf("%s: %s", name, s)
		}
		if err := os.WriteFile(filepath.Join(dir, name), tokenizerFile(smallPieces, nil), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := NewMiniLM(MiniLMConfig{Dir: dir}); err == nil || strings.Contains(err.Error(), "\n") { // a library that is none
		t.Errorf("a text is taken for ONNX Runtime: %v", err)
	}
}

func realMiniLM(tb testing.TB) *MiniLM {
	tb.Helper()
	m, err := NewMiniLM(MiniLMConfig{Dir: miniLMFolder(tb)})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := m.Close(); err != nil {
			tb.Error(err)
		}
	})
	return m
}

// TestMiniLMIsThatOfTheReference compares with onnxruntime from Python, all
// texts at once: neighbours change nothing.
func TestMiniLMIsThatOfTheReference(t *testing.T) {
	m := realMiniLM(t)
	var texts []string
	var want [][]float64
	for _, g := range miniLMGoldens(t) {
		if g.Vector != nil {
			texts, want = append(texts, g.Text), append(want, g.Vector)
		}
	}
	got, err := m.Embed(t.Context(), texts)
	if err != nil {
		t.Fatal(err)
	}
	for i := range want {
		for d, x := range want[i] {
			if off := math.Abs(float64(got[i][d]) - x); off > 1e-4 || len(got[i]) != len(want[i]) {
				t.Errorf("%.40q: value %d is off by %g", texts[i], d, off)
				break
			}
		}
	}
	if len(want) < 10 {
		t.Errorf("only %d vectors are compared", len(want))
	}
}

func TestMiniLMKnowsWhatTextsMean(t *testing.T) {
	m := realMiniLM(t)
	v, err := m.Embed(t.Context(), []string{
		"a man repairs his bicycle", "somebody fixes a bike", "the parliament debates the budget",
		strings.Repeat("the parliament debates the budget. ", 60) + strings.Repeat("somebody fixes a bike. ", 60), // the end of a long text counts
	})
	if err != nil {
		t.Fatal(err)
	}
	cos := func(a, b int) (sum float64) {
		for d := range v[a] {
			sum += float64(v[a][d]) * float64(v[b][d])
		}
		return sum
	}
	if cos(0, 1) < .5 || cos(0, 2) > .3 || cos(3, 1) < .3 || cos(3, 2) < .5 {
		t.Errorf("cosines %.2f %.2f %.2f %.2f", cos(0, 1), cos(0, 2), cos(3, 1), cos(3, 2))
	}
	if m.Name() == "" || m.Dim() != len(v[0]) {
		t.Errorf("%q has %d values", m.Name(), len(v[0]))
	}
}

func TestMiniLMServesManyAtOnce(t *testing.T) {
	m := realMiniLM(t)
	text := func(i int) string { return fmt.Sprintf("the %d boats leave the harbour at %d o'clock", i, i%12) }
	alone := make([][]float32, 24)
	for i := range alone {
		v, err := m.Embed(t.Context(), []string{text(i)})
		if err != nil {
			t.Fatal(err)
		}
		alone[i] = v[0]
	}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for i := range alone {
				v, err := m.Embed(t.Context(), []string{text(i)})
				if err != nil || !slices.Equal(v[0], alone[i]) {
					t.Errorf("text %d has another vector beside others: %v", i, err)
				}
			}
		})
	}
	all.Wait()
}

// BenchmarkMiniLM embeds captions of eight words.
func BenchmarkMiniLM(b *testing.B) {
	m := realMiniLM(b)
	for b.Loop() {
		if _, err := m.Embed(b.Context(), []string{"a man in a red shirt plays guitar"}); err != nil {
			b.Fatal(err)
		}
	}
}
