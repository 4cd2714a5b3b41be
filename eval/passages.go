package eval

import (
	"context"
	"slices"

	"github.com/reeltree/reeltree/retrieve"
	"github.com/reeltree/reeltree/tree"
)

// article is a line of passages.
type article struct {
	Lang       string         `json:"lang"`
	Doc        string         `json:"doc"`
	Paragraphs []string       `json:"paragraphs"`
	Queries    []articleQuery `json:"queries"`
}

type articleQuery struct {
	Query     string `json:"query"`
	Paragraph int    `json:"paragraph"`
	Start     int    `json:"start"` // code points
	Answer    string `json:"answer"`
}

// passages asks for the words of an answer in the articles of one language.
type passages struct{ data []article }

func loadPassages(f Files) (job, error) {
	data, err := readLines[article](f.Data)
	return &passages{data}, err
}

// library makes an article a source: a paragraph is an L2, a sentence an L3.
func (p *passages) library(ctx context.Context, _ Config) (*library, error) {
	lib := &library{}
	for _, d := range p.data {
		src := tree.Source{
			ID: sourceID(d.Doc), Tenant: tree.DefaultTenant, Kind: tree.KindDocument,
			Collections: []string{d.Lang}, Language: d.Lang,
		}
		mat := tree.Material{Source: src, Span: tree.Span{Unit: tree.UnitText, Paragraph: 1}}
		for i, text := range d.Paragraphs {
			if c := paragraphClip(text, i+1); len(c.Leaves) > 0 {
				mat.Clips = append(mat.Clips, c)
			}
		}
		if err := lib.grow(ctx, tree.Extractive{}, extractiveModels, src, mat); err != nil {
			return nil, err
		}
	}
	return lib, nil
}

func (p *passages) ask(ctx context.Context, s *session) ([]any, *tally, error) {
	names := map[string]string{}
	for _, d := range p.data {
		names[sourceID(d.Doc)] = d.Doc
	}
	var lines []passageLine
	for _, d := range p.data {
		for i, q := range d.Queries {
			span := tree.Span{Unit: tree.UnitText, Paragraph: q.Paragraph + 1, StartChar: q.Start, EndChar: q.Start + len([]rune(q.Answer))}
			query := retrieve.Query{Text: q.Query, Scope: retrieve.Scope{Collection: d.Lang}}
			f, err := s.ask(ctx, query, d.Lang, []fragment{{[]string{sourceID(d.Doc)}, &span}})
			if err != nil {
				return nil, nil, err
			}
			line := passageLine{Doc: d.Doc, Query: i, Hits: []passageHit{}}
			for _, it := range slices.Concat(f.items, f.nearest) {
				line.Hits = append(line.Hits, passageHit{names[it.Source.ID], it.Span.Paragraph - 1, it.Span.StartChar, it.Span.EndChar})
			}
			lines = append(lines, line)
		}
	}
	t, err := scorePassages(p.data, lines)
	return anys(lines), t, err
}

func (a *article) lacks() string {
	return absent("lang", a.Lang == "", "paragraphs", len(a.Paragraphs) == 0)
}
