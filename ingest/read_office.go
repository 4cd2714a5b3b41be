package ingest

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
)

// readWord reads a DOCX document (ECMA-376 part 1, 17): paragraphs, headings by
// their outline level, tables.
func readWord(ctx context.Context, p *packed, s *blockSink) error {
	s.facts.Title = p.title()
	body, err := p.open("word/document.xml")
	if err != nil {
		return err
	}
	w := &wordReader{sink: s, levels: wordLevels(p)}
	return walkXML(ctx, body, w.start, w.end, w.chars)
}

// wordLevels are the outline levels of paragraph styles, 1 to 6; a document
// without styles has none.
func wordLevels(p *packed) map[string]int {
	var styles struct {
		Styles []struct {
			ID   string `xml:"styleId,attr"`
			Name struct {
				Val string `xml:"val,attr"`
			} `xml:"name"`
			Outline *struct {
				Val int `xml:"val,attr"`
			} `xml:"pPr>outlineLvl"`
		} `xml:"style"`
	}
	if p.xml("word/styles.xml", &styles) != nil {
		return nil // no styles: no headings
	}
	levels := map[string]int{}
	for _, st := range styles.Styles {
		switch name := strings.ToLower(st.Name.Val); {
		case st.Outline != nil && st.Outline.Val >= 0 && st.Outline.Val < 6:
			levels[st.ID] = st.Outline.Val + 1
		case name == "title":
			levels[st.ID] = 1
		case strings.HasPrefix(name, "heading ") && len(name) == 9 && name[8] >= '1' && name[8] <= '6':
			levels[st.ID] = int(name[8] - '0')
		}
	}
	return levels
}

// wordReader is the state of reading one document part.
type wordReader struct {
	sink   *blockSink
	levels map[string]int
	text   strings.Builder
	level  int
	show   bool // inside w:t
	tables int  // nesting
	cells  []string
	cell   strings.Builder
}

func (w *wordReader) start(e xml.StartElement) {
	switch e.Name.Local {
	case "p":
		w.text.Reset()
		w.level = 0
	case "pStyle":
		w.level = w.levels[xmlAttr(e, "val")]
	case "outlineLvl":
		if v := xmlAttr(e, "val"); len(v) == 1 && v[0] >= '0' && v[0] < '6' {
			w.level = int(v[0]-'0') + 1
		}
	case "t":
		w.show = true
	case "tab", "br", "cr":
		w.text.WriteByte(' ')
	case "noBreakHyphen":
		w.text.WriteByte('-')
	case "tbl":
		if w.tables++; w.tables == 1 {
			w.sink.beginTable()
		}
	case "tr":
		if w.tables == 1 {
			w.cells = nil
		}
	}
}

func (w *wordReader) end(name string) {
	switch name {
	case "t":
		w.show = false
	case "p":
		if w.tables > 0 {
			w.cell.WriteString(w.text.String())
			w.cell.WriteByte(' ')
			return
		}
		w.sink.text(w.level, w.text.String())
	case "tc":
		if w.tables == 1 {
			w.cells = append(w.cells, w.cell.String())
			w.cell.Reset()
		}
	case "tr":
		if w.tables == 1 {
			w.sink.cells(w.cells)
		}
	case "tbl":
		w.tables = max(0, w.tables-1)
	}
}

func (w *wordReader) chars(text []byte) {
	if w.show {
		w.text.Write(text)
	}
}

// readSlides reads a PPTX presentation: the title of each slide as heading, its
// texts and tables, then what its notes say. The page is the slide's number.
func readSlides(ctx context.Context, p *packed, s *blockSink) error {
	s.facts.Title = p.title()
	names, err := slideOrder(p)
	if err != nil {
		return err
	}
	for i, name := range names {
		if s.page = i + 1; s.page > maxPages {
			return refuseMedia("This presentation has more than the %d slides that are read; split it and hand over the parts.", maxPages)
		}
		if err := readSlide(ctx, p, name, s); err != nil {
			return err
		}
		notes := relations(p, name)["notesSlide"]
		for _, note := range notes {
			if err := readSlide(ctx, p, note, s); err != nil {
				return err
			}
		}
	}
	return s.err
}

func readSlide(ctx context.Context, p *packed, name string, s *blockSink) error {
	part, err := p.open(name)
	if errors.Is(err, errAbsentPart) {
		s.facts.Partial = true
		s.warn("A slide (%.60q) is missing.", path.Base(name))
		return nil
	}
	if err != nil {
		return err
	}
	r := &slideReader{wordReader: wordReader{sink: s}}
	return walkXML(ctx, part, r.start, r.end, r.chars)
}

// slideReader reads one slide (ECMA-376 part 1, 19 and 21): the shapes of its
// title, then all other text.
type slideReader struct {
	wordReader
	title bool
	drop  bool // slide numbers, dates, footers
}

func (r *slideReader) start(e xml.StartElement) {
	switch e.Name.Local {
	case "sp":
		r.title, r.drop = false, false
	case "ph":
		kind := xmlAttr(e, "type")
		r.title = kind == "title" || kind == "ctrTitle"
		r.drop = kind == "sldNum" || kind == "dt" || kind == "ftr" || kind == "sldImg"
	}
	r.wordReader.start(e)
	if r.level = 0; r.title {
		r.level = 1
	}
}

func (r *slideReader) end(name string) {
	if name == "p" && r.drop {
		r.text.Reset()
	}
	r.wordReader.end(name)
}

// slideOrder are the slides in the order they are shown.
func slideOrder(p *packed) ([]string, error) {
	var show struct {
		Slides []struct {
			Ref string `xml:"http://schemas.openxmlformats.org/officeDocument/2006/relationships id,attr"`
		} `xml:"sldIdLst>sldId"`
	}
	if err := p.xml("ppt/presentation.xml", &show); err != nil {
		return nil, err
	}
	byID := map[string]string{}
	for _, r := range readRelations(p, "ppt/presentation.xml") {
		byID[r.ID] = r.target
	}
	var names []string
	for _, slide := range show.Slides {
		if name := byID[slide.Ref]; name != "" {
			names = append(names, name)
		}
	}
	return names, nil
}

// relation leads from one part of a package to another.
type relation struct {
	ID     string `xml:"Id,attr"`
	Type   string `xml:"Type,attr"`
	Target string `xml:"Target,attr"`
	Mode   string `xml:"TargetMode,attr"`
	target string // the part's name
}

// readRelations are the relations of a part to parts inside the package.
func readRelations(p *packed, part string) []relation {
	var rels struct {
		All []relation `xml:"Relationship"`
	}
	if p.xml(path.Join(path.Dir(part), "_rels", path.Base(part)+".rels"), &rels) != nil {
		return nil
	}
	var out []relation
	for _, r := range rels.All {
		if r.Mode == "External" {
			continue
		}
		if r.target = path.Join(path.Dir(part), r.Target); strings.HasPrefix(r.Target, "/") {
			r.target = strings.TrimPrefix(path.Clean(r.Target), "/")
		}
		out = append(out, r)
	}
	return out
}

// relations are the parts a part leads to, by the last word of the relation's type.
func relations(p *packed, part string) map[string][]string {
	out := map[string][]string{}
	for _, r := range readRelations(p, part) {
		out[path.Base(r.Type)] = append(out[path.Base(r.Type)], r.target)
	}
	return out
}

// title is the title in the properties of an office document, empty without one.
func (p *packed) title() string {
	var core struct {
		Title string `xml:"title"`
	}
	if p.xml("docProps/core.xml", &core) != nil {
		return ""
	}
	return flatText(core.Title, 300)
}

// walkXML reads a part element by element, however deep.
func walkXML(ctx context.Context, r io.Reader, start func(xml.StartElement), end func(string), chars func([]byte)) error {
	d := xml.NewDecoder(r)
	for {
		t, err := d.RawToken()
		if errors.Is(err, io.EOF) {
			return ctx.Err()
		}
		if refused, ok := errors.AsType[*MediaError](err); ok {
			return refused
		}
		if err != nil {
			return refuseMedia("This document is damaged: its text cannot be read (%v); open it in its own program, save it again and hand that over.", fmt.Sprint(err))
		}
		switch t := t.(type) {
		case xml.StartElement:
			start(t)
		case xml.EndElement:
			end(t.Name.Local)
		case xml.CharData:
			chars(t)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
}

func xmlAttr(e xml.StartElement, local string) string {
	for _, a := range e.Attr {
		if a.Name.Local == local {
			return a.Value
		}
	}
	return ""
}
