package ingest

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// Media runs the media worker: one child process per call, which reads one
// already open file and answers over a pipe. A crash, hang or bomb in there
// ends that one call with an error; the caller's process goes on.
type Media struct {
	Command []string      // argv of the child, e.g. the own binary and its hidden subcommand
	Log     *slog.Logger  // nil discards
	Memory  int64         // bytes of resident memory a child may reach; 0 = 256 MB
	Timeout time.Duration // a child's whole life; 0 = 6 h
	Stall   time.Duration // longest time without getting on; 0 = 60 s
}

// defaultMemory is what a child may reach where nobody says so.
const defaultMemory = 256 << 20

// SampleSink takes what Sample finds, in time order. An error stops the child
// and is returned. A nil Shot drops shots.
type SampleSink struct {
	Frame func(MediaFrame) error
	Shot  func(MediaShot) error
}

// Probe reads what the file holds: headers, then every packet once.
func (m Media) Probe(ctx context.Context, file *os.File, req MediaRequest) (MediaFacts, error) {
	req.Mode = mediaProbeMode
	var facts *MediaFacts
	err := m.run(ctx, file, req, func(kind byte, body []byte) error {
		if kind != mediaMsgFacts || facts != nil {
			return fmt.Errorf("%w: kind %q while probing", errMediaGarbage, kind)
		}
		f, err := decodeMediaFacts(body)
		facts = &f
		return err
	})
	if err == nil && facts == nil {
		err = fmt.Errorf("%w: no facts", errMediaGarbage)
	}
	if err != nil {
		return MediaFacts{}, err
	}
	return *facts, nil
}

// Sample hands the frames and shots of the stretch to sink: at each wanted
// time the frame that is on screen then, each frame once.
func (m Media) Sample(ctx context.Context, file *os.File, req MediaRequest, sink SampleSink) error {
	req.Mode = mediaSampleMode
	order := mediaOrder{last: req.FromMS - 1}
	return m.run(ctx, file, req, func(kind byte, body []byte) error {
		switch kind {
		case mediaMsgFrame:
			f, err := decodeMediaFrame(body)
			if err == nil {
				err = order.frame(f)
			}
			if err != nil {
				return err
			}
			return sink.Frame(f)
		case mediaMsgShot:
			s, err := decodeMediaShot(body)
			if err != nil || sink.Shot == nil {
				return err
			}
			return sink.Shot(s)
		}
		return fmt.Errorf("%w: kind %q while sampling", errMediaGarbage, kind)
	})
}

// Sound hands the chosen audio stream to sink, in time order. Where the stream
// has a hole, so have the blocks. An error of sink stops the child and is returned.
func (m Media) Sound(ctx context.Context, file *os.File, req MediaRequest, sink func(SoundBlock) error) error {
	req.Mode = mediaSoundMode
	next := int64(0)
	return m.run(ctx, file, req, func(kind byte, body []byte) error {
		if kind != mediaMsgSound {
			return fmt.Errorf("%w: kind %q while listening", errMediaGarbage, kind)
		}
		b, err := decodeSound(body)
		if err != nil {
			return err
		}
		if b.First < next {
			return fmt.Errorf("%w: sound at sample %d after %d", errMediaGarbage, b.First, next)
		}
		next = b.First + int64(len(b.Samples))
		return sink(b)
	})
}

// mediaOrder holds frames to rising times and a bounded number.
type mediaOrder struct {
	last  int64
	count int
}

func (o *mediaOrder) frame(f MediaFrame) error {
	if o.count++; f.TimeMS <= o.last || o.count > maxMediaFrames {
		return fmt.Errorf("%w: frame %d at %d ms after %d ms", errMediaGarbage, o.count, f.TimeMS, o.last)
	}
	o.last = f.TimeMS
	return nil
}

// run starts a child for req and hands its messages to handle until it is done.
func (m Media) run(ctx context.Context, file *os.File, req MediaRequest, handle func(byte, []byte) error) error {
	ctx, cancel := context.WithTimeoutCause(ctx, cmp.Or(m.Timeout, 6*time.Hour), errMediaTimeout)
	defer cancel()
	child, err := m.start(ctx, file, req)
	if err != nil {
		return err
	}
	usage, err := child.read(cmp.Or(m.Stall, time.Minute), handle)
	state := child.end()
	log := m.Log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	log.DebugContext(ctx, "media worker ended", "mode", req.Mode, "state", state, "peak_kb", usage.PeakKB,
		"cpu_ms", usage.CPUMS, "error", err, "stderr", child.stderr.String())
	return child.explain(ctx, err)
}

var errMediaTimeout = errors.New("time limit of the media worker")

// mediaChild is one running child. end must be called exactly once.
type mediaChild struct {
	cmd    *exec.Cmd
	pipe   *os.File
	stderr boundedBuffer
	limit  int64
	fat    atomic.Bool // killed for its memory
	watch  chan struct{}
	unhook func() bool
}

func (m Media) start(ctx context.Context, file *os.File, req MediaRequest) (*mediaChild, error) {
	body, err := json.Marshal(req)
	if err != nil {
		return nil, fmt.Errorf("start the media worker: %w", err)
	}
	if len(m.Command) == 0 {
		return nil, errors.New("start the media worker: no command is set")
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("start the media worker: %w", err)
	}
	c := &mediaChild{pipe: r, limit: cmp.Or(m.Memory, defaultMemory), watch: make(chan struct{})}
	c.cmd = exec.CommandContext(ctx, m.Command[0], m.Command[1:]...)
	c.cmd.Dir = "/"
	c.cmd.Env = []string{"MALLOC_ARENA_MAX=1", "GOMEMLIMIT=64MiB", "GOMAXPROCS=2"}
	c.cmd.Stdin = bytes.NewReader(body)
	c.cmd.Stderr = &c.stderr
	c.cmd.ExtraFiles = []*os.File{file, w} // descriptors 3 and 4
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.cmd.Cancel = c.kill
	c.cmd.WaitDelay = 2 * time.Second
	err = c.cmd.Start()
	_ = w.Close() // the child has its own
	if err != nil {
		_ = r.Close()
		return nil, fmt.Errorf("start the media worker: %w", err)
	}
	// A stray process may hold the pipe open after the kill: reading must end all the same.
	c.unhook = context.AfterFunc(ctx, func() { _ = r.SetReadDeadline(time.Unix(1, 0)) })
	go c.watchMemory(ctx)
	return c, nil
}

// kill ends the child's whole process group.
func (c *mediaChild) kill() error {
	return syscall.Kill(-c.cmd.Process.Pid, syscall.SIGKILL)
}

// read hands messages on until the child says it is done. The stall clock runs
// only while the parent waits, so a slow sink is not the child's fault.
func (c *mediaChild) read(stall time.Duration, handle func(byte, []byte) error) (mediaUsage, error) {
	var usage mediaUsage
	r := bufio.NewReaderSize(c.pipe, 64<<10)
	beat, deadline := uint64(0), time.Now().Add(stall)
	for {
		if err := c.pipe.SetReadDeadline(deadline); err != nil {
			return usage, err
		}
		kind, body, err := readMediaMessage(r)
		if err != nil {
			return usage, err
		}
		switch kind {
		case mediaMsgBeat:
			if len(body) == 8 && binary.BigEndian.Uint64(body) != beat {
				beat, deadline = binary.BigEndian.Uint64(body), time.Now().Add(stall)
			}
			continue
		case mediaMsgError:
			e := &MediaError{}
			if json.Unmarshal(body, e) != nil || e.Reason == "" {
				return usage, errMediaGarbage
			}
			cleanMediaText(&e.Reason)
			return usage, e
		case mediaMsgDone:
			_ = json.Unmarshal(body, &usage) // figures for the log only
			return usage, nil
		}
		if err := handle(kind, body); err != nil {
			return usage, err
		}
		deadline = time.Now().Add(stall)
	}
}

// end kills what is left of the child, waits for it and says how it went.
func (c *mediaChild) end() string {
	if c.cmd.ProcessState == nil {
		_ = c.kill() // done or not: nothing of it may stay
	}
	close(c.watch)
	c.unhook()
	_ = c.pipe.Close()
	_ = c.cmd.Wait() // the state tells more than the error
	return c.cmd.ProcessState.String()
}

// explain turns the end of a child into the caller's error.
func (c *mediaChild) explain(ctx context.Context, err error) error {
	var refused *MediaError
	switch {
	case err == nil || errors.As(err, &refused):
		return err
	case c.fat.Load() || strings.Contains(c.stderr.String(), "out of memory"): // the watch, or the hard wall
		return refuseMedia("This file needs more than the %d MB of memory a media worker may use; convert it to a smaller picture size or raise the limit.", c.limit>>20)
	case errors.Is(context.Cause(ctx), errMediaTimeout):
		return refuseMedia("Reading this file took longer than the time limit, so it was stopped; raise the limit or hand over a shorter part.")
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return refuseMedia("Reading this file got stuck and was stopped; the file is probably damaged, convert it and try again.")
	case errors.Is(err, io.EOF):
		e := brokenWorker(c.cmd.ProcessState)
		status, ok := c.cmd.ProcessState.Sys().(syscall.WaitStatus)
		e.killed = ok && status.Signaled() && status.Signal() == syscall.SIGKILL
		return e
	case errors.Is(err, errMediaGarbage):
		return brokenWorker(err)
	}
	return err
}
