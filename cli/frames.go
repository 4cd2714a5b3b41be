package cli

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/reeltree/reeltree/ingest"
	"github.com/reeltree/reeltree/library"
	"github.com/reeltree/reeltree/tree"
)

// frames takes single pictures out of media.
type frames struct {
	a    *app
	free chan struct{} // a media worker each
}

// framesAtOnce bounds the media workers of a page full of pictures.
const framesAtOnce = 2

func newFrames(a *app) *frames { return &frames{a, make(chan struct{}, framesAtOnce)} }

// at is the JPEG of what is on screen at a time of a video. Where the medium was
// not kept, or shows nothing there, it is the kept picture of that time.
func (f *frames) at(ctx context.Context, tenant, source string, atMS int64) ([]byte, error) {
	file, err := f.a.store.OpenContent(ctx, tenant, source)
	if errors.Is(err, library.ErrNotFound) {
		return f.kept(ctx, tenant, source, atMS)
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	jpeg, err := f.taken(ctx, file, atMS)
	var refused *ingest.SourceError
	if (err == nil && jpeg == nil) || errors.As(err, &refused) {
		return f.kept(ctx, tenant, source, atMS)
	}
	return jpeg, err
}

// taken is the picture a media worker finds in the file; nil if there is none.
func (f *frames) taken(ctx context.Context, file *os.File, atMS int64) (jpeg []byte, err error) {
	select {
	case f.free <- struct{}{}:
		defer func() { <-f.free }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	s := f.a.settings
	err = f.a.media.Sample(ctx, file, ingest.MediaRequest{
		FromMS: atMS, ToMS: atMS + 1, LongSide: s.FrameSide.V, MaxPixels: s.MaxPixels.V,
	}, ingest.SampleSink{Frame: func(p ingest.MediaFrame) error {
		jpeg = p.JPEG
		return nil
	}})
	return jpeg, err
}

// kept is the last picture of the tree up to a time.
func (f *frames) kept(ctx context.Context, tenant, source string, atMS int64) ([]byte, error) {
	t, err := f.a.store.Tree(ctx, tenant, source)
	if err != nil {
		return nil, err
	}
	frames := t.Frames()
	last := tree.LastFrame(frames, atMS)
	if last < 0 {
		return nil, fmt.Errorf("no picture up to %d ms: %w", atMS, library.ErrNotFound)
	}
	return f.a.store.Frame(ctx, tenant, frames[last].ID)
}
