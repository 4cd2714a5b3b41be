package tree

import (
	"fmt"
	"strings"
)

// leafText is what a moment says by itself, without any model: its passage,
// its table rows with their header, its spoken words, else what is seen.
func leafText(l Leaf) string {
	e := l.Evidence
	var parts []string
	if p := tidy(e.Passage); p != "" {
		parts = append(parts, p)
	}
	if len(e.Rows) > 0 {
		parts = append(parts, rowsText(e.Header, e.Rows))
	}
	if words := speech(e.Cues); words != "" {
		parts = append(parts, words)
	}
	screen := screenText([]Leaf{l}, screenWords)
	if len(parts) == 0 {
		return sighted(l, screen)
	}
	if screen != "" {
		parts = append(parts, screenLabel+": "+screen+".")
	}
	return strings.Join(parts, " ")
}

// sighted is the text of a moment without words.
func sighted(l Leaf, screen string) string {
	s := "No speech"
	if pictured(l) {
		s = "New picture"
	}
	if l.Span.Unit == UnitMS {
		s += " at " + Clock(l.Span.StartMS)
	}
	if screen != "" {
		s += ", on screen: " + screen
	}
	return s + "."
}

// pictured reports whether a moment is one of a frame.
func pictured(l Leaf) bool { return len(l.JPEG) > 0 || l.Evidence.Frame != nil }

// speech joins cues, naming a speaker where the speaker changes.
func speech(cues []Cue) string {
	var out, speaker string
	for _, c := range cues {
		text := clean(c.Text)
		if text == "" {
			continue
		}
		who := clean(c.Speaker)
		if who != "" && who != speaker {
			text = who + ": " + text
		}
		speaker = who
		out = joinText(out, text)
	}
	return out
}

// rowsText reads table rows aloud, "header: value; header: value", so that a
// row can be found by either.
func rowsText(header []string, rows [][]string) string {
	var lines []string
	for _, row := range rows {
		var cells []string
		for i, cell := range row {
			cell = clean(cell)
			if cell == "" {
				continue
			}
			if i < len(header) && clean(header[i]) != "" {
				cell = clean(header[i]) + ": " + cell
			}
			cells = append(cells, cell)
		}
		if len(cells) > 0 {
			lines = append(lines, strings.Join(cells, "; ")+".")
		}
	}
	if len(lines) == 0 {
		return "Empty table row."
	}
	return strings.Join(lines, " ")
}

// screenWords bounds the on-screen text that one description repeats.
const screenWords = 40

// screenText is the on-screen text of leaves, every line once, in order.
func screenText(leaves []Leaf, words int) string {
	var lines []string
	seen := map[string]bool{}
	for _, l := range leaves {
		for _, c := range l.Evidence.Screen {
			line := strings.TrimRight(clean(c.Text), ".;, ")
			if key := strings.ToLower(line); line != "" && !seen[key] {
				seen[key] = true
				lines = append(lines, line)
			}
		}
	}
	return shorten(strings.Join(lines, "; "), words)
}

// seen is what a clip without words shows.
func seenText(leaves []Leaf, kind Kind) string {
	pictures := 0
	for _, l := range leaves {
		if pictured(l) {
			pictures++
		}
	}
	var s string
	switch pictures {
	case 0:
		s = "No speech"
	case 1:
		s = "No speech; one picture"
	default:
		s = fmt.Sprintf("No speech; %d different pictures", pictures)
	}
	if kind == KindDocument || kind == KindImage {
		s = strings.TrimPrefix(s, "No speech; ")
		if pictures == 0 {
			s = "No text"
		}
		s = strings.ToUpper(s[:1]) + s[1:]
	}
	if screen := screenText(leaves, 2*screenWords); screen != "" {
		s += ", on screen: " + screen
	}
	return s + "."
}
