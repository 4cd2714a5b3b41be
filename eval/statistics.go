package eval

import (
	"slices"
	"strings"

	"github.com/reeltree/reeltree/retrieve"
	"github.com/reeltree/reeltree/tree"
)

// Stats say what retrieval did for the questions of one kind, as means.
//
//	pruned_share          1 - evidence tokens / tokens of the L2 nodes that refinement began at
//	gold_fragment_recall  share of the gold fragments inside those nodes that the evidence holds
//	gold_entered          share of all gold fragments that lie inside those nodes
//	evidence_tokens       tokens of the evidence
//	saving                1 - evidence tokens / tokens of the whole L2 nodes that the evidence lies in
//	rounds                rounds of the loop
//	repeat_share          share of the candidates of later rounds that an earlier one had, where there were any
//	nodes_scored          nodes that the navigator scored on its walks
//	pieces_ranked         regions that it scored after them, to order what was found
//	leaves_scored         leaves that the flat ranking scored
//	walk_rounds           rounds that it walked, over all trees
//	model_calls           calls of a chat or vision model; no eval task has one
type Stats struct {
	Questions          int      `json:"questions"`
	PrunedShare        float64  `json:"pruned_share"`
	GoldFragmentRecall *float64 `json:"gold_fragment_recall,omitempty"`
	GoldEntered        *float64 `json:"gold_entered,omitempty"`
	EvidenceTokens     float64  `json:"evidence_tokens"`
	Saving             float64  `json:"saving"`
	ModelCalls         float64  `json:"model_calls"`
	Rounds             float64  `json:"rounds"`
	RepeatShare        *float64 `json:"repeat_share,omitempty"`
	NodesScored        float64  `json:"nodes_scored"`
	LeavesScored       float64  `json:"leaves_scored"`
	PiecesRanked       float64  `json:"pieces_ranked"`
	WalkRounds         float64  `json:"walk_rounds"`
}

// statistics are the sums behind Stats, by kind of question; "all" is every one.
type statistics map[string]*sums

type sums struct {
	questions, rounds                  int
	evidence, started, whole           int // tokens
	gold, entered, held, later, repeat int
	scored, walked, flat, pieces       float64
}

// note adds one question.
func (s *statistics) note(lib *library, kind string, r retrieve.Result, items []retrieve.Item, gold []fragment) {
	if *s == nil {
		*s = statistics{}
	}
	clips := startedClips(r)
	var q sums
	q.questions, q.rounds = 1, len(r.Rounds)
	q.evidence, q.started, q.whole = tokensOf(items), lib.tokens(clips), lib.tokens(clipsOf(items))
	for _, g := range gold {
		q.gold++
		if g.entered(lib, clips) {
			q.entered++
			if g.held(items) {
				q.held++
			}
		}
	}
	q.later, q.repeat = repeats(r)
	q.scored, q.walked, q.flat = cost(r, "scored"), cost(r, "rounds"), cost(r, "leaves")
	q.pieces = cost(r, "pieces")
	for _, k := range []string{"all", kind} {
		if (*s)[k] == nil {
			(*s)[k] = &sums{}
		}
		(*s)[k].add(q)
		if kind == "all" {
			break
		}
	}
}

func (s *sums) add(o sums) {
	s.questions, s.rounds = s.questions+o.questions, s.rounds+o.rounds
	s.evidence, s.started, s.whole = s.evidence+o.evidence, s.started+o.started, s.whole+o.whole
	s.gold, s.entered, s.held = s.gold+o.gold, s.entered+o.entered, s.held+o.held
	s.later, s.repeat = s.later+o.later, s.repeat+o.repeat
	s.scored, s.walked, s.flat = s.scored+o.scored, s.walked+o.walked, s.flat+o.flat
	s.pieces += o.pieces
}

// means are the Stats by kind.
func (s statistics) means() map[string]Stats {
	out := map[string]Stats{}
	for kind, q := range s {
		n := float64(q.questions)
		out[kind] = Stats{
			Questions: q.questions, Rounds: round4(float64(q.rounds) / n), EvidenceTokens: round4(float64(q.evidence) / n),
			PrunedShare: round4(1 - ratio(q.evidence, q.started)), Saving: round4(1 - ratio(q.evidence, q.whole)),
			GoldEntered: share(q.entered, q.gold), GoldFragmentRecall: share(q.held, q.entered), RepeatShare: share(q.repeat, q.later),
			NodesScored: round4(q.scored / n), WalkRounds: round4(q.walked / n), LeavesScored: round4(q.flat / n), PiecesRanked: round4(q.pieces / n),
		}
	}
	return out
}

// cost sums up one of the costs that the trace holds.
func cost(r retrieve.Result, of string) (sum float64) {
	for _, round := range r.Rounds {
		for _, d := range round.Trace {
			if d.Stage == "cost" && d.Action == of {
				sum += d.Score
			}
		}
	}
	return sum
}

func ratio(a, b int) float64 { return float64(a) / float64(max(1, b)) }

// share is a/b, nil where there is nothing to share.
func share(a, b int) *float64 {
	if b == 0 {
		return nil
	}
	x := round4(ratio(a, b))
	return &x
}

// startedClips are the L2 nodes whose refinement the trace shows to have begun:
// those of the entry hits, of the walk's paths and of the flat ranking.
func startedClips(r retrieve.Result) map[string]bool {
	clips := map[string]bool{}
	for _, round := range r.Rounds {
		for _, d := range round.Trace {
			if id, ok := clipID(d.Node); ok && d.Stage != "choose" {
				clips[id] = true
			}
		}
	}
	return clips
}

// clipID is the L2 that an L2 or L3 node is or lies in.
func clipID(node string) (string, bool) {
	parts := strings.Split(node, ".")
	if len(parts) < 2 {
		return "", false
	}
	return parts[0] + "." + parts[1], true
}

func clipsOf(items []retrieve.Item) map[string]bool {
	clips := map[string]bool{}
	for _, it := range items {
		if id, ok := clipID(it.Node); ok {
			clips[id] = true
		}
	}
	return clips
}

// repeats counts the candidates of later rounds, and those that were candidates
// of an earlier one.
func repeats(r retrieve.Result) (later, repeat int) {
	seen := map[string]bool{}
	for i, round := range r.Rounds {
		for _, d := range round.Trace {
			if d.Stage == "choose" && i > 0 {
				later++
				if seen[d.Node] {
					repeat++
				}
			}
		}
		for _, d := range round.Trace {
			if d.Stage == "choose" {
				seen[d.Node] = true
			}
		}
	}
	return later, repeat
}

// tokens is what clips cost whole.
func (l *library) tokens(clips map[string]bool) int {
	sum := 0
	for id := range clips {
		if n := l.node(id); n != nil {
			n.Leaves(func(leaf *tree.Node) { sum += leafTokens(leaf) })
		}
	}
	return sum
}

func leafTokens(n *tree.Node) int {
	sum := tree.Tokens(n.Evidence.Passage)
	for _, c := range n.Evidence.Cues {
		sum += tree.Tokens(c.Text)
	}
	for _, row := range n.Evidence.Rows {
		sum += tree.Tokens(strings.Join(row, " | "))
	}
	if sum == 0 {
		sum = tree.Tokens(n.Text)
	}
	return sum
}

// held reports whether evidence holds the fragment: half of a stretch of time,
// all of a place in a text, a row.
func (g *fragment) held(items []retrieve.Item) bool {
	for _, it := range items {
		if g.in(it.Source.ID, it.Span) {
			return true
		}
	}
	return false
}

// entered reports whether the fragment lies in one of the clips.
func (g *fragment) entered(lib *library, clips map[string]bool) bool {
	for id := range clips {
		n := lib.node(id)
		if n == nil {
			continue
		}
		source, _, _ := strings.Cut(id, "/")
		inside := false
		n.Leaves(func(leaf *tree.Node) { inside = inside || g.touches(source, leaf.Span) })
		if inside {
			return true
		}
	}
	return false
}

func (g *fragment) of(source string) bool { return slices.Contains(g.sources, source) }

// in reports whether span s of a source holds the fragment.
func (g *fragment) in(source string, s tree.Span) bool {
	switch {
	case !g.of(source):
		return false
	case g.span == nil:
		return true
	case g.span.Unit != s.Unit:
		return false
	}
	switch s.Unit {
	case tree.UnitText:
		return s.Paragraph == g.span.Paragraph && s.StartChar <= g.span.StartChar && s.EndChar >= g.span.EndChar
	case tree.UnitRows:
		return s.RowStart <= g.span.RowStart && s.RowEnd >= g.span.RowEnd
	default:
		return 2*s.Overlap(*g.span) >= g.span.Duration()
	}
}

// touches reports whether span s of a source shares anything with the fragment.
func (g *fragment) touches(source string, s tree.Span) bool {
	if !g.of(source) || g.span == nil || g.span.Unit != s.Unit {
		return g.of(source) && g.span == nil
	}
	switch s.Unit {
	case tree.UnitText:
		return s.Paragraph == g.span.Paragraph && s.StartChar < g.span.EndChar && g.span.StartChar < s.EndChar
	case tree.UnitRows:
		return s.RowStart < g.span.RowEnd && g.span.RowStart < s.RowEnd
	default:
		return s.Overlap(*g.span) > 0
	}
}
