package ingest

import (
	"regexp"
	"strconv"
	"strings"
)

// rawCue is a cue as its file has it: times in milliseconds, possibly wrong,
// text with mark-up.
type rawCue struct {
	start, end int64
	speaker    string
	text       string
}

const clockPattern = `(-?(?:\d{1,5}:)?\d{1,3}:\d{1,2}(?:[.,]\d{1,9})?)`

// arrowLine is the line with the times of SRT and WebVTT; settings behind them
// do not matter, however many blanks separate them.
var arrowLine = regexp.MustCompile(`(?m)^[ \t]*` + clockPattern + `[ \t]*-+>[ \t]*` + clockPattern + `(?:[ \t].*)?$`)

// readArrows reads SRT and WebVTT. A WebVTT cue ends at an empty line; an SRT
// cue only at the next cue, since many files have empty lines inside of cues.
// Headers, styles, regions and notes have no arrow line, so they are skipped.
func readArrows(text string, vtt bool) []rawCue {
	var cues []rawCue
	marks := arrowLine.FindAllStringSubmatchIndex(text, -1)
	for i, m := range marks {
		end := len(text)
		if i+1 < len(marks) {
			end = marks[i+1][0]
		}
		body := text[m[1]:end]
		if vtt {
			body = vttBody(body)
		} else if i+1 < len(marks) {
			body = dropCounter(body)
		}
		start, ok1 := parseClock(text[m[2]:m[3]])
		stop, ok2 := parseClock(text[m[4]:m[5]])
		if ok1 && ok2 {
			cues = append(cues, rawCue{start: start, end: stop, text: body})
		}
	}
	return cues
}

// vttBody is the text up to the first empty line.
func vttBody(s string) string {
	s = strings.TrimPrefix(s, "\n")
	if strings.HasPrefix(s, "\n") {
		return ""
	}
	body, _, _ := strings.Cut(s, "\n\n")
	return body
}

// dropCounter takes the number of the next cue off the end.
func dropCounter(s string) string {
	s = strings.TrimRight(s, " \t\n")
	head, last := "", s
	if i := strings.LastIndexByte(s, '\n'); i >= 0 {
		head, last = s[:i], s[i+1:]
	}
	if last = strings.TrimSpace(last); last != "" && len(last) < 8 && strings.Trim(last, "0123456789") == "" {
		return head
	}
	return s
}

// parseClock reads [h:]mm:ss[.fff], comma or point, as milliseconds.
func parseClock(s string) (int64, bool) {
	negative := strings.HasPrefix(s, "-")
	s = strings.TrimPrefix(s, "-")
	whole, frac, _ := strings.Cut(strings.ReplaceAll(s, ",", "."), ".")
	total := int64(0)
	for part := range strings.SplitSeq(whole, ":") {
		n, err := strconv.ParseInt(strings.TrimSpace(part), 10, 32)
		if err != nil || n < 0 {
			return 0, false
		}
		total = total*60 + n
	}
	ms := int64(0)
	if frac != "" {
		n, err := strconv.ParseInt((frac + "00")[:3], 10, 32)
		if err != nil {
			return 0, false
		}
		ms = n
	}
	total = total*1000 + ms
	if negative {
		total = -total
	}
	return total, true
}

var vttLang = regexp.MustCompile(`(?m)\A[^\n]*\n(?:[A-Z][^\n]*\n)*?Language:[ \t]*([A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8})*)[ \t]*$`)

// vttLanguage is the language that the header of a WebVTT file names.
func vttLanguage(text string) string {
	if m := vttLang.FindStringSubmatch(text); m != nil {
		return m[1]
	}
	return ""
}
