package library

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

const (
	serverWait = 20 * time.Second // a large store is read at the start
	maxRecord  = 8 << 20          // bytes of one record: the longest answer with all its events
	maxMemory  = 64 << 20         // of memory streams; there are none today
	maxStore   = 1 << 40          // a bound only, nothing is reserved
)

// openServer starts JetStream inside the process: no port, no signal handlers,
// every write synced before it is acknowledged.
func (s *Store) openServer(context.Context) error {
	srv, err := server.NewServer(&server.Options{
		ServerName: "reeltree", DontListen: true, NoSigs: true, NoSystemAccount: true,
		JetStream: true, StoreDir: filepath.Join(s.cfg.Dir, "nats"), SyncAlways: true,
		JetStreamMaxMemory: maxMemory, JetStreamMaxStore: maxStore, MaxPayload: maxRecord,
	})
	if err != nil {
		return fmt.Errorf("the state store cannot be opened: %w", err)
	}
	srv.SetLogger(natsLog{s.log}, false, false)
	srv.Start()
	s.server = srv
	if !srv.ReadyForConnections(serverWait) {
		return fmt.Errorf("the state store did not get ready within %s: see the log for its reason", serverWait)
	}
	if !srv.JetStreamEnabled() {
		return errors.New("the state store cannot be read: see the log for its reason, or restore a backup")
	}
	s.conn, err = nats.Connect("", nats.InProcessServer(srv), nats.Name("reeltree"),
		nats.MaxReconnects(-1), nats.ReconnectWait(50*time.Millisecond),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
			s.log.Warn("the state store reports an error", "error", err)
		}))
	if err != nil {
		return fmt.Errorf("the state store cannot be reached: %w", err)
	}
	s.js, err = jetstream.New(s.conn)
	return err
}

// natsLog routes the embedded server's log lines; its notices are our debug.
type natsLog struct{ log *slog.Logger }

var _ server.Logger = natsLog{}

// Noticef tells of an orderly step.
func (l natsLog) Noticef(format string, v ...any) { l.log.Debug(fmt.Sprintf(format, v...)) }

// mended are the words of warnings about what the server makes anew by itself
// and loses nothing by, mostly after a stop without notice: its own summaries of
// the records, and readers that nobody reads with any more. Whether a record is
// lost is found out and told by repair.
var mended = []string{"Stream state", "state from index errored", "state is outdated", "Missing consumer ", "Temporary storage directory"}

// Warnf tells of damage that was found, among others.
func (l natsLog) Warnf(format string, v ...any) {
	text := strings.TrimSpace(fmt.Sprintf(format, v...))
	level := slog.LevelWarn
	if slices.ContainsFunc(mended, func(words string) bool { return strings.Contains(text, words) }) {
		level = slog.LevelDebug
	}
	l.log.Log(context.Background(), level, text)
}

// Errorf tells what the server could not do.
func (l natsLog) Errorf(format string, v ...any) { l.log.Error(fmt.Sprintf(format, v...)) }

// Fatalf tells why the server did not start; Open then fails.
func (l natsLog) Fatalf(format string, v ...any) { l.log.Error(fmt.Sprintf(format, v...)) }

// Debugf is off.
func (l natsLog) Debugf(string, ...any) {}

// Tracef is off.
func (l natsLog) Tracef(string, ...any) {}
