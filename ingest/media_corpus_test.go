//go:build cgo

package ingest

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"image/jpeg"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/reeltree/reeltree/internal/testkit"
	"github.com/reeltree/reeltree/tree"
)

// oddRow is one line of the index of odd media.
type oddRow struct {
	file, group, display, expect string
	dur, tol                     float64
	v, a, s, pic                 int
}

func oddRows(t *testing.T) (dir string, rows []oddRow) {
	t.Helper()
	dir = testkit.Shared(t, "media", "odd")
	f, err := os.Open(filepath.Join(dir, "index.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r := csv.NewReader(f)
	r.Comma, r.LazyQuotes = '\t', true
	lines, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range lines[1:] {
		row := oddRow{file: l[0], group: l[1], display: l[9], expect: l[10]}
		row.dur, _ = strconv.ParseFloat(l[3], 64) // "-" is none
		row.tol, _ = strconv.ParseFloat(l[4], 64)
		for i, n := range []*int{&row.v, &row.a, &row.s, &row.pic} {
			*n, _ = strconv.Atoi(l[5+i])
		}
		rows = append(rows, row)
	}
	return dir, rows
}

// mediaLogged is a Media whose log lines are kept, for the peak memory in them.
func mediaLogged(t *testing.T) (Media, *bytes.Buffer) {
	t.Helper()
	var buf bytes.Buffer
	h := slog.NewTextHandler(&buf, &slog.HandlerOptions{Level: slog.LevelDebug})
	return Media{Command: selfWorker(t), Log: slog.New(h)}, &buf
}

func selfWorker(t testing.TB) []string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return []string{self, "media-worker"}
}

// sampled is everything one Sample call gave.
type sampled struct {
	frames []MediaFrame
	shots  []MediaShot
}

func (s *sampled) sink() SampleSink {
	return SampleSink{
		Frame: func(f MediaFrame) error { s.frames = append(s.frames, f); return nil },
		Shot:  func(c MediaShot) error { s.shots = append(s.shots, c); return nil },
	}
}

// times are the frame times in ms.
func (s *sampled) times() (ms []int64) {
	for _, f := range s.frames {
		ms = append(ms, f.TimeMS)
	}
	return ms
}

func sample(t *testing.T, path string, req MediaRequest) sampled {
	t.Helper()
	var got sampled
	m := Media{Command: selfWorker(t)}
	if err := m.Sample(t.Context(), openMedia(t, path), req, got.sink()); err != nil {
		t.Fatalf("sample %s: %v", filepath.Base(path), err)
	}
	return got
}

func probe(t *testing.T, path string) MediaFacts {
	t.Helper()
	m := Media{Command: selfWorker(t)}
	facts, err := m.Probe(t.Context(), openMedia(t, path), MediaRequest{})
	if err != nil {
		t.Fatalf("probe %s: %v", filepath.Base(path), err)
	}
	return facts
}

func TestMediaCorpus(t *testing.T) {
	dir, rows := oddRows(t)
	ran := 0
	for _, row := range rows {
		subtitles := row.group == "subtitle" && row.v > 0
		if row.group != "media" && row.group != "name" && row.group != "hostile" && !subtitles {
			continue
		}
		ran++
		t.Run(row.file, func(t *testing.T) { checkOddFile(t, filepath.Join(dir, row.file), row) })
	}
	t.Logf("highest peak memory of a child: %d KB", worstPeak.kb)
	if ran < 50 {
		t.Errorf("only %d rows of the index ran", ran)
	}
}

func checkOddFile(t *testing.T, path string, row oddRow) {
	t.Helper()
	m, log := mediaLogged(t)
	file := openMedia(t, path)
	facts, err := m.Probe(t.Context(), file, MediaRequest{})
	var got sampled
	if err == nil && facts.Kind != tree.KindAudio {
		err = m.Sample(t.Context(), file, MediaRequest{}, got.sink())
	}
	checkPeak(t, log.String())
	if row.expect == "error" {
		var refused *MediaError
		if !errors.As(err, &refused) {
			t.Fatalf("error = %v, want a MediaError", err)
		}
		checkSentence(t, refused.Reason)
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	checkOddFacts(t, facts, row)
	if facts.Kind == tree.KindVideo {
		checkOddFrames(t, facts, got, row)
	}
}

func checkOddFacts(t *testing.T, f MediaFacts, row oddRow) {
	t.Helper()
	if got := float64(f.DurationMS) / 1000; math.Abs(got-row.dur) > row.tol+0.0005 {
		t.Errorf("duration = %v s, want %v +- %v", got, row.dur, row.tol)
	}
	v, display := 0, "-"
	if f.Video != nil {
		v, display = 1, fmt.Sprintf("%dx%d", f.Video.Width, f.Video.Height)
	}
	if v != row.v || len(f.Audio) != row.a || len(f.Subtitles) != row.s || f.Pictures != row.pic {
		t.Errorf("streams v%d a%d s%d pic%d, want v%d a%d s%d pic%d", v, len(f.Audio), len(f.Subtitles), f.Pictures, row.v, row.a, row.s, row.pic)
	}
	if display != row.display {
		t.Errorf("display = %s, want %s", display, row.display)
	}
	if f.Partial != (row.expect == "partial") || f.Partial && len(f.Warnings) == 0 {
		t.Errorf("partial = %v, warnings %q, want %s", f.Partial, f.Warnings, row.expect)
	}
	for _, w := range f.Warnings {
		checkSentence(t, w)
	}
}

func checkOddFrames(t *testing.T, facts MediaFacts, got sampled, row oddRow) {
	t.Helper()
	if len(got.frames) == 0 || got.frames[0].TimeMS > 100 {
		t.Fatalf("frames at %v, want the first one at the start", got.times())
	}
	if want := min(int64(float64(facts.Video.Frames)/facts.Video.FPS)+1, facts.Video.Frames); !facts.Partial && math.Abs(float64(len(got.frames))-float64(want)) > 1 {
		t.Errorf("%d frames at %v, want about %d", len(got.frames), got.times(), want)
	}
	w, h := fitPicture(facts.Video.Width, facts.Video.Height, 1, 512)
	for _, f := range got.frames {
		c, err := jpeg.DecodeConfig(bytes.NewReader(f.JPEG))
		if err != nil || c.Width != w || c.Height != h || f.Width != w || f.Height != h {
			t.Fatalf("frame %dx%d, JPEG %dx%d (%v), want %dx%d", f.Width, f.Height, c.Width, c.Height, err, w, h)
		}
		if f.TimeMS >= facts.DurationMS {
			t.Errorf("frame at %d ms, duration %d", f.TimeMS, facts.DurationMS)
		}
	}
}

func checkSentence(t *testing.T, s string) {
	t.Helper()
	if len(s) < 30 || len(s) > 300 || !strings.HasSuffix(s, ".") || strings.Contains(s, "\n") || strings.Contains(s, "Invalid data") {
		t.Errorf("%q is not one plain sentence", s)
	}
}

var worstPeak struct {
	sync.Mutex
	kb int64
}

// checkPeak reads the children's own VmHWM from the log.
func checkPeak(t *testing.T, log string) {
	t.Helper()
	for line := range strings.SplitSeq(log, "\n") {
		_, rest, ok := strings.Cut(line, "peak_kb=")
		if !ok {
			continue
		}
		kb, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
		if err != nil || kb > 256<<10 {
			t.Errorf("peak memory %s", rest)
		}
		worstPeak.Lock()
		worstPeak.kb = max(worstPeak.kb, kb)
		worstPeak.Unlock()
	}
}
