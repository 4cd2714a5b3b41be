package ingest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	youtube "github.com/kkdai/youtube/v2"

	"github.com/reeltree/reeltree/tree"
)

// captions fills in the captions of the wanted language. That there are none,
// or that they cannot be had, is a warning: speech can be heard instead.
func (c *tubeCall) captions(ctx context.Context, v *youtube.Video, language string, got *Fetched) error {
	track, ok := chooseTrack(v.CaptionTracks, language)
	if !ok {
		if language != "" {
			got.Warnings = append(got.Warnings, fmt.Sprintf("YouTube has no captions in %q for this video.", oneLine(language, 20)))
		}
		return nil
	}
	var segments youtube.VideoTranscript
	base, _, _ := strings.Cut(track.LanguageCode, "-")
	err := safely(func() (err error) {
		segments, err = c.client.GetTranscriptCtx(ctx, v, base)
		return err
	})
	if ctx.Err() != nil {
		return explainNet(ctx, youTube, ctx.Err())
	}
	if err != nil {
		why := "YouTube hands out none"
		if !errors.Is(err, youtube.ErrTranscriptDisabled) {
			why = strings.TrimSuffix(c.explain(ctx, err).Error(), ".")
		}
		got.Warnings = append(got.Warnings, "The captions of this video could not be fetched: "+why+".")
		return nil
	}
	got.Captions, got.Language = transcriptCues(segments, got.DurationMS), track.LanguageCode
	return nil
}

// chooseTrack takes the wanted language, or any where none is wanted; what a
// person wrote comes before what was heard by a machine. The library can ask
// for languages of two letters only.
func chooseTrack(tracks []youtube.CaptionTrack, language string) (youtube.CaptionTrack, bool) {
	want, _, _ := strings.Cut(strings.ToLower(language), "-")
	fits := slices.DeleteFunc(slices.Clone(tracks), func(t youtube.CaptionTrack) bool {
		base, _, _ := strings.Cut(strings.ToLower(t.LanguageCode), "-")
		return len(base) != 2 || (want != "" && base != want)
	})
	if len(fits) == 0 {
		return youtube.CaptionTrack{}, false
	}
	slices.SortStableFunc(fits, func(a, b youtube.CaptionTrack) int {
		return cmp.Compare(heard(a), heard(b))
	})
	return fits[0], true
}

func heard(t youtube.CaptionTrack) int {
	if t.Kind == "asr" {
		return 1
	}
	return 0
}

// transcriptCues are the segments with a place and words, in time order, cut
// at the end of the video (0 = unknown).
func transcriptCues(segments youtube.VideoTranscript, durationMS int64) []tree.Cue {
	var cues []tree.Cue
	for _, s := range segments {
		cue := tree.Cue{StartMS: int64(s.StartMs), EndMS: int64(s.StartMs) + int64(s.Duration), Text: oneLine(s.Text, 2000)}
		if durationMS > 0 {
			cue.EndMS = min(cue.EndMS, durationMS)
		}
		if cue.StartMS >= 0 && cue.EndMS > cue.StartMS && cue.Text != "" {
			cues = append(cues, cue)
		}
	}
	slices.SortStableFunc(cues, func(a, b tree.Cue) int { return cmp.Compare(a.StartMS, b.StartMS) })
	return cues
}
