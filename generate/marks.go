package generate

import (
	"strconv"
	"strings"

	"github.com/reeltree/reeltree/tree"
)

// markSigns may stand between the numbers of a mark.
const markSigns = ",; -–—‒‑−\u00a0"

// mostMarkNumbers bounds a range such as [1-900].
const mostMarkNumbers = 20

var dashes = strings.NewReplacer("–", "-", "—", "-", "‒", "-", "‑", "-", "−", "-", ";", ",", "\u00a0", " ")

// markNumbers reads "1", "1, 3", "1 3", "1-3" and "1–3"; each number once, in
// order. A number too large for an int reads as 0, which no evidence has.
func markNumbers(text string) []int {
	var all []int
	seen := map[int]bool{}
	add := func(from, to int) {
		for n := from; n <= to && n-from < mostMarkNumbers && len(all) < mostMarkNumbers; n++ {
			if !seen[n] {
				seen[n] = true
				all = append(all, n)
			}
		}
	}
	for part := range strings.SplitSeq(dashes.Replace(text), ",") {
		from, to, isRange := strings.Cut(part, "-")
		if !isRange {
			for word := range strings.FieldsSeq(part) {
				add(atoi(word), atoi(word))
			}
			continue
		}
		a, b := atoi(from), atoi(to)
		switch {
		case strings.TrimSpace(from) == "":
			a = b
		case strings.TrimSpace(strings.Trim(to, "- ")) == "":
			b = a
		case b < a:
			a, b = b, a
		}
		add(a, b)
	}
	return all
}

func atoi(s string) int {
	n, err := strconv.Atoi(strings.Trim(s, "- "))
	if err != nil {
		return 0
	}
	return n
}

func isDigit(r rune) bool { return r >= '0' && r <= '9' }

func isColon(r rune) bool { return r == ':' || r == '：' }

// zeros begin the scripts' decimal digits in which a model may write a time.
var zeros = [...]rune{'0', '٠', '۰', '०', '০', '๐', '０'}

// timeDigit is the value of a decimal digit, -1 for any other rune.
func timeDigit(r rune) int {
	for _, zero := range zeros {
		if r >= zero && r <= zero+9 {
			return int(r - zero)
		}
	}
	return -1
}

// readTime reads m:ss and h:mm:ss as seconds; the latter also where a part has
// more than 59, since nothing else looks like that ("7:77" is a ratio).
func readTime(text string) (seconds int64, ok bool) {
	value, digits, parts := int64(0), 0, 1
	for _, r := range text {
		switch d := timeDigit(r); {
		case d >= 0:
			value, digits = value*10+int64(d), digits+1
			if parts > 1 && digits > 2 {
				return 0, false
			}
		case isColon(r) && digits > 0 && parts < 3 && (parts == 1 || digits == 2):
			seconds, value, digits = (seconds+value)*60, 0, 0
			parts++
		default:
			return 0, false
		}
	}
	return seconds + value, parts > 1 && digits == 2 && (parts == 3 || value <= 59)
}

// facts are what a model may name: it was shown exactly these.
type facts struct {
	numbers map[int]bool    // of evidence
	times   map[int64]bool  // seconds at which shown evidence begins or ends
	quoted  map[string]bool // numbers in its words, as they stand there
	ids     map[string]bool // of its sources
}

// foreign reports whether a text reads as a time that stands in no evidence.
func (f facts) foreign(text string) bool {
	seconds, ok := readTime(text)
	return ok && !f.times[seconds] && !f.quoted[text]
}

// factsOf gathers what the shown pieces of evidence hold.
func factsOf(evidence []Evidence, items []item, shown map[int]bool) facts {
	f := facts{numbers: shown, times: map[int64]bool{}, quoted: map[string]bool{}, ids: map[string]bool{}}
	for i, e := range evidence {
		if !shown[e.N] {
			continue
		}
		if e.Span.Unit == tree.UnitMS {
			f.times[e.Span.StartMS/1000], f.times[e.Span.EndMS/1000] = true, true
		}
		f.ids[e.Source.ID] = true
		for _, text := range []string{e.Quote, items[i].Text} {
			for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return timeDigit(r) < 0 && !isColon(r) }) {
				f.quoted[strings.Trim(word, ":：")] = true
			}
		}
	}
	return f
}
