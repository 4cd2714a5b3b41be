package ingest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/charset"
)

// readHTML reads what a person sees of a page: headings, paragraphs, list items
// and tables, without scripts, hidden parts, navigation and forms. Nothing is
// fetched. It works on the stream of tags, so that no nesting is too deep.
func readHTML(ctx context.Context, file *io.SectionReader, s *blockSink) error {
	if file.Size() > MaxDocumentBytes {
		return refuseMedia("This page is longer than the %d MB that are read; split it and hand over the parts.", MaxDocumentBytes>>20)
	}
	decoded, err := charset.NewReader(file, "")
	if err != nil {
		return fmt.Errorf("read the page: %w", err)
	}
	return parseHTML(ctx, decoded, s)
}

// parseHTML reads one page into s. Where the page marks its main part and that
// holds enough text, only that is kept.
func parseHTML(ctx context.Context, r io.Reader, s *blockSink) error {
	emit := s.emit
	p := &htmlReader{sink: s}
	s.emit = func(b Block) error { p.out = append(p.out, htmlBlock{b, p.inMain > 0}); return ctx.Err() }
	z := html.NewTokenizer(r)
	z.SetMaxBuf(maxBlockText)
	for s.err == nil && p.next(z) {
	}
	p.flush()
	s.emit = emit
	if refused, ok := errors.AsType[*MediaError](z.Err()); ok {
		return refused
	}
	if err := z.Err(); err != nil && !errors.Is(err, io.EOF) {
		s.facts.Partial = true
		s.warn("The page is damaged (%v), so only what comes before the damage was read.", err)
	}
	main := 0
	for _, b := range p.out {
		if b.main {
			main += len(b.Text)
		}
	}
	mainOnly := main > 500
	for _, b := range p.out {
		if b.main || !mainOnly {
			if err := emit(b.Block); err != nil {
				return err
			}
		}
	}
	return s.err
}

// htmlBlock is a block and whether it stands in the page's main part.
type htmlBlock struct {
	Block
	main bool
}

// htmlReader is the state of reading one page.
type htmlReader struct {
	sink   *blockSink
	out    []htmlBlock
	text   strings.Builder
	level  int // of the open heading
	inMain int
	title  bool

	skip      string // tag whose content is left out
	skipDepth int

	tables int        // nesting
	rows   [][]string // of the outermost table
	cell   bool
	heads  bool // the table has header cells
}

// Tags whose content is not what a person reads of a page.
var htmlDropped = tagSet("script style noscript template iframe object embed svg canvas audio video nav aside footer form select button dialog head math")

// Tags that begin and end a paragraph.
var htmlBlocks = tagSet("p div section article main header li ul ol dl dt dd blockquote pre figure figcaption address table tr caption hr body details summary center")

// Tags without content.
var htmlVoid = tagSet("area base br col embed hr img input link meta source track wbr")

func tagSet(list string) map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(list) {
		m[w] = true
	}
	return m
}

// next reads one token; false at the end.
func (p *htmlReader) next(z *html.Tokenizer) bool {
	switch z.Next() {
	case html.ErrorToken:
		return false
	case html.TextToken:
		if p.skip == "" || p.title {
			p.text.Write(z.Text())
		}
	case html.StartTagToken:
		t := z.Token()
		p.open(t)
	case html.SelfClosingTagToken:
		t := z.Token()
		if p.open(t); !htmlVoid[t.Data] && t.Data == p.skip {
			p.close(t.Data)
		}
	case html.EndTagToken:
		name, _ := z.TagName()
		p.close(string(name))
	}
	return true
}

func (p *htmlReader) open(t html.Token) {
	if t.Data == "title" && p.sink.facts.Title == "" && (p.skip == "" || p.skip == "head") {
		p.flush()
		p.title = true
		return
	}
	if t.Data == "html" {
		p.sink.facts.Language = attribute(t, "lang")
	}
	if p.skip != "" {
		switch {
		case p.skip == "head" && t.Data == "body", p.skip == "p" && htmlBlocks[t.Data]:
			p.skip = "" // their end tags may be missing
		case t.Data == p.skip:
			p.skipDepth++
			return
		default:
			return
		}
	}
	if (htmlDropped[t.Data] || hidden(t)) && !htmlVoid[t.Data] {
		p.flush()
		p.skip, p.skipDepth = t.Data, 1
		return
	}
	p.enter(t.Data)
}

// enter opens a tag that is read.
func (p *htmlReader) enter(tag string) {
	switch {
	case tag == "br" || tag == "wbr" || p.tables > 1 && (tag == "td" || tag == "th"):
		p.text.WriteByte(' ')
	case tag == "table":
		if p.tables++; p.tables == 1 {
			p.flush()
			p.rows, p.heads = nil, false
		}
	case p.tables == 1 && tag == "tr":
		p.endCell()
		p.rows = append(p.rows, nil)
	case p.tables == 1 && (tag == "td" || tag == "th"):
		p.endCell()
		if len(p.rows) == 0 {
			p.rows = append(p.rows, nil)
		}
		p.cell, p.heads = true, p.heads || tag == "th"
	case isHeading(tag):
		p.flush()
		p.level = int(tag[1] - '0')
	case htmlBlocks[tag]:
		p.flush()
		if tag == "main" || tag == "article" {
			p.inMain++
		}
	}
}

func (p *htmlReader) close(tag string) {
	if p.title && tag == "title" {
		p.title = false
		p.sink.facts.Title = flatText(p.text.String(), 300)
		p.text.Reset()
		return
	}
	if p.skip != "" {
		if tag == p.skip {
			if p.skipDepth--; p.skipDepth == 0 {
				p.skip = ""
			}
		}
		return
	}
	switch {
	case tag == "table" && p.tables > 0:
		if p.tables == 1 {
			p.endCell()
			p.tables = 0
			p.endTable()
			return
		}
		p.tables--
	case p.tables == 1 && (tag == "td" || tag == "th" || tag == "tr"):
		p.endCell()
	case isHeading(tag):
		p.flush()
		p.level = 0
	case htmlBlocks[tag]:
		p.flush()
		if (tag == "main" || tag == "article") && p.inMain > 0 {
			p.inMain--
		}
	}
}

// flush ends the paragraph being read; inside a table that is a blank.
func (p *htmlReader) flush() {
	if p.tables > 0 {
		p.text.WriteByte(' ')
		return
	}
	text := p.text.String()
	p.text.Reset()
	p.sink.text(p.level, text)
}

func (p *htmlReader) endCell() {
	text := p.text.String()
	p.text.Reset()
	if !p.cell {
		return
	}
	p.cell = false
	last := len(p.rows) - 1
	if len(p.rows[last]) < maxCells {
		p.rows[last] = append(p.rows[last], text)
	}
}

// endTable gives out a table; one that only lays the page out becomes paragraphs.
func (p *htmlReader) endTable() {
	rows, wide := 0, 0
	for _, r := range p.rows {
		if len(r) > 0 {
			rows, wide = rows+1, max(wide, len(r))
		}
	}
	data := rows >= 2 && wide >= 2 && (p.heads || rows >= 3)
	if data {
		p.sink.beginTable()
	}
	for _, r := range p.rows {
		switch {
		case len(r) == 0:
		case data:
			p.sink.cells(r)
		default:
			for _, c := range r {
				p.sink.text(0, c)
			}
		}
	}
	p.rows = nil
}

func isHeading(tag string) bool {
	return len(tag) == 2 && tag[0] == 'h' && tag[1] >= '1' && tag[1] <= '6'
}

// hidden reports whether a tag says that it is not shown.
func hidden(t html.Token) bool {
	for _, a := range t.Attr {
		v := strings.ToLower(strings.ReplaceAll(a.Val, " ", ""))
		if a.Key == "hidden" && v != "until-found" || a.Key == "aria-hidden" && v == "true" ||
			a.Key == "style" && (strings.Contains(v, "display:none") || strings.Contains(v, "visibility:hidden")) {
			return true
		}
	}
	return false
}

func attribute(t html.Token, key string) string {
	for _, a := range t.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}
