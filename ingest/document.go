package ingest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/reeltree/reeltree/tree"
)

// MaxDocumentBytes is the longest text that is read: about ten thousand pages.
const MaxDocumentBytes = 32 << 20

// The formats of documents that are read here.
const (
	formatSubtitles = "subtitles"
	formatMarkdown  = "markdown"
	formatText      = "text"
)

// documentFormat tells documents from media, "". The content decides where it
// is sure, the extension of the name where it is not.
func documentFormat(name string, file io.ReaderAt) (string, error) {
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
	case ext == "txt" || ext == "text" || ext == "":
		return plainFormat(head, ext), nil
	}
	if kind := unread[ext]; kind != "" {
		return "", refuseSource("%s is %s, which this version does not read yet; export it as text or Markdown and hand that over.", quoteName(name), kind)
	}
	return "", nil
}

// unread are documents that are known, but not read.
var unread = map[string]string{
	"pdf": "a PDF document", "html": "an HTML page", "htm": "an HTML page", "xhtml": "an HTML page",
	"csv": "a table", "tsv": "a table", "xlsx": "a spreadsheet", "xls": "a spreadsheet", "ods": "a spreadsheet",
	"docx": "a text document of an office suite", "doc": "a text document of an office suite", "odt": "a text document of an office suite",
	"rtf": "a text document of an office suite", "pptx": "a presentation", "ppt": "a presentation", "epub": "an e-book",
}

// mediaMagic reports whether content begins as media files do, whatever its name.
func mediaMagic(head []byte) bool {
	at := func(i int, magic string) bool { return len(head) > i && bytes.HasPrefix(head[i:], []byte(magic)) }
	return at(4, "ftyp") || at(0, "\x1aE\xdf\xa3") || at(0, "RIFF") || at(0, "OggS") || at(0, "ID3") || at(0, "fLaC") ||
		at(0, "0&\xb2u") || at(0, "\x89PNG") || at(0, "\xff\xd8\xff") || at(0, "GIF8") || at(0, "FLV\x01") ||
		at(0, "G") && len(head) > 188 && head[188] == 'G'
}

// plainFormat decides what a text without a telling name is.
func plainFormat(head []byte, ext string) string {
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

// planDocument plans a stand-alone subtitle file or a text.
func planDocument(src tree.Source, format string, file *os.File, s Settings) (*jobPlan, error) {
	data, err := readDocument(nameOf(src), file)
	if err != nil {
		return nil, err
	}
	p := &jobPlan{Kind: tree.KindDocument, Document: format, Format: format, Source: src}
	p.Source.Kind = tree.KindDocument
	if format == formatSubtitles {
		return p, p.planSubtitles(data, s)
	}
	d := parseDocument(format, data)
	if len(d.atoms) == 0 {
		return nil, refuseSource("%s holds no text, so there is nothing to read in it; check that it was saved completely.", quoteName(nameOf(src)))
	}
	if d.guessed != "" {
		p.Warnings = append(p.Warnings, fmt.Sprintf("The encoding of the text was guessed as %s; save it as UTF-8 if letters look wrong.", d.guessed))
	}
	titled(&p.Source, d.title)
	p.Source.Length, p.Source.MIME = d.length, "text/plain; charset=utf-8"
	for _, m := range d.materials(p.Source) {
		p.Stretches = append(p.Stretches, Stretch{Span: m.Span, Title: m.Title})
	}
	return p, nil
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

// documentMaterial is one stretch of a text; parsing again costs less than
// storing everything.
func (w *Worker) documentMaterial(ctx context.Context, p *jobPlan, index int) (m tree.Material, err error) {
	err = w.content(ctx, p.Source, func(file *os.File) error {
		data, err := readDocument(nameOf(p.Source), file)
		if err != nil {
			return err
		}
		all := parseDocument(p.Document, data).materials(p.Source)
		if index >= len(all) {
			return fmt.Errorf("the text has %d stretches, the plan more", len(all))
		}
		m = all[index]
		return nil
	})
	return m, err
}
