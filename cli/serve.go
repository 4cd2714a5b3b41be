package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/reeltree/reeltree/server"
)

type serveCmd struct{}

// Run serves until ctx ends.
func (serveCmd) Run(ctx context.Context, s *Settings, p Process) (err error) {
	log := s.logger(p)
	if err := server.ValidateListen(s.Listen.V, string(s.Token)); err != nil {
		return fmt.Errorf("%w: %w", errUsage, err)
	}
	a, err := newApp(ctx, s, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	listener, err := net.Listen("tcp", s.Listen.V)
	if err != nil {
		return fmt.Errorf("the service cannot listen on %s: choose another address with --listen: %w", s.Listen.V, err)
	}
	addr := "http://" + listener.Addr().String()
	if err := a.store.SetAddr(addr, a.localToken); err != nil {
		return errors.Join(err, listener.Close())
	}
	web := &http.Server{
		Handler: a.server, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10,
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
	a.start(ctx, false)
	log.Info("listening", "page", addr+"/", "data", s.Data)
	served := make(chan error, 1)
	go func() { served <- web.Serve(listener) }()
	select {
	case err := <-served:
		return fmt.Errorf("the service has stopped: %w", err)
	case <-ctx.Done():
	}
	return shutdown(ctx, a, web, served)
}

// shutdown lets sockets say goodbye first, then ends what is left.
func shutdown(ctx context.Context, a *app, web *http.Server, served <-chan error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeWait)
	defer cancel()
	err := a.server.Close(ctx)
	if stopErr := web.Shutdown(ctx); stopErr != nil {
		err = errors.Join(err, web.Close())
	}
	if serveErr := <-served; !errors.Is(serveErr, http.ErrServerClosed) {
		err = errors.Join(err, serveErr)
	}
	return err
}
