package ingest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/reeltree/reeltree/tree"
)

// cueDrops counts what was left out of a subtitle file.
type cueDrops struct {
	late    int // begin at or after the end of the medium
	wrong   int // negative or reversed times
	surplus int // beyond the most cues that are kept
}

func (d cueDrops) warnings(durationMS int64) []string {
	var out []string
	if d.late > 0 {
		out = append(out, fmt.Sprintf("%s beyond the end at %s and %s left out; check that the subtitles belong to this file.", plural(d.late, "subtitle cue lies", "subtitle cues lie"), tree.Clock(durationMS), wasWere(d.late)))
	}
	if d.wrong > 0 {
		out = append(out, fmt.Sprintf("%s times that cannot be and %s left out.", plural(d.wrong, "subtitle cue has", "subtitle cues have"), wasWere(d.wrong)))
	}
	if d.surplus > 0 {
		out = append(out, fmt.Sprintf("%s left out, since only the first %d are kept.", plural(d.surplus, "subtitle cue was", "subtitle cues were"), maxMediaCues))
	}
	return out
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

func wasWere(n int) string {
	if n == 1 {
		return "was"
	}
	return "were"
}

// finishSubtitles makes cues of raw ones: mark-up off, speakers apart, in
// order, only those that can be shown in a medium of durationMS (0: unknown).
func finishSubtitles(raw []rawCue, durationMS int64) ([]tree.Cue, cueDrops) {
	texts := make([]string, len(raw))
	for i, c := range raw {
		texts[i] = cueText(c.text)
	}
	known := calmNames(texts)
	cues := make([]tree.Cue, 0, len(raw))
	for i, c := range raw {
		speaker, text := flatText(c.speaker, 200), texts[i]
		if speaker == "" {
			speaker = voice(c.text)
		}
		if speaker == "" {
			speaker, text = named(text, known)
		}
		cues = append(cues, tree.Cue{StartMS: c.start, EndMS: c.end, Speaker: speaker, Text: text})
	}
	return fitCues(cues, durationMS)
}

// fitCues sorts cues and drops those that are empty, wrong, doubled, rolling
// or past the end; one that runs over the end is cut there.
func fitCues(cues []tree.Cue, durationMS int64) ([]tree.Cue, cueDrops) {
	var d cueDrops
	kept := make([]tree.Cue, 0, len(cues))
	for _, c := range cues {
		switch {
		case c.Text == "":
		case c.StartMS < 0 || c.EndMS <= c.StartMS || c.StartMS > maxMediaMS:
			d.wrong++
		case durationMS > 0 && c.StartMS >= durationMS:
			d.late++
		default:
			if c.EndMS = min(c.EndMS, maxMediaMS+1); durationMS > 0 {
				c.EndMS = min(c.EndMS, durationMS)
			}
			kept = append(kept, c)
		}
	}
	slices.SortStableFunc(kept, func(a, b tree.Cue) int {
		return cmp.Or(cmp.Compare(a.StartMS, b.StartMS), cmp.Compare(a.EndMS, b.EndMS))
	})
	kept = unroll(slices.Compact(kept))
	if len(kept) > maxMediaCues {
		d.surplus = len(kept) - maxMediaCues
		kept = kept[:maxMediaCues]
	}
	return kept, d
}

// Rolling captions, as live and automatic captioning writes them, repeat the
// last line above the new one: every word stands in two or three cues.
const (
	rollMemory = 60 // words that a cue may repeat
	rollMin    = 2  // words in common that count as rolling
)

// unroll takes repeated words out of rolling captions. Files in which fewer
// than three of ten cues repeat the one before are left alone, so that people
// may say things twice.
func unroll(cues []tree.Cue) []tree.Cue {
	words := make([][]string, len(cues))
	for i, c := range cues {
		words[i] = strings.Fields(c.Text)
	}
	rolling := 0
	for i := 1; i < len(cues); i++ {
		if k := repeated(words[i-1], words[i]); k >= rollMin || k > 0 && k == len(words[i]) {
			rolling++
		}
	}
	if len(cues) < 3 || rolling*10 < len(cues)*3 {
		return cues
	}
	var out []tree.Cue
	var said []string
	for i, c := range cues {
		fresh := words[i][repeated(said, words[i]):]
		said = append(said, fresh...)
		said = said[max(0, len(said)-rollMemory):]
		switch {
		case len(fresh) > 0:
			c.Text = strings.Join(fresh, " ")
			out = append(out, c)
		case len(out) > 0:
			last := &out[len(out)-1]
			last.EndMS = max(last.EndMS, c.EndMS)
		}
	}
	return noOverlap(out)
}

// repeated is the number of words at the start of next that end said.
func repeated(said, next []string) int {
	for k := min(len(said), len(next), rollMemory); k > 0; k-- {
		if slices.Equal(said[len(said)-k:], next[:k]) {
			return k
		}
	}
	return 0
}

// noOverlap ends every cue where the next begins, since what rolls out of
// sight was said before.
func noOverlap(cues []tree.Cue) []tree.Cue {
	for i := 1; i < len(cues); i++ {
		if p := &cues[i-1]; p.EndMS > cues[i].StartMS && cues[i].StartMS > p.StartMS {
			p.EndMS = cues[i].StartMS
		}
	}
	return cues
}
