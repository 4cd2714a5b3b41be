package eval

import (
	"context"
	"errors"
	"html"
	"strconv"

	"github.com/reeltree/reeltree/retrieve"
	"github.com/reeltree/reeltree/tree"
)

// hopPassage is a line of the pool.
type hopPassage struct {
	Title string `json:"title"`
	Text  string `json:"text"`
}

// hopQuestion needs the passages of several titles.
type hopQuestion struct {
	ID       string   `json:"id"`
	Question string   `json:"question"`
	Gold     []string `json:"gold"` // titles
}

// multihop asks for the passages that a question of several steps rests on.
type multihop struct {
	data []hopQuestion
	pool []hopPassage
}

func loadMultihop(f Files) (job, error) {
	if f.Pool == "" {
		return nil, errors.New("multihop has its passages in a second file: name it with --pool")
	}
	data, err := readLines[hopQuestion](f.Data)
	if err != nil {
		return nil, err
	}
	pool, err := readLines[hopPassage](f.Pool)
	return &multihop{data, pool}, err
}

// library makes every passage a source of its own with one L2.
func (m *multihop) library(ctx context.Context, _ Config) (*library, error) {
	lib := &library{}
	for i, p := range m.pool {
		src := tree.Source{ID: poolID(i), Tenant: tree.DefaultTenant, Kind: tree.KindDocument, Title: html.UnescapeString(p.Title)}
		clip := paragraphClip(html.UnescapeString(p.Text), 1)
		if len(clip.Leaves) == 0 {
			continue
		}
		if err := lib.grow(ctx, tree.Extractive{}, extractiveModels, src, tree.Material{Source: src, Span: clip.Span, Title: src.Title, Clips: []tree.Clip{clip}}); err != nil {
			return nil, err
		}
	}
	return lib, nil
}

func poolID(i int) string { return sourceID("pool line " + strconv.Itoa(i)) }

// hopWords is how many words the chosen passages may have in the mean, the task's
// limit.
const hopWords = 200

func (m *multihop) ask(ctx context.Context, s *session) ([]any, *tally, error) {
	at, titles := map[string]int{}, map[string][]string{}
	for i, p := range m.pool {
		at[poolID(i)] = i
		titles[p.Title] = append(titles[p.Title], poolID(i))
	}
	var lines []hopLine
	for _, q := range m.data {
		var gold []fragment
		for _, title := range q.Gold {
			gold = append(gold, fragment{sources: titles[title]})
		}
		f, err := s.ask(ctx, retrieve.Query{Text: q.Question, Budget: hopWords * 4 / 3}, "all", gold)
		if err != nil {
			return nil, nil, err
		}
		lines = append(lines, hopLine{q.ID, m.passages(f.items, at)})
	}
	t, err := scoreMultihop(m.data, m.pool, lines)
	return anys(lines), t, err
}

// passages are those the evidence lies in, best first. The limit of words is one
// for the mean: it leaves out what would pass it beside two others, since no
// question of several steps can do with less than two.
func (m *multihop) passages(items []retrieve.Item, at map[string]int) []int {
	out, words, seen := []int{}, 0, map[int]bool{}
	for _, it := range items {
		i := at[it.Source.ID]
		n := tree.Words(m.pool[i].Text)
		if seen[i] || len(out) > 1 && words+n > hopWords {
			continue
		}
		seen[i] = true
		out, words = append(out, i), words+n
	}
	return out
}

func (p *hopPassage) lacks() string { return absent("title", p.Title == "", "text", p.Text == "") }

func (q *hopQuestion) lacks() string {
	return absent("id", q.ID == "", "gold titles", len(q.Gold) == 0)
}
