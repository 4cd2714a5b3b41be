package ingest

import (
	"html"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

var (
	hiddenTag   = regexp.MustCompile(`(?is)<(script|style)\b[^>]*>.*?(?:</(?:script|style)\s*>|$)`)
	breakTag    = regexp.MustCompile(`(?i)<(?:br|p|div|/p|/div)\b[^<>]*>`)
	anyTag      = regexp.MustCompile(`</?[A-Za-z][^<>]*>|<\d[\d:.]{3,20}>`)
	braceTag    = regexp.MustCompile(`\{\\[^{}]*\}`)
	voiceTag    = regexp.MustCompile(`<v(?:\.[^ \t>]*)?[ \t]+([^<>]{1,200})>`)
	shoutedName = regexp.MustCompile(`^(?:>>\s*|-\s*)?(\p{Lu}[\p{Lu}\p{N}'’.\- ]{0,38}[\p{Lu}\p{N}.]):\s+(\S.*)$`)
	calmName    = regexp.MustCompile(`^(?:>>\s*|-\s*)?(\p{L}[\p{L}\p{M}\p{N}_'’.\-]{0,30}(?: [\p{L}\p{N}][\p{L}\p{M}\p{N}_'’.\-]{0,30}){0,2}):\s+(\S.*)$`)
)

// stripTags drops mark-up of all subtitle formats, with the content of scripts
// and styles, but keeps a plain "a < b".
func stripTags(s string) string {
	if !strings.ContainsAny(s, "<{") {
		return s
	}
	s = hiddenTag.ReplaceAllString(s, " ")
	s = breakTag.ReplaceAllString(s, "\n")
	return braceTag.ReplaceAllString(anyTag.ReplaceAllString(s, ""), "")
}

// cueText is the text of a cue in one line: no mark-up, entities resolved.
func cueText(raw string) string {
	s := strings.TrimSpace(stripTags(raw))
	if strings.Contains(s, "&") {
		s = html.UnescapeString(s)
	}
	return flatText(s, subtitleCueBytes)
}

// subtitleCueBytes bounds the text of one cue; what is longer is not speech.
const subtitleCueBytes = 4000

// flatText folds blanks, drops what is neither text nor blank, and cuts at
// limit bytes between two characters.
func flatText(s string, limit int) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '\uFEFF' || r == '\u200E' || r == '\u200F' || r >= '\u202A' && r <= '\u202E':
			return -1
		case unicode.IsControl(r):
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
	s = strings.Join(strings.Fields(s), " ")
	if len(s) > limit {
		s = s[:limit]
		for !utf8.ValidString(s) {
			s = s[:len(s)-1]
		}
	}
	return s
}

// voice is the name in the first <v Name> of a cue.
func voice(raw string) string {
	if m := voiceTag.FindStringSubmatch(raw); m != nil {
		return flatText(html.UnescapeString(m[1]), 200)
	}
	return ""
}

// named splits "NAME: words". A name in capitals is taken wherever it stands;
// one in small letters only where the file names its speakers throughout
// (known), so that "Note: …" stays text.
func named(text string, known map[string]bool) (speaker, rest string) {
	if m := shoutedName.FindStringSubmatch(text); m != nil && countLetters(m[1]) >= 2 {
		return m[1], m[2]
	}
	if m := calmName.FindStringSubmatch(text); m != nil && known[m[1]] {
		return m[1], m[2]
	}
	return "", text
}

func countLetters(s string) (n int) {
	for _, r := range s {
		if unicode.IsLetter(r) {
			n++
		}
	}
	return n
}

// calmNames are the names that stand before a colon in at least two cues, if
// at least three of ten cues begin with such a name.
func calmNames(texts []string) map[string]bool {
	count := map[string]int{}
	for _, t := range texts {
		if m := calmName.FindStringSubmatch(t); m != nil {
			count[m[1]]++
		}
	}
	known, cues := map[string]bool{}, 0
	for name, n := range count {
		if n >= 2 {
			known[name] = true
			cues += n
		}
	}
	if cues*10 < len(texts)*3 {
		return nil
	}
	return known
}
