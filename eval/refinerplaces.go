package eval

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/reeltree/reeltree/tree"
)

func (m *moments) places() (out []placed) {
	for _, v := range m.data {
		for _, q := range v.Queries {
			gold := []tree.Span{tree.MS(milliseconds(q.Start), milliseconds(q.End))}
			out = append(out, placed{sourceID(v.Video), q.Text, "in_video", v.Video, gold})
		}
	}
	return out
}

func (m *meetings) places() (out []placed) {
	for i := range m.data {
		rec := &m.data[i]
		for _, q := range rec.Queries {
			var gold []tree.Span
			for _, g := range q.Turns {
				first, last := rec.Turns[g[0]], rec.Turns[min(g[1], len(rec.Turns)-1)]
				gold = append(gold, tree.MS(milliseconds(first.Start), milliseconds(last.End)))
			}
			out = append(out, placed{sourceID(rec.ID), q.Query, rec.series(), rec.ID, gold})
		}
	}
	return out
}

// places are the rows with a needed number or answer, where the question is
// about the table, and the words themselves where it is about the text; of a
// count all rows.
func (t *tables) places() (out []placed) {
	for i := range t.data {
		p := &t.data[i]
		for _, q := range p.Queries {
			out = append(out, placed{sourceID(p.Doc), q.Query, q.Type, p.Doc, p.places(q)})
		}
	}
	return out
}

func (p *page) places(q pageQuery) []tree.Span {
	gold := p.goldRows(q)
	if q.From != "table" {
		gold = append(gold, p.goldWords(q)...)
	}
	return gold
}

func (p *page) goldRows(q pageQuery) (out []tree.Span) {
	if q.From == "text" {
		return nil
	}
	for i := p.headers(); i < len(p.Table); i++ {
		if q.Type == "count" || slices.ContainsFunc(p.Table[i], q.says) {
			out = append(out, tree.Span{Unit: tree.UnitRows, RowStart: i, RowEnd: i + 1})
		}
	}
	return out
}

// says reports whether a cell is a number of the derivation or holds an answer.
func (q *pageQuery) says(cell string) bool {
	if q.Type == "arithmetic" {
		return slices.Contains(distinctTexts(numbers.FindAllString(q.Derivation, -1), digits), digits(cell))
	}
	return slices.ContainsFunc(distinctTexts(q.answers(), strings.TrimSpace), func(a string) bool { return strings.Contains(cell, a) })
}

// goldWords are the places of the answers, or of the numbers of the derivation
// of more than one digit, in the paragraphs.
func (p *page) goldWords(q pageQuery) (out []tree.Span) {
	wanted := distinctTexts(q.answers(), strings.TrimSpace)
	if q.Type == "arithmetic" {
		wanted = distinctTexts(numbers.FindAllString(q.Derivation, -1), strings.TrimSpace)
	}
	for i, text := range p.Paragraphs {
		for _, w := range wanted {
			if at := strings.Index(text, w); at >= 0 && utf8.RuneCountInString(w) > 1 {
				from := utf8.RuneCountInString(text[:at])
				out = append(out, tree.Span{Unit: tree.UnitText, Paragraph: i + 1, StartChar: from, EndChar: from + utf8.RuneCountInString(w)})
			}
		}
	}
	return out
}
