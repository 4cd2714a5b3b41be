package ingest

import (
	"context"
	"os"

	"github.com/reeltree/reeltree/tree"
)

// Catalog keeps the records of sources and jobs. The update functions are
// atomic read-change-write; change sees a zero record when there is none and
// may be called again when another writer was faster. An error of change stops
// the update and is returned.
type Catalog interface {
	Source(ctx context.Context, tenant, id string) (tree.Source, error)
	UpdateSource(ctx context.Context, tenant, id string, change func(*tree.Source) error) (tree.Source, error)
	Job(ctx context.Context, tenant, id string) (tree.Job, error)
	UpdateJob(ctx context.Context, tenant, id string, change func(*tree.Job) error) (tree.Job, error)
}

// Queue is the durable work queue. Enqueueing the same task twice while it
// waits is one task.
type Queue interface {
	Enqueue(ctx context.Context, tasks ...tree.Task) error
	// Work calls do for task after task until ctx ends, signals progress while
	// do runs, acknowledges on nil and delivers again on an error.
	Work(ctx context.Context, do func(ctx context.Context, t tree.Task) error) error
}

// Results keeps what the build made. Clip returns nil, nil for what is not stored.
type Results interface {
	Clip(ctx context.Context, tenant, node string) (*tree.Node, error)
	SaveClip(ctx context.Context, tenant string, n *tree.Node) error // an L2 with its leaves, or an L1 without children
	SaveTree(ctx context.Context, tenant string, t *tree.Tree) error
}

// Files keeps bytes: the content of sources (a file at hand, opened for
// reading), sidecar subtitles, and the frames of one L2 as one blob.
type Files interface {
	OpenContent(ctx context.Context, tenant, source string) (*os.File, error)
	Subtitles(ctx context.Context, tenant, source string) (name string, data []byte, err error) // "", nil, nil without
	SaveFrames(ctx context.Context, tenant, node string, frames []Picture) ([]tree.FrameRef, error)
}

// Plans keeps what planning a job found out between its tasks. Plan fails for
// what is not stored.
type Plans interface {
	SavePlan(ctx context.Context, tenant, job string, data []byte) error
	Plan(ctx context.Context, tenant, job string) ([]byte, error)
}

// Prober reads media files; Media does it in a child process.
type Prober interface {
	Probe(ctx context.Context, file *os.File, req MediaRequest) (MediaFacts, error)
	Sample(ctx context.Context, file *os.File, req MediaRequest, sink SampleSink) error
	Sound(ctx context.Context, file *os.File, req MediaRequest, sink func(SoundBlock) error) error
	Document(ctx context.Context, file *os.File, format string, sink func(Block) error) (DocumentFacts, error)
}

var _ Prober = Media{}

// Picture is one JPEG with its media time.
type Picture struct {
	JPEG          []byte
	TimeMS        int64
	Width, Height int
}

// Index makes the nodes of a finished clip searchable; adding a node again
// replaces it.
type Index func(ctx context.Context, src tree.Source, nodes []*tree.Node) error

// Report tells the listeners of a job about a step; it must not block.
type Report func(job tree.Job, p tree.Progress)

// Meter counts what model calls really cost.
type Meter interface {
	// Bind makes every call under the context count.
	Bind(ctx context.Context) context.Context
	// Retries is how many tries were made again after a failure.
	Retries() int
}
