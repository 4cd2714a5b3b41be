package generate

import (
	"bytes"
	"encoding/json"
	"fmt"
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

// Export writes a source in a format; known is false for one that does not exist.
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

// clock is hh:mm:ss with milliseconds behind the given separator, as SRT (",")
// and WebVTT (".") write times.
func clock(ms int64, separator string) string {
	return fmt.Sprintf("%02d:%02d:%02d%s%03d", ms/3600000, ms/60000%60, ms/1000%60, separator, ms%1000)
}

// cueText keeps a cue's words from ending the cue or opening a tag.
func cueText(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", "-->", "--&gt;").Replace(s)
}

func eachCue(t *tree.Tree, write func(n int, c tree.Cue)) {
	n := 0
	for _, r := range t.Roots {
		for _, c := range r.Cues() {
			if c.EndMS > c.StartMS && strings.TrimSpace(c.Text) != "" {
				n++
				write(n, c)
			}
		}
	}
}

func writeVTT(b *bytes.Buffer, t *tree.Tree) error {
	b.WriteString("WEBVTT\n")
	eachCue(t, func(_ int, c tree.Cue) {
		voice := ""
		if c.Speaker != "" {
			voice = "<v " + strings.NewReplacer(">", "", "<", "", "&", "&amp;", "\n", " ").Replace(c.Speaker) + ">"
		}
		fmt.Fprintf(b, "\n%s --> %s\n%s%s\n", clock(c.StartMS, "."), clock(c.EndMS, "."), voice, cueText(c.Text))
	})
	return nil
}

func writeSRT(b *bytes.Buffer, t *tree.Tree) error {
	eachCue(t, func(n int, c tree.Cue) {
		if n > 1 {
			b.WriteByte('\n')
		}
		text := strings.ReplaceAll(strings.Join(strings.Fields(c.Text), " "), "-->", "→")
		if c.Speaker != "" {
			text = c.Speaker + ": " + text
		}
		fmt.Fprintf(b, "%d\n%s --> %s\n%s\n", n, clock(c.StartMS, ","), clock(c.EndMS, ","), text)
	})
	return nil
}

// writeChapters is a line per L1, in the form video sites read: time, title.
func writeChapters(b *bytes.Buffer, t *tree.Tree) error {
	for _, r := range t.Roots {
		fmt.Fprintf(b, "%s %s\n", tree.Clock(r.Span.StartMS), oneLine(chapterTitle(r)))
	}
	return nil
}

func writeChaptersVTT(b *bytes.Buffer, t *tree.Tree) error {
	b.WriteString("WEBVTT\n")
	for i, r := range t.Roots {
		fmt.Fprintf(b, "\n%d\n%s --> %s\n%s\n", i+1, clock(r.Span.StartMS, "."), clock(r.Span.EndMS, "."), cueText(chapterTitle(r)))
	}
	return nil
}

func writeMarkdown(b *bytes.Buffer, t *tree.Tree) error {
	fmt.Fprintf(b, "# %s\n", markdownText(t.Source.Title))
	for _, r := range t.Roots {
		fmt.Fprintf(b, "\n## %s %s\n\n%s\n", deepLink(t, r), markdownText(chapterTitle(r)), markdownText(r.Text))
		for _, c := range r.Children {
			fmt.Fprintf(b, "\n- %s %s\n", deepLink(t, c), markdownText(c.Text))
		}
	}
	return nil
}

// deepLink is a link that opens the page at a node's place.
func deepLink(t *tree.Tree, n *tree.Node) string {
	if n.Span.Unit != tree.UnitMS {
		return "(" + n.Span.String() + ")"
	}
	return fmt.Sprintf("[%s](/#/s/%s?t=%d)", tree.Clock(n.Span.StartMS), t.Source.ID, n.Span.StartMS/1000)
}

func markdownText(s string) string {
	return strings.NewReplacer("\\", "\\\\", "[", "\\[", "]", "\\]", "<", "&lt;", "*", "\\*", "_", "\\_", "`", "\\`").Replace(oneLine(s))
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// edlRate is the frame rate of time codes in an EDL, which has no field for it;
// the comment in the file names it.
const edlRate = 25

// writeEDL is a CMX 3600 edit list with one event per L2.
func writeEDL(b *bytes.Buffer, t *tree.Tree) error {
	fmt.Fprintf(b, "TITLE: %s\nFCM: NON-DROP FRAME\n* FRAME RATE: %d\n", oneLine(t.Source.Title), edlRate)
	n, at := 0, int64(0)
	for _, r := range t.Roots {
		for _, c := range r.Children {
			if c.Span.Duration() <= 0 || n == 999 {
				continue
			}
			n++
			fmt.Fprintf(b, "\n%03d  AX       V     C        %s %s %s %s\n* FROM CLIP NAME: %s\n* COMMENT: %s\n", n,
				timecode(c.Span.StartMS), timecode(c.Span.EndMS), timecode(at), timecode(at+c.Span.Duration()), oneLine(t.Source.Title), oneLine(c.Text))
			at += c.Span.Duration()
		}
	}
	return nil
}

func timecode(ms int64) string {
	frames := ms * edlRate / 1000
	return fmt.Sprintf("%02d:%02d:%02d:%02d", frames/(3600*edlRate), frames/(60*edlRate)%60, frames/edlRate%60, frames%edlRate)
}
