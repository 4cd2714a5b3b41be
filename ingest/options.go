package ingest

import (
	"slices"

	"github.com/reeltree/reeltree/tree"
)

// CheckOptions refuses wishes that no source could fulfil, before anything is
// fetched or worked on for them.
func CheckOptions(o tree.IngestOptions) error {
	switch {
	case o.FromMS < 0 || o.ToMS < 0:
		return refuseSource("The wanted part begins or ends before the source does: give from_ms and to_ms from 0 upward.")
	case o.ToMS > 0 && o.FromMS >= o.ToMS:
		return refuseSource("The wanted part ends at %s, not after its beginning at %s: give a later end, or 0 for the end of the source.", tree.Clock(o.ToMS), tree.Clock(o.FromMS))
	case o.AudioTrack < 0:
		return refuseSource("There is no audio track %d: count them from 1, or give 0 for the default one.", o.AudioTrack)
	case o.MaxCalls < 0 || o.MaxTokens < 0:
		return refuseSource("A cap of calls or tokens is below 0: give a number above it, or 0 for no cap.")
	}
	for _, c := range []struct {
		name, given string
		known       []string
	}{
		{"visual", o.Visual, []string{"", "on", "off"}},
		{"detail", o.Detail, []string{"", "low", "normal", "high"}},
		{"keep", o.Keep, []string{"", "media", "frames"}},
	} {
		if !slices.Contains(c.known, c.given) {
			return refuseSource("The option %s is %q, which is unknown: give %s.", c.name, oneLine(c.given, 40), list(c.known[1:]))
		}
	}
	return nil
}

// list joins words as a sentence does.
func list(words []string) string {
	out := ""
	for i, w := range words {
		switch {
		case i == 0:
			out = w
		case i == len(words)-1:
			out += " or " + w
		default:
			out += ", " + w
		}
	}
	return out
}
