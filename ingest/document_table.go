package ingest

import "github.com/reeltree/reeltree/tree"

// columnGroup is how many columns of a wide table stand in one leaf.
const columnGroup = 64

// maxRowLeaves bounds the leaves of one document's tables; longer tables have
// several rows in each.
const maxRowLeaves = 20_000

// tableRows is what a leaf holds of a table.
type tableRows struct {
	table, start, end int // rows [start, end), the header is row 0
	header            []string
	rows              [][]string
}

// tableRun is a table in the blocks of a document: blocks [from, to).
type tableRun struct{ from, to int }

// tables are the runs of rows of the same table.
func (d *document) tables() []tableRun {
	var out []tableRun
	for i := 0; i < len(d.blocks); i++ {
		if d.blocks[i].Table == 0 {
			continue
		}
		run := tableRun{i, i + 1}
		for run.to < len(d.blocks) && d.blocks[run.to].Table == d.blocks[i].Table {
			run.to++
		}
		out = append(out, run)
		i = run.to - 1
	}
	return out
}

// rowAtoms are the leaves of a table: a row each with its header, several where
// the document's tables are very long, and groups of columns where they are
// very wide. A table of one row is a paragraph of its own.
func (d *document) rowAtoms(run tableRun, per int) []atom {
	head := d.blocks[run.from]
	first := run.from + 1
	if run.to == first {
		first = run.from
	}
	var out []atom
	for i := first; i < run.to; i += per {
		last := min(i+per, run.to)
		widest := 0
		for _, b := range d.blocks[i:last] {
			widest = max(widest, len(b.Cells))
		}
		for col := 0; col < widest; col += columnGroup {
			rows := &tableRows{table: head.Table - 1, start: d.blocks[i].Row, end: d.blocks[last-1].Row + 1}
			if first > run.from {
				rows.header = columns(head.Cells, col)
			}
			for _, b := range d.blocks[i:last] {
				rows.rows = append(rows.rows, columns(b.Cells, col))
			}
			if words := rows.words(); words > 0 {
				out = append(out, atom{block: i, words: words, rows: rows})
			}
		}
	}
	return out
}

// columns are the cells of one group.
func columns(cells []string, from int) []string {
	from = min(from, len(cells))
	return cells[from:min(from+columnGroup, len(cells))]
}

func (t *tableRows) words() int {
	n := 0
	for _, row := range t.rows {
		for _, c := range row {
			n += tree.Words(c)
		}
	}
	return n
}

// cutTables puts the leaves of the tables where their blocks stand.
func (d *document) cutTables() {
	runs := d.tables()
	if len(runs) == 0 {
		return
	}
	leaves := 0
	for _, r := range runs {
		leaves += (r.to - r.from) * (1 + len(d.blocks[r.from].Cells)/columnGroup)
	}
	per := 1 + leaves/maxRowLeaves
	heading := d.headings()
	var out []atom
	next := 0
	for _, r := range runs {
		for next < len(d.atoms) && d.atoms[next].block < r.from {
			out = append(out, d.atoms[next])
			next++
		}
		for _, a := range d.rowAtoms(r, per) {
			a.heading = heading[r.from]
			out = append(out, a)
		}
	}
	d.atoms = append(out, d.atoms[next:]...)
}

// headings is, for every block, the index of the heading it stands under.
func (d *document) headings() []int {
	out, h := make([]int, len(d.blocks)), -1
	for i, b := range d.blocks {
		if b.Level > 0 {
			h = i
		}
		out[i] = h
	}
	return out
}

// span is the place of the rows in the document.
func (t *tableRows) span() tree.Span {
	return tree.Span{Unit: tree.UnitRows, Table: t.table, RowStart: t.start, RowEnd: t.end}
}
