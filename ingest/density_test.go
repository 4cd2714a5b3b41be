//go:build cgo

package ingest

import (
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/reeltree/reeltree/tree"
)

// halfHour makes 30 minutes of a picture that stands still but for what filter does.
func halfHour(t *testing.T, filter string) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), "half.mp4")
	said, err := exec.CommandContext(t.Context(), "ffmpeg", "-v", "error", "-f", "lavfi", "-i", "testsrc=s=96x64:r=5:d=1,loop=-1:1:0,trim=duration=1800,setpts=N/5/TB"+filter,
		"-t", "1800", "-r", "5", "-c:v", "libx264", "-preset", "ultrafast", "-g", "250", "-pix_fmt", "yuv420p", out).CombinedOutput()
	if err != nil {
		t.Fatalf("ffmpeg: %v: %s", err, said)
	}
	return out
}

// kept are the pictures that an ingest keeps of a file.
func kept(t *testing.T, path string) []*tree.FrameRef {
	t.Helper()
	src, m := ingestFile(t, path, nil)
	tr := m.tree(t, src.ID)
	if tr.Source.DurationMS < 1_799_000 {
		t.Fatalf("the clip is only %d ms long", tr.Source.DurationMS)
	}
	return tr.Frames()
}

func TestStillPicturesCostLittle(t *testing.T) {
	if n := len(kept(t, halfHour(t, ""))); n < 1 || n > 40 {
		t.Errorf("%d frames of 30 still minutes, want at most 40", n)
	}
}

// Another picture for one second, anywhere in half an hour, always has a frame
// of its own, and the rest stays as sparse as it was.
func TestShortEventsAreKept(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 9))
	for n := range 20 {
		from := .2 * float64(rng.IntN(5*1798)) // any frame, not whole seconds
		frames := kept(t, halfHour(t, fmt.Sprintf(",drawbox=x=0:y=0:w=iw:h=ih:c=blue:t=fill:enable='between(t,%.2f,%.2f)',drawbox=x=20:y=10:w=30:h=40:c=white:t=fill:enable='between(t,%.2[1]f,%.2[2]f)'", from-.05, from+.95)))
		own := 0
		for _, f := range frames {
			if at := float64(f.TimeMS) / 1000; at > from-.11 && at < from+1.01 {
				own++
			}
		}
		if own == 0 || len(frames) > 52 { // 1.3 times what stands still may cost
			t.Errorf("clip %d: the second from %.2f s has %d of %d frames", n, from, own, len(frames))
		}
	}
}
