package tree

import (
	"fmt"
	"strings"
)

// The made sources of the tests.
var (
	testVideo = Source{ID: "aaaabbbbccccddddeeeeffff22", Tenant: DefaultTenant, Kind: KindVideo, Title: "Storing maize", DurationMS: 120000}
	testAudio = Source{ID: "aaaabbbbccccddddeeeeffff33", Tenant: DefaultTenant, Kind: KindAudio, Title: "Weekly meeting", DurationMS: 60000}
	testDoc   = Source{ID: "aaaabbbbccccddddeeeeffff44", Tenant: DefaultTenant, Kind: KindDocument, Title: "Harvest report"}
)

// spoken makes the leaves of a recording: lines "speaker|text" of four seconds.
func spoken(fromMS int64, lines ...string) Clip {
	c := Clip{Span: MS(fromMS, fromMS+int64(len(lines))*4000)}
	for i, line := range lines {
		speaker, text, _ := strings.Cut(line, "|")
		at := fromMS + int64(i)*4000
		span := MS(at, at+4000)
		c.Leaves = append(c.Leaves, Leaf{Span: span, Evidence: Evidence{Cues: []Cue{{at, at + 4000, speaker, text}}}})
	}
	return c
}

// shown makes the leaves of a film: one picture every five seconds with
// on-screen text where a line is not empty.
func shown(fromMS int64, screens ...string) Clip {
	c := Clip{Span: MS(fromMS, fromMS+int64(len(screens))*5000)}
	for i, text := range screens {
		at := fromMS + int64(i)*5000
		l := Leaf{Span: MS(at, at+5000), JPEG: fmt.Appendf(nil, "jpeg-%d", at)}
		l.Evidence.Frame = &FrameRef{ID: FrameID(l.JPEG), Blob: "b", TimeMS: at}
		if text != "" {
			l.Evidence.Screen = []Cue{{StartMS: at, EndMS: at + 5000, Text: text}}
		}
		c.Leaves = append(c.Leaves, l)
	}
	return c
}

// written makes the leaves of a document section: one paragraph each.
func written(title string, paragraphs ...string) Clip {
	c := Clip{Title: title, Span: Span{Unit: UnitText, Page: 1, Paragraph: 1}}
	for i, p := range paragraphs {
		span := Span{Unit: UnitText, Page: 1, Paragraph: i + 1, EndChar: len([]rune(p))}
		c.Leaves = append(c.Leaves, Leaf{Span: span, Evidence: Evidence{Title: title, Passage: p}})
	}
	return c
}

// film is a stretch of n clips with five pictures each and a word or two.
func film(n int) Material {
	m := Material{Source: testVideo, Index: 1, Title: "Drying", Context: "A lesson for farmers"}
	for i := range n {
		c := shown(int64(i)*25000, "", "Step "+fmt.Sprint(i), "", "", "")
		at := c.Leaves[0].Span.StartMS
		c.Leaves[0].Evidence.Cues = []Cue{{at, at + 3000, "Anna", fmt.Sprintf("Clip %d is about drying.", i)}}
		m.Clips = append(m.Clips, c)
	}
	m.Span = MS(0, int64(n)*25000)
	return m
}
