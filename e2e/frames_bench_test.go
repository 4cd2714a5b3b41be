//go:build e2e

package e2e

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/reeltree/reeltree/ingest"
	"github.com/reeltree/reeltree/internal/testkit"
)

var (
	filmMinutes = flag.Int("filmminutes", 2, "minutes of the 720p film of BenchmarkFrames; 20 is the full run")
	filmRounds  = flag.Int("filmrounds", 2, "turns of every reader of BenchmarkFrames; 5 is the full run")
)

// spent is the processor time of this process and of the children it waited for.
func spent() time.Duration {
	var all time.Duration
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var r syscall.Rusage
		if syscall.Getrusage(who, &r) == nil {
			all += time.Duration(r.Utime.Nano() + r.Stime.Nano())
		}
	}
	return all
}

// reader takes frames out of the film and says how many.
type reader struct {
	name string
	read func(b *testing.B, film, folder string) int
	cpu  time.Duration
	wall time.Duration
	n    int
	peak int64 // KB of its process
}

// command reads with a program that writes pictures into the folder.
func command(name string, args func(film, folder string) []string) *reader {
	r := &reader{name: name}
	r.read = func(b *testing.B, film, folder string) int {
		b.Helper()
		all := args(film, folder)
		cmd := exec.CommandContext(b.Context(), all[0], all[1:]...)
		if out, err := cmd.CombinedOutput(); err != nil {
			b.Fatalf("%s: %v: %s", name, err, tail(string(out), 500))
		}
		if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
			r.peak = max(r.peak, usage.Maxrss)
		}
		files, _ := os.ReadDir(folder)
		return len(files)
	}
	return r
}

// worker reads with the media worker, as an ingest does.
func worker(name string, keys bool) *reader {
	return &reader{name: name, read: func(b *testing.B, film, folder string) int {
		b.Helper()
		file, err := os.Open(film)
		if err != nil {
			b.Fatal(err)
		}
		defer func() { _ = file.Close() }()
		n := 0
		err = ingest.Media{Command: []string{binary, "media-worker"}}.Sample(b.Context(), file,
			ingest.MediaRequest{FPS: 1, LongSide: 512, Quality: 3, Keys: keys},
			ingest.SampleSink{Frame: func(f ingest.MediaFrame) error {
				n++
				return os.WriteFile(filepath.Join(folder, fmt.Sprintf("%06d.jpg", n)), f.JPEG, 0o600)
			}})
		if err != nil {
			b.Fatal(err)
		}
		return n
	}}
}

// BenchmarkFrames takes one frame a second, 512 wide, out of a film of 720p30
// H.264 with B-frames: the media worker beside the ffmpeg command and three
// Python readers, in turns. What counts is processor time, parent and child.
//
//	go test -tags e2e -run '^$' -bench Frames -benchtime 1x ./e2e -filmminutes 20 -filmrounds 5
func BenchmarkFrames(b *testing.B) {
	film := filepath.Join(b.TempDir(), "film.mp4")
	source := fmt.Sprintf("testsrc2=s=1280x720:r=30:d=%d", 60**filmMinutes)
	if out, err := exec.CommandContext(b.Context(), "ffmpeg", "-nostdin", "-v", "error", "-f", "lavfi", "-i", source,
		"-c:v", "libx264", "-preset", "veryfast", "-g", "60", "-pix_fmt", "yuv420p", film).CombinedOutput(); err != nil {
		b.Fatalf("ffmpeg: %v: %s", err, out)
	}
	ffmpeg := func(before, filter string) func(film, folder string) []string {
		return func(film, folder string) []string {
			all := append([]string{"ffmpeg", "-nostdin", "-v", "error", "-threads", "1"}, strings.Fields(before)...)
			return append(all, "-i", film, "-an", "-vsync", "0", "-vf", filter, "-q:v", "3", filepath.Join(folder, "%06d.jpg"))
		}
	}
	readers := []*reader{
		worker("exact", false), command("ffmpeg", ffmpeg("", "fps=1,scale=512:-2")),
		worker("keyframes", true), command("ffmpeg-nokey", ffmpeg("-skip_frame nokey", "scale=512:-2")),
	}
	folder := filepath.Join(testkit.ModuleRoot(b), "e2e", "frames")
	python, err := environmentOf(filepath.Join(folder, "requirements.txt"), "frames")
	if err != nil {
		b.Logf("the Python readers are not measured: %v", err)
	} else {
		for _, name := range []string{"opencv", "pyav", "decord"} {
			readers = append(readers, command(name, func(film, out string) []string {
				return []string{python, filepath.Join(folder, "frames.py"), name, film, out}
			}))
		}
	}
	for b.Loop() {
		for range *filmRounds {
			for _, r := range readers {
				r.turn(b, film)
			}
		}
	}
	base := map[bool]*reader{false: readers[1], true: readers[3]}
	for _, r := range readers {
		peer := base[strings.Contains(r.name, "key")]
		b.Logf("%-14s %7.2f s of processor time, %7.2f s by the clock, %d frames, %.3f x %s, peak %d MB", r.name,
			r.cpu.Seconds()/float64(*filmRounds), r.wall.Seconds()/float64(*filmRounds), r.n, float64(r.cpu)/float64(peer.cpu), peer.name, r.peak>>10)
		b.ReportMetric(float64(r.cpu)/float64(peer.cpu), r.name+"-of-"+peer.name)
	}
}

func (r *reader) turn(b *testing.B, film string) {
	b.Helper()
	folder := b.TempDir()
	before, begun := spent(), time.Now()
	r.n = r.read(b, film, folder)
	r.cpu += spent() - before
	r.wall += time.Since(begun)
	if err := os.RemoveAll(folder); err != nil {
		b.Fatal(err)
	}
}
