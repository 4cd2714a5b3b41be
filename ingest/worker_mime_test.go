package ingest

import (
	"testing"

	"github.com/reeltree/reeltree/tree"
)

// TestMediaTypeIsThatOfTheContent: a medium is served as what its probe found,
// whatever its name, a server or an earlier ingest said.
func TestMediaTypeIsThatOfTheContent(t *testing.T) {
	for name, c := range map[string]struct{ said, found, want string }{
		"a video called sound": {"audio/webm", "video/webm", "video/webm"},
		"a stream called text": {"text/vnd.trolltech.linguist", "video/mp2t", "video/mp2t"},
		"nothing said":         {"", "video/mp4", "video/mp4"},
		"nothing better found": {"video/quicktime", unknownMIME, "video/quicktime"},
		"nothing known":        {"", unknownMIME, unknownMIME},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMemory(t)
			film := talk(60)
			film.facts.MIME = c.found
			src := m.put(t, "talk.ts", []byte("x"))
			src.MIME = c.said
			if got, _ := m.ingest(t, m.worker(film), src, tree.IngestOptions{}); got.MIME != c.want {
				t.Errorf("%q", got.MIME)
			}
		})
	}
}

func TestPackedDocumentsHaveTheSameTypeOnEveryHost(t *testing.T) {
	for name, want := range map[string]string{
		"a.DOCX": "application/vnd.openxmlformats-officedocument.wordprocessingml.document", "a.epub": "application/epub+zip", "a.bin": "application/zip",
	} {
		if got := documentMIME(formatPacked, name); got != want {
			t.Errorf("%s: %q", name, got)
		}
	}
}
