package eval

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/reeltree/reeltree/retrieve"
	"github.com/reeltree/reeltree/tree"
)

// session asks the questions of a task once, in order, with one engine.
type session struct {
	lib    *library
	engine *retrieve.Engine
	known  []retrieve.Result                     // of an earlier session under the same switches; nil: ask the engine
	keep   keep                                  // nil: all that was found
	cut    func([]retrieve.Item) []retrieve.Item // what the task itself keeps, best first; nil: all
	stats  statistics
	asked  int
	tokens []int             // evidence tokens of every question, in order
	all    []retrieve.Result // of every question, in order
}

// keep takes from the evidence of question n, best first, what a baseline keeps.
type keep func(n int, ranked []retrieve.Item) []retrieve.Item

// found is what one question found, best first.
type found struct {
	items   []retrieve.Item
	nearest []retrieve.Item
	entry   []retrieve.Decision // nodes that the indexes hit, best first
}

// fragment is one piece of gold: a place in one of some equal sources.
type fragment struct {
	sources []string
	span    *tree.Span // nil: anywhere in the source
}

// ask queries the engine and notes what it took to answer.
func (s *session) ask(ctx context.Context, q retrieve.Query, kind string, gold []fragment) (found, error) {
	r, err := s.query(ctx, q)
	if err != nil {
		return found{}, fmt.Errorf("the question %.80q: %w", q.Text, err)
	}
	f := found{items: ranked(r.Items), nearest: r.Nearest, entry: entryHits(r)}
	if s.keep != nil {
		f.items = s.keep(s.asked, f.items)
	}
	if s.cut != nil {
		f.items = s.cut(f.items)
	}
	s.asked++
	s.tokens = append(s.tokens, tokensOf(f.items))
	s.stats.note(s.lib, kind, r, f.items, gold)
	return f, nil
}

func (s *session) query(ctx context.Context, q retrieve.Query) (r retrieve.Result, err error) {
	if s.known != nil {
		return s.known[s.asked], ctx.Err()
	}
	q.Scope.Tenant, q.Trace = tree.DefaultTenant, true
	r, err = s.engine.Query(ctx, q, nil)
	s.all = append(s.all, r)
	return r, err
}

// ranked are items best first; equal ones stay in the order of the material.
func ranked(items []retrieve.Item) []retrieve.Item {
	out := slices.Clone(items)
	slices.SortStableFunc(out, func(a, b retrieve.Item) int { return cmp.Compare(b.Score, a.Score) })
	return out
}

// entryHits are the nodes of the entry stage over all rounds, each once.
func entryHits(r retrieve.Result) []retrieve.Decision {
	var out []retrieve.Decision
	seen := map[string]bool{}
	for _, round := range r.Rounds {
		for _, d := range round.Trace {
			if d.Stage == "entry" && !seen[d.Node] {
				seen[d.Node] = true
				out = append(out, d)
			}
		}
	}
	return out
}

func tokensOf(items []retrieve.Item) int {
	n := 0
	for _, it := range items {
		n += it.Tokens
	}
	return n
}

// seconds is the place of an item in seconds.
func seconds(s tree.Span) interval {
	return interval{float64(s.StartMS) / 1000, float64(s.EndMS) / 1000}
}

// milliseconds rounds seconds of the data.
func milliseconds(s float64) int64 { return int64(s*1000 + .5) }
