package server

import (
	"context"
	"encoding/json"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"time"

	"github.com/reeltree/reeltree/generate"
	"github.com/reeltree/reeltree/retrieve"
	"github.com/reeltree/reeltree/tree"
)

// Catalog reads and deletes what the library holds.
type Catalog interface {
	Source(ctx context.Context, tenant, id string) (tree.Source, error)
	Sources(ctx context.Context, tenant string) ([]tree.Source, error)
	DeleteSource(ctx context.Context, tenant, id string) error
	Tree(ctx context.Context, tenant, source string) (*tree.Tree, error)
	Job(ctx context.Context, tenant, id string) (tree.Job, error)
	Jobs(ctx context.Context, tenant string) ([]tree.Job, error)
}

// Bytes reads and stores content.
type Bytes interface {
	Frame(ctx context.Context, tenant, id string) ([]byte, error)
	OpenContent(ctx context.Context, tenant, source string) (*os.File, error)
	PutContent(ctx context.Context, tenant string, r io.Reader, limit int64) (id string, n int64, err error)
	SaveSubtitles(ctx context.Context, tenant, source, name string, data []byte) error
}

// Upload is one wish to ingest: stored content (ID set) or an address (URL set).
type Upload struct {
	Tenant     string
	ID         string // of stored content
	Bytes      int64
	Name       string // file name for people
	URL        string
	Collection string
	Options    tree.IngestOptions
}

// Answer is the durable record of a finished answer.
type Answer struct {
	Stream, Epoch, Request, BodyHash string
	Question, Conversation           string
	Sources                          []string
	Created                          time.Time
	Events                           []json.RawMessage // without stream, epoch and seq, in order from seq 1
}

// Records keeps finished answers.
type Records interface {
	SaveAnswer(ctx context.Context, tenant string, a Answer) error
	Answer(ctx context.Context, tenant, stream string) (Answer, error)
	Answers(ctx context.Context, tenant string) ([]Answer, error)
}

// Players is what players need beside the medium. Files are made when they are
// first wanted: Peaks and Sprites wait for that, Rendition starts it and tells.
type Players interface {
	Rendition(ctx context.Context, tenant, source string) (state, reason string, err error)
	OpenRendition(ctx context.Context, tenant, source string) (*os.File, error)
	Peaks(ctx context.Context, tenant, source string) (*os.File, error)
	Sprites(ctx context.Context, tenant, source string) (*os.File, error)
	Sheet(ctx context.Context, tenant, source, name string) (*os.File, error)
}

// Config of a Server. Functions that are nil answer 404.
type Config struct {
	Answer  func(ctx context.Context, q generate.Question, emit generate.Emit) error
	Search  func(ctx context.Context, q retrieve.Query, onRound func(retrieve.Round) error) (retrieve.Result, error)
	Catalog Catalog
	Bytes   Bytes
	Records Records // nil: finished answers end with their TTL

	Submit func(ctx context.Context, u Upload) (tree.Job, error)
	Act    func(ctx context.Context, tenant, job, action string, maxCalls, maxTokens int) error // cancel, pause, resume, retry
	Delete func(ctx context.Context, tenant, source string) error
	Import func(ctx context.Context, tenant string, r io.Reader) (tree.Source, error)
	Quote  func(ctx context.Context, u Upload) (any, error)                        // of stored content, or of what is at an address
	Export func(t *tree.Tree, format string) (mime string, data []byte, err error) // ErrFormat for unknown formats
	Cut    generate.Cutter                                                         // nil: clips are refused
	Ready  func(ctx context.Context) error

	// FrameAt is the JPEG of what is on screen at a time of a recording, in milliseconds.
	FrameAt func(ctx context.Context, tenant, source string, atMS int64) ([]byte, error)

	Players Players // nil: media are played as they are

	NotFound func(error) bool           // the error means that nothing is stored under the id
	TooLarge func(error) bool           // the error means that content passed the limit
	Refusal  func(error) (string, bool) // the one sentence an error has for people

	Page        fs.FS
	Token       string        // empty: no token is asked for
	LocalToken  string        // always accepted; for commands that read the lock file
	Loopback    bool          // bound to loopback: only loopback host names are served
	Origins     []string      // further origins whose pages may use the service
	UploadLimit int64         // bytes; 0 means none
	AnswerTTL   time.Duration // life of an answer after its end; 0 means 10 minutes
	MaxAnswers  int           // that run at once; 0 means 8
	MaxWaiting  int           // answers that wait; 0 means 1000
	WriteWait   time.Duration // a client that takes nothing for so long is closed with 4008; 0 means 10 s
	HelloWait   time.Duration // 0 means 10 s
	CloseGrace  time.Duration // how long running answers may go on after Close was called; 0 means 2 s
	Version     string
	Now         func() time.Time
	Log         *slog.Logger
}

func (c *Config) fill() {
	c.AnswerTTL = orDuration(c.AnswerTTL, 10*time.Minute)
	c.WriteWait = orDuration(c.WriteWait, 10*time.Second)
	c.HelloWait = orDuration(c.HelloWait, 10*time.Second)
	c.CloseGrace = orDuration(c.CloseGrace, 2*time.Second)
	if c.MaxAnswers <= 0 {
		c.MaxAnswers = 8
	}
	if c.MaxWaiting <= 0 {
		c.MaxWaiting = 1000
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.NotFound == nil {
		c.NotFound = func(error) bool { return false }
	}
	if c.TooLarge == nil {
		c.TooLarge = func(error) bool { return false }
	}
	if c.Refusal == nil {
		c.Refusal = func(error) (string, bool) { return "", false }
	}
}

func orDuration(v, def time.Duration) time.Duration {
	if v > 0 {
		return v
	}
	return def
}
