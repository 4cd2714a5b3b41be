//go:build cgo

package ingest

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reeltree/reeltree/internal/testkit"
	"github.com/reeltree/reeltree/tree"
)

// TestOddDocumentsInTheWorker reads every odd document through the worker child: the right
// text, or one sentence, within the memory of a child.
func TestOddDocumentsInTheWorker(t *testing.T) {
	dir := testkit.Shared(t, "media", "odd")
	for name, want := range map[string]string{
		"good.xlsx":     "p1 t1.0 Name\np1 t1.1 Änn",
		"farcell.xlsx":  "far",
		"wide.csv":      "c19999",
		"deep.html":     "deep text",
		"script.html":   "shown",
		"latin1.html":   "für",
		"notext.pdf":    "no text was found on it",
		"cut.pdf":       "refused: incomplete",
		"bomb.pdf":      "refused: unpacks to more",
		"encrypted.pdf": "refused: password",
		"manypages.pdf": "refused: 20000 pages",
		"bomb.xlsx":     "refused: unpacks to more",
	} {
		t.Run(name, func(t *testing.T) {
			file, err := os.Open(filepath.Join(dir, name))
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = file.Close() }()
			format, err := documentFormat(name, "", file)
			if err != nil {
				t.Fatal(err)
			}
			var blocks []Block
			_, err = Media{Command: selfWorker(t)}.Document(t.Context(), file, format, func(b Block) error { blocks = append(blocks, b); return nil })
			var refused *MediaError
			switch reason, isError := strings.CutPrefix(want, "refused: "); {
			case !isError && (err != nil || !strings.Contains(sketch(blocks), want)):
				t.Errorf("%.300s, %v", sketch(blocks), err)
			case isError && (!errors.As(err, &refused) || !strings.Contains(refused.Reason, reason)):
				t.Errorf("%v, want %s", err, reason)
			}
			if got := sketch(blocks); name == "script.html" && got != "shown" {
				t.Errorf("what is not shown was read: %s", got)
			}
		})
	}
}

// TestWorkerReadsOneDocument: blocks come in order and whole, however many
// messages they need; a listener that stops, stops the child.
func TestWorkerReadsOneDocument(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.csv")
	var b strings.Builder
	b.WriteString("name,number\n")
	for i := range 5000 {
		b.WriteString("row of some length to fill messages," + strings.Repeat("9", i%40+1) + "\n")
	}
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	m := Media{Command: selfWorker(t)}
	next := 0
	facts, err := m.Document(t.Context(), openMedia(t, path), formatTable, func(b Block) error {
		if b.Row != next || len(b.Cells) != 2 || next > 0 && len(b.Cells[1]) != (next-1)%40+1 {
			t.Errorf("row %d: %+v", next, b)
		}
		next++
		return nil
	})
	if err != nil || next != 5001 || facts.Partial {
		t.Errorf("%d rows, %+v, %v", next, facts, err)
	}
	enough := errors.New("enough")
	if _, err := m.Document(t.Context(), openMedia(t, path), formatTable, func(Block) error { return enough }); !errors.Is(err, enough) {
		t.Errorf("%v", err)
	}
	if _, err := m.Document(t.Context(), openMedia(t, path), "no such format", func(Block) error { return nil }); err == nil {
		t.Error("an unknown format was read")
	}
}

func tableOf(rows, cols int) []Block {
	blocks := []Block{{Level: 1, Text: "Loads"}, {Text: "What the ship brought."}}
	for r := range rows {
		cells := make([]string, cols)
		for c := range cells {
			cells[c] = strings.Repeat("x", 1+(r+c)%5)
		}
		blocks = append(blocks, Block{Table: 1, Row: r, Cells: cells})
	}
	return append(blocks, Block{Text: "That was all."})
}

// TestTableLeaves: each row is a leaf with its header and place, under the
// heading it stands under, between the paragraphs around it.
func TestTableLeaves(t *testing.T) {
	d := &document{blocks: tableOf(4, 2)}
	d.cutAtoms()
	all := d.materials(tree.Source{})
	var leaves []tree.Leaf
	for _, m := range all {
		for _, c := range m.Clips {
			leaves = append(leaves, c.Leaves...)
		}
	}
	if len(leaves) != 5 || leaves[0].Evidence.Passage != "What the ship brought." || leaves[4].Evidence.Passage != "That was all." {
		t.Fatalf("%+v", leaves)
	}
	for i, l := range leaves[1:4] {
		want := tree.Span{Unit: tree.UnitRows, Table: 0, RowStart: i + 1, RowEnd: i + 2}
		if l.Span != want || len(l.Evidence.Header) != 2 || len(l.Evidence.Rows) != 1 || l.Evidence.Title != "Loads" {
			t.Errorf("leaf %d: %+v", i, l)
		}
	}
}

// TestLargeTablesAreBounded: very long tables have several rows to a leaf, very
// wide ones groups of columns; no cell is lost.
func TestLargeTablesAreBounded(t *testing.T) {
	for _, size := range [][2]int{{3 * maxRowLeaves, 2}, {40, 5000}, {2, 1}, {1, 3}} {
		d := &document{blocks: tableOf(size[0], size[1])}
		d.cutAtoms()
		leaves, cells := 0, 0
		for _, a := range d.atoms {
			if a.rows == nil {
				continue
			}
			leaves++
			for _, r := range a.rows.rows {
				cells += len(r)
				if len(r) > columnGroup || a.rows.header != nil && len(a.rows.header) != len(r) {
					t.Fatalf("a leaf with %d cells under %d names", len(r), len(a.rows.header))
				}
			}
		}
		want := max(1, size[0]-1) * size[1]
		if cells != want || leaves > 2*maxRowLeaves {
			t.Errorf("%v: %d leaves with %d cells, want %d", size, leaves, cells, want)
		}
	}
}
