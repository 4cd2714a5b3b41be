package ingest

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// badWorker is a child that misbehaves in the named way.
func badWorker(how string, pipe io.Writer) int {
	out := &mediaWriter{w: pipe}
	switch how {
	case "exit":
		return 3
	case "segv":
		_ = syscall.Kill(os.Getpid(), syscall.SIGSEGV)
		select {}
	case "garbage":
		_, _ = io.WriteString(pipe, "P\xFF\xFF\xFF\xFFnonsense")
		hang(out)
	case "cut":
		_, _ = pipe.Write([]byte{mediaMsgFacts, 0, 0, 1, 0, '{'})
	case "badtimes":
		_ = out.frame(MediaFrame{TimeMS: 5000, Width: 2, Height: 2, JPEG: tinyJPEG})
		_ = out.frame(MediaFrame{TimeMS: 4000, Width: 2, Height: 2, JPEG: tinyJPEG})
	case "nothing":
		_ = out.send(mediaMsgDone, []byte("{}"))
	case "hang":
		hang(out)
	case "family": // a grandchild keeps the pipe open
		cmd := exec.Command(os.Args[0], "bad-worker", "hang")
		cmd.ExtraFiles = []*os.File{os.NewFile(3, "media"), pipe.(*os.File)}
		if err := cmd.Start(); err != nil {
			return 4
		}
		_ = out.shot(MediaShot{TimeMS: int64(cmd.Process.Pid), Score: 1}) // tells the test its pid
		select {}
	case "eat":
		eat()
		hang(out)
	case "locked": // not bad at all: says what it can still reach
		if confineMedia(mediaSampleMode) != nil {
			return 5
		}
		reached := 0
		if f, err := os.Open(os.Args[0]); err == nil {
			_ = f.Close()
			reached |= 1
		}
		if l, err := net.Listen("tcp", "127.0.0.1:0"); err == nil {
			_ = l.Close()
			reached |= 2
		}
		if f, err := os.CreateTemp("", "x"); err == nil {
			if _, err := f.WriteString("x"); err == nil {
				reached |= 4
			}
			_ = os.Remove(f.Name())
		}
		_ = out.shot(MediaShot{TimeMS: int64(reached), Score: 1})
		_ = out.send(mediaMsgDone, []byte("{}"))
	case "chatty":
		line := strings.Repeat("x", 1000) // made once: the race detector keeps garbage for long
		for range 100_000 {
			_, _ = io.WriteString(os.Stderr, line)
		}
	}
	return 0
}

var tinyJPEG = []byte{0xFF, 0xD8, 0xFF, 0xD9}

// hang lives on, beats, and never gets on.
func hang(out *mediaWriter) {
	tick := time.NewTicker(10 * time.Millisecond)
	for range tick.C {
		if out.send(mediaMsgBeat, make([]byte, 8)) != nil {
			os.Exit(1)
		}
	}
}

func eat() {
	var all [][]byte
	for range 1000 {
		b := make([]byte, 1<<20)
		for i := 0; i < len(b); i += 4096 {
			b[i] = 1
		}
		all = append(all, b)
		runtime.Gosched()
	}
	runtime.KeepAlive(all)
}

func badMedia(t *testing.T, how string) (Media, *os.File) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x")
	if err := os.WriteFile(path, []byte("anything"), 0o600); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return Media{Command: []string{self, "bad-worker", how}}, openMedia(t, path)
}

func openMedia(t testing.TB, path string) *os.File {
	t.Helper()
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		t.Skipf("not in this copy of the material: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

func TestMediaBadWorkers(t *testing.T) {
	for how, want := range map[string]string{
		"exit":     "broke on this file",
		"segv":     "broke on this file",
		"garbage":  "something unreadable",
		"cut":      "something unreadable",
		"badtimes": "something unreadable",
		"nothing":  "",
		"hang":     "got stuck",
		"eat":      "more than the 160 MB",
		"chatty":   "broke on this file",
	} {
		t.Run(how, func(t *testing.T) {
			m, file := badMedia(t, how)
			m.Memory, m.Stall = 160<<20, 10*time.Second
			if how == "hang" {
				m.Stall = time.Second
			}
			err := m.Sample(t.Context(), file, MediaRequest{}, SampleSink{Frame: func(MediaFrame) error { return nil }})
			var refused *MediaError
			if want == "" && err == nil {
				return
			}
			if !errors.As(err, &refused) || !strings.Contains(refused.Reason, want) {
				t.Fatalf("error = %v, want a MediaError with %q", err, want)
			}
		})
	}
}

func TestMediaWorkerIsLockedIn(t *testing.T) {
	lsm, err := os.ReadFile("/sys/kernel/security/lsm")
	if err == nil && !strings.Contains(string(lsm), "landlock") {
		t.Skip("this kernel has no Landlock")
	}
	m, file := badMedia(t, "locked")
	reached := int64(-1)
	err = m.Sample(t.Context(), file, MediaRequest{}, SampleSink{Shot: func(s MediaShot) error { reached = s.TimeMS; return nil }})
	if err != nil || reached != 0 {
		t.Errorf("reached = %b (1 files, 2 sockets, 4 writing), error = %v", reached, err)
	}
}

func TestMediaProbeWantsFacts(t *testing.T) {
	m, file := badMedia(t, "nothing")
	if _, err := m.Probe(t.Context(), file, MediaRequest{}); !errors.Is(err, errMediaGarbage) {
		if _, ok := errors.AsType[*MediaError](err); !ok {
			t.Fatalf("error = %v, want one about missing facts", err)
		}
	}
}

func TestMediaCancelKillsTheWholeGroup(t *testing.T) {
	m, file := badMedia(t, "family")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	pids, ended := make(chan int, 1), make(chan error, 1)
	go func() {
		ended <- m.Sample(ctx, file, MediaRequest{}, SampleSink{Shot: func(s MediaShot) error { pids <- int(s.TimeMS); return nil }})
	}()
	var grandchild int
	select {
	case grandchild = <-pids:
	case err := <-ended:
		t.Fatalf("ended too early: %v", err)
	}
	start := time.Now()
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("error = %v, want context.Canceled", err)
	}
	if d := time.Since(start); d > time.Second {
		t.Errorf("cancel took %v", d)
	}
	waitGone(t, grandchild)
}

// waitGone waits until a process has ended; a zombie of a foreign parent counts.
func waitGone(t *testing.T, pid int) {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Second); time.Now().Before(deadline); runtime.Gosched() {
		stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		if err != nil || strings.Contains(string(stat), ") Z ") {
			return
		}
	}
	t.Errorf("process %d still lives", pid)
}

func TestMediaTimeout(t *testing.T) {
	m, file := badMedia(t, "hang")
	m.Timeout = 100 * time.Millisecond
	_, err := m.Probe(t.Context(), file, MediaRequest{})
	var refused *MediaError
	if !errors.As(err, &refused) || !strings.Contains(refused.Reason, "time limit") {
		t.Errorf("error = %v, want the time limit", err)
	}
}

func TestMediaSinkErrorStops(t *testing.T) {
	m, file := badMedia(t, "badtimes")
	stop := errors.New("enough")
	err := m.Sample(t.Context(), file, MediaRequest{}, SampleSink{Frame: func(MediaFrame) error { return stop }})
	if !errors.Is(err, stop) {
		t.Errorf("error = %v, want the sink's", err)
	}
}

func TestMediaSlowSinkIsNoStall(t *testing.T) {
	m, file := badMedia(t, "badtimes")
	m.Stall = 3 * time.Second // a busy machine starts the child slowly
	calls := 0
	err := m.Sample(t.Context(), file, MediaRequest{}, SampleSink{Frame: func(MediaFrame) error {
		calls++
		<-time.After(4 * time.Second)
		return nil
	}})
	if calls != 1 || err == nil || strings.Contains(err.Error(), "stuck") {
		t.Errorf("calls = %d, error = %v", calls, err)
	}
}

func TestMediaStartErrors(t *testing.T) {
	_, file := badMedia(t, "exit")
	for _, command := range [][]string{nil, {"/does/not/exist"}} {
		_, err := Media{Command: command}.Probe(t.Context(), file, MediaRequest{})
		var refused *MediaError
		if err == nil || errors.As(err, &refused) {
			t.Errorf("command %q: error = %v, want a plain one, it is not the file's fault", command, err)
		}
	}
}

func TestMediaLeavesNoDescriptors(t *testing.T) {
	m, file := badMedia(t, "exit")
	count := func() int {
		d, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Skip("no /proc here")
		}
		return len(d)
	}
	_, _ = m.Probe(t.Context(), file, MediaRequest{})
	before := count()
	for range 10 {
		_, _ = m.Probe(t.Context(), file, MediaRequest{})
	}
	if after := count(); after > before {
		t.Errorf("%d descriptors before, %d after ten children", before, after)
	}
}
