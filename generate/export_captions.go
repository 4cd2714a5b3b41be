package generate

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/reeltree/reeltree/tree"
)

// clock is hh:mm:ss with milliseconds behind the given separator, as SRT (",")
// and WebVTT (".") write times.
func clock(ms int64, separator string) string {
	return fmt.Sprintf("%02d:%02d:%02d%s%03d", ms/3600000, ms/60000%60, ms/1000%60, separator, ms%1000)
}

// cueText keeps a cue's words from ending the cue or opening a tag.
func cueText(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", "-->", "--&gt;").Replace(s)
}

func eachCue(t *tree.Tree, write func(n int, c tree.Cue)) {
	n := 0
	for _, r := range t.Roots {
		for _, c := range r.Cues() {
			if c.EndMS > c.StartMS && strings.TrimSpace(c.Text) != "" {
				n++
				write(n, c)
			}
		}
	}
}

func writeVTT(b *bytes.Buffer, t *tree.Tree) error {
	b.WriteString("WEBVTT\n")
	eachCue(t, func(_ int, c tree.Cue) {
		voice := voiceTag(c.Speaker)
		fmt.Fprintf(b, "\n%s --> %s\n%s%s\n", clock(c.StartMS, "."), clock(c.EndMS, "."), voice, cueText(c.Text))
	})
	return nil
}

// voiceTag names the speaker; it holds no "-->", also not with its own bracket.
func voiceTag(speaker string) string {
	name := strings.NewReplacer(">", "", "<", "", "&", "&amp;").Replace(oneLine(speaker))
	if name = strings.Trim(name, "- "); name == "" {
		return ""
	}
	return "<v " + name + ">"
}

func writeSRT(b *bytes.Buffer, t *tree.Tree) error {
	eachCue(t, func(n int, c tree.Cue) {
		if n > 1 {
			b.WriteByte('\n')
		}
		text := strings.ReplaceAll(strings.Join(strings.Fields(c.Text), " "), "-->", "→")
		if c.Speaker != "" {
			text = c.Speaker + ": " + text
		}
		fmt.Fprintf(b, "%d\n%s --> %s\n%s\n", n, clock(c.StartMS, ","), clock(c.EndMS, ","), text)
	})
	return nil
}
