package ingest

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"
)

// readBlocks reads a document as the child does.
func readBlocks(t testing.TB, format string, data []byte) ([]Block, DocumentFacts, error) {
	t.Helper()
	var out []Block
	s := &blockSink{emit: func(b Block) error {
		if what := b.check(); what != "" {
			t.Errorf("block with an impossible %s: %+v", what, b)
		}
		out = append(out, b)
		return nil
	}}
	err := readers[format](context.Background(), io.NewSectionReader(bytes.NewReader(data), 0, int64(len(data))), s)
	return out, s.facts, errors.Join(err, s.err)
}

// sketch shows blocks a line each: "#" for a heading's level, "p2" for pages,
// "|" between cells.
func sketch(blocks []Block) string {
	var b strings.Builder
	for _, x := range blocks {
		if x.Page > 0 {
			fmt.Fprintf(&b, "p%d ", x.Page)
		}
		if x.Table > 0 {
			fmt.Fprintf(&b, "t%d.%d %s\n", x.Table, x.Row, strings.Join(x.Cells, "|"))
			continue
		}
		b.WriteString(strings.Repeat("#", x.Level))
		if x.Level > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(x.Text + "\n")
	}
	return strings.TrimSpace(b.String())
}

func wantSketch(t *testing.T, format string, data []byte, want string) DocumentFacts {
	t.Helper()
	got, facts, err := readBlocks(t, format, data)
	if want = strings.TrimSpace(want); err != nil || sketch(got) != want {
		t.Errorf("got\n%s\nwant\n%s\nerror %v", sketch(got), want, err)
	}
	return facts
}

func TestReadHTML(t *testing.T) {
	for name, c := range map[string]struct{ page, want string }{
		"structure": {
			`<title>T &amp; U</title><body><h1>One</h1><p>A <b>bold</b>&nbsp;word<br>and more.<p>Next<ul><li>first<li>second</ul><h3>Deep</h3><blockquote>Said.</blockquote>`,
			"# One\nA bold word and more.\nNext\nfirst\nsecond\n### Deep\nSaid.",
		},
		"what is not shown": {
			`<head><style>p{}</style></head><script>var x = "<p>no</p>"</script><nav>menu</nav><p hidden>a</p><div style="Display : NONE"><div>b</div>c</div><p aria-hidden=true>d<p>shown</p><noscript>e</noscript><svg><title>f</title></svg><footer>g</footer>`,
			"shown",
		},
		"main part": {
			"<div>Cookie notice</div><main><p>" + strings.Repeat("word ", 150) + "</p></main><div>Read also</div>",
			strings.TrimSpace(strings.Repeat("word ", 150)),
		},
		"a short main part is not the page": {"<main>x</main><p>rest</p>", "x\nrest"},
		"table": {
			`<table><caption>Loads</caption><tr><th>Name<th>Tons</tr><tr><td>Lens <i>A</i></td><td>4</td></tr><tr><td><table><tr><td>in<td>ner</table></td><td></td></tr></table><p>after`,
			"t1.0 Name|Tons\nt1.1 Lens A|4\nt1.2 in ner|\nafter",
		},
		"layout table": {`<table><tr><td><p>left</p><td>right</table>`, "left\nright"},
		"unclosed":     {`<h1>a<p>b<div>c`, "# a\n# b\n# c"},
		"tags in text": {`<p>5 &lt; 6 &amp;&amp; <notatag>x</notatag></p>`, "5 < 6 && x"},
	} {
		t.Run(name, func(t *testing.T) { wantSketch(t, formatHTML, []byte(c.page), c.want) })
	}
	facts := wantSketch(t, formatHTML, []byte("<html lang=de><meta charset=iso-8859-1><title>T</title><p>f\xfcr"), "für")
	if facts.Title != "T" || facts.Language != "de" {
		t.Errorf("facts %+v", facts)
	}
	deep := strings.Repeat("<div>", 200_000) + "text"
	wantSketch(t, formatHTML, []byte(deep), "text")
}

func TestReadTables(t *testing.T) {
	for name, c := range map[string]struct{ data, want string }{
		"commas":          {"Name,Tons\nLens,4\n\"a \"\"b\"\",\nc\",5\n", "t1.0 Name|Tons\nt1.1 Lens|4\nt1.2 a \"b\", c|5"},
		"semicolons":      {"Name;Price\nLens;1,5\nLamp;2,5\n", "t1.0 Name|Price\nt1.1 Lens|1,5\nt1.2 Lamp|2,5"},
		"tabs and BOM":    {"\xEF\xBB\xBFa\tb\n1\t2\n", "t1.0 a|b\nt1.1 1|2"},
		"legacy letters":  {"Name,Ort\nM\xfcller,K\xf6ln\nJ\xf6rg,T\xfcbingen\n", "t1.0 Name|Ort\nt1.1 Müller|Köln\nt1.2 Jörg|Tübingen"},
		"ragged":          {"a,b,c\n1\n1,2,3,4\n", "t1.0 a|b|c\nt1.1 1\nt1.2 1|2|3|4"},
		"empty rows":      {"a,b\n,\n1,2\n", "t1.0 a|b\nt1.2 1|2"},
		"one column":      {"only\nthis\n", "t1.0 only\nt1.1 this"},
		"quote in a cell": {"a,b\nsize 5\",x\n", "t1.0 a|b\nt1.1 size 5\"|x"},
	} {
		t.Run(name, func(t *testing.T) { wantSketch(t, formatTable, []byte(c.data), c.want) })
	}
}

// zipped makes an archive of the given parts.
func zipped(t testing.TB, parts map[string]string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, text := range parts {
		w, err := z.Create(name)
		if err == nil {
			_, err = io.WriteString(w, text)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestReadSpreadsheet(t *testing.T) {
	book := excelize.NewFile()
	cells := map[string]any{"A1": "Name", "B1": "Day", "A2": "Änn", "B2": 45000, "D4": true}
	for at, v := range cells {
		if err := book.SetCellValue("Sheet1", at, v); err != nil {
			t.Fatal(err)
		}
	}
	style, err := book.NewStyle(&excelize.Style{NumFmt: 14})
	if err != nil {
		t.Fatal(err)
	}
	_, sheetErr := book.NewSheet("Second")
	if err := errors.Join(sheetErr, book.SetCellStyle("Sheet1", "B2", "B2", style), book.SetCellValue("Second", "A1", "alone"),
		book.SetDocProps(&excelize.DocProperties{Title: "Loads"})); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := book.Write(&b); err != nil {
		t.Fatal(err)
	}
	facts := wantSketch(t, formatPacked, b.Bytes(), `
# Sheet1
p1 t1.0 Name|Day
p1 t1.1 Änn|03-15-23
p1 t1.3 |||TRUE
p1 # Second
p2 t2.0 alone`)
	if facts.Title != "Loads" {
		t.Errorf("facts %+v", facts)
	}
}

const wordNS = `xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"`

func TestReadWord(t *testing.T) {
	par := func(style, text string) string {
		return `<w:p><w:pPr><w:pStyle w:val="` + style + `"/></w:pPr><w:r><w:t>` + text + `</w:t></w:r></w:p>`
	}
	doc := `<w:document ` + wordNS + `><w:body>` + par("berschrift1", "One") + par("x", "Plain ") +
		`<w:p><w:r><w:t>a</w:t><w:tab/><w:t>b</w:t></w:r><w:r><w:instrText>PAGE</w:instrText></w:r></w:p>` +
		par("h2", "Two") + `<w:tbl><w:tr><w:tc>` + par("", "Name") + `</w:tc><w:tc>` + par("", "Tons") + `</w:tc></w:tr><w:tr><w:tc>` + par("", "Lens") + par("", "A") +
		`</w:tc><w:tc>` + par("", "4") + `</w:tc></w:tr></w:tbl></w:body></w:document>`
	styles := `<w:styles ` + wordNS + `><w:style w:styleId="berschrift1"><w:name w:val="heading 1"/></w:style><w:style w:styleId="h2"><w:name w:val="Own"/><w:pPr><w:outlineLvl w:val="1"/></w:pPr></w:style></w:styles>`
	core := `<cp:coreProperties xmlns:cp="c" xmlns:dc="d"><dc:title>Log</dc:title></cp:coreProperties>`
	facts := wantSketch(t, formatPacked, zipped(t, map[string]string{"word/document.xml": doc, "word/styles.xml": styles, "docProps/core.xml": core}),
		"# One\nPlain\na b\n## Two\nt1.0 Name|Tons\nt1.1 Lens A|4")
	if facts.Title != "Log" {
		t.Errorf("facts %+v", facts)
	}
}

func TestReadSlides(t *testing.T) {
	const ns = `xmlns:p="p" xmlns:a="a" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"`
	shape := func(kind, text string) string {
		return `<p:sp><p:nvSpPr><p:nvPr><p:ph type="` + kind + `"/></p:nvPr></p:nvSpPr><p:txBody><a:p><a:r><a:t>` + text + `</a:t></a:r></a:p></p:txBody></p:sp>`
	}
	slide := func(shapes ...string) string {
		return `<p:sld ` + ns + `><p:spTree>` + strings.Join(shapes, "") + `</p:spTree></p:sld>`
	}
	rels := func(all ...string) string {
		out := `<Relationships>`
		for i := 0; i+1 < len(all); i += 2 {
			out += fmt.Sprintf(`<Relationship Id="r%d" Type="http://x/%s" Target="%s"/>`, i/2, all[i], all[i+1])
		}
		return out + `</Relationships>`
	}
	wantSketch(t, formatPacked, zipped(t, map[string]string{
		"ppt/presentation.xml":             `<p:presentation ` + ns + `><p:sldIdLst><p:sldId id="1" r:id="r1"/><p:sldId id="2" r:id="r0"/><p:sldId id="3" r:id="r2"/></p:sldIdLst></p:presentation>`,
		"ppt/_rels/presentation.xml.rels":  rels("slide", "slides/slide1.xml", "slide", "slides/slide2.xml", "slide", "slides/gone.xml"),
		"ppt/slides/slide1.xml":            slide(shape("title", "Second"), shape("body", "Text"), shape("sldNum", "2")),
		"ppt/slides/slide2.xml":            slide(shape("ctrTitle", "First")),
		"ppt/slides/_rels/slide1.xml.rels": rels("notesSlide", "../notesSlides/n.xml"),
		"ppt/notesSlides/n.xml":            slide(shape("body", "Say this.")),
	}), "p1 # First\np2 # Second\np2 Text\np2 Say this.")
}

func bookParts() map[string]string {
	return map[string]string{
		"META-INF/container.xml": `<container><rootfiles><rootfile full-path="OEBPS/book.opf"/></rootfiles></container>`,
		"OEBPS/book.opf": `<package xmlns:dc="d"><metadata><dc:title>The Lamp</dc:title><dc:language>en</dc:language></metadata>
			<manifest><item id="b" href="two.xhtml" media-type="application/xhtml+xml"/><item id="a" href="one.xhtml" media-type="application/xhtml+xml"/><item id="c" href="gone.xhtml" media-type="application/xhtml+xml"/></manifest>
			<spine><itemref idref="a"/><itemref idref="b"/><itemref idref="c"/></spine></package>`,
		"OEBPS/one.xhtml": `<html><head><title>p</title></head><body><h1>One</h1><p>First.</p></body></html>`,
		"OEBPS/two.xhtml": `<html><body><h1>Two</h1><p>Second.</p></body></html>`,
	}
}

func TestReadBook(t *testing.T) {
	facts := wantSketch(t, formatPacked, zipped(t, bookParts()), "# One\nFirst.\n# Two\nSecond.")
	if facts.Title != "The Lamp" || facts.Language != "en" || !facts.Partial || len(facts.Warnings) != 1 {
		t.Errorf("facts %+v", facts)
	}
}

// TestReadPDF: a page made by a browser, with headings, umlauts and two pages.
func TestReadPDF(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("testdata", "read", "report.pdf"))
	if err != nil {
		t.Fatal(err)
	}
	facts := wantSketch(t, formatPDF, data, `
p1 # Harbour report
p1 The new lamp was lit on the second of May. It is seen from thirty kilometres, while the old one was lost after eight.
p1 ## Costs
p1 The lens weighs four tons and came in two hundred crates. Für die Überfahrt zahlte man 1,200 Gulden.
p1 ## Weather
p1 Fog stood over the coast for eleven days in a row, longer than in any year before, and nothing was seen from the gallery.
p2 # Crew
p2 Anna kept the log. Piet kept the lamp.`)
	if facts.Title != "Harbour report" || facts.Partial {
		t.Errorf("facts %+v", facts)
	}
}

// TestPagesBecomeParagraphs: lines are joined, hyphens taken back, running
// heads left out, and a page that is a picture is named.
func TestPagesBecomeParagraphs(t *testing.T) {
	page := func(n int, lines ...pdfLine) pdfPage {
		all := append([]pdfLine{{"Annual report", 8, 800}}, lines...)
		return pdfPage{n, append(all, pdfLine{fmt.Sprintf("Page %d", n), 8, 20})}
	}
	body := func(y float64, text string) pdfLine { return pdfLine{text, 10, y} }
	var got []Block
	s := &blockSink{emit: func(b Block) error { got = append(got, b); return nil }}
	err := sendPages([]pdfPage{
		page(1, pdfLine{"Big", 20, 760}, body(700, "The light-"), body(688, "house stood."), body(650, "A new para-"), body(638, "Graph follows it here for a while.")),
		page(2, pdfLine{"Small", 14, 760}, body(700, "灯塔"), body(688, "很高"), body(676, "• item"), body(664, "• other")),
		page(3, body(700, "one"), body(688, "two"), body(676, "three")),
		{number: 4},
	}, s)
	want := strings.TrimSpace(`
p1 # Big
p1 The lighthouse stood.
p1 A new para- Graph follows it here for a while.
p2 ## Small
p2 灯塔很高
p2 • item
p2 • other
p3 one two three`)
	if err != nil || sketch(got) != want || len(s.facts.Warnings) != 1 || !strings.Contains(s.facts.Warnings[0], "page 4") {
		t.Errorf("got\n%s\nwant\n%s\n%v %v", sketch(got), want, s.facts.Warnings, err)
	}
}

// TestBombsAreRefused: what unpacks to more than is read is a sentence.
func TestBombsAreRefused(t *testing.T) {
	huge, book := strings.Repeat("<w:p/>", 20_000), bookParts()
	book["OEBPS/one.xhtml"] = "<p>" + huge
	for name, c := range map[string]struct {
		data []byte
		read func(context.Context, *packed, *blockSink) error
	}{
		"docx": {zipped(t, map[string]string{"word/document.xml": "<w:document>" + huge + "</w:document>"}), readWord},
		"epub": {zipped(t, book), readBook},
	} {
		z, err := zip.NewReader(bytes.NewReader(c.data), int64(len(c.data)))
		if err != nil {
			t.Fatal(err)
		}
		err = c.read(t.Context(), &packed{zip: z, left: 100_000}, &blockSink{emit: func(Block) error { return nil }})
		var refused *MediaError
		if !errors.As(err, &refused) || !strings.Contains(refused.Reason, "unpacks to more") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestDamagedArchivesAreRefused: whatever is broken in one is a sentence.
func TestDamagedArchivesAreRefused(t *testing.T) {
	for name, data := range map[string][]byte{
		"not one of them": zipped(t, map[string]string{"a.txt": "x"}),
		"no archive":      []byte("PK\x03\x04 and nothing more"),
		"broken xml":      zipped(t, map[string]string{"word/document.xml": "<w:document><w:p"}),
		"no root":         zipped(t, map[string]string{"META-INF/container.xml": "<container/>"}),
		"lost part":       zipped(t, map[string]string{"META-INF/container.xml": `<container><rootfiles><rootfile full-path="x.opf"/></rootfiles></container>`}),
	} {
		_, _, err := readBlocks(t, formatPacked, data)
		var refused *MediaError
		if !errors.As(err, &refused) || strings.Contains(refused.Reason, "\n") || !strings.HasSuffix(refused.Reason, ".") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestTooManyBlocksAreRefused(t *testing.T) {
	s := &blockSink{emit: func(Block) error { return nil }, count: maxBlocks - 1}
	s.text(0, "the last one")
	if s.err != nil {
		t.Fatal(s.err)
	}
	s.text(0, "one more")
	if _, refused := errors.AsType[*MediaError](s.err); !refused {
		t.Errorf("%v", s.err)
	}
}

func fuzzReader(f *testing.F, format string, seeds ...[]byte) {
	f.Helper()
	for _, s := range seeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		_, _, err := readBlocks(t, format, data)
		if err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("an error of several lines: %q", err)
		}
	})
}

func FuzzReadHTML(f *testing.F) {
	fuzzReader(f, formatHTML, []byte("<table><tr><th>a<td>b</table><p hidden>x<p>y"), []byte("<head><title>t<body><h1>x</h6><table><table></td></table>"))
}

func FuzzReadTable(f *testing.F) {
	fuzzReader(f, formatTable, []byte("a,b\n1,\"2\n"), []byte("\"\"\"\n;;\t|\r"), []byte("\xff\xfea\x00,\x00"))
}

func FuzzReadPacked(f *testing.F) {
	fuzzReader(f, formatPacked, zipped(f, bookParts()), zipped(f, map[string]string{"word/document.xml": "<w:p><w:tbl><w:tr></w:tbl>"}))
}
