package tree

import (
	"encoding/json"
	"regexp"
	"strings"
)

// replyWords bounds one text of a model, however much it says.
const replyWords = 120

// maxTries bounds the brackets at which an array is looked for.
const maxTries = 20

// parseTexts finds a JSON array of exactly n texts in a reply, past code
// fences, prose, wrapping objects, trailing commas and raw line breaks.
func parseTexts(reply string, n int) ([]string, bool) {
	s := afterThinking(reply)
	for from, tries := 0, 0; tries < maxTries; tries++ {
		i := strings.IndexByte(s[from:], '[')
		if i < 0 {
			return nil, false
		}
		from += i
		var all []json.RawMessage
		if json.NewDecoder(strings.NewReader(mendJSON(s[from:]))).Decode(&all) == nil && len(all) == n {
			if texts, ok := textsOf(all); ok {
				return texts, true
			}
		}
		from++
	}
	return nil, false
}

func textsOf(all []json.RawMessage) ([]string, bool) {
	out := make([]string, len(all))
	for i, raw := range all {
		if out[i] = shorten(oneLine(textOf(raw)), replyWords); out[i] == "" {
			return nil, false
		}
	}
	return out, true
}

// textOf is a JSON text, or the text inside an object where a model answers
// [{"description": "..."}].
func textOf(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	var m map[string]json.RawMessage
	if json.Unmarshal(raw, &m) != nil {
		return ""
	}
	for _, k := range []string{"description", "text", "caption"} {
		if json.Unmarshal(m[k], &s) == nil && s != "" {
			return s
		}
	}
	return ""
}

// mendJSON takes out what models put into JSON though it is not allowed: raw
// control characters in texts and commas before a closing bracket.
func mendJSON(s string) string {
	b := []byte(s)
	out := make([]byte, 0, len(b))
	inText := false
	for i := 0; i < len(b); i++ {
		c := b[i]
		switch {
		case inText && c == '\\' && i+1 < len(b):
			out = append(out, c, b[i+1])
			i++
			continue
		case c == '"':
			inText = !inText
		case inText && c < 0x20:
			c = ' '
		case !inText && c == ',' && closes(b[i+1:]):
			continue
		}
		out = append(out, c)
	}
	return string(out)
}

// closes reports whether the next thing in b is a closing bracket.
func closes(b []byte) bool {
	for _, c := range b {
		switch c {
		case ' ', '\t', '\n', '\r':
		default:
			return c == ']' || c == '}'
		}
	}
	return false
}

var fences = regexp.MustCompile("(?m)^\\s*```\\w*\\s*$")

// plainText is the text of a reply that should be plain: without code fences,
// quotes around it or a JSON wrapping, on one line; a text cut by its length
// limit ends with its last whole sentence.
func plainText(r Reply) string {
	s := strings.TrimSpace(fences.ReplaceAllString(afterThinking(r.Text), ""))
	if texts, ok := parseTexts(s, 1); ok && strings.HasPrefix(s, "[") {
		return texts[0]
	}
	if strings.HasPrefix(s, "{") {
		if t := textOf(json.RawMessage(mendJSON(s))); t != "" {
			s = t
		}
	}
	s = oneLine(s)
	if n := len(s); n > 1 && s[0] == '"' && s[n-1] == '"' && !strings.Contains(s[1:n-1], `"`) {
		s = strings.TrimSpace(s[1 : n-1])
	}
	if all := splitSentences(s); r.Finish == "length" && len(all) > 1 {
		last := all[len(all)-1]
		s = strings.TrimSpace(strings.TrimSuffix(s, last))
	}
	return shorten(s, replyWords)
}

// afterThinking drops the thoughts some models write first. Only at the very
// start: further on the tag is the source's own text.
func afterThinking(s string) string {
	s = strings.TrimSpace(s)
	rest, ok := strings.CutPrefix(s, "<think>")
	if !ok {
		return s
	}
	_, said, ended := strings.Cut(rest, "</think>")
	if !ended {
		return ""
	}
	return strings.TrimSpace(said)
}

func oneLine(s string) string { return strings.Join(strings.Fields(tidy(s)), " ") }
