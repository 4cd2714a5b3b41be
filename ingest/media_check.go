package ingest

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/reeltree/reeltree/tree"
)

// Bounds of what the parent takes from a child, whatever it says. They are far
// above any real file; they keep a broken or taken-over child from filling memory.
const (
	maxMediaMS       = 10 * 366 * 24 * 3600 * 1000 // ten years
	maxMediaStreams  = 128
	maxMediaCues     = 200_000
	maxMediaChapters = 10_000
	maxMediaKeys     = 200_000
	maxMediaFrames   = 2_000_000
	maxMediaText     = 4000 // bytes of one title, cue or warning
)

// decodeMediaFacts reads and checks the facts of a child.
func decodeMediaFacts(body []byte) (MediaFacts, error) {
	var f MediaFacts
	if err := json.Unmarshal(body, &f); err != nil {
		return MediaFacts{}, fmt.Errorf("%w: %w", errMediaGarbage, err)
	}
	if what := checkMediaFacts(&f); what != "" {
		return MediaFacts{}, fmt.Errorf("%w: facts with impossible %s", errMediaGarbage, what)
	}
	return f, nil
}

// checkMediaFacts cleans the texts of f and names the first impossible field.
func checkMediaFacts(f *MediaFacts) string {
	switch {
	case f.Kind != tree.KindVideo && f.Kind != tree.KindAudio && f.Kind != tree.KindImage:
		return "kind"
	case f.DurationMS < 0 || f.DurationMS > maxMediaMS:
		return "duration"
	case len(f.Audio) > maxMediaStreams || len(f.Subtitles) > maxMediaStreams || f.Pictures < 0 || f.Pictures > maxMediaStreams:
		return "stream count"
	case len(f.Chapters) > maxMediaChapters:
		return "chapter count"
	case len(f.KeyFrames) > maxMediaKeys:
		return "key frame count"
	case len(f.Warnings) > 100:
		return "warning count"
	}
	for _, s := range []*string{&f.Format, &f.MIME, &f.Title} {
		cleanMediaText(s)
	}
	for i := range f.Warnings {
		cleanMediaText(&f.Warnings[i])
	}
	for _, check := range []func(*MediaFacts) string{checkMediaStreams, checkMediaSubtitles, checkMediaTimes} {
		if what := check(f); what != "" {
			return what
		}
	}
	return ""
}

func checkMediaStreams(f *MediaFacts) string {
	if v := f.Video; v != nil {
		cleanMediaText(&v.Codec)
		if v.Width < 1 || v.Height < 1 || v.Width > 1<<20 || v.Height > 1<<20 || v.Frames < 0 || !(v.FPS >= 0 && v.FPS < 1e6) || v.Rotation%90 != 0 {
			return "video"
		}
	}
	for i := range f.Audio {
		a := &f.Audio[i]
		for _, s := range []*string{&a.Codec, &a.Language, &a.Title} {
			cleanMediaText(s)
		}
		if a.Channels < 0 || a.Rate < 0 {
			return "audio"
		}
	}
	return ""
}

func checkMediaSubtitles(f *MediaFacts) string {
	cues := 0
	for i := range f.Subtitles {
		s := &f.Subtitles[i]
		cleanMediaText(&s.Codec)
		cleanMediaText(&s.Language)
		if cues += len(s.Cues); cues > maxMediaCues {
			return "cue count"
		}
		for k := range s.Cues {
			c := &s.Cues[k]
			cleanMediaText(&c.Text)
			cleanMediaText(&c.Speaker)
			if c.StartMS < 0 || c.EndMS < c.StartMS || c.EndMS > maxMediaMS {
				return "cue times"
			}
		}
	}
	return ""
}

func checkMediaTimes(f *MediaFacts) string {
	last := int64(0)
	for _, k := range f.KeyFrames {
		if k < last || k > maxMediaMS {
			return "key frame times"
		}
		last = k
	}
	for i := range f.Chapters {
		c := &f.Chapters[i]
		cleanMediaText(&c.Title)
		if c.StartMS < 0 || c.EndMS < c.StartMS || c.EndMS > maxMediaMS {
			return "chapter times"
		}
	}
	return ""
}

// cleanMediaText makes s valid, bounded and free of control characters.
func cleanMediaText(s *string) {
	t := strings.ToValidUTF8(*s, "\uFFFD")
	t = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7F {
			return ' '
		}
		return r
	}, t)
	if len(t) > maxMediaText {
		t = t[:maxMediaText]
		for !utf8.ValidString(t) {
			t = t[:len(t)-1]
		}
	}
	*s = strings.TrimSpace(t)
}
