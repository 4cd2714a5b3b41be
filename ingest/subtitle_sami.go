package ingest

import (
	"cmp"
	"html"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

var (
	samiSync  = regexp.MustCompile(`(?i)<sync\b([^<>]*)>`)
	samiP     = regexp.MustCompile(`(?i)<p\b([^<>]*)>`)
	samiStart = regexp.MustCompile(`(?i)\bstart\s*=\s*["']?(-?\d{1,11})`)
	samiEnd   = regexp.MustCompile(`(?i)\bend\s*=\s*["']?(-?\d{1,11})`)
	samiClass = regexp.MustCompile(`(?i)\bclass\s*=\s*["']?([A-Za-z0-9_-]+)`)
	samiNotes = regexp.MustCompile(`(?s)<!--.*?(?:-->|$)`)
)

// samiLastMS is how long a cue without an end stands, at most.
const samiLastMS = 5000

// readSAMI reads a SAMI file. A cue lasts until the next mark of its class, a
// cue of blanks only ends the one before. Of several languages the one with
// the most text is taken, since they repeat each other.
func readSAMI(text string) []rawCue {
	text = samiNotes.ReplaceAllString(text, "")
	byClass := map[string][]rawCue{}
	marks := samiSync.FindAllStringSubmatchIndex(text, -1)
	for i, m := range marks {
		stop := len(text)
		if i+1 < len(marks) {
			stop = marks[i+1][0]
		}
		attr := text[m[2]:m[3]]
		at := samiStart.FindStringSubmatch(attr)
		if at == nil {
			continue
		}
		c := rawCue{end: -1}
		c.start, _ = strconv.ParseInt(at[1], 10, 64) // at most 11 digits
		if e := samiEnd.FindStringSubmatch(attr); e != nil {
			c.end, _ = strconv.ParseInt(e[1], 10, 64)
		}
		samiParagraphs(byClass, c, text[m[1]:stop])
	}
	return closeSAMI(byClass[loudest(byClass)])
}

// samiParagraphs adds the paragraphs under one mark to their classes.
func samiParagraphs(byClass map[string][]rawCue, c rawCue, body string) {
	marks := samiP.FindAllStringSubmatchIndex(body, -1)
	if len(marks) == 0 {
		c.text = body
		byClass[""] = append(byClass[""], c)
		return
	}
	for i, m := range marks {
		stop := len(body)
		if i+1 < len(marks) {
			stop = marks[i+1][0]
		}
		class := ""
		if k := samiClass.FindStringSubmatch(body[m[2]:m[3]]); k != nil {
			class = strings.ToLower(k[1])
		}
		c.text = body[m[1]:stop]
		byClass[class] = append(byClass[class], c)
	}
}

// loudest is the class with the most text, by name where two are equal.
func loudest(byClass map[string][]rawCue) string {
	size := func(class string) (n int) {
		for _, c := range byClass[class] {
			n += len(strings.TrimSpace(html.UnescapeString(stripTags(c.text))))
		}
		return n
	}
	names := make([]string, 0, len(byClass))
	for name := range byClass {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(size(b)-size(a), cmp.Compare(a, b)) })
	if len(names) == 0 {
		return ""
	}
	return names[0]
}

// closeSAMI gives every cue its end; blank ones vanish later.
func closeSAMI(cues []rawCue) []rawCue {
	slices.SortStableFunc(cues, func(a, b rawCue) int { return cmp.Compare(a.start, b.start) })
	for i := range cues {
		c := &cues[i]
		if c.end > c.start {
			continue
		}
		if c.end = c.start + samiLastMS; i+1 < len(cues) && cues[i+1].start > c.start {
			c.end = cues[i+1].start
		}
	}
	return cues
}
