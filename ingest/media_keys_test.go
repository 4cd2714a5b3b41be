//go:build cgo

package ingest

import (
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

// counter makes a minute of pictures that each look different, with a key
// frame every gop frames of 10 a second, and gives its path.
func counter(t *testing.T, name string, args ...string) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), name)
	all := append([]string{"-v", "error", "-f", "lavfi", "-i", "testsrc2=s=160x120:r=10:d=60"}, args...)
	if said, err := exec.CommandContext(t.Context(), "ffmpeg", append(all, out)...).CombinedOutput(); err != nil {
		t.Fatalf("ffmpeg: %v: %s", err, said)
	}
	return out
}

func everySecond(from, to, step int64) (all []int64) {
	for at := from; at <= to; at += step {
		all = append(all, at)
	}
	return all
}

// Each wanted time takes the key frame nearest to it, and nothing else is decoded.
func TestKeyFrameMode(t *testing.T) {
	two := counter(t, "two.mp4", "-g", "20", "-sc_threshold", "0", "-bf", "2")
	for _, c := range []struct {
		name, path string
		req        MediaRequest
		want       []int64
	}{
		{"key frames are rarer than wanted times", two, MediaRequest{FPS: 1}, everySecond(0, 58_000, 2000)},
		{"every second key frame is wanted", two, MediaRequest{FPS: .25}, everySecond(0, 56_000, 4000)},
		{"a stretch in the middle", two, MediaRequest{FPS: 1, FromMS: 20_000, ToMS: 30_000}, everySecond(20_000, 28_000, 2000)},
		{"a stretch without a key frame shows the one before", two, MediaRequest{FPS: 1, FromMS: 20_500, ToMS: 21_700}, []int64{20_500}},
		{"every frame is a key frame", counter(t, "all.avi", "-c:v", "mjpeg"), MediaRequest{FPS: .5}, everySecond(0, 58_000, 2000)},
		{"a stream without an index", counter(t, "two.ts", "-g", "20", "-sc_threshold", "0"), MediaRequest{FPS: .5, FromMS: 10_000, ToMS: 20_000}, everySecond(10_000, 18_000, 2000)},
	} {
		t.Run(c.name, func(t *testing.T) {
			exact := sample(t, c.path, MediaRequest{FPS: 10, FromMS: c.req.FromMS, ToMS: c.req.ToMS})
			c.req.Keys = true
			got := sample(t, c.path, c.req)
			if !slices.Equal(got.times(), c.want) {
				t.Fatalf("frames at %v, want %v", got.times(), c.want)
			}
			for i, f := range got.frames {
				at := slices.Index(exact.times(), f.TimeMS)
				if at < 0 || exact.frames[at].Hash != f.Hash && len(c.want) > 1 {
					t.Errorf("frame %d at %d ms is not the one that decoding all shows there", i, f.TimeMS)
				}
			}
		})
	}
}

// A wanted step of many key frames is reached by seeking, and shows the same
// frames at the same times as decoding everything between.
func TestWideStepsSeek(t *testing.T) {
	for _, path := range []string{
		counter(t, "one.mp4", "-g", "10", "-bf", "2"),
		counter(t, "one.mkv", "-g", "10", "-bf", "2"),
		counter(t, "one.ts", "-g", "10"),
		counter(t, "open.mp4", "-g", "25", "-bf", "3", "-x264-params", "open-gop=1"),
	} {
		all, wide := sample(t, path, MediaRequest{FPS: 1}), sample(t, path, MediaRequest{FPS: .1})
		if !slices.Equal(wide.times(), everySecond(0, 50_000, 10_000)) {
			t.Fatalf("%s: frames at %v", filepath.Base(path), wide.times())
		}
		for _, f := range wide.frames {
			if at := slices.Index(all.times(), f.TimeMS); at < 0 || all.frames[at].Hash != f.Hash || string(all.frames[at].JPEG) != string(f.JPEG) {
				t.Errorf("%s: the frame at %d ms is another one than without seeking", filepath.Base(path), f.TimeMS)
			}
		}
	}
}
