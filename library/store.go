package library

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"gocloud.dev/blob"
	"gocloud.dev/blob/fileblob"
)

// Config of a Store.
type Config struct {
	Dir       string        // the data folder, made when absent
	Parallel  int           // tasks that run at once; 0 means 1
	AnswerTTL time.Duration // how long finished answers are kept; 0 means 30 days
	Log       *slog.Logger  // nil means no log
}

// Store is an open data folder. All methods are safe for concurrent use.
type Store struct {
	cfg    Config
	log    *slog.Logger
	lock   *os.File
	server *server.Server
	conn   *nats.Conn
	js     jetstream.JetStream
	blobs  *blob.Bucket

	sources, jobs, answers jetstream.KeyValue
	work, dead             jetstream.Stream
	consumer               jetstream.Consumer

	frames frameIndex
	closed sync.Once
}

// Open takes the folder's lock, starts the embedded server and completes what
// a crash interrupted. It fails with ErrLocked while another process owns it.
func Open(ctx context.Context, cfg Config) (*Store, error) {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	cfg.Parallel = max(1, cfg.Parallel)
	s := &Store{cfg: cfg, log: cfg.Log.With("room", "library")}
	for _, step := range []func(context.Context) error{s.openFolder, s.openServer, s.openStreams, s.recover} {
		if err := step(ctx); err != nil {
			return nil, errors.Join(err, s.Close())
		}
	}
	return s, nil
}

func (s *Store) openFolder(context.Context) error {
	for _, sub := range []string{"", "nats", "blobs", "tmp"} {
		if err := os.MkdirAll(filepath.Join(s.cfg.Dir, sub), 0o700); err != nil {
			return fmt.Errorf("the data folder cannot be made: %w", err)
		}
	}
	lock, err := takeLock(s.cfg.Dir)
	if err != nil {
		return err
	}
	s.lock = lock
	s.blobs, err = fileblob.OpenBucket(filepath.Join(s.cfg.Dir, "blobs"), &fileblob.Options{
		NoTempDir: true, Metadata: fileblob.MetadataDontWrite, DirFileMode: 0o700,
	})
	if err != nil {
		return fmt.Errorf("the blobs of the data folder cannot be opened: %w", err)
	}
	return nil
}

func (s *Store) openServer(context.Context) error {
	opts := &server.Options{
		ServerName: "reeltree", DontListen: true, JetStream: true, StoreDir: filepath.Join(s.cfg.Dir, "nats"),
		SyncAlways: true, NoSigs: true, NoSystemAccount: true,
		JetStreamMaxMemory: 64 << 20, JetStreamMaxStore: 1 << 40,
	}
	srv, err := server.NewServer(opts)
	if err != nil {
		return fmt.Errorf("the state store cannot be opened: %w", err)
	}
	srv.SetLogger(natsLog{s.log}, false, false)
	srv.Start()
	s.server = srv
	if !srv.ReadyForConnections(20 * time.Second) {
		return errors.New("the state store did not get ready within 20 s: see the log for its reason")
	}
	s.conn, err = nats.Connect("", nats.InProcessServer(srv), nats.Name("reeltree"))
	if err != nil {
		return fmt.Errorf("the state store cannot be reached: %w", err)
	}
	s.js, err = jetstream.New(s.conn)
	return err
}

// Close waits for the embedded server and gives the lock back.
func (s *Store) Close() error {
	var err error
	s.closed.Do(func() {
		if s.conn != nil {
			s.conn.Close()
		}
		if s.server != nil {
			s.server.Shutdown()
			s.server.WaitForShutdown()
		}
		if s.blobs != nil {
			err = s.blobs.Close()
		}
		if s.lock != nil {
			err = errors.Join(err, s.lock.Close())
		}
	})
	return err
}

// natsLog routes the embedded server's log lines; its notices are our debug.
type natsLog struct{ log *slog.Logger }

func (l natsLog) Noticef(format string, v ...any) { l.log.Debug(fmt.Sprintf(format, v...)) }
func (l natsLog) Warnf(format string, v ...any)   { l.log.Debug(fmt.Sprintf(format, v...)) }
func (l natsLog) Fatalf(format string, v ...any)  { l.log.Error(fmt.Sprintf(format, v...)) }
func (l natsLog) Errorf(format string, v ...any)  { l.log.Error(fmt.Sprintf(format, v...)) }
func (l natsLog) Debugf(string, ...any)           {}
func (l natsLog) Tracef(string, ...any)           {}

var _ server.Logger = natsLog{}
