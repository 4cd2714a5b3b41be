package ingest

import (
	"context"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/reeltree/reeltree/tree"
)

// Codecs that the browsers in use play, by FFmpeg's names.
var (
	playedVideo = []string{"h264", "vp8", "vp9", "av1"}
	playedAudio = []string{"aac", "mp3", "opus", "vorbis", "flac"}
	playedMIME  = []string{"video/mp4", "video/webm", "audio/mpeg", "audio/mp4", "audio/ogg", "audio/webm", "audio/flac", "audio/wav", "audio/x-wav"}
	// inMP4 are those of them that browsers also play out of an MP4 file.
	inMP4 = []string{"h264", "av1", "vp9", "aac", "mp3", "opus", "flac"}
)

// Plays reports whether browsers play the medium as it is: its container, its
// pictures and the sound that is chosen by default.
func (f MediaFacts) Plays() bool {
	kind, _, _ := strings.Cut(f.MIME, ";")
	return slices.Contains(playedMIME, strings.TrimSpace(kind)) && f.codecsIn(playedVideo, append(playedAudio, pcmCodecs(f)...))
}

// pcmCodecs are the plain samples of a WAV file.
func pcmCodecs(f MediaFacts) []string {
	if strings.Contains(f.MIME, "wav") {
		return []string{"pcm_s16le", "pcm_u8", "pcm_s24le", "pcm_f32le"}
	}
	return nil
}

func (f MediaFacts) codecsIn(video, audio []string) bool {
	if f.Video != nil && (!slices.Contains(video, f.Video.Codec) || f.Video.Rotation != 0 && !strings.HasPrefix(f.MIME, "video/mp4")) {
		return false
	}
	return !slices.ContainsFunc(f.Audio, func(a AudioFacts) bool { return !slices.Contains(audio, a.Codec) })
}

// Rendition writes the whole medium to w as a fragmented MP4 file that browsers
// play, on the source's own timeline. Streams that they know are copied, others
// are encoded anew as H.264 and AAC.
func (m Media) Rendition(ctx context.Context, file *os.File, facts MediaFacts, w io.Writer) error {
	if facts.Kind != tree.KindVideo && facts.Kind != tree.KindAudio {
		return refuseSource("Only videos and recordings are played; this source is none.")
	}
	whole := []ClipSpan{{ToMS: max(1, facts.DurationMS)}}
	return m.Clip(ctx, file, whole, !facts.codecsIn(inMP4, inMP4), w)
}
