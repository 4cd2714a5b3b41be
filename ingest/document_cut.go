package ingest

import (
	"slices"
	"sort"
	"strings"
	"unicode"

	"github.com/reeltree/reeltree/tree"
)

// Sizes of the pieces of a text in words (as tree.Words counts them).
const (
	partWords    = 120 // the longest L3
	partSentence = 60  // from here on an L3 ends with a sentence
	partRunes    = 1500
	textL2Words  = 200
	textL1Words  = 2000
	maxSections  = 100     // more top headings than this are grouped by length
	textAllWords = 200_000 // a text longer than a long book is cut into longer pieces
)

// splitPassage cuts a long paragraph at ends of sentences, else between words,
// else anywhere. Start and end are code points inside the paragraph.
func splitPassage(text string) []atom {
	r := []rune(text)
	var out []atom
	start, words, inWord := 0, 0, false
	for i := range r {
		single := tree.Words(string(r[i])) == 1 && dense(r[i])
		if begins := single || !unicode.IsSpace(r[i]) && !inWord; begins {
			words++
		}
		inWord = !single && !unicode.IsSpace(r[i])
		free := !inWord || i+1 < len(r) && unicode.IsSpace(r[i+1])
		ends := strings.ContainsRune("。！？", r[i]) || free && strings.ContainsRune(".!?।؟", r[i])
		end := words >= partSentence && ends || words >= partWords && free || i-start >= partRunes
		if end && i+1 < len(r) {
			out = appendAtom(out, r, start, i+1)
			start, words, inWord = i+1, 0, false
		}
	}
	return appendAtom(out, r, start, len(r))
}

// dense are scripts in which a letter counts as a word.
func dense(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai)
}

// appendAtom adds the text between two places without the blanks around it.
func appendAtom(out []atom, r []rune, start, end int) []atom {
	for start < end && unicode.IsSpace(r[start]) {
		start++
	}
	for end > start && unicode.IsSpace(r[end-1]) {
		end--
	}
	if start == end {
		return out
	}
	text := string(r[start:end])
	return append(out, atom{start: start, end: end, words: max(1, tree.Words(text)), text: text})
}

// axis is the text as a line of words, on which the cutter works.
type axis struct {
	d      *document
	at     []int64 // word at which each atom begins; one more: the end
	places []place
	marks  [7][]int64 // where headings of a level begin something
}

func (d *document) axis() *axis {
	a := &axis{d: d, at: make([]int64, len(d.atoms)+1)}
	for i, x := range d.atoms {
		a.at[i+1] = a.at[i] + int64(x.words)
		if i == 0 {
			continue
		}
		cost := 0.9
		switch before := d.atoms[i-1]; {
		case x.heading != before.heading:
			level := a.opened(i)
			cost = 0.05 * float64(level-1)
			a.marks[level] = append(a.marks[level], a.at[i])
		case x.block != before.block:
			cost = 0.5
		}
		a.places = append(a.places, place{at: a.at[i], cost: cost})
	}
	return a
}

// opened is the widest level among the headings between an atom and the one before.
func (a *axis) opened(i int) int {
	level := 6
	for b := a.d.atoms[i-1].block + 1; b <= a.d.atoms[i].block; b++ {
		if l := a.d.blocks[b].Level; l > 0 {
			level = min(level, l)
		}
	}
	return level
}

// sections are the level of the headings that make the L1 and their places: the
// widest level that opens at least one new section, unless there are too many.
func (a *axis) sections() []int64 {
	for level := 1; level <= 6; level++ {
		if n := len(a.marks[level]); n > 0 && n <= maxSections {
			return a.marks[level]
		}
	}
	return nil
}

// materials cuts the text: headings give L1 and L2 where there are any, else
// paragraphs are grouped by length. The cut is the same whenever it is made.
func (d *document) materials(src tree.Source) []tree.Material {
	a := d.axis()
	top := a.sections()
	scale := max(1, a.at[len(d.atoms)]/textAllWords)
	l1Words, l2Words := scale*textL1Words, scale*textL2Words
	l1 := cutting{target: l1Words, min: l1Words * 2 / 5, max: l1Words * 3 / 2, length: 1, usual: 0.5}
	if top != nil {
		l1 = cutting{target: l1Words, min: 30, max: 2 * l1Words, length: 0.1, crossing: 2, marks: top}
	}
	var headings []int64
	for _, m := range a.marks {
		headings = append(headings, m...)
	}
	slices.Sort(headings)
	l2 := cutting{target: l2Words, min: 20, max: 2 * l2Words, length: 0.3, crossing: 0.8, usual: 0.5, marks: headings}
	var out []tree.Material
	for _, part := range a.cut(0, len(d.atoms), l1) {
		m := tree.Material{Source: src, Index: len(out), Span: d.place(part[0], part[1]), Title: d.titles(part[0], part[1])}
		for _, c := range a.cut(part[0], part[1], l2) {
			clip := tree.Clip{Span: d.place(c[0], c[1]), Title: d.titles(c[0], c[1])}
			for i := c[0]; i < c[1]; i++ {
				clip.Leaves = append(clip.Leaves, d.leaf(i))
			}
			m.Clips = append(m.Clips, clip)
		}
		out = append(out, m)
	}
	return out
}

// cut cuts the atoms [from, to) and returns pairs of positions.
func (a *axis) cut(from, to int, c cutting) [][2]int {
	var out [][2]int
	first := from
	for _, at := range c.bounds(a.at[from], a.at[to], a.places[from:max(from, to-1)]) {
		k := sort.Search(len(a.at), func(i int) bool { return a.at[i] >= at })
		out = append(out, [2]int{first, k})
		first = k
	}
	return append(out, [2]int{first, to})
}

// place is where atoms [from, to) stand: rows of one table as a whole; of
// paragraphs the first, which names the node.
func (d *document) place(from, to int) tree.Span {
	first, last := d.atoms[from], d.atoms[to-1]
	if first.rows == nil {
		return tree.Span{
			Unit: tree.UnitText, Page: d.blocks[first.block].Page, Paragraph: first.block + 1, StartChar: first.start, EndChar: first.end,
		}
	}
	span := first.rows.span()
	if last.rows != nil && last.rows.table == span.Table {
		span.RowEnd = last.rows.end
	}
	return span
}

func (d *document) leaf(i int) tree.Leaf {
	x := d.atoms[i]
	l := tree.Leaf{Span: d.place(i, i+1)}
	if x.rows != nil {
		l.Evidence.Header, l.Evidence.Rows = x.rows.header, x.rows.rows
	}
	l.Evidence.Passage = x.text
	if x.heading >= 0 {
		l.Evidence.Title = flatText(d.blocks[x.heading].Text, 300)
	}
	return l
}

// titles are the headings that atoms [from, to) stand under, at most four.
func (d *document) titles(from, to int) string {
	var out []string
	last := -1
	for _, x := range d.atoms[from:to] {
		if x.heading < 0 || x.heading == last {
			continue
		}
		if last = x.heading; len(out) < maxTitles {
			out = append(out, flatText(d.blocks[x.heading].Text, 120))
		}
	}
	return strings.Join(out, "; ")
}
