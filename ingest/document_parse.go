package ingest

import (
	"html"
	"regexp"
	"strings"
	"unicode/utf8"
)

// document is a text cut into atoms: paragraphs, or parts of long ones.
type document struct {
	title  string // its only top heading, else empty
	length int64  // code points of all paragraphs and cells
	facts  DocumentFacts
	atoms  []atom
	blocks []Block
}

// atom is one L3 of a text: a piece of a paragraph, or rows of a table.
type atom struct {
	block      int // index of its block; the paragraph's number is one more
	start, end int // code points inside the block
	words      int
	text       string
	heading    int // index of the heading block it stands under, -1 without
	rows       *tableRows
}

// parseDocument reads Markdown or plain text in any encoding. It never fails.
func parseDocument(format string, data []byte) *document {
	text, enc, guessed := decodeText(data)
	d := &document{}
	if guessed {
		d.facts.Encoding = enc
	}
	if format == formatMarkdown {
		d.blocks = markdownBlocks(text)
	} else {
		d.blocks = textBlocks(text)
	}
	d.cutAtoms()
	return d
}

// textBlocks are the paragraphs of plain text: what empty lines separate.
func textBlocks(text string) []Block {
	var out []Block
	for part := range strings.SplitSeq(blankLines.ReplaceAllString(text, "\n\n"), "\n\n") {
		if t := flatText(part, len(part)); t != "" {
			out = append(out, Block{Text: t})
		}
	}
	return out
}

var blankLines = regexp.MustCompile(`\n[ \t\f\v]*\n\s*`)

// cutAtoms makes the atoms of all blocks. A heading is the title of what is
// below it; one with nothing below stands for itself.
func (d *document) cutAtoms() {
	heading := -1
	tops := 0
	for i, b := range d.blocks {
		d.length += int64(utf8.RuneCountInString(b.Text))
		for _, c := range b.Cells {
			d.length += int64(utf8.RuneCountInString(c))
		}
		if b.Level > 0 {
			heading = i
			if b.Level == 1 {
				tops++
				d.title = b.Text
			}
			if i+1 < len(d.blocks) && (d.blocks[i+1].Level == 0 || d.blocks[i+1].Level > b.Level) {
				continue
			}
		}
		if b.Table > 0 {
			continue // tables are cut as a whole
		}
		for _, a := range splitPassage(b.Text) {
			a.block, a.heading = i, heading
			d.atoms = append(d.atoms, a)
		}
	}
	if tops != 1 {
		d.title = ""
	}
	d.cutTables()
}

var (
	mdFence   = regexp.MustCompile("^ {0,3}(```+|~~~+)")
	mdHeading = regexp.MustCompile(`^ {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$`)
	mdUnder   = regexp.MustCompile(`^ {0,3}(=+|-+)[ \t]*$`)
	mdRule    = regexp.MustCompile(`^ {0,3}(?:(?:\*[ \t]*){3,}|(?:_[ \t]*){3,}|(?:-[ \t]*){3,})$`)
	mdItem    = regexp.MustCompile(`^\s{0,12}(?:[-*+]|\d{1,9}[.)])[ \t]+`)
	mdQuote   = regexp.MustCompile(`^ {0,3}(?:>[ \t]?)+`)
)

// markdownBlocks reads the block structure of Markdown: headings in both
// styles, fenced code (an unclosed fence runs to the end), list items and
// quotes as paragraphs.
func markdownBlocks(text string) []Block {
	r := mdReader{}
	for line := range strings.SplitSeq(skipFront(text), "\n") {
		r.line(line)
	}
	r.flush()
	return r.out
}

// skipFront drops the block of settings between two lines of dashes at the top.
func skipFront(text string) string {
	if rest, ok := strings.CutPrefix(text, "---\n"); ok {
		if _, body, closed := strings.Cut(rest, "\n---\n"); closed {
			return body
		}
	}
	return text
}

type mdReader struct {
	out   []Block
	lines []string
	fence string // the mark that closes the code block being read
}

func (r *mdReader) line(line string) {
	if r.fence != "" {
		if m := mdFence.FindStringSubmatch(line); m != nil && strings.HasPrefix(m[1], r.fence) && strings.TrimSpace(line) == m[1] {
			r.flushCode()
			return
		}
		r.lines = append(r.lines, line)
		return
	}
	if m := mdFence.FindStringSubmatch(line); m != nil {
		r.flush()
		r.fence = m[1]
		return
	}
	if m := mdHeading.FindStringSubmatch(line); m != nil {
		r.flush()
		r.add(len(m[1]), m[2])
		return
	}
	if m := mdUnder.FindStringSubmatch(line); m != nil && len(r.lines) > 0 {
		level := 2
		if m[1][0] == '=' {
			level = 1
		}
		text := strings.Join(r.lines, " ")
		r.lines = nil
		r.add(level, text)
		return
	}
	if strings.TrimSpace(line) == "" || mdRule.MatchString(line) {
		r.flush()
		return
	}
	if mdItem.MatchString(line) {
		r.flush()
		line = mdItem.ReplaceAllString(line, "")
	}
	r.lines = append(r.lines, mdQuote.ReplaceAllString(line, ""))
}

// flush ends the paragraph or code block being read.
func (r *mdReader) flush() {
	if r.fence != "" {
		r.flushCode()
		return
	}
	text := strings.Join(r.lines, "\n")
	r.lines = nil
	r.add(0, text)
}

// flushCode keeps code as it is written, without mark-up being read into it.
func (r *mdReader) flushCode() {
	text := flatText(strings.Join(r.lines, "\n"), 1<<30)
	r.lines, r.fence = nil, ""
	if text != "" {
		r.out = append(r.out, Block{Text: text})
	}
}

func (r *mdReader) add(level int, text string) {
	if text = inlineText(text); text != "" {
		r.out = append(r.out, Block{Level: level, Text: text})
	}
}

var (
	mdImage  = regexp.MustCompile(`!\[([^\[\]]*)\](?:\([^()]*(?:\([^()]*\)[^()]*)*\)|\[[^\[\]]*\])`)
	mdLink   = regexp.MustCompile(`\[([^\[\]]*)\](?:\([^()]*(?:\([^()]*\)[^()]*)*\)|\[[^\[\]]*\])`)
	mdAuto   = regexp.MustCompile(`<((?:https?|mailto):[^<>\s]+)>`)
	mdStrong = regexp.MustCompile("\\*\\*|__|~~|`+")
	mdEmph   = regexp.MustCompile(`(^|[^\p{L}\p{N}*_])[*_]([^\s*_](?:[^*_]*[^\s*_])?)[*_]($|[^\p{L}\p{N}*_])`)
	mdEscape = regexp.MustCompile("\\\\([!-/:-@\\[-`{-~])")
)

// inlineText is what a reader sees of a paragraph: words of links without
// their addresses, no pictures, no HTML.
func inlineText(s string) string {
	s = mdImage.ReplaceAllString(s, "$1")
	s = mdLink.ReplaceAllString(s, "$1")
	s = mdAuto.ReplaceAllString(s, "$1")
	s = stripTags(s)
	s = mdStrong.ReplaceAllString(s, "")
	s = mdEmph.ReplaceAllString(s, "$1$2$3")
	s = mdEscape.ReplaceAllString(s, "$1")
	return flatText(html.UnescapeString(s), 1<<30)
}
