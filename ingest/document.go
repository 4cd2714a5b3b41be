package ingest

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/reeltree/reeltree/tree"
)

// MaxDocumentBytes is the longest text that is read: about ten thousand pages.
const MaxDocumentBytes = 32 << 20

// The formats of documents. Texts are read here; the others by parsers that
// run in the media worker, like everything that unpacks or decodes.
const (
	formatSubtitles = "subtitles"
	formatMarkdown  = "markdown"
	formatText      = "text"
	formatHTML      = "html"
	formatTable     = "table"
	formatPDF       = "pdf"
	formatPacked    = "packed" // XLSX, DOCX, PPTX, EPUB
)

// inWorker reports whether a format is read in the media worker.
func inWorker(format string) bool { return readers[format] != nil }

// documentFormat tells documents from media, "". The content decides where it
// is sure, the extension of the name where it is not.
func documentFormat(name, mime string, file io.ReaderAt) (string, error) {
	head := make([]byte, 1<<16)
	n, err := file.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return "", fmt.Errorf("cannot read the content: %w", err)
	}
	head = head[:n]
	ext := strings.TrimPrefix(strings.ToLower(path.Ext(name)), ".")
	switch {
	case n == 0 || mediaMagic(head):
		return "", nil
	case slices.Contains([]string{"srt", "vtt", "ass", "ssa", "smi", "sami"}, ext):
		return formatSubtitles, nil
	case ext == "md" || ext == "markdown":
		return formatMarkdown, nil
	case bytes.Contains(head[:min(n, 1024)], []byte("%PDF-")):
		return formatPDF, nil
	case byExtension[ext] == formatPacked && !bytes.HasPrefix(head, []byte("PK\x03\x04")):
		return "", refuseSource("%s is not what its name says: the archive of such a document is missing; save it again in its own program and hand that over.", quoteName(name))
	case byExtension[ext] != "":
		return byExtension[ext], nil
	case ext == "txt" || ext == "text" || ext == "":
		return plainFormat(head, ext, mime), nil
	}
	if kind := unread[ext]; kind != "" {
		return "", refuseSource("%s is %s, which is not read here; save it as PDF, DOCX, XLSX or PPTX and hand that over.", quoteName(name), kind)
	}
	return "", nil
}

// byExtension are the formats whose content does not say what it is.
var byExtension = map[string]string{
	"pdf": formatPDF, "html": formatHTML, "htm": formatHTML, "xhtml": formatHTML, "csv": formatTable, "tsv": formatTable,
	"xlsx": formatPacked, "xlsm": formatPacked, "docx": formatPacked, "pptx": formatPacked, "epub": formatPacked,
}

// unread are documents that are known, but not read.
var unread = map[string]string{
	"xls": "an old spreadsheet", "ods": "a spreadsheet", "doc": "an old text document", "odt": "a text document",
	"rtf": "a text document", "ppt": "an old presentation", "odp": "a presentation",
}

// mediaMagic reports whether content begins as media files do, whatever its name.
func mediaMagic(head []byte) bool {
	at := func(i int, magic string) bool { return len(head) > i && bytes.HasPrefix(head[i:], []byte(magic)) }
	return at(4, "ftyp") || at(0, "\x1aE\xdf\xa3") || at(0, "RIFF") || at(0, "OggS") || at(0, "ID3") || at(0, "fLaC") ||
		at(0, "0&\xb2u") || at(0, "\x89PNG") || at(0, "\xff\xd8\xff") || at(0, "GIF8") || at(0, "FLV\x01") ||
		at(0, "G") && len(head) > 188 && head[188] == 'G'
}

// plainFormat decides what a text without a telling name is.
func plainFormat(head []byte, ext, mime string) string {
	switch media, _, _ := strings.Cut(mime, ";"); media { // of a download
	case "text/html", "application/xhtml+xml":
		return formatHTML
	case "text/csv", "text/tab-separated-values":
		return formatTable
	case "text/markdown":
		return formatMarkdown
	}
	text, _, guessed := decodeText(head)
	start := strings.TrimSpace(text[:min(len(text), 300)])
	if f := subtitleFormat(strings.ToValidUTF8(start, "")); f != "" {
		return formatSubtitles
	}
	// A cut at the end of head may split a character.
	valid := utf8.Valid(head) || len(head) > 4 && utf8.Valid(head[:len(head)-3])
	if ext == "" && (guessed || !valid || bytes.IndexByte(head, 0) >= 0 || sniffText(head) != nil) {
		return ""
	}
	return formatText
}

// planDocument plans a stand-alone subtitle file or a document.
func (w *Worker) planDocument(ctx context.Context, src tree.Source, format string, file *os.File) (*jobPlan, error) {
	p := &jobPlan{Kind: tree.KindDocument, Document: format, Format: format, Source: src}
	p.Source.Kind = tree.KindDocument
	if format == formatSubtitles {
		data, err := readDocument(nameOf(src), file)
		if err != nil {
			return nil, err
		}
		return p, p.planSubtitles(data, w.Settings)
	}
	d, err := w.readText(ctx, nameOf(src), format, file)
	if err != nil {
		return nil, err
	}
	if len(d.atoms) == 0 {
		return nil, refuseSource("%s holds no text, so there is nothing to read in it; check that it was saved completely.", quoteName(nameOf(src)))
	}
	if d.facts.Encoding != "" {
		p.Warnings = append(p.Warnings, fmt.Sprintf("The encoding of the text was guessed as %s; save it as UTF-8 if letters look wrong.", d.facts.Encoding))
	}
	p.Warnings, p.Partial = append(p.Warnings, d.facts.Warnings...), d.facts.Partial
	titled(&p.Source, d.title)
	p.Source.Language = cmp.Or(p.Source.Language, d.facts.Language)
	p.Source.Length, p.Source.MIME = d.length, cmp.Or(src.MIME, documentMIME(format, nameOf(src)))
	all := d.materials(p.Source)
	for _, m := range all {
		p.Stretches = append(p.Stretches, Stretch{Span: m.Span, Title: m.Title})
	}
	w.texts.keep(textKey(p), all)
	return p, nil
}

// readText reads a document: here, or in the media worker.
func (w *Worker) readText(ctx context.Context, name, format string, file *os.File) (*document, error) {
	if !inWorker(format) {
		data, err := readDocument(name, file)
		if err != nil {
			return nil, err
		}
		return parseDocument(format, data), nil
	}
	d := &document{}
	var err error
	d.facts, err = w.Media.Document(ctx, file, format, func(b Block) error {
		d.blocks = append(d.blocks, b)
		return nil
	})
	if err != nil {
		return nil, err
	}
	d.cutAtoms()
	d.title = cmp.Or(d.facts.Title, d.title)
	return d, nil
}

// documentMIME is the media type a document is served with: always one that no
// browser runs anything of.
func documentMIME(format, name string) string {
	switch format {
	case formatPDF:
		return "application/pdf"
	case formatPacked:
		return cmp.Or(packedMIME[strings.ToLower(path.Ext(name))], "application/zip")
	}
	return "text/plain; charset=utf-8"
}

// packedMIME are the media types by name, the same on every host.
var packedMIME = map[string]string{
	".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", ".xlsm": "application/vnd.ms-excel.sheet.macroenabled.12",
	".docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
	".pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation", ".epub": "application/epub+zip",
}

// planSubtitles plans a subtitle file that stands alone: a document with media spans.
func (p *jobPlan) planSubtitles(data []byte, s Settings) error {
	f, err := ReadSubtitles(nameOf(p.Source), data, 0)
	if err != nil {
		return err
	}
	p.Format, p.Cues, p.Warnings = f.Format, f.Cues, f.Warnings
	for _, c := range f.Cues {
		p.To = max(p.To, c.EndMS)
	}
	titled(&p.Source, "")
	p.Source.DurationMS, p.Source.MIME = p.To, "text/plain; charset=utf-8"
	if p.Source.Language == "" {
		p.Source.Language = f.Language
	}
	p.Stretches = CutStretches(p.facts(), s)
	return nil
}

func readDocument(name string, file *os.File) ([]byte, error) {
	data, err := io.ReadAll(io.NewSectionReader(file, 0, MaxDocumentBytes+1))
	if err != nil {
		return nil, fmt.Errorf("cannot read the content: %w", err)
	}
	if len(data) > MaxDocumentBytes {
		return nil, refuseSource("%s is longer than the %d MB of text that are read; split it and hand over the parts.", quoteName(name), MaxDocumentBytes>>20)
	}
	return data, nil
}

// documentMaterial is one stretch of a text. Reading the document again costs
// less than storing it cut, and while its job runs it is kept at hand.
func (w *Worker) documentMaterial(ctx context.Context, p *jobPlan, index int) (m tree.Material, err error) {
	all, err := w.texts.get(textKey(p), func() ([]tree.Material, error) {
		var all []tree.Material
		err := w.content(ctx, p.Source, func(file *os.File) error {
			d, err := w.readText(ctx, nameOf(p.Source), p.Document, file)
			if err == nil {
				all = d.materials(p.Source)
			}
			return err
		})
		return all, err
	})
	if err != nil {
		return m, err
	}
	if index >= len(all) {
		return m, fmt.Errorf("the text has %d stretches, the plan more", len(all))
	}
	m = all[index]
	m.Source = p.Source
	return m, nil
}

// textKey names a document as it was read.
func textKey(p *jobPlan) string { return textPrefix(p.Source.Tenant, p.Source.ID) + p.Document }

func textPrefix(tenant, source string) string { return tenant + "\x00" + source + "\x00" }

// texts keeps the document that was read last, cut into stretches.
type texts struct {
	reading sync.Mutex // one document is read at a time
	mu      sync.Mutex // guards what is kept; never held while reading
	key     string
	all     []tree.Material
}

func (t *texts) keep(key string, all []tree.Material) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.key, t.all = key, all
}

func (t *texts) kept(key string) []tree.Material {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.key != key {
		return nil
	}
	return t.all
}

// get gives what is kept under key, else what read reads; one at a time.
func (t *texts) get(key string, read func() ([]tree.Material, error)) ([]tree.Material, error) {
	t.reading.Lock()
	defer t.reading.Unlock()
	if all := t.kept(key); all != nil {
		return all, nil
	}
	all, err := read()
	if err == nil {
		t.keep(key, all)
	}
	return all, err
}

// forget drops a document that no job works on any more, however it ended.
func (t *texts) forget(tenant, source string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if strings.HasPrefix(t.key, textPrefix(tenant, source)) {
		t.key, t.all = "", nil
	}
}
