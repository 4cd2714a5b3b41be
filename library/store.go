package library

import (
	"cmp"
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

	"github.com/reeltree/reeltree/tree"
)

// Config of a Store.
type Config struct {
	Dir       string        // the data folder, made when absent
	Parallel  int           // tasks that run at once; 0 means 1
	AnswerTTL time.Duration // how long finished answers are kept; 0 means 30 days
	Answers   int           // how many finished answers of a tenant are kept, the newest; 0 means 1000
	// SetAside is told of every task that failed too often, with the reason of
	// its last failure, before the next task is taken; nil means nobody listens.
	SetAside func(ctx context.Context, t tree.Task, reason string)
	Log      *slog.Logger // nil means no log
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

	queue   queue
	frames  frameIndex
	guards  guards
	synced  sync.Map // blob folders whose name is durable
	crashed bool     // the owner before did not end orderly
	damage  bool     // records were lost
	closed  sync.Once
}

// Open takes the folder's lock, starts the embedded server and completes what
// a crash interrupted. It fails with ErrLocked while another process owns it.
func Open(ctx context.Context, cfg Config) (*Store, error) {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	cfg.Parallel = max(1, cfg.Parallel)
	cfg.AnswerTTL = cmp.Or(max(0, cfg.AnswerTTL), defaultAnswerTTL)
	cfg.Answers = cmp.Or(max(0, cfg.Answers), defaultAnswers)
	s := &Store{cfg: cfg, log: cfg.Log.With("room", "library"), queue: newQueue()}
	for _, step := range []func(context.Context) error{s.openFolder, s.openServer, s.openStreams, s.repair, s.recover} {
		if err := step(ctx); err != nil {
			return nil, errors.Join(err, s.Close())
		}
	}
	return s, nil
}

func (s *Store) openFolder(ctx context.Context) error {
	if err := os.MkdirAll(s.cfg.Dir, 0o700); err != nil {
		return fmt.Errorf("the data folder cannot be made: %w", err)
	}
	var err error
	if s.lock, s.crashed, err = takeLock(ctx, s.cfg.Dir); err != nil {
		return err
	}
	if err := checkVersion(s.cfg.Dir); err != nil {
		return err
	}
	for _, sub := range []string{"nats", "blobs", "tmp"} {
		if err := os.MkdirAll(filepath.Join(s.cfg.Dir, sub), 0o700); err != nil {
			return fmt.Errorf("the data folder cannot be made: %w", err)
		}
	}
	s.blobs, err = fileblob.OpenBucket(filepath.Join(s.cfg.Dir, "blobs"), &fileblob.Options{
		NoTempDir: true, Metadata: fileblob.MetadataDontWrite, DirFileMode: 0o700,
	})
	if err != nil {
		return fmt.Errorf("the blobs of the data folder cannot be opened: %w", err)
	}
	return nil
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
			err = errors.Join(err, giveLock(s.lock))
		}
	})
	return err
}
