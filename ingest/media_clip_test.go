//go:build cgo

package ingest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// ramp makes a video whose brightness tells the time, 10 frames a second, with
// a beep in the second half of every second, and gives its path.
func ramp(t *testing.T, name string, args ...string) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), name)
	all := append([]string{
		"-v", "error", "-f", "lavfi", "-i", "color=black:size=160x120:rate=10:duration=12,geq=lum='16+18*floor(T)+floor(mod(T*10,10))':cb=128:cr=128",
		"-f", "lavfi", "-i", "aevalsrc='0.5*sin(880*PI*t)*gte(mod(t,1),0.5)':s=48000:d=12",
	}, args...)
	if said, err := exec.CommandContext(t.Context(), "ffmpeg", append(all, out)...).CombinedOutput(); err != nil {
		t.Fatalf("ffmpeg: %v: %s", err, said)
	}
	return out
}

// cutClip cuts and gives the path of the file that came out.
func cutClip(t *testing.T, path string, exact bool, spans ...ClipSpan) string {
	t.Helper()
	var b bytes.Buffer
	if err := (Media{Command: selfWorker(t)}).Clip(t.Context(), openMedia(t, path), spans, exact, &b); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "clip.mp4")
	if err := os.WriteFile(out, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return out
}

// picture is one decoded frame of a clip as the independent reader sees it.
type picture struct{ at, light float64 }

// pictures reads a file with the ffmpeg commands: times in seconds and mean luma.
func pictures(t *testing.T, path string) (all []picture) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "ffprobe", "-v", "error", "-f", "lavfi", "-i", "movie="+path+",signalstats",
		"-show_entries", "frame=pts_time:frame_tags=lavfi.signalstats.YAVG", "-of", "json").Output()
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Frames []struct {
			Time string `json:"pts_time"`
			Tags map[string]string
		}
	}
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatal(err)
	}
	for _, f := range got.Frames {
		at, _ := strconv.ParseFloat(f.Time, 64)
		light, _ := strconv.ParseFloat(f.Tags["lavfi.signalstats.YAVG"], 64)
		all = append(all, picture{at, light})
	}
	return all
}

// shownAt is the second of the ramp a picture was made for.
func (p picture) shownAt() float64 {
	second := math.Floor((p.light - 16 + 0.5) / 18)
	return second + math.Round(p.light-16-18*second)/10
}

func lengthOf(t *testing.T, path string) float64 {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "ffprobe", "-v", "error", "-show_entries", "format=duration", "-of", "csv=p=0", path).Output()
	if err != nil {
		t.Fatal(err)
	}
	v, _ := strconv.ParseFloat(strings.TrimSpace(string(out)), 64)
	return v
}

// TestExactClips: first and last picture and sound are those of the wanted
// times, within one frame, in every container.
func TestExactClips(t *testing.T) {
	for name, args := range map[string][]string{
		"bframes.mp4": {"-c:v", "libx264", "-bf", "3", "-g", "50", "-c:a", "aac"},
		"vp9.webm":    {"-c:v", "libvpx-vp9", "-deadline", "realtime", "-cpu-used", "8", "-c:a", "libopus"},
		"late.ts":     {"-c:v", "libx264", "-c:a", "aac", "-output_ts_offset", "5000"},
		"old.avi":     {"-c:v", "mpeg4", "-c:a", "libmp3lame"},
	} {
		t.Run(name, func(t *testing.T) {
			path := ramp(t, name, args...)
			clip := cutClip(t, path, true, ClipSpan{3300, 6700})
			got := pictures(t, clip)
			if len(got) < 30 {
				t.Fatalf("%d pictures", len(got))
			}
			first, last := got[0], got[len(got)-1]
			if math.Abs(first.shownAt()-3.3) > 0.11 || math.Abs(last.shownAt()-6.6) > 0.11 || math.Abs(first.at) > 0.03 || math.Abs(last.at-3.3) > 0.11 {
				t.Errorf("from %.1f (at %.2f) to %.1f (at %.2f)", first.shownAt(), first.at, last.shownAt(), last.at)
			}
			beeps := edges(soundOf(t, clip, MediaRequest{}))
			want := []span{{200, 700}, {1200, 1700}, {2200, 2700}}
			for i, w := range want {
				if len(beeps) < len(want) || !near(beeps[i], w) {
					t.Errorf("beeps at %v, want %v", beeps, want)
					break
				}
			}
			if d := lengthOf(t, clip); math.Abs(d-3.4) > 0.15 {
				t.Errorf("%.2f s long, want 3.4", d)
			}
		})
	}
}

// TestJoinedClips: several parts in the wished order, sound and picture in step.
func TestJoinedClips(t *testing.T) {
	path := ramp(t, "a.mp4", "-c:v", "libx264", "-g", "40", "-c:a", "aac")
	clip := cutClip(t, path, false, ClipSpan{8000, 9000}, ClipSpan{2000, 3500}, ClipSpan{500, 1000})
	var shown []float64
	for _, p := range pictures(t, clip) {
		shown = append(shown, p.shownAt())
	}
	at := func(i int, want float64) {
		if i >= len(shown) || math.Abs(shown[i]-want) > 0.11 {
			t.Errorf("picture %d of %d shows another time than %.1f: %v", i, len(shown), want, shown)
		}
	}
	at(0, 8)
	at(9, 8.9)
	at(10, 2)
	at(24, 3.4)
	at(25, 0.5)
	if d := lengthOf(t, clip); math.Abs(d-3) > 0.15 {
		t.Errorf("%.2f s long, want 3", d)
	}
	beeps, want := edges(soundOf(t, clip, MediaRequest{})), []span{{500, 1000}, {1500, 2000}, {2500, 3000}}
	if len(beeps) != len(want) || !near(beeps[0], want[0]) || !near(beeps[1], want[1]) {
		t.Errorf("beeps at %v, want %v", beeps, want)
	}
}

// TestCopiedClips: without encoding a clip begins at the key frame before and
// the pictures are the source's own.
func TestCopiedClips(t *testing.T) {
	args := []string{"-c:v", "libx264", "-bf", "2", "-g", "20", "-sc_threshold", "0", "-c:a", "aac"}
	for name, from := range map[string]float64{
		"a.mp4": 4, "a.mkv": 4,
		"a.ts": 5.1, // what MP4 cannot hold as it is gets encoded, and then exactly
	} {
		got := pictures(t, cutClip(t, ramp(t, name, args...), false, ClipSpan{5100, 7000}))
		if len(got) < 15 || math.Abs(got[0].shownAt()-from) > 0.11 || math.Abs(got[len(got)-1].shownAt()-6.9) > 0.35 {
			t.Errorf("%s: %d pictures from %.1f to %.1f", name, len(got), got[0].shownAt(), got[len(got)-1].shownAt())
		}
	}
}

// TestClipRefusals: what cannot be cut is one sentence, and who stops listening
// stops the child.
func TestClipRefusals(t *testing.T) {
	m := Media{Command: selfWorker(t)}
	path := ramp(t, "a.mp4", "-c:v", "libx264", "-c:a", "aac")
	for _, spans := range [][]ClipSpan{nil, {{5, 5}}, {{-1, 5}}, make([]ClipSpan, maxClipSpans+1)} {
		var refused *SourceError
		if err := m.Clip(t.Context(), openMedia(t, path), spans, true, &bytes.Buffer{}); !errors.As(err, &refused) {
			t.Errorf("%d spans: %v", len(spans), err)
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	err := m.Clip(ctx, openMedia(t, path), []ClipSpan{{0, 12_000}}, true, writerFunc(func(b []byte) (int, error) { stop(); return len(b), nil }))
	if err != nil && !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	full := errors.New("full")
	if err := m.Clip(t.Context(), openMedia(t, path), []ClipSpan{{0, 12_000}}, true, writerFunc(func([]byte) (int, error) { return 0, full })); !errors.Is(err, full) {
		t.Errorf("%v", err)
	}
}
