package ingest

import (
	"encoding/binary"
	"html"
	"regexp"
	"strings"

	"github.com/reeltree/reeltree/tree"
)

// mediaCue reads the text of one subtitle packet: SubRip, ASS, WebVTT or the
// timed text of MP4, as their demuxers deliver it. Text "" means no cue.
func mediaCue(codec string, data []byte) (c tree.Cue) {
	text := strings.ToValidUTF8(string(data), "\uFFFD")
	switch codec {
	case "subrip", "srt", "text":
		c.Text = stripMediaTags(text)
	case "ass", "ssa":
		// ReadOrder,Layer,Style,Name,MarginL,MarginR,MarginV,Effect,Text
		f := strings.SplitN(text, ",", 9)
		if len(f) == 9 {
			c.Speaker, c.Text = f[3], stripMediaTags(stripASS(f[8]))
		}
	case "webvtt":
		if m := vttVoice.FindStringSubmatch(text); m != nil {
			c.Speaker = html.UnescapeString(m[1])
		}
		c.Text = html.UnescapeString(stripMediaTags(text))
	case "mov_text":
		if len(data) < 2 {
			return c
		}
		n := min(int(binary.BigEndian.Uint16(data)), len(data)-2)
		c.Text = stripMediaTags(strings.ToValidUTF8(string(data[2:2+n]), "\uFFFD"))
	}
	cleanMediaText(&c.Text)
	c.Text = strings.Join(strings.Fields(c.Text), " ")
	cleanMediaText(&c.Speaker)
	return c
}

// isTextSubtitle tells codecs that mediaCue reads from those made of pictures
// or not understood.
func isTextSubtitle(codec string) bool {
	switch codec {
	case "subrip", "srt", "text", "ass", "ssa", "webvtt", "mov_text":
		return true
	}
	return false
}

var (
	mediaTag   = regexp.MustCompile(`</?[A-Za-z][^<>]*>|<\d[\d:.]{3,20}>`)
	mediaBrace = regexp.MustCompile(`\{\\[^{}]*\}`)
	assDrawing = regexp.MustCompile(`(?s)\{[^{}]*\\p[1-9][^{}]*\}.*?(?:\{[^{}]*\\p0[^{}]*\}|$)`)
	assBreaks  = strings.NewReplacer(`\N`, " ", `\n`, " ", `\h`, " ")
	vttVoice   = regexp.MustCompile(`<v(?:\.[^ >]*)?\s+([^>]{1,200})>`)
)

// stripASS drops drawings and override blocks and turns its line breaks into spaces.
func stripASS(s string) string {
	return assBreaks.Replace(mediaBrace.ReplaceAllString(assDrawing.ReplaceAllString(s, " "), ""))
}

// stripMediaTags drops <b>, </font>, <c.red>, <00:01.000> and {\an8}, but keeps
// a plain "a < b".
func stripMediaTags(s string) string {
	return mediaBrace.ReplaceAllString(mediaTag.ReplaceAllString(s, ""), "")
}
