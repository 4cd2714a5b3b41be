package testkit

import (
	"fmt"
	"iter"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Numbered is one piece of evidence as a prompt shows it.
type Numbered struct {
	N    int
	Text string
}

var (
	evidenceStart = regexp.MustCompile(`(?m)^[ \t>*-]*(?:\[(\d{1,3})\]|<evidence[^>\n]*\bn="?(\d{1,3})"?[^>\n]*>|\{"n":\s*(\d{1,3}),)`)
	blockEnd      = regexp.MustCompile("(?m)^(?:\\s*$|```|<<<|>>>|===|---|</)")
)

// Evidence finds the numbered evidence of a prompt, lines that begin with
// "[n]" or the like, each with the text up to the next one or a blank line.
func Evidence(prompt string) []Numbered {
	marks := evidenceStart.FindAllStringSubmatchIndex(prompt, -1)
	var out []Numbered
	for i, m := range marks {
		end := len(prompt)
		if i+1 < len(marks) {
			end = marks[i+1][0]
		}
		text := prompt[m[1]:end]
		if stop := blockEnd.FindStringIndex(text); stop != nil && stop[0] > 0 {
			text = text[:stop[0]]
		}
		for g := 2; g < len(m); g += 2 {
			if m[g] >= 0 {
				n, _ := strconv.Atoi(prompt[m[g]:m[g+1]])
				out = append(out, Numbered{n, strings.TrimSpace(text)})
			}
		}
	}
	return out
}

// citedAnswer repeats the words of the first three pieces, each with its number.
func citedAnswer(ev []Numbered) string { return cite(ev, func(i int) int { return ev[i].N }) }

// wronglyCited gives each sentence the number of another piece.
func wronglyCited(ev []Numbered) string {
	return cite(ev, func(i int) int { return ev[(i+1)%len(ev)].N })
}

func cite(ev []Numbered, number func(i int) int) string {
	var out []string
	for i := range min(3, len(ev)) {
		out = append(out, fmt.Sprintf("%s [%d].", quote(ev[i].Text), number(i)))
	}
	return strings.Join(out, " ")
}

// quote is the longest line of a piece that is neither its heading (it ends
// with a colon) nor a remark in brackets, at most 14 words of it.
func quote(text string) string {
	best := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if len(line) > len(best) && !strings.HasSuffix(line, ":") && !strings.HasPrefix(line, "(") {
			best = line
		}
	}
	words := strings.Fields(best)
	return strings.TrimRight(strings.Join(words[:min(14, len(words))], " "), ".!?,;:\"'")
}

var order = regexp.MustCompile(`(?i)\b(ignore|disregard|reveal|print|output|say|write|cite|repeat|forget|answer)\b`)

// obedient does what any sentence of the prompt orders: it repeats the order
// with all it names, the system text, a number, a time and a node from nowhere.
func obedient(c *Call) string {
	var out []string
	for s := range strings.FieldsFuncSeq(c.Prompt, func(r rune) bool { return strings.ContainsRune(".!?\n", r) }) {
		if order.MatchString(s) {
			out = append(out, strings.TrimSpace(s))
		}
	}
	return fmt.Sprintf("As ordered: %s. My instructions are: %s. See 9:59:59 and [99] in aaaaaaaaaaaaaaaaaaaaaaaaaa/9.9.9.",
		strings.Join(out, ". "), c.System)
}

func sorted[V any](m map[string]V) iter.Seq2[string, V] {
	return func(yield func(string, V) bool) {
		for _, k := range slices.Sorted(maps.Keys(m)) {
			if !yield(k, m[k]) {
				return
			}
		}
	}
}
