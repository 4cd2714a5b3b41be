//go:build e2e

package e2e

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/reeltree/reeltree/internal/testkit"
)

var binary string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "reeltree-e2e")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	binary = filepath.Join(dir, "reeltree")
	build := exec.Command("go", "build", "-o", binary, "..")
	build.Stderr = os.Stderr
	code := 1
	if err := build.Run(); err == nil {
		code = m.Run()
	}
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// run runs one command to its end and returns its output and exit code.
func run(t testing.TB, args ...string) (stdout string, code int) {
	t.Helper()
	return runIn(t, 5*time.Minute, binary, args...)
}

func runIn(t testing.TB, limit time.Duration, name string, args ...string) (stdout string, code int) {
	t.Helper()
	stdout, _, code = runWith(t, limit, nil, name, args...)
	return stdout, code
}

// runWith runs a command with further environment variables.
func runWith(t testing.TB, limit time.Duration, env []string, name string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = append(environment(), env...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("%s %s: %v", name, strings.Join(args, " "), err)
	}
	if errs.Len() > 0 {
		t.Logf("%s: %s", strings.Join(args, " "), tail(errs.String(), 2000))
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// environment is the test's own without settings of the person who runs it.
func environment() []string {
	var env []string
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "REELTREE_") && !strings.HasPrefix(v, "OPENAI_") {
			env = append(env, v)
		}
	}
	return env
}

func tail(s string, n int) string {
	if len(s) > n {
		return "…" + s[len(s)-n:]
	}
	return s
}

// ingested is one line of `ingest --json`.
type ingested struct {
	Source, Title, State, Error string
	Warnings                    []string
	DurationMS                  int64 `json:"duration_ms"`
	Nodes                       struct{ L1, L2, L3 int }
	Calls                       int
}

// event is one line of `ask --json`: the fields of PROTOCOL these tests look at.
type event struct {
	Type    string
	Stream  string
	N       int
	Quote   string
	Nearest bool
	Frame   string
	Source  struct{ ID string }
	Span    struct {
		StartMS int64 `json:"start_ms"`
		EndMS   int64 `json:"end_ms"`
	}
	Text       string
	At         int
	Finish     string
	TextSHA256 string                            `json:"text_sha256"`
	Coverage   float64                           `json:"coverage"`
	TimingMS   struct{ Retrieve, Total float64 } `json:"timing_ms"`
}

func lines[T any](t testing.TB, out string) []T {
	t.Helper()
	var all []T
	for line := range strings.Lines(out) {
		var v T
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			t.Fatalf("not a JSON line: %q: %v", line, err)
		}
		all = append(all, v)
	}
	return all
}

// ingestOne ingests one file in process and returns its line.
func ingestOne(t testing.TB, data string, args ...string) ingested {
	t.Helper()
	out, code := run(t, append([]string{"ingest", "--data", data, "--json"}, args...)...)
	all := lines[ingested](t, out)
	if code != 0 || len(all) != 1 {
		t.Fatalf("ingest %v: exit %d, %s", args, code, out)
	}
	return all[0]
}

// ask asks in process and returns the events.
func ask(t *testing.T, data, question string, args ...string) []event {
	t.Helper()
	out, code := run(t, append(append([]string{"ask", "--data", data, "--json"}, args...), "--", question)...)
	if code != 0 {
		t.Fatalf("ask %q: exit %d, %s", question, code, out)
	}
	return lines[event](t, out)
}

// cited are the spans of the evidence that citations name, in order of n.
func cited(events []event) []event {
	named := map[int]bool{}
	for _, e := range events {
		if e.Type == "citation" {
			named[e.N] = true
		}
	}
	var found []event
	for _, e := range events {
		if e.Type == "evidence" && named[e.N] {
			found = append(found, e)
		}
	}
	return found
}

// service is a running `reeltree serve`.
type service struct {
	cmd  *exec.Cmd
	addr string
	logs *bytes.Buffer
	done chan struct{}
}

// serve starts the service on a free port and waits until it says where it listens.
func serve(t testing.TB, data string, args ...string) *service {
	t.Helper()
	return serveWith(t, nil, data, args...)
}

// serveWith starts the service with further environment variables.
func serveWith(t testing.TB, env []string, data string, args ...string) *service {
	t.Helper()
	cmd := exec.Command(binary, append([]string{"serve", "--data", data, "--listen", "127.0.0.1:0"}, args...)...)
	cmd.Env = append(environment(), env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s := &service{cmd: cmd, logs: &bytes.Buffer{}, done: make(chan struct{})}
	addr := make(chan string, 1)
	go s.read(stderr, addr)
	t.Cleanup(func() { s.kill() })
	select {
	case s.addr = <-addr:
	case <-s.done:
		t.Fatalf("serve ended at once: %s", s.logs)
	case <-time.After(30 * time.Second):
		t.Fatal("serve did not say where it listens within 30 s")
	}
	return s
}

// read keeps the log and finds the line that names the page's address.
func (s *service) read(r io.Reader, addr chan<- string) {
	defer close(s.done)
	in := bufio.NewScanner(r)
	for in.Scan() {
		line := in.Text()
		fmt.Fprintln(s.logs, line)
		if i := strings.Index(line, "http://"); i >= 0 && strings.Contains(line, "listening") {
			select {
			case addr <- strings.TrimRight(strings.Fields(line[i:])[0], "/\""):
			default:
			}
		}
	}
}

// kill ends the service the hard way and waits for it.
func (s *service) kill() {
	_ = s.cmd.Process.Kill()
	<-s.done
	_ = s.cmd.Wait()
}

func demo(t testing.TB) string {
	t.Helper()
	return filepath.Join(testkit.ModuleRoot(t), "demo", "talk.mp4")
}
