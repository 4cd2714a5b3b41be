package ingest

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ledongthuc/pdf"
)

// pdfLine is a run of letters on one height, in the order they are drawn.
type pdfLine struct {
	text string
	size float64 // of the largest letter, in points
	y    float64 // of its first letter; grows upwards
}

// pdfPage is a page as lines.
type pdfPage struct {
	number int
	lines  []pdfLine
}

// pdfParagraph is what lines make together.
type pdfParagraph struct {
	text string
	size float64
}

// pageLines puts letters together: another height begins another line, a gap
// on the same height is a blank.
func pageLines(letters []pdf.Text) []pdfLine {
	var out []pdfLine
	var text strings.Builder
	var line pdfLine
	p := pen{spaced: spaced(letters)}
	flush := func() {
		if line.text = strings.TrimSpace(text.String()); line.text != "" {
			out = append(out, line)
		}
		text.Reset()
	}
	for i, l := range letters {
		size := max(math.Abs(l.FontSize), 1)
		if i == 0 || math.Abs(l.Y-line.y) > 0.4*max(size, line.size) {
			flush()
			line = pdfLine{size: size, y: l.Y}
			p.run = 0
			p.gap(l, size)
		} else if p.gap(l, size) {
			text.WriteByte(' ')
		}
		text.WriteString(l.S)
		line.size = max(line.size, size)
	}
	flush()
	return out
}

// pen follows where letters are drawn. For fonts without known widths all
// letters of one run stand at its beginning, so its width is estimated.
type pen struct {
	x, end float64
	run    int  // letters of unknown width at x
	spaced bool // the page writes its blanks itself
}

// usualWidth is about the width of a letter over its size.
const usualWidth = 0.5

// gap moves the pen to a letter and reports whether there is room for a blank
// before it; also where the pen jumps back, as between columns.
func (p *pen) gap(l pdf.Text, size float64) bool {
	room := l.X - p.end
	wide := room > 0.15*size
	if p.run > 0 {
		if l.X == p.x && l.W == 0 {
			p.run++
			return false
		}
		step := l.X - p.x
		room = step - usualWidth*size*float64(p.run)
		wide = step > 0.15*size
		if p.spaced {
			wide = room > max(2*size, 0.25*step) // the cells of a table, say
		}
	}
	p.x, p.end, p.run = l.X, l.X+l.W, 0
	if l.W == 0 {
		p.run = 1
	}
	return wide || room < -3*size
}

// spaced reports whether letters of unknown width come with their blanks.
func spaced(letters []pdf.Text) bool {
	blanks, all := 0, 0
	for _, l := range letters {
		if l.W == 0 {
			all++
			if l.S == " " {
				blanks++
			}
		}
	}
	return blanks*25 > all
}

// paragraphs joins the lines of a page: a new one begins where the pen jumps
// up, leaves more room than between lines, or changes its size.
func (p pdfPage) paragraphs(running map[string]bool) []pdfParagraph {
	var out []pdfParagraph
	var last pdfLine
	for i, l := range p.lines {
		if running[lineKey(l.text)] && (i < 2 || i >= len(p.lines)-2) {
			continue
		}
		drop := last.y - l.y
		joins := len(out) > 0 && drop > 0 && drop < 1.7*l.size && math.Abs(l.size-last.size) < 0.1*l.size && !bulleted(l.text)
		if joins {
			out[len(out)-1].text = joinLines(out[len(out)-1].text, l.text)
		} else {
			out = append(out, pdfParagraph{l.text, l.size})
		}
		last = l
	}
	return out
}

// joinLines takes back a hyphen at the end of a line.
func joinLines(a, b string) string {
	last, n := utf8.DecodeLastRuneInString(a)
	first, _ := utf8.DecodeRuneInString(b)
	before, _ := utf8.DecodeLastRuneInString(a[:len(a)-n])
	switch {
	case last == '\u00AD', last == '-' && unicode.IsLetter(before) && unicode.IsLower(first):
		return a[:len(a)-n] + b
	case dense(last) && dense(first):
		return a + b
	}
	return a + " " + b
}

// bulleted reports whether a line begins an item of a list.
func bulleted(text string) bool {
	first, n := utf8.DecodeRuneInString(text)
	return strings.ContainsRune("•▪◦‣–*·", first) && strings.HasPrefix(text[n:], " ")
}

// lineKey is a line without its numbers, so that "page 3" equals "page 4".
func lineKey(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsDigit(r) {
			return '#'
		}
		return unicode.ToLower(r)
	}, text)
}

// runningLines are the lines that stand among the first or last two of at least
// half of the pages, three or more.
func runningLines(all []pdfPage) map[string]bool {
	count := map[string]int{}
	for _, p := range all {
		seen := map[string]bool{}
		for i, l := range p.lines {
			if key := lineKey(l.text); (i < 2 || i >= len(p.lines)-2) && !seen[key] && len(p.lines) > 4 {
				seen[key] = true
				count[key]++
			}
		}
	}
	out := map[string]bool{}
	for key, n := range count {
		out[key] = n >= 3 && n*2 >= len(all)
	}
	return out
}

// pdfStyle tells headings from text: letters clearly larger than those most of
// the document is set in, the larger the higher.
type pdfStyle struct {
	body  float64
	sizes []float64 // of headings, descending
}

func styleOf(all []pdfPage) pdfStyle {
	letters := map[float64]int{}
	for _, p := range all {
		for _, l := range p.lines {
			letters[roundSize(l.size)] += utf8.RuneCountInString(l.text)
		}
	}
	var s pdfStyle
	most := 0
	for size, n := range letters {
		if n > most || n == most && size < s.body {
			s.body, most = size, n
		}
	}
	for size := range letters {
		if size >= 1.15*s.body {
			s.sizes = append(s.sizes, size)
		}
	}
	slices.SortFunc(s.sizes, func(a, b float64) int { return cmp.Compare(b, a) })
	return s
}

func roundSize(size float64) float64 { return math.Round(size*2) / 2 }

// headingRunes is the longest heading.
const headingRunes = 200

// level is that of a heading, 0 for text.
func (s pdfStyle) level(p pdfParagraph) int {
	if utf8.RuneCountInString(p.text) > headingRunes {
		return 0
	}
	i := slices.Index(s.sizes, roundSize(p.size))
	if i < 0 {
		return 0
	}
	return min(i+1, 6)
}
