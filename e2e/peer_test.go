//go:build e2e

package e2e

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/reeltree/reeltree/internal/testkit"
)

// peersRequired makes a peer that cannot be had a failure instead of a skip.
const peersRequired = "REELTREE_E2E_PEERS"

// absent ends a test whose peer cannot be had here.
func absent(t *testing.T, peer string, why error) {
	t.Helper()
	if os.Getenv(peersRequired) == "1" {
		t.Fatalf("%s cannot be had: %v (%s=1 makes this a failure)", peer, why, peersRequired)
	}
	t.Skipf("%s cannot be had, so the product is not tried against it: %v", peer, why)
}

// pythonPeer starts e2e/NAME/serve.py PORT in a virtual environment that holds
// its requirements, and waits until path answers. The environment lies in the
// user's cache, under the hash of the requirements, and is made once.
func pythonPeer(t *testing.T, name, path string) (base string) {
	t.Helper()
	dir := filepath.Join(testkit.ModuleRoot(t), "e2e", name)
	python, err := environmentOf(filepath.Join(dir, "requirements.txt"), name)
	if err != nil {
		absent(t, "the peer "+name, err)
	}
	listen := freePort(t)
	_, port, _ := net.SplitHostPort(listen)
	cmd := exec.Command(python, filepath.Join(dir, "serve.py"), port)
	cmd.Env = append(environment(), "OMP_NUM_THREADS=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	hold, err := cmd.StdinPipe() // its end ends the server
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		absent(t, "the peer "+name, err)
	}
	ended := make(chan struct{})
	go func() { defer close(ended); _ = cmd.Wait() }()
	t.Cleanup(func() { _ = hold.Close(); _ = cmd.Process.Kill(); <-ended })
	base = "http://" + listen
	waitFor(t, "the peer "+name+" to answer", func() bool {
		select {
		case <-ended:
			t.Fatalf("the peer %s ended at once: %s", name, tail(said.String(), 3000))
		default:
		}
		reply, err := http.Get(base + path)
		if err != nil {
			return false
		}
		reply.Body.Close()
		return reply.StatusCode == http.StatusOK
	})
	return base
}

// environmentOf is the Python of the environment that holds the requirements.
func environmentOf(requirements, name string) (python string, err error) {
	pinned, err := os.ReadFile(requirements)
	if err != nil {
		return "", err
	}
	cache, err := os.UserCacheDir() // $XDG_CACHE_HOME, else ~/.cache
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(pinned)
	dir := filepath.Join(cache, "reeltree", name+"-"+hex.EncodeToString(sum[:6]))
	python = filepath.Join(dir, "bin", "python")
	whole := filepath.Join(dir, "complete")
	if _, err := os.Stat(whole); err == nil {
		return python, nil
	}
	if err := os.RemoveAll(dir); err != nil { // what an interrupted run left
		return "", err
	}
	for _, step := range [][]string{
		{"python3", "-m", "venv", dir},
		{python, "-m", "pip", "install", "--quiet", "--no-deps", "--only-binary", ":all:", "--require-hashes", "-r", requirements},
	} {
		if out, err := exec.Command(step[0], step[1:]...).CombinedOutput(); err != nil {
			return "", &stepError{strings.Join(step[:min(4, len(step))], " "), err, tail(string(out), 500)}
		}
	}
	return python, os.WriteFile(whole, nil, 0o600)
}

// stepError says which command of an installation failed and what it said.
type stepError struct {
	step  string
	cause error
	said  string
}

func (e *stepError) Error() string {
	return e.step + ": " + e.cause.Error() + ": " + strings.Join(strings.Fields(e.said), " ")
}

// exchange is one request as it went to a peer and what came back.
type exchange struct {
	Path, Body  string
	ContentType string
	Status      int
	Reply       string
	Closed      bool // the client went away first
	Ended       time.Time
}

// wiretap stands between the product and a peer and keeps what passes.
type wiretap struct {
	URL string
	mu  sync.Mutex
	all []exchange
}

func newWiretap(t *testing.T, peer string) *wiretap {
	t.Helper()
	at, err := url.Parse(peer)
	if err != nil {
		t.Fatal(err)
	}
	w := &wiretap{}
	pass := httputil.NewSingleHostReverseProxy(at)
	pass.FlushInterval = -1
	pass.ErrorHandler = func(http.ResponseWriter, *http.Request, error) {} // the client went away
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		copied := &copyWriter{ResponseWriter: rw}
		x := exchange{Path: r.URL.Path, Body: string(body), ContentType: r.Header.Get("Content-Type")}
		defer func() { // also when the proxy aborts over a client that went away
			x.Status, x.Reply, x.Closed, x.Ended = copied.status, copied.body.String(), r.Context().Err() != nil, time.Now()
			w.mu.Lock()
			w.all = append(w.all, x)
			w.mu.Unlock()
		}()
		pass.ServeHTTP(copied, r)
	}))
	t.Cleanup(server.Close)
	w.URL = server.URL
	return w
}

func (w *wiretap) passed() []exchange {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]exchange(nil), w.all...)
}

// copyWriter keeps what it writes.
type copyWriter struct {
	http.ResponseWriter
	status int
	body   bytes.Buffer
}

func (c *copyWriter) WriteHeader(status int) {
	c.status = status
	c.ResponseWriter.WriteHeader(status)
}

func (c *copyWriter) Write(b []byte) (int, error) {
	c.body.Write(b)
	return c.ResponseWriter.Write(b)
}

// Unwrap lets the proxy flush.
func (c *copyWriter) Unwrap() http.ResponseWriter { return c.ResponseWriter }

// freePort is an address on loopback that nobody listens on.
func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}
