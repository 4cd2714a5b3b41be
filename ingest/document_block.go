package ingest

import (
	"fmt"
	"unicode/utf8"
)

// Block is what a reader of documents gives, in reading order: a paragraph, a
// heading, or one row of a table.
type Block struct {
	Level int      `json:"level,omitempty"` // 0: paragraph or row; 1 to 6: heading
	Page  int      `json:"page,omitempty"`  // from 1; 0 = the format has none
	Text  string   `json:"text,omitempty"`
	Table int      `json:"table,omitempty"` // number of its table from 1; 0 = no row
	Row   int      `json:"row,omitempty"`   // from 0; the first row of a table is its header
	Cells []string `json:"cells,omitempty"` // of a row, as they are shown
}

// DocumentFacts is what reading a document found out beside its blocks.
type DocumentFacts struct {
	Title    string   `json:"title,omitempty"`
	Language string   `json:"language,omitempty"`
	Encoding string   `json:"encoding,omitempty"` // where it was guessed
	Warnings []string `json:"warnings,omitempty"`
	Partial  bool     `json:"partial,omitempty"` // something in it could not be read
}

// Bounds of what is taken from one document, whatever it says.
const (
	maxBlocks    = 1_000_000
	maxCells     = 1 << 16 // of a row, four times what a spreadsheet can have
	maxCellBytes = 8 << 10
	maxBlockText = 1 << 20
	maxPages     = 5_000
	maxUnpacked  = 128 << 20 // bytes of a packed document after unpacking
)

// check names what is impossible in a block that came from a child.
func (b *Block) check() string {
	switch {
	case b.Level < 0 || b.Level > 6:
		return "heading level"
	case b.Page < 0 || b.Page > maxPages:
		return "page"
	case b.Table < 0 || b.Row < 0 || b.Table == 0 && (b.Row > 0 || len(b.Cells) > 0):
		return "table"
	case len(b.Cells) > maxCells:
		return "number of cells"
	case len(b.Text) > maxBlockText || !utf8.ValidString(b.Text):
		return "text"
	}
	for _, c := range b.Cells {
		if len(c) > maxCellBytes || !utf8.ValidString(c) {
			return "cell"
		}
	}
	return ""
}

// blockSink collects the blocks of one document in a child: it bounds them,
// numbers the tables, and keeps the facts.
type blockSink struct {
	emit  func(Block) error
	alive func() // called while there is nothing to emit yet; nil: nobody asks
	facts DocumentFacts

	page   int // of the blocks to come
	count  int
	tables int
	row    int // of the open table
	err    error
}

// text adds a paragraph (level 0) or heading; blank text is left out.
func (s *blockSink) text(level int, text string) {
	if text = flatText(text, maxBlockText); text != "" {
		s.add(Block{Level: level, Page: s.page, Text: text})
	}
}

// beginTable starts the next table; rows follow.
func (s *blockSink) beginTable() { s.tables, s.row = s.tables+1, 0 }

// cells adds a row to the open table; a row without any text is only counted.
func (s *blockSink) cells(cells []string) {
	if len(cells) > maxCells && !s.facts.Partial {
		s.facts.Partial = true
		s.warn("The table has rows of more than %d cells; what comes after them was left out.", maxCells)
	}
	cells = cells[:min(len(cells), maxCells)]
	empty := true
	for i, c := range cells {
		cells[i] = flatText(c, maxCellBytes)
		empty = empty && cells[i] == ""
	}
	if !empty {
		s.add(Block{Page: s.page, Table: s.tables, Row: s.row, Cells: cells})
	}
	s.row++
}

func (s *blockSink) add(b Block) {
	if s.count++; s.err == nil && s.count > maxBlocks {
		s.err = refuseMedia("This document has more than %d paragraphs and rows, which is more than is read at once; split it and hand over the parts.", maxBlocks)
	}
	if s.err == nil {
		s.err = s.emit(b)
	}
}

// warn adds one sentence, a few of them at most.
func (s *blockSink) warn(format string, args ...any) {
	if len(s.facts.Warnings) < 20 {
		s.facts.Warnings = append(s.facts.Warnings, fmt.Sprintf(format, args...))
	}
}

// beat says that the reading gets on.
func (s *blockSink) beat() {
	if s.alive != nil {
		s.alive()
	}
}
