package ingest

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strconv"
	"time"
)

// watchMemory kills the child once its peak resident memory passes the limit.
// The limit on the child's data segment is the hard wall; this one is tighter
// and leads to a sentence that says so.
func (c *mediaChild) watchMemory(ctx context.Context) {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	path := fmt.Sprintf("/proc/%d/status", c.cmd.Process.Pid)
	for {
		select {
		case <-c.watch:
			return
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		status, err := os.ReadFile(path)
		if err != nil {
			return // it is gone, or the system has no /proc: the hard wall remains
		}
		if kb := peakKB(status); kb > c.limit>>10 {
			c.fat.Store(true)
			_ = c.kill()
			return
		}
	}
}

// peakKB is VmHWM of a /proc/PID/status text in KB, 0 when it is not there.
func peakKB(status []byte) int64 {
	_, rest, ok := bytes.Cut(status, []byte("VmHWM:"))
	if !ok {
		return 0
	}
	fields := bytes.Fields(rest)
	if len(fields) == 0 {
		return 0
	}
	kb, err := strconv.ParseInt(string(fields[0]), 10, 64)
	if err != nil {
		return 0
	}
	return kb
}

// boundedBuffer keeps the first bytes written to it and drops the rest. It is
// written by one goroutine and read after that ended.
type boundedBuffer struct{ buf []byte }

const maxMediaStderr = 16 << 10

// Write keeps what fits and never fails.
func (b *boundedBuffer) Write(p []byte) (int, error) {
	room := maxMediaStderr - len(b.buf)
	b.buf = append(b.buf, p[:min(room, len(p))]...)
	return len(p), nil
}

// String is what was kept.
func (b *boundedBuffer) String() string { return string(b.buf) }
