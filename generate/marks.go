package generate

import (
	"strconv"
	"strings"

	"github.com/reeltree/reeltree/retrieve"
	"github.com/reeltree/reeltree/tree"
)

type item = retrieve.Item

// mostMarkNumbers bounds a range such as [1-900].
const mostMarkNumbers = 20

// markNumbers reads "1", "1, 3", "1-3" and "1–3"; each number once, in order.
func markNumbers(text string) []int {
	text = strings.NewReplacer("–", "-", "—", "-", ";", ",").Replace(text)
	var all []int
	seen := map[int]bool{}
	add := func(n int) {
		if !seen[n] && len(all) < mostMarkNumbers {
			seen[n] = true
			all = append(all, n)
		}
	}
	for part := range strings.SplitSeq(text, ",") {
		from, to, isRange := strings.Cut(strings.TrimSpace(part), "-")
		a, err := strconv.Atoi(strings.TrimSpace(from))
		if err != nil {
			continue
		}
		b := a
		if isRange {
			if b, err = strconv.Atoi(strings.TrimSpace(to)); err != nil {
				b = a
			}
		}
		for n := a; n <= b && n-a < mostMarkNumbers; n++ {
			add(n)
		}
		if b < a {
			add(a)
		}
	}
	return all
}

// isTime reports whether digits and colons read as m:ss or h:mm:ss.
func isTime(s string) bool {
	parts := strings.Split(strings.TrimRight(s, ":"), ":")
	if len(parts) < 2 || len(parts) > 3 {
		return false
	}
	for i, p := range parts {
		if n, err := strconv.Atoi(p); err != nil || i > 0 && (len(p) != 2 || n > 59) {
			return false
		}
	}
	return true
}

// evidenceTimes is every time a reader sees in the evidence, between blanks, in
// each way it may be written.
func evidenceTimes(evidence []Evidence) string {
	var b strings.Builder
	b.WriteByte(' ')
	for _, e := range evidence {
		if e.Span.Unit == tree.UnitMS {
			for _, ms := range []int64{e.Span.StartMS, e.Span.EndMS} {
				full := tree.Clock(ms)
				b.WriteString(full + " " + strings.TrimPrefix(full, "0:") + " ")
				b.WriteString(strings.TrimPrefix(strings.TrimPrefix(full, "0:"), "0") + " ")
			}
		}
		for word := range strings.FieldsSeq(e.Quote) {
			if w := strings.Trim(word, ".,;!?()"); isTime(w) {
				b.WriteString(w + " ")
			}
		}
	}
	return b.String()
}

// lastSentence is the sentence a mark stands behind.
func lastSentence(text string) string {
	pieces := cutSentences(text)
	if len(pieces) == 0 {
		return text
	}
	return pieces[len(pieces)-1]
}
