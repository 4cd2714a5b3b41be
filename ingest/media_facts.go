package ingest

import (
	"fmt"
	"slices"

	"github.com/reeltree/reeltree/tree"
)

// mediaFile is what the container says about itself.
type mediaFile struct {
	Format      string
	MIME        string
	Title       string
	HeaderEndUS int64 // claimed duration, 0 unknown
	Image       bool  // a still picture, not a film
	Lies        bool  // a format whose claimed duration is often wrong; frames are counted instead
	Cut         bool  // boxes end behind the file's end
	ReadFault   bool  // reading ended in an error, not at the end
	Chapters    []Chapter
}

// finish turns the pass into facts or refuses the file.
func (m *mediaProbe) finish(file mediaFile) (MediaFacts, error) {
	f := MediaFacts{Format: file.Format, MIME: file.MIME, Title: file.Title}
	if err := m.kind(&f, file); err != nil {
		return f, err
	}
	zero := m.zero.us()
	end := max(m.endUS(m.audio), zero)
	if f.Kind != tree.KindAudio {
		end = max(m.endUS(m.video), end)
		f.KeyFrames = m.keyTimes(zero)
		f.Video = m.videoFacts()
	}
	m.listStreams(&f, zero)
	for _, s := range f.Subtitles {
		for _, c := range s.Cues {
			end = max(end, zero+c.EndMS*1000)
		}
	}
	f.DurationMS = roundMS(end - zero)
	if f.Kind == tree.KindImage {
		f.DurationMS = 0
	}
	for _, c := range file.Chapters {
		c.StartMS, c.EndMS = max(0, roundMS(c.StartMS-zero)), roundMS(c.EndMS-zero)
		if c.EndMS >= c.StartMS && c.StartMS <= f.DurationMS && len(f.Chapters) < maxMediaChapters {
			f.Chapters = append(f.Chapters, c)
		}
	}
	slices.SortStableFunc(f.Chapters, func(a, b Chapter) int { return int(min(1, max(-1, a.StartMS-b.StartMS))) })
	m.partial(&f, file)
	return f, nil
}

// kind decides between video, audio and image, or refuses.
func (m *mediaProbe) kind(f *MediaFacts, file mediaFile) error {
	pictures, sounds := int64(0), int64(0)
	if m.video >= 0 {
		pictures = m.seen[m.video].packets
	}
	if m.audio >= 0 {
		sounds = m.seen[m.audio].packets
	}
	switch {
	case m.video < 0 && m.audio < 0:
		return refuseMedia("There is nothing to play in this file: it holds no video and no audio stream; check that it was exported completely.")
	case pictures > 0 && m.streams[m.video].Usable:
		f.Kind = tree.KindVideo
		if file.Image {
			f.Kind = tree.KindImage
		}
	case pictures > 0 && sounds == 0:
		return refuseMedia("The pictures of this video are coded as %q, which is not accepted here; convert it to H.264 and try again.", m.streams[m.video].Codec)
	case pictures > 0:
		f.Kind = tree.KindAudio
		f.Warnings = append(f.Warnings, fmt.Sprintf("The pictures are coded as %q, which is not accepted here, so only the sound is used.", m.streams[m.video].Codec))
	case sounds > 0 && m.video >= 0:
		f.Kind = tree.KindAudio
		f.Warnings = append(f.Warnings, "The file declares a video stream but holds no pictures, so only the sound is used.")
	case sounds > 0:
		f.Kind = tree.KindAudio
	case m.video >= 0:
		return refuseMedia("There are no pictures in this video: its header declares them but no frame follows; the recording or export probably broke off, make it again.")
	default:
		return refuseMedia("There is no audio in this file: its header declares a stream but no sample follows; record or export it again.")
	}
	return nil
}

func (m *mediaProbe) videoFacts() *VideoFacts {
	s, seen := &m.streams[m.video], &m.seen[m.video]
	v := &VideoFacts{Codec: s.Codec, Rotation: s.Rotation, Frames: seen.packets, FPS: s.FPS}
	v.Width, v.Height = s.shown()
	if end := m.endUS(m.video); seen.first != mediaNone && end > seen.first {
		v.FPS = float64(seen.packets) * 1e6 / float64(end-seen.first)
	}
	return v
}

// listStreams adds audio and subtitle streams in file order and counts cover art.
func (m *mediaProbe) listStreams(f *MediaFacts, zero int64) {
	for i := range m.streams {
		s := &m.streams[i]
		switch {
		case s.Picture:
			f.Pictures++
		case s.Type == 'a':
			f.Audio = append(f.Audio, AudioFacts{
				Codec: s.Codec, Channels: s.Channels, Rate: s.Rate,
				Language: languageTag(s.Language), Title: s.Title, Default: s.Default,
			})
		case s.Type == 's':
			f.Subtitles = append(f.Subtitles, SubtitleFacts{
				Codec: s.Codec, Language: languageTag(s.Language), Default: s.Default, Forced: s.Forced,
				Bitmap: !isTextSubtitle(s.Codec), Cues: finishCues(m.cues[i], zero),
			})
		}
	}
}

// finishCues moves cues to the source's timeline, in order, without doubles. A
// cue without an end lasts until the next one, at most 5 s.
func finishCues(cues []tree.Cue, zero int64) []tree.Cue {
	slices.SortStableFunc(cues, func(a, b tree.Cue) int { return int(min(1, max(-1, a.StartMS-b.StartMS))) })
	var out []tree.Cue
	for i, c := range cues {
		if c.EndMS <= c.StartMS {
			c.EndMS = c.StartMS + 5_000_000
			if i+1 < len(cues) && cues[i+1].StartMS > c.StartMS {
				c.EndMS = min(c.EndMS, cues[i+1].StartMS)
			}
		}
		c.StartMS, c.EndMS = max(0, roundMS(c.StartMS-zero)), roundMS(c.EndMS-zero)
		if c.EndMS <= 0 || len(out) > 0 && out[len(out)-1] == c {
			continue
		}
		out = append(out, c)
	}
	return out
}

// partial marks a file that ends before its header says. MP4 headers are
// checked by their frame counts, since their durations lie in whole files.
func (m *mediaProbe) partial(f *MediaFacts, file mediaFile) {
	missing := file.Cut || file.ReadFault
	for _, i := range []int{m.video, m.audio} {
		if i < 0 || file.Image {
			continue
		}
		want, got := m.streams[i].HeaderFrames, m.seen[i].all
		missing = missing || file.Lies && want > 0 && got < want-max(2, want/50)
	}
	if !file.Lies && !file.Image && file.HeaderEndUS > 0 {
		claimed := roundMS(file.HeaderEndUS)
		missing = missing || claimed > f.DurationMS+max(500, f.DurationMS/50)
	}
	if missing {
		f.Partial = true
		f.Warnings = append(f.Warnings, fmt.Sprintf("The file is incomplete: it ends at %s, before its header says, so only the part up to there is used; copy or download it again for the rest.", mediaClock(f.DurationMS)))
	}
}

// mediaClock shows milliseconds as h:mm:ss.
func mediaClock(ms int64) string {
	s := ms / 1000
	return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
}
