package ingest

import (
	"context"
	"os"

	"github.com/reeltree/reeltree/tree"
)

// ProbeFile gives the facts of a file without ingesting it: media and packed
// documents through the worker, subtitles and texts read here.
func ProbeFile(ctx context.Context, media Prober, name string, file *os.File) (MediaFacts, error) {
	format, err := documentFormat(name, "", file)
	if err != nil {
		return MediaFacts{}, err
	}
	if format == "" {
		return media.Probe(ctx, file, MediaRequest{})
	}
	p, err := (&Worker{Media: media}).planDocument(ctx, tree.Source{Title: name}, format, file)
	if err != nil {
		return MediaFacts{}, err
	}
	facts := MediaFacts{Kind: tree.KindDocument, Format: format, DurationMS: p.To, Warnings: p.Warnings, Partial: p.Partial}
	if len(p.Cues) > 0 {
		facts.Subtitles = []SubtitleFacts{{Codec: format, Cues: p.Cues}}
	}
	return facts, nil
}
