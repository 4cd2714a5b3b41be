package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"sync"

	"github.com/reeltree/reeltree/client"
	"github.com/reeltree/reeltree/library"
)

// connect gives a client of the service the settings mean: --server, else the
// service that runs on the data folder, else one made in this process, which
// needs no network at all. done stops what was started.
func connect(ctx context.Context, s *Settings, log *slog.Logger) (c *client.Client, done func() error, err error) {
	if s.Server != "" {
		c = client.New(client.Config{URL: s.Server, Token: string(s.Token)})
		return c, func() error { c.Close(); return nil }, nil
	}
	if l, held, err := library.ReadLock(s.Data); err == nil && held && l.Addr != "" {
		c = client.New(client.Config{URL: l.Addr, Token: l.Token})
		return c, func() error { c.Close(); return nil }, nil
	}
	return inProcess(ctx, s, log)
}

// inProcess runs the whole service behind a listener in memory.
func inProcess(ctx context.Context, s *Settings, log *slog.Logger) (*client.Client, func() error, error) {
	a, err := newApp(ctx, s, log)
	if err != nil {
		return nil, nil, err
	}
	memory := newMemoryListener()
	web := &http.Server{Handler: a.server, ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug)}
	served := make(chan struct{})
	go func() {
		defer close(served)
		if err := web.Serve(memory); !errors.Is(err, http.ErrServerClosed) {
			log.Error("the service in this process has stopped", "error", err)
		}
	}()
	a.reindex(ctx) // a single command asks once: everything must be searchable first
	soon, enough := context.WithTimeout(ctx, renewWait)
	a.renew(soon)
	enough()
	a.start(ctx, true)
	c := client.New(client.Config{URL: "http://127.0.0.1", Token: a.localToken, Dial: memory.dial})
	return c, func() error {
		c.Close()
		err := errors.Join(a.Close(), web.Close())
		<-served
		return err
	}, nil
}

// memoryListener hands out pipes instead of sockets.
type memoryListener struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func newMemoryListener() *memoryListener {
	return &memoryListener{conns: make(chan net.Conn), closed: make(chan struct{})}
}

func (l *memoryListener) dial(ctx context.Context) (net.Conn, error) {
	near, far := net.Pipe()
	select {
	case l.conns <- far:
		return near, nil
	case <-l.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Accept implements net.Listener.
func (l *memoryListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (l *memoryListener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

// Addr implements net.Listener.
func (l *memoryListener) Addr() net.Addr { return memoryAddr{} }

type memoryAddr struct{}

// Network implements net.Addr.
func (memoryAddr) Network() string { return "memory" }

// String implements net.Addr.
func (memoryAddr) String() string { return "127.0.0.1" }

// withClient connects, runs one piece of work and stops what was started.
func withClient(ctx context.Context, s *Settings, p Process, work func(*client.Client) error) error {
	log := s.logger(p)
	if s.Log.V == slog.LevelInfo { // a command that is not a service stays quiet
		log = slog.New(slog.NewTextHandler(p.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	}
	c, done, err := connect(ctx, s, log)
	if err != nil {
		return err
	}
	err = work(c)
	if stopErr := done(); err == nil && stopErr != nil {
		err = fmt.Errorf("the work is done but the service in this process did not stop cleanly: %w", stopErr)
	}
	return err
}

func say(w io.Writer, format string, args ...any) { _, _ = fmt.Fprintf(w, format, args...) }
