package ingest

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync/atomic"
	"syscall"
	"time"
)

// MediaWorkerMain is the whole life of the media worker child: one request from
// stdin, the file on descriptor 3, messages to pipe. It locks itself in before
// it looks at the file. The result is the exit code; a refused file is 0.
func MediaWorkerMain(ctx context.Context, stdin io.Reader, pipe io.Writer) int {
	if err := mediaWork(ctx, stdin, &mediaWriter{w: pipe}); err != nil {
		fmt.Fprintln(os.Stderr, "media worker:", err)
		return 1
	}
	return 0
}

// mediaJob is one request under work in the child.
type mediaJob struct {
	req  MediaRequest
	file *os.File
	size int64
	out  *mediaWriter
	beat *atomic.Uint64 // rises while the work gets on
}

func mediaWork(ctx context.Context, stdin io.Reader, out *mediaWriter) error {
	var req MediaRequest
	if err := json.NewDecoder(io.LimitReader(stdin, 64<<10)).Decode(&req); err != nil {
		return fmt.Errorf("read the request: %w", err)
	}
	if err := defaultRequest(&req); err != nil {
		return err
	}
	status, err := os.Open("/proc/self/status") // opened while files may be
	if err != nil {
		return err
	}
	if err := confineMedia(req.Mode); err != nil {
		return fmt.Errorf("lock the worker in: %w", err)
	}
	file := os.NewFile(3, "media")
	info, err := file.Stat()
	if err != nil {
		return fmt.Errorf("descriptor 3: %w", err)
	}
	job := &mediaJob{req: req, file: file, size: info.Size(), out: out, beat: new(atomic.Uint64)}
	stop := job.heartbeat(ctx)
	err = job.serve(ctx)
	stop()
	if refused, ok := errors.AsType[*MediaError](err); ok {
		return out.sendJSON(mediaMsgError, refused)
	}
	if err != nil {
		return err
	}
	return out.sendJSON(mediaMsgDone, usageOf(status))
}

func (j *mediaJob) serve(ctx context.Context) error {
	if j.req.Mode == mediaDocumentMode {
		return j.document(ctx)
	}
	if err := sniffMedia(j.file, j.size, j.req.MaxPixels); err != nil {
		return err
	}
	return j.native(ctx)
}

// heartbeat tells the parent twice a second that the child lives and whether it
// gets on. When the parent is gone the write fails and the child ends itself.
func (j *mediaJob) heartbeat(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(500 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			body := binary.BigEndian.AppendUint64(nil, j.beat.Load())
			if j.out.send(mediaMsgBeat, body) != nil {
				os.Exit(1) //nolint:forbidigo // the parent is gone and native code cannot be told otherwise
			}
		}
	}()
	return func() { cancel(); <-done }
}

// defaultRequest fills in zero values and refuses senseless ones.
func defaultRequest(r *MediaRequest) error {
	if r.FPS == 0 {
		r.FPS = 1
	}
	if r.LongSide == 0 {
		r.LongSide = 512
	}
	if r.Quality == 0 {
		r.Quality = 3
	}
	if r.MaxPixels == 0 {
		r.MaxPixels = 40_000_000
	}
	switch {
	case !slices.Contains(mediaModes, r.Mode) || (r.Mode == mediaClipMode) != validSpans(r.Spans),
		!(r.FPS > 0 && r.FPS <= 1000),
		r.LongSide < 1 || r.LongSide > 8192,
		r.Quality < 1 || r.Quality > 31,
		r.MaxPixels < 1,
		r.FromMS < 0 || r.ToMS < 0 || r.ToMS > 0 && r.ToMS <= r.FromMS:
		return fmt.Errorf("bad request: %+v", *r)
	}
	return nil
}

func usageOf(status *os.File) mediaUsage {
	buf := make([]byte, 8192)
	n, _ := status.ReadAt(buf, 0) // figures for the log only
	u := mediaUsage{PeakKB: peakKB(buf[:n])}
	var r syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &r) == nil {
		u.CPUMS = (r.Utime.Nano() + r.Stime.Nano()) / 1e6
	}
	return u
}
