package cli

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/reeltree/reeltree/generate"
	"github.com/reeltree/reeltree/ingest"
	"github.com/reeltree/reeltree/library"
	"github.com/reeltree/reeltree/tree"
)

// cut is generate's cutter, filled by the media worker.
func (a *app) cut(ctx context.Context, c generate.Cut, w io.Writer) (string, error) {
	source := c.Places[0].Source
	var spans []ingest.ClipSpan
	for _, p := range c.Places {
		if p.Source != source {
			return "", refusal("The moments lie in several recordings and a clip is cut out of one; name the source.")
		}
		spans = append(spans, ingest.ClipSpan{FromMS: p.Span.StartMS, ToMS: p.Span.EndMS})
	}
	src, err := a.store.Source(ctx, c.Tenant, source)
	if err != nil {
		return "", err
	}
	if src.Kind != tree.KindVideo && src.Kind != tree.KindAudio {
		return "", refusal("Only videos and recordings can be cut; this source is none.")
	}
	for i, s := range spans {
		if s.FromMS >= src.DurationMS {
			return "", refusal("The part from %s lies behind the end of this source at %s; choose one inside of it.", tree.Clock(s.FromMS), tree.Clock(src.DurationMS))
		}
		spans[i].ToMS = min(s.ToMS, src.DurationMS)
	}
	file, err := a.store.OpenContent(ctx, c.Tenant, source)
	if errors.Is(err, library.ErrNotFound) {
		return "", refusal("The medium of this source was not kept, so nothing can be cut out of it; ingest it again and keep the media.")
	}
	if err != nil {
		return "", err
	}
	defer func() { _ = file.Close() }()
	return "video/mp4", a.media.Clip(ctx, file, spans, c.Exact, w)
}

func refusal(format string, args ...any) error {
	return &ingest.SourceError{Reason: fmt.Sprintf(format, args...)}
}
