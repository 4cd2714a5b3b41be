package generate

import (
	"bytes"
	"fmt"

	"github.com/reeltree/reeltree/tree"
)

const (
	edlRate   = 25  // frames a second of the time codes; the format has no field for it, a comment names it
	edlEvents = 999 // the numbers of events have three digits
	edlTitle  = 70  // characters of a title
)

// writeEDL is a CMX 3600 edit list with one event per L2, one after the other
// on the record side. Both sides count frames, so they never differ in length.
func writeEDL(b *bytes.Buffer, t *tree.Tree) error {
	title := []rune(oneLine(t.Source.Title))
	fmt.Fprintf(b, "TITLE: %s\nFCM: NON-DROP FRAME\n", string(title[:min(edlTitle, len(title))]))
	track := "V"
	if t.Source.Kind == tree.KindAudio {
		track = "A"
	}
	n, at := 0, int64(0)
	for _, r := range t.Roots {
		for _, c := range r.Children {
			from, to := frames(c.Span.StartMS), frames(c.Span.EndMS)
			if c.Span.Unit != tree.UnitMS || to <= from || n == edlEvents {
				continue
			}
			n++
			fmt.Fprintf(b, "\n%03d  AX       %-5s C        %s %s %s %s\n* FROM CLIP NAME: %s\n", n, track,
				timecode(from), timecode(to), timecode(at), timecode(at+to-from), oneLine(t.Source.Title))
			if n == 1 {
				fmt.Fprintf(b, "* FRAME RATE: %d\n", edlRate)
			}
			if text := oneLine(c.Text); text != "" {
				fmt.Fprintf(b, "* COMMENT: %s\n", text)
			}
			at += to - from
		}
	}
	return nil
}

// frames is the nearest frame to a time.
func frames(ms int64) int64 { return (ms*edlRate + 500) / 1000 }

func timecode(n int64) string {
	return fmt.Sprintf("%02d:%02d:%02d:%02d", n/(3600*edlRate), n/(60*edlRate)%60, n/edlRate%60, n%edlRate)
}
