package ingest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/reeltree/reeltree/tree"
)

// planMedia probes a video, recording or picture.
func (w *Worker) planMedia(ctx context.Context, src tree.Source, opt tree.IngestOptions, file *os.File, hear listener) (*jobPlan, error) {
	var facts MediaFacts
	err := unlessKilled(ctx, func() (err error) {
		facts, err = w.Media.Probe(ctx, file, w.Settings.request(opt.Detail, opt.AudioTrack))
		return err
	})
	if err != nil {
		return nil, err
	}
	p := &jobPlan{
		Kind: facts.Kind, Format: facts.Format, Chapters: facts.Chapters, Partial: facts.Partial,
		Video: facts.Video != nil && facts.Kind != tree.KindAudio && opt.Visual != "off",
		From:  opt.FromMS, To: facts.DurationMS, Warnings: facts.Warnings, Source: src,
	}
	if opt.ToMS > 0 {
		p.To = min(p.To, opt.ToMS)
	}
	if facts.Kind == tree.KindImage {
		p.From, p.To = 0, 1 // one moment
	}
	if p.From < 0 || p.From >= max(p.To, 1) {
		return nil, refuseSource("The wanted part from %s to %s does not lie in this source of %s; choose a part inside of it.", tree.Clock(opt.FromMS), tree.Clock(opt.ToMS), tree.Clock(facts.DurationMS))
	}
	p.describe(facts)
	if err := w.findCues(ctx, p, facts, opt); err != nil {
		return nil, err
	}
	if err := w.hearSpeech(ctx, p, facts, opt, hear); err != nil {
		return nil, err
	}
	cut := p.facts()
	cut.KeyFrames = facts.KeyFrames
	p.Stretches = CutStretches(cut, w.Settings)
	p.To = p.Stretches[len(p.Stretches)-1].Span.EndMS
	return p, nil
}

// describe puts the facts into the source's record.
func (p *jobPlan) describe(facts MediaFacts) {
	s := &p.Source
	s.Kind, s.DurationMS = facts.Kind, facts.DurationMS
	if s.MIME == "" || facts.MIME != unknownMIME { // what was found in the file counts more than its name or a server's word
		s.MIME = facts.MIME
	}
	if facts.Video != nil {
		s.Width, s.Height = facts.Video.Width, facts.Video.Height
		p.Frames = facts.Video.Frames
	}
	titled(s, facts.Title)
}

// findCues takes the transcript from the sidecar file, else from the embedded
// stream that fits best. Cues outside the wanted part are left out silently;
// those past the end of the medium are counted.
func (w *Worker) findCues(ctx context.Context, p *jobPlan, facts MediaFacts, opt tree.IngestOptions) error {
	name, data, err := w.Files.Subtitles(ctx, p.Source.Tenant, p.Source.ID)
	if err != nil {
		return fmt.Errorf("cannot read the subtitles: %w", err)
	}
	var language string
	switch {
	case data != nil:
		f, err := ReadSubtitles(name, data, facts.DurationMS)
		reason, isFinal := final(err)
		if err != nil && !isFinal {
			return err
		}
		if isFinal { // done must never mean: with captions missing
			p.Partial, reason = true, strings.TrimSuffix(reason, ".")
			p.Warnings = append(p.Warnings, reason+"; the source was ingested without it.")
		}
		p.Cues, p.Warnings, language = f.Cues, append(p.Warnings, f.Warnings...), cmp.Or(f.Language, nameLanguage(name))
	default:
		s, warning := chooseSubtitles(facts.Subtitles, cmp.Or(opt.Language, p.Source.Language))
		if warning != "" {
			p.Warnings = append(p.Warnings, warning)
		}
		var dropped cueDrops
		p.Cues, dropped = fitCues(s.Cues, facts.DurationMS)
		p.Warnings, language = append(p.Warnings, dropped.warnings(facts.DurationMS)...), s.Language
	}
	p.Cues = cuesOf(p.Cues, p.From, max(p.To, p.From+1))
	p.Source.Language = cmp.Or(p.Source.Language, opt.Language, language, audioLanguage(facts.Audio, opt.AudioTrack))
	return nil
}

// hearSpeech makes the transcript of the sound where no text came with it.
func (w *Worker) hearSpeech(ctx context.Context, p *jobPlan, facts MediaFacts, opt tree.IngestOptions, hear listener) error {
	if !w.hearable(p, facts) {
		return nil
	}
	cues, err := hear(ctx, p, opt, cmp.Or(opt.Language, p.Source.Language), facts.DurationMS)
	if err != nil {
		return err
	}
	var dropped cueDrops
	cues, dropped = fitCues(cues, facts.DurationMS)
	p.Cues, p.Warnings = cuesOf(cues, p.From, max(p.To, p.From+1)), append(p.Warnings, dropped.warnings(facts.DurationMS)...)
	return nil
}

// cuesOf are the cues heard in [from, to); one that is being said at from
// starts there.
func cuesOf(cues []tree.Cue, from, to int64) []tree.Cue {
	var out []tree.Cue
	for _, c := range cues {
		if c.EndMS > from && c.StartMS < to {
			c.StartMS = max(c.StartMS, from)
			out = append(out, c)
		}
	}
	return out
}

// chooseSubtitles picks the stream that stands for what is said: text before
// pictures, the wanted language first, the default stream before others, forced
// ones (signs and foreign words only) last.
func chooseSubtitles(all []SubtitleFacts, language string) (best SubtitleFacts, warning string) {
	bitmap, bestRank := false, -1
	for _, s := range all {
		if bitmap = bitmap || s.Bitmap; len(s.Cues) == 0 {
			continue
		}
		rank := 0
		for i, good := range []bool{!s.Bitmap, s.Default, !s.Forced, language != "" && sameLanguage(s.Language, language)} {
			if good {
				rank += 1 << i
			}
		}
		if rank > bestRank {
			best, bestRank = s, rank
		}
	}
	if bestRank < 0 && bitmap {
		warning = "The subtitles in this file are pictures, which are not read, so there is no transcript; hand over a subtitle file (SRT or WebVTT) beside it."
	}
	return best, warning
}

// sameLanguage compares two language tags by their first part.
func sameLanguage(a, b string) bool {
	a, _, _ = strings.Cut(strings.ToLower(a), "-")
	b, _, _ = strings.Cut(strings.ToLower(b), "-")
	return a != "" && a == b
}

// nameLanguage is the language in a name like talk.de.srt.
func nameLanguage(name string) string {
	parts := strings.Split(name, ".")
	if len(parts) < 3 {
		return ""
	}
	lang, region, _ := strings.Cut(parts[len(parts)-2], "-")
	letters := func(s string) bool { return strings.Trim(strings.ToLower(s), "abcdefghijklmnopqrstuvwxyz") == "" }
	if (len(lang) != 2 && len(lang) != 3) || !letters(lang) || !letters(region) || len(region) > 4 {
		return ""
	}
	return parts[len(parts)-2]
}

// audioLanguage is the language of the chosen audio stream.
func audioLanguage(all []AudioFacts, track int) string {
	if track > 0 && track <= len(all) {
		return all[track-1].Language
	}
	if i := slices.IndexFunc(all, func(a AudioFacts) bool { return a.Default }); i >= 0 {
		return all[i].Language
	}
	if len(all) > 0 {
		return all[0].Language
	}
	return ""
}

// killedTries is how often a media worker is started that somebody else kills,
// for lack of memory perhaps, before that counts as one failure of the task.
const killedTries = 3

func unlessKilled(ctx context.Context, do func() error) error {
	for try := 1; ; try++ {
		err := do()
		if media, ok := errors.AsType[*MediaError](err); !ok || !media.killed || try == killedTries || ctx.Err() != nil {
			return err
		}
	}
}

// sampleStretch reads the frames and shots of a stretch.
func (w *Worker) sampleStretch(ctx context.Context, p *jobPlan, st Stretch, opt tree.IngestOptions) (frames []MediaFrame, shots []MediaShot, err error) {
	if !p.Video {
		return nil, nil, nil
	}
	req := w.Settings.request(opt.Detail, opt.AudioTrack)
	if req.FromMS, req.ToMS = st.Span.StartMS, st.Span.EndMS; p.Kind == tree.KindImage {
		req.ToMS = 0
	}
	err = w.content(ctx, p.Source, func(file *os.File) error {
		return unlessKilled(ctx, func() error {
			frames, shots = nil, nil
			return w.Media.Sample(ctx, file, req, SampleSink{
				Frame: func(f MediaFrame) error { frames = append(frames, f); return ctx.Err() },
				Shot:  func(s MediaShot) error { shots = append(shots, s); return ctx.Err() },
			})
		})
	})
	slices.SortFunc(shots, func(a, b MediaShot) int { return cmp.Compare(a.TimeMS, b.TimeMS) })
	return frames, shots, err
}

// mediaMaterial cuts a stretch of a medium, or of a stand-alone subtitle file,
// into what the build describes.
func (w *Worker) mediaMaterial(ctx context.Context, p *jobPlan, index int, opt tree.IngestOptions) (tree.Material, error) {
	st := p.Stretches[index]
	frames, shots, err := w.sampleStretch(ctx, p, st, opt)
	if err != nil {
		return tree.Material{}, err
	}
	m := tree.Material{Source: p.Source, Index: index, Span: st.Span, Title: st.Title}
	for _, span := range CutClips(st, p.facts(), shots, w.Settings) {
		m.Clips = append(m.Clips, tree.Clip{
			Span: span, Title: chapterTitle(p.Chapters, span),
			Leaves: CutLeaves(span, frames, shots, p.Cues, w.Settings),
		})
	}
	return m, nil
}
