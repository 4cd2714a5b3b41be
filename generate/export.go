package generate

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/reeltree/reeltree/tree"
)

// exporters are the formats a source can be written in, by name.
var exporters = map[string]struct {
	mime  string
	write func(*bytes.Buffer, *tree.Tree) error
}{
	"tree":         {"application/json", func(b *bytes.Buffer, t *tree.Tree) error { return tree.ExportOriginal(b, t) }},
	"json":         {"application/json", writeNative},
	"vtt":          {"text/vtt; charset=utf-8", writeVTT},
	"srt":          {"application/x-subrip; charset=utf-8", writeSRT},
	"chapters":     {"text/plain; charset=utf-8", writeChapters},
	"chapters.vtt": {"text/vtt; charset=utf-8", writeChaptersVTT},
	"md":           {"text/markdown; charset=utf-8", writeMarkdown},
	"edl":          {"text/plain; charset=utf-8", writeEDL},
}

// Export writes a source in a format; known is false for one that does not
// exist. Formats made of times hold nothing of a source that has none.
func Export(t *tree.Tree, format string) (mime string, data []byte, known bool, err error) {
	e, known := exporters[format]
	if !known {
		return "", nil, false, nil
	}
	var b bytes.Buffer
	err = e.write(&b, t)
	return e.mime, b.Bytes(), true, err
}

func writeNative(b *bytes.Buffer, t *tree.Tree) error { return json.NewEncoder(b).Encode(t) }

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
