package ingest

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
)

// ClipSpan is a part of a medium, [from, to) in milliseconds.
type ClipSpan struct {
	FromMS int64 `json:"from_ms"`
	ToMS   int64 `json:"to_ms"`
}

// Bounds of a clip.
const (
	maxClipSpans = 200
	maxClipBlock = 1 << 20
)

func validSpans(spans []ClipSpan) bool {
	for _, s := range spans {
		if s.FromMS < 0 || s.ToMS <= s.FromMS || s.ToMS > maxMediaMS {
			return false
		}
	}
	return len(spans) > 0 && len(spans) <= maxClipSpans
}

// Clip writes parts of a medium to w as one MP4 file (H.264 and AAC, or the
// source's own streams where they are copied). Exact clips begin and end within
// one frame of their times and are encoded anew; others begin at the key frame
// before, are copied, and have one part only. A copy that MP4 cannot hold is
// encoded instead.
func (m Media) Clip(ctx context.Context, file *os.File, spans []ClipSpan, exact bool, w io.Writer) error {
	if !validSpans(spans) {
		return refuseSource("The wanted parts cannot be cut: name between 1 and %d of them, each ending after it begins.", maxClipSpans)
	}
	req := MediaRequest{Mode: mediaClipMode, Spans: spans, Exact: exact || len(spans) > 1}
	m.Memory = 2 * cmp.Or(m.Memory, defaultMemory) // an encoder works beside the decoder
	written := false
	err := m.run(ctx, file, req, func(kind byte, body []byte) error {
		if kind != mediaMsgClip {
			return fmt.Errorf("%w: kind %q while cutting", errMediaGarbage, kind)
		}
		written = true
		_, err := w.Write(body)
		return err
	})
	if err == nil && !written {
		err = refuseMedia("Nothing of this medium lies in the wanted part, so there is nothing to cut.")
	}
	return err
}
