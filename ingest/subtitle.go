package ingest

import (
	"errors"
	"fmt"
	"strings"

	"github.com/reeltree/reeltree/tree"
)

// MaxSubtitleBytes is the longest subtitle file that is read; a day of speech
// needs less than a tenth of it.
const MaxSubtitleBytes = 32 << 20

// SubtitleFile is what a subtitle file says: cues in order of their start,
// without mark-up, each with 0 <= StartMS < EndMS.
type SubtitleFile struct {
	Format   string // "srt", "vtt", "ass" or "sami"
	Encoding string // of the bytes, as the web names it
	Language string // BCP 47 where the file says it, else empty
	Cues     []tree.Cue
	Warnings []string // one sentence each
}

// errNoSubtitles marks bytes that are in no known subtitle format.
var errNoSubtitles = errors.New("no known subtitle format")

// ReadSubtitles reads SRT, WebVTT, ASS/SSA or SAMI in any usual encoding and
// with any line ends. The format is found in the content, never in the name;
// name is for the error sentence only. durationMS is the length of the medium
// the cues belong to: later cues are dropped and counted; 0 means unknown.
func ReadSubtitles(name string, data []byte, durationMS int64) (SubtitleFile, error) {
	if len(data) > MaxSubtitleBytes {
		return SubtitleFile{}, refuseSource("The subtitle file %s has %d MB, more than the %d MB that are read; hand over the cues alone.", quoteName(name), len(data)>>20, MaxSubtitleBytes>>20)
	}
	text, enc, guessed := decodeText(data)
	f := SubtitleFile{Format: subtitleFormat(text), Encoding: enc}
	var cues []rawCue
	switch f.Format {
	case "vtt":
		cues = readArrows(text, true)
		f.Language = vttLanguage(text)
	case "ass":
		cues = readASS(text)
	case "sami":
		cues = readSAMI(text)
	case "srt":
		cues = readArrows(text, false)
	default:
		return SubtitleFile{}, fmt.Errorf("%w: %w", refuseSource("%s is not a subtitle file that can be read (SRT, WebVTT, ASS or SAMI), so no cue was taken from it; convert it to SRT.", quoteName(name)), errNoSubtitles)
	}
	if guessed {
		f.Warnings = append(f.Warnings, fmt.Sprintf("The encoding of the subtitles was guessed as %s; save them as UTF-8 if letters look wrong.", enc))
	}
	var dropped cueDrops
	f.Cues, dropped = finishSubtitles(cues, durationMS)
	f.Warnings = append(f.Warnings, dropped.warnings(durationMS)...)
	if len(f.Cues) == 0 {
		return f, refuseSource("The subtitle file %s holds no cue that can be used, so there is nothing to read in it; check that it was exported completely.", quoteName(name))
	}
	return f, nil
}

// subtitleFormat finds the format in the content; empty where it is none.
func subtitleFormat(text string) string {
	head := strings.TrimLeft(text[:min(len(text), 1<<16)], " \t\n")
	lower := strings.ToLower(head)
	switch {
	case strings.HasPrefix(head, "WEBVTT"):
		return "vtt"
	case strings.HasPrefix(lower, "<sami") || strings.Contains(lower, "<sync start"):
		return "sami"
	case strings.HasPrefix(lower, "[script info]") || strings.Contains(lower, "\n[events]") || strings.HasPrefix(lower, "[events]"):
		return "ass"
	case arrowLine.MatchString(text):
		return "srt"
	}
	return ""
}

// quoteName shows a file name in a sentence: bounded, without line ends.
func quoteName(name string) string {
	if name == "" {
		return "handed over"
	}
	r := []rune(strings.ToValidUTF8(name, "\uFFFD"))
	if len(r) > 80 {
		r = append(r[:79], '…')
	}
	return fmt.Sprintf("%q", string(r))
}
