package ingest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/ledongthuc/pdf"
)

// maxPageBytes is the most the drawing instructions of one page may unpack to.
const maxPageBytes = 32 << 20

// readPDF reads the text of a PDF document page by page, headings told by the
// size of their letters. A page that is a picture has no text; the facts say so.
func readPDF(ctx context.Context, file *io.SectionReader, s *blockSink) error {
	doc, err := pdf.NewReader(file, file.Size())
	switch {
	case errors.Is(err, pdf.ErrInvalidPassword):
		return refuseMedia("This PDF needs a password; save it without one and hand that over.")
	case err != nil:
		return refuseMedia("This PDF is damaged or incomplete (%v); open it in a PDF program, save it again and hand that over.", err)
	}
	pages := doc.NumPage()
	if pages > maxPages {
		return refuseMedia("This PDF has %d pages, more than the %d that are read; split it and hand over the parts.", pages, maxPages)
	}
	if info := doc.Trailer().Key("Info"); !info.IsNull() {
		s.facts.Title = flatText(info.Key("Title").Text(), 300)
	}
	s.facts.Language = doc.Trailer().Key("Root").Key("Lang").Text()
	var all []pdfPage
	for n := 1; n <= pages; n++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		page, err := readPage(doc, n)
		if refused, ok := errors.AsType[*MediaError](err); ok {
			return refused
		}
		if err != nil {
			s.facts.Partial = true
			s.warn("Page %d cannot be read (%v).", n, err)
		}
		all = append(all, page)
		s.beat()
	}
	return sendPages(all, s)
}

// readPage reads one page; what breaks in it breaks only it.
func readPage(doc *pdf.Reader, n int) (p pdfPage, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("it is damaged: %.80s", fmt.Sprint(r))
		}
	}()
	p.number = n
	page := doc.Page(n)
	if page.V.IsNull() {
		return p, errors.New("it is missing")
	}
	if err := checkContents(page.V.Key("Contents")); err != nil {
		return p, err
	}
	p.lines = pageLines(page.Content().Text)
	return p, nil
}

// checkContents unpacks the drawing instructions of a page once without keeping
// them, so that a bomb is found before it is read.
func checkContents(v pdf.Value) error {
	streams := []pdf.Value{v}
	if v.Kind() == pdf.Array {
		streams = nil
		for i := range v.Len() {
			streams = append(streams, v.Index(i))
		}
	}
	left := int64(maxPageBytes)
	for _, stream := range streams {
		if stream.Kind() != pdf.Stream {
			continue
		}
		r := stream.Reader()
		n, err := io.CopyN(io.Discard, r, left+1)
		_ = r.Close()
		if left -= n; left < 0 {
			return refuseMedia("A page of this PDF unpacks to more than the %d MB that are read; print it to a new PDF and hand that over.", maxPageBytes>>20)
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
	}
	return nil
}

// sendPages gives out the paragraphs of all pages. Lines that stand on most
// pages at the top or bottom are running heads, not text.
func sendPages(all []pdfPage, s *blockSink) error {
	style := styleOf(all)
	running := runningLines(all)
	var empty []string
	for _, p := range all {
		s.page = p.number
		before := s.count
		for _, par := range p.paragraphs(running) {
			s.text(style.level(par), par.text)
		}
		if s.count == before {
			empty = append(empty, fmt.Sprint(p.number))
		}
	}
	switch {
	case len(empty) == len(all):
		s.warn("No text was found in this PDF: its pages are pictures or scans, which are not read; run it through a text recognition program and hand that over.")
		for _, p := range all[:min(len(all), 50)] {
			s.page = p.number
			s.text(0, fmt.Sprintf("Page %d is a picture or a scan; no text was found on it.", p.number))
		}
	case len(empty) > 0:
		more := ""
		if len(empty) > 20 {
			empty, more = empty[:20], " and more"
		}
		s.warn("No text was found on page %s%s: pictures and scans are not read.", strings.Join(empty, ", "), more)
	}
	return s.err
}
