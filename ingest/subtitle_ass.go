package ingest

import (
	"regexp"
	"slices"
	"strings"
)

// readASS reads the dialogue lines of ASS and SSA files.
func readASS(text string) []rawCue {
	var cues []rawCue
	// Without a Format line the order of version 4+ holds, whose first three
	// fields stand where those of version 4 do.
	format := []string{"layer", "start", "end", "style", "name", "marginl", "marginr", "marginv", "effect", "text"}
	events := false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		key, value, _ := strings.Cut(line, ":")
		switch key = strings.ToLower(strings.TrimSpace(key)); {
		case strings.HasPrefix(line, "["):
			events = strings.EqualFold(line, "[events]")
		case !events:
		case key == "format":
			format = format[:0:0]
			for f := range strings.SplitSeq(value, ",") {
				format = append(format, strings.ToLower(strings.TrimSpace(f)))
			}
		case key == "dialogue":
			if c, ok := assCue(format, value); ok {
				cues = append(cues, c)
			}
		}
	}
	return cues
}

// assCue splits one dialogue line. The text is the last field and may hold commas.
func assCue(format []string, value string) (rawCue, bool) {
	fields := strings.SplitN(value, ",", len(format))
	get := func(name string) string {
		if i := slices.Index(format, name); i >= 0 && i < len(fields) {
			return strings.TrimSpace(fields[i])
		}
		return ""
	}
	start, ok1 := parseClock(get("start"))
	end, ok2 := parseClock(get("end"))
	c := rawCue{start: start, end: end, speaker: get("name"), text: assText(get("text"))}
	if c.speaker == "" {
		c.speaker = get("actor")
	}
	return c, ok1 && ok2
}

var (
	assDraw   = regexp.MustCompile(`(?s)\{[^{}]*\\p[1-9]\d*[^{}]*\}.*?(?:\{[^{}]*\\p0[^{}]*\}|$)`)
	assBlock  = regexp.MustCompile(`\{[^{}]*\}`)
	assEscape = strings.NewReplacer(`\N`, "\n", `\n`, "\n", `\h`, " ")
)

// assText drops drawings and override blocks; every {…} is one in ASS, even a
// comment of the author.
func assText(s string) string {
	return assEscape.Replace(assBlock.ReplaceAllString(assDraw.ReplaceAllString(s, " "), ""))
}
