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

// edlClip is one event of an edit list.
type edlClip struct {
	title string // of the source
	track string // "V" or "A"
	span  tree.Span
	text  string
}

func trackOf(k tree.Kind) string {
	if k == tree.KindAudio {
		return "A"
	}
	return "V"
}

// writeEDL is a CMX 3600 edit list with one event per L2.
func writeEDL(b *bytes.Buffer, t *tree.Tree) error {
	var clips []edlClip
	for _, r := range t.Roots {
		for _, c := range r.Children {
			clips = append(clips, edlClip{t.Source.Title, trackOf(t.Source.Kind), c.Span, c.Text})
		}
	}
	writeClips(b, t.Source.Title, clips)
	return nil
}

// writeClips is an edit list of clips one after the other on the record side.
// Both sides count frames, so they never differ in length.
func writeClips(b *bytes.Buffer, name string, clips []edlClip) {
	title := []rune(oneLine(name))
	fmt.Fprintf(b, "TITLE: %s\nFCM: NON-DROP FRAME\n", string(title[:min(edlTitle, len(title))]))
	n, at := 0, int64(0)
	for _, c := range clips {
		from, to := frames(c.span.StartMS), frames(c.span.EndMS)
		if c.span.Unit != tree.UnitMS || to <= from || n == edlEvents {
			continue
		}
		n++
		fmt.Fprintf(b, "\n%03d  AX       %-5s C        %s %s %s %s\n* FROM CLIP NAME: %s\n", n, c.track,
			timecode(from), timecode(to), timecode(at), timecode(at+to-from), oneLine(c.title))
		if n == 1 {
			fmt.Fprintf(b, "* FRAME RATE: %d\n", edlRate)
		}
		if text := oneLine(c.text); text != "" {
			fmt.Fprintf(b, "* COMMENT: %s\n", text)
		}
		at += to - from
	}
}

// frames is the nearest frame to a time.
func frames(ms int64) int64 { return (ms*edlRate + 500) / 1000 }

func timecode(n int64) string {
	return fmt.Sprintf("%02d:%02d:%02d:%02d", n/(3600*edlRate), n/(60*edlRate)%60, n/edlRate%60, n%edlRate)
}
