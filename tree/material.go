package tree

import "context"

// Material is what is known about one L1 stretch before anything is described:
// the cutter's output and the build's input.
type Material struct {
	Source  Source
	Index   int // number of the stretch: the a in SOURCE/a.b.c
	Span    Span
	Title   string // chapter or heading, may be empty
	Clips   []Clip
	Context string // title, description or other words about the whole source
}

// Clip is one L2 before it is described. Leaves has at least one element.
type Clip struct {
	Span   Span
	Title  string
	Leaves []Leaf
}

// Leaf is one L3 before it is described: of a video the span from a kept frame
// to the next, of a recording a cue, of a document a paragraph, sentence or row.
type Leaf struct {
	Span     Span
	Evidence Evidence
	JPEG     []byte // the frame's picture while it is at hand, nil otherwise
}

// Describer writes the texts of a tree. Implementations must be safe for
// concurrent use and return one sentence per text at least; errors end the
// clip, not the job's other clips.
type Describer interface {
	// L2 describes a clip from its frames and transcript.
	L2(ctx context.Context, r ClipRequest) (string, Calls, error)
	// L3 describes the leaves of a clip, one text per leaf in order, each
	// inheriting the L2 text and stressing what is new.
	L3(ctx context.Context, r LeafRequest) ([]string, Calls, error)
	// L1 describes a stretch from its L2 texts only.
	L1(ctx context.Context, r StretchRequest) (string, Calls, error)
}

// ClipRequest is the input of Describer.L2.
type ClipRequest struct {
	Source  Source
	Clip    Clip
	Prev    string // transcript tail of the clip before, for context
	Chapter string // title of the stretch, may be empty
	Context string // words about the whole source, may be empty
}

// LeafRequest is the input of Describer.L3.
type LeafRequest struct {
	Source Source
	L2     string
	Clip   Clip
}

// StretchRequest is the input of Describer.L1.
type StretchRequest struct {
	Source Source
	Title  string
	Span   Span
	L2     []string
}
