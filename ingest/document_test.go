package ingest

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/reeltree/reeltree/internal/testkit"
	"github.com/reeltree/reeltree/tree"
)

var updateCuts = flag.Bool("update", false, "write the golden files anew")

// outline shows a tree's material as a person would check it.
func outline(all []tree.Material) string {
	var b strings.Builder
	for _, m := range all {
		fmt.Fprintf(&b, "L1 %d %v %q\n", m.Index, m.Span, m.Title)
		for _, c := range m.Clips {
			fmt.Fprintf(&b, "  L2 %v %q\n", c.Span, c.Title)
			for _, l := range c.Leaves {
				text := l.Evidence.Passage
				if r := []rune(text); len(r) > 60 {
					text = string(r[:28]) + " … " + string(r[len(r)-28:])
				}
				fmt.Fprintf(&b, "    L3 ¶ %d [%d, %d) %s\n", l.Span.Paragraph, l.Span.StartChar, l.Span.EndChar, text)
			}
		}
	}
	return b.String()
}

// One golden file per text in testdata/documents.
func TestDocumentOutlines(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "documents", "*.*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, ".golden") {
			continue
		}
		t.Run(filepath.Base(file), func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			format := formatText
			if filepath.Ext(file) == ".md" {
				format = formatMarkdown
			}
			d := parseDocument(format, data)
			got := fmt.Sprintf("title %q, %d characters\n", d.title, d.length) + outline(d.materials(tree.Source{}))
			golden := file + ".golden"
			if *updateCuts {
				if err := os.WriteFile(golden, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
	if len(files) < 4 {
		t.Errorf("only %d files", len(files))
	}
}

func TestOddDocuments(t *testing.T) {
	for file, check := range map[string]func(*testing.T, *tree.Tree){
		"evil.md": func(t *testing.T, tr *tree.Tree) {
			t.Helper()
			all := tr.Roots[0].Transcript()
			for _, bad := range []string{"javascript:", "onerror", "<img", "http://", "!["} {
				if strings.Contains(all, bad) {
					t.Errorf("%q holds %q", all, bad)
				}
			}
			if !strings.Contains(all, "click") || !strings.Contains(all, "unclosed fence") || tr.Source.Title != "Title" {
				t.Errorf("text %q, title %q", all, tr.Source.Title)
			}
		},
		"nul.md": func(t *testing.T, tr *tree.Tree) {
			t.Helper()
			if all := tr.Roots[0].Transcript(); !utf8.ValidString(all) || strings.Contains(all, "\x00") || !strings.Contains(all, "before") || !strings.Contains(all, "invalid") {
				t.Errorf("text %q", all)
			}
		},
		"oneline.md": func(t *testing.T, tr *tree.Tree) {
			t.Helper()
			if c := tr.Counts(); c.L1 < 10 || c.L3 < 300 {
				t.Errorf("nodes %+v", c)
			}
			words := 0
			for _, r := range tr.Roots {
				words += tree.Words(r.Transcript())
			}
			if words != 50_000 {
				t.Errorf("%d words", words)
			}
		},
		"tags.srt": func(t *testing.T, tr *tree.Tree) {
			t.Helper()
			if got := tr.Roots[0].Transcript(); got != "Red top placed" || tr.Source.DurationMS != 3000 || tr.Roots[0].Span != tree.MS(0, 3000) {
				t.Errorf("text %q, source %+v", got, tr.Source)
			}
		},
	} {
		t.Run(file, func(t *testing.T) {
			data, err := os.ReadFile(testkit.Shared(t, "media", "odd", file))
			if err != nil {
				t.Fatal(err)
			}
			m := newMemory(t)
			src, _ := m.ingest(t, m.worker(nil), m.put(t, file, data), tree.IngestOptions{})
			if src.State != tree.StateDone || src.Kind != tree.KindDocument {
				t.Fatalf("source %+v", src)
			}
			check(t, m.tree(t, src.ID))
		})
	}
}

func TestDocumentFormats(t *testing.T) {
	const srt = "1\n00:00:01,000 --> 00:00:02,000\nHi\n"
	cases := []struct{ name, mime, content, want string }{
		{"a.md", "", "# Hi", formatMarkdown},
		{"A.TXT", "", "Hi", formatText},
		{"README", "", "Hi there", formatText},
		{"notes.txt", "", srt, formatSubtitles},
		{"captions", "", "WEBVTT\n", formatSubtitles},
		{"a.srt", "", "anything", formatSubtitles},
		{"movie.mp4.txt", "", "\x00\x00\x00\x20ftypisom", ""},
		{"a.md", "", "\x1aE\xdf\xa3", ""},
		{"unknown", "", "bin\x00ary", ""},
		{"unknown", "", "<!DOCTYPE html><p>", ""},
		{"a.mp4", "", "Hi", ""},
		{"a.md", "", "", ""},
		{"a.pdf", "", "%PDF-1.4", formatPDF},
		{"a.bin", "", "junk\n%PDF-1.7", formatPDF},
		{"a.xlsx", "", "PK\x03\x04", formatPacked},
		{"a.docx", "", "PK\x03\x04", formatPacked},
		{"a.docx", "", "Hi", "refused"},
		{"a.odt", "", "PK\x03\x04", "refused"},
		{"a.csv", "", "a,b\n", formatTable},
		{"a.HTM", "", "<p>", formatHTML},
		{"article", "text/html; charset=utf-8", "<p>Hi", formatHTML},
		{"table", "text/csv", "a,b\n", formatTable},
		{"notes", "text/markdown", "# Hi", formatMarkdown},
	}
	for _, c := range cases {
		got, err := documentFormat(c.name, c.mime, strings.NewReader(c.content))
		if err != nil {
			var refused *SourceError
			if got = "refused"; !errors.As(err, &refused) || !strings.Contains(refused.Reason, c.name) {
				t.Errorf("%s: error %v", c.name, err)
			}
		}
		if got != c.want {
			t.Errorf("%s with %q is %q, want %q", c.name, c.content, got, c.want)
		}
	}
}

func TestEmptyAndRefusedDocuments(t *testing.T) {
	for name, content := range map[string]string{"a.md": " \n\n \n", "b.txt": "\x00\x00", "d.srt": "no cue"} {
		m := newMemory(t)
		src, _ := m.ingest(t, m.worker(nil), m.put(t, name, []byte(content)), tree.IngestOptions{})
		if src.State != tree.StateFailed || src.Error == "" || strings.Contains(src.Error, "\n") || len(m.trees) != 0 {
			t.Errorf("%s: %+v", name, src)
		}
	}
}

// holdDocument checks that every character of every paragraph that is not
// blank stands in exactly one leaf, in order, at the place its span says.
func holdDocument(t *testing.T, d *document) {
	t.Helper()
	at := make(map[int]int)
	last := 0
	all := d.materials(tree.Source{})
	for i, m := range all {
		if m.Index != i || len(m.Clips) == 0 {
			t.Fatalf("stretch %d has index %d and %d clips", i, m.Index, len(m.Clips))
		}
		for _, c := range m.Clips {
			for _, l := range c.Leaves {
				s := l.Span
				text := []rune(d.blocks[s.Paragraph-1].Text)
				if s.Paragraph < last || s.StartChar < at[s.Paragraph] || string(text[s.StartChar:s.EndChar]) != l.Evidence.Passage {
					t.Fatalf("leaf %+v after paragraph %d, place %d", s, last, at[s.Paragraph])
				}
				if skipped := string(text[at[s.Paragraph]:s.StartChar]); strings.TrimSpace(skipped) != "" {
					t.Fatalf("%q stands in no leaf", skipped)
				}
				if l.Evidence.Passage == "" || tree.Words(l.Evidence.Passage) > partWords+1 || len([]rune(l.Evidence.Passage)) > partRunes+1 {
					t.Fatalf("leaf of %d words", tree.Words(l.Evidence.Passage))
				}
				last, at[s.Paragraph] = s.Paragraph, s.EndChar
			}
		}
	}
	for i, b := range d.blocks {
		if rest := string([]rune(b.Text)[at[i+1]:]); b.Level == 0 && strings.TrimSpace(rest) != "" {
			t.Fatalf("the end of paragraph %d stands in no leaf: %q", i+1, rest)
		}
	}
}

func TestLongWordsAndDenseScripts(t *testing.T) {
	for _, text := range []string{
		strings.Repeat("x", 5000), strings.Repeat("今天天气很好我们去公园", 200), strings.Repeat("今天天气很好。", 200),
		strings.Repeat("One sentence here. ", 300), strings.Repeat("a ", 4000), strings.Repeat("word\n\n", 3000),
	} {
		holdDocument(t, parseDocument(formatText, []byte(text)))
	}
}

func FuzzParseDocument(f *testing.F) {
	for _, s := range []string{"# A\n\ntext **bold** [x](y)\n\n- one\n- two\n", "Title\n=====\n\n```go\ncode\n", "---\na: b\n---\n> quote\n\n## B\n\n## C", "\xff\xfea\x00\n\x00", "<script>x</script>\\*&lt;"} {
		f.Add([]byte(s), true)
		f.Add([]byte(s), false)
	}
	f.Fuzz(func(t *testing.T, data []byte, markdown bool) {
		format := formatText
		if markdown {
			format = formatMarkdown
		}
		d := parseDocument(format, data)
		for _, b := range d.blocks {
			if !utf8.ValidString(b.Text) || strings.ContainsAny(b.Text, "\x00\n") || b.Level > 6 {
				t.Fatalf("block %+v", b)
			}
		}
		if len(d.atoms) > 0 {
			holdDocument(t, d)
		}
	})
}

// TestReadDocumentsAreForgotten: a document is kept only while a job works on
// it, whatever the job's end, and a quote keeps nothing.
func TestReadDocumentsAreForgotten(t *testing.T) {
	m := newMemory(t)
	w := m.worker(nil)
	put := m.put(t, "a.md", []byte("# One\n\nText.\n"))
	kept := func() bool { return w.texts.all != nil }
	if _, err := w.Quote(t.Context(), put, tree.IngestOptions{}); err != nil || kept() {
		t.Errorf("after a quote: %v, kept %v", err, kept())
	}
	job, err := w.Submit(t.Context(), put, tree.IngestOptions{})
	if err != nil {
		t.Fatal(err)
	}
	w.texts.keep(textPrefix(put.Tenant, put.ID)+formatMarkdown, []tree.Material{{}})
	if err := w.Cancel(t.Context(), put.Tenant, job.ID); err != nil || kept() {
		t.Errorf("after a cancel: %v, kept %v", err, kept())
	}
	if _, err := w.Resume(t.Context(), put.Tenant, job.ID, 0, 0); err != nil {
		t.Fatal(err)
	}
	if err := w.Run(t.Context()); err != nil || kept() || m.source(t, put.ID).State != tree.StateDone {
		t.Errorf("after the end: %v, kept %v, %+v", err, kept(), m.source(t, put.ID))
	}
}
