package eval

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/reeltree/reeltree/retrieve"
	"github.com/reeltree/reeltree/tree"
)

// page is a line of tables: a table with the paragraphs around it.
type page struct {
	Doc        string      `json:"doc"`
	Table      [][]string  `json:"table"`
	Paragraphs []string    `json:"paragraphs"`
	Queries    []pageQuery `json:"queries"`
}

type pageQuery struct {
	Query      string          `json:"query"`
	Answer     json.RawMessage `json:"answer"`
	From       string          `json:"from"`
	Type       string          `json:"type"`
	Derivation string          `json:"derivation"`
}

// tables asks for the rows and paragraphs of a page that an answer rests on.
type tables struct{ data []page }

func loadTables(f Files) (job, error) {
	data, err := readLines[page](f.Data)
	return &tables{data}, err
}

// library makes a page a source: the table is an L2 of rows, each paragraph an
// L2 of sentences.
func (t *tables) library(ctx context.Context, _ Config) (*library, error) {
	lib := &library{}
	for i := range t.data {
		p := &t.data[i]
		src := tree.Source{ID: sourceID(p.Doc), Tenant: tree.DefaultTenant, Kind: tree.KindDocument}
		mat := tree.Material{Source: src, Span: tree.Span{Unit: tree.UnitText, Paragraph: 1}}
		if c := p.tableClip(); len(c.Leaves) > 0 {
			mat.Clips = append(mat.Clips, c)
		}
		for k, text := range p.Paragraphs {
			if c := paragraphClip(text, k+1); len(c.Leaves) > 0 {
				mat.Clips = append(mat.Clips, c)
			}
		}
		if err := lib.grow(ctx, tree.Extractive{}, extractiveModels, src, mat); err != nil {
			return nil, err
		}
	}
	return lib, nil
}

// mostHeaders is how many rows at the top of a table may be its header.
const mostHeaders = 3

// headers is the number of header rows: the first one and those after it whose
// first cell, which names the row, is empty.
func (p *page) headers() int {
	n := min(1, len(p.Table))
	for n < min(mostHeaders, len(p.Table)-1) && (len(p.Table[n]) == 0 || strings.TrimSpace(p.Table[n][0]) == "") {
		n++
	}
	return n
}

// header joins the header rows column by column.
func (p *page) header() []string {
	var out []string
	for _, row := range p.Table[:p.headers()] {
		for i, cell := range row {
			if i == len(out) {
				out = append(out, "")
			}
			out[i] = strings.TrimSpace(out[i] + " " + strings.TrimSpace(cell))
		}
	}
	return out
}

func (p *page) tableClip() tree.Clip {
	n := p.headers()
	clip := tree.Clip{Span: tree.Span{Unit: tree.UnitRows, RowStart: n, RowEnd: len(p.Table)}}
	header := p.header()
	for i := n; i < len(p.Table); i++ {
		clip.Leaves = append(clip.Leaves, tree.Leaf{
			Span:     tree.Span{Unit: tree.UnitRows, RowStart: i, RowEnd: i + 1},
			Evidence: tree.Evidence{Header: header, Rows: [][]string{p.Table[i]}},
		})
	}
	return clip
}

// tableShare is the largest share of a page's words that is kept. Whole rows and
// paragraphs leave some of it unused, so that the mean stays below the task's .45.
const tableShare = .49

func (t *tables) ask(ctx context.Context, s *session) ([]any, *tally, error) {
	var lines []tableLine
	for i := range t.data {
		p := &t.data[i]
		budget := int(float64(p.words(p.everything())) * 4 / 3) // the ranking of all; kept cuts it
		for j, q := range p.Queries {
			query := retrieve.Query{Text: q.Query, Budget: max(1, budget), Fill: true, Scope: retrieve.Scope{Sources: []string{sourceID(p.Doc)}}}
			s.cut = p.within
			f, err := s.ask(ctx, query, q.Type, p.fragments(q))
			if err != nil {
				return nil, nil, err
			}
			kept := p.kept(f.items)
			lines = append(lines, tableLine{p.Doc, j, kept.rows, kept.pars})
		}
	}
	scored, err := scoreTables(t.data, lines)
	return anys(lines), scored, err
}

// fragments are the rows and words that the answer of a question is made from.
func (p *page) fragments(q pageQuery) (out []fragment) {
	for _, span := range p.places(q) {
		out = append(out, fragment{[]string{sourceID(p.Doc)}, &span})
	}
	return out
}

// within are the items that a page is kept for, best first as long as the limit
// holds.
func (p *page) within(items []retrieve.Item) []retrieve.Item {
	_, out := p.fit(items)
	return out
}

// kept are the rows, with the header they are read under, and the paragraphs
// that items lie in.
func (p *page) kept(items []retrieve.Item) part {
	out, _ := p.fit(items)
	return out
}

// fit keeps what items lie in, best first as long as the limit holds, and gives
// those items too.
func (p *page) fit(items []retrieve.Item) (out part, used []retrieve.Item) {
	out = part{page: p, rows: []int{}, pars: []int{}}
	limit := tableShare * float64(p.words(p.everything()))
	for _, it := range items {
		more := part{p, out.rows, out.pars}
		if it.Span.Unit == tree.UnitRows {
			more.rows = append([]int{}, out.rows...)
			for i := range p.headers() {
				more.rows = append(more.rows, i)
			}
			for i := it.Span.RowStart; i < it.Span.RowEnd; i++ {
				more.rows = append(more.rows, i)
			}
			more.rows = sortedSet(more.rows)
		} else {
			more.pars = sortedSet(append(slices.Clip(out.pars), it.Span.Paragraph-1))
		}
		if len(out.rows)+len(out.pars) == 0 || float64(p.words(more)) <= limit {
			out, used = more, append(used, it)
		}
	}
	return out, used
}

func (p *page) lacks() string { return absent("doc", p.Doc == "", "table", len(p.Table) == 0) }
