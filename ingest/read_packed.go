package ingest

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/xuri/excelize/v2"
)

// readPacked reads the document formats that are ZIP archives: spreadsheets,
// text documents and presentations of office suites, and e-books. The archive
// says which one it is.
func readPacked(ctx context.Context, file *io.SectionReader, s *blockSink) error {
	z, err := zip.NewReader(file, file.Size())
	if err != nil {
		return refuseMedia("This document is damaged: its archive cannot be opened (%v); open it in its own program, save it again and hand that over.", err)
	}
	p := &packed{zip: z, left: maxUnpacked}
	switch {
	case p.has("xl/workbook.xml"):
		return readSheets(ctx, file, s)
	case p.has("word/document.xml"):
		return readWord(ctx, p, s)
	case p.has("ppt/presentation.xml"):
		return readSlides(ctx, p, s)
	case p.has("META-INF/container.xml"):
		return readBook(ctx, p, s)
	}
	return refuseMedia("This archive is none of the documents that are read here (XLSX, DOCX, PPTX, EPUB); unpack it and hand over what is inside.")
}

// packed is an open archive and how many bytes may still be unpacked from it.
type packed struct {
	zip  *zip.Reader
	left int64
}

func (p *packed) has(name string) bool {
	return slices.ContainsFunc(p.zip.File, func(f *zip.File) bool { return f.Name == name })
}

// open gives one file of the archive; reading past the limit of all files together
// fails with a refusal.
func (p *packed) open(name string) (io.Reader, error) {
	for _, f := range p.zip.File {
		if f.Name != name {
			continue
		}
		r, err := f.Open()
		if err != nil {
			return nil, refuseMedia("This document is damaged: %q in it cannot be unpacked (%v); save it again and hand that over.", path.Base(name), err)
		}
		return &unpacking{p, r}, nil
	}
	return nil, fmt.Errorf("%w: %s", errAbsentPart, name)
}

var errAbsentPart = errors.New("the archive has no such part")

type unpacking struct {
	p *packed
	r io.Reader
}

// Read implements io.Reader.
func (u *unpacking) Read(b []byte) (int, error) {
	n, err := u.r.Read(b)
	if u.p.left -= int64(n); u.p.left < 0 {
		return 0, refuseMedia("This document unpacks to more than the %d MB that are read; split it and hand over the parts.", maxUnpacked>>20)
	}
	return n, err
}

// part reads a small part whole.
func (p *packed) part(name string) ([]byte, error) {
	r, err := p.open(name)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}

// readSheets reads a spreadsheet: a heading per sheet where there are several,
// then its rows as they are shown. Empty rows and cells cost nothing.
func readSheets(ctx context.Context, file *io.SectionReader, s *blockSink) error {
	book, err := excelize.OpenReader(io.NewSectionReader(file, 0, file.Size()), excelize.Options{
		UnzipSizeLimit: maxUnpacked, UnzipXMLSizeLimit: maxUnpacked, // nothing may go to a temporary file
	})
	if errors.Is(err, excelize.ErrWorkbookPassword) {
		return refuseMedia("This spreadsheet needs a password; save it without one and hand that over.")
	}
	if err != nil && strings.Contains(err.Error(), "unzip size") {
		return refuseMedia("This spreadsheet unpacks to more than the %d MB that are read; split it and hand over the parts.", maxUnpacked>>20)
	}
	if err != nil {
		return refuseMedia("This spreadsheet is damaged (%v); open it in its own program, save it again and hand that over.", err)
	}
	defer func() { _ = book.Close() }()
	if props, err := book.GetDocProps(); err == nil {
		s.facts.Title, s.facts.Language = props.Title, props.Language
	}
	sheets := book.GetSheetList()
	for i, name := range sheets {
		if len(sheets) > 1 {
			s.text(1, name)
		}
		s.page = i + 1
		if err := readSheet(ctx, book, name, s); err != nil {
			return err
		}
	}
	return s.err
}

func readSheet(ctx context.Context, book *excelize.File, name string, s *blockSink) error {
	rows, err := book.Rows(name)
	if err != nil {
		s.facts.Partial = true
		s.warn("The sheet %.60q is damaged (%v) and was left out.", name, err)
		return nil
	}
	defer func() { _ = rows.Close() }()
	s.beginTable()
	for rows.Next() && s.err == nil {
		cells, err := rows.Columns()
		if err != nil {
			s.facts.Partial = true
			s.warn("The sheet %.60q is damaged from row %d on (%v).", name, s.row+1, err)
			break
		}
		s.cells(cells)
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return s.err
}

// readBook reads an EPUB: its pages in the order of its spine.
func readBook(ctx context.Context, p *packed, s *blockSink) error {
	var container struct {
		Roots []struct {
			Path string `xml:"full-path,attr"`
		} `xml:"rootfiles>rootfile"`
	}
	if err := p.xml("META-INF/container.xml", &container); err != nil {
		return err
	}
	if len(container.Roots) == 0 {
		return refuseMedia("This e-book is damaged: it does not say where its content lies; convert it and hand it over again.")
	}
	root := container.Roots[0].Path
	var opf struct {
		Title    string `xml:"metadata>title"`
		Language string `xml:"metadata>language"`
		Items    []struct {
			ID   string `xml:"id,attr"`
			Href string `xml:"href,attr"`
			Type string `xml:"media-type,attr"`
		} `xml:"manifest>item"`
		Spine []struct {
			Ref string `xml:"idref,attr"`
		} `xml:"spine>itemref"`
	}
	if err := p.xml(root, &opf); err != nil {
		return err
	}
	files := map[string]string{}
	for _, item := range opf.Items {
		if strings.Contains(item.Type, "html") {
			files[item.ID] = path.Join(path.Dir(root), item.Href)
		}
	}
	title, language := flatText(opf.Title, 300), opf.Language
	for i, item := range opf.Spine {
		name := files[item.Ref]
		if name == "" || i >= maxPages {
			continue
		}
		page, err := p.open(name)
		if errors.Is(err, errAbsentPart) {
			s.facts.Partial = true
			s.warn("A page of the book (%.60q) is missing.", path.Base(name))
			continue
		}
		if err != nil {
			return err
		}
		if err := parseHTML(ctx, page, s); err != nil {
			return err
		}
	}
	s.facts.Title, s.facts.Language = title, language
	return s.err
}

// xml decodes a part into v.
func (p *packed) xml(name string, v any) error {
	data, err := p.part(name)
	if errors.Is(err, errAbsentPart) {
		return refuseMedia("This document is damaged: %q is missing in it; save it again and hand that over.", path.Base(name))
	}
	if err != nil {
		return err
	}
	if err := xml.NewDecoder(bytes.NewReader(data)).Decode(v); err != nil {
		return refuseMedia("This document is damaged: %q in it cannot be read (%v); save it again and hand that over.", path.Base(name), err)
	}
	return nil
}
