package generate_test

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/reeltree/reeltree/generate"
	"github.com/reeltree/reeltree/internal/testkit"
	"github.com/reeltree/reeltree/model"
	"github.com/reeltree/reeltree/retrieve"
	"github.com/reeltree/reeltree/tree"
)

type meeting struct {
	ID    string
	Turns []struct {
		Start, End    float64
		Speaker, Text string
	}
	Queries []struct {
		Query, Answer string
		Turns         [][2]int
	}
}

// meetingTree lays a transcript out: a turn is an L3, an L2 about a minute, an
// L1 about ten.
func meetingTree(m meeting, id string) *tree.Tree {
	end := int64(m.Turns[len(m.Turns)-1].End * 1000)
	t := &tree.Tree{Source: tree.Source{ID: id, Tenant: "default", Kind: tree.KindAudio, Title: m.ID, DurationMS: end}}
	for _, turn := range m.Turns {
		a, b := int64(turn.Start*1000), int64(turn.End*1000)
		if n := len(t.Roots); n == 0 || a-t.Roots[n-1].Span.StartMS >= 600_000 {
			t.Roots = append(t.Roots, &tree.Node{ID: tree.NodeID(id, n), Level: tree.L1, Text: m.ID, Span: tree.MS(a, b)})
		}
		l1 := t.Roots[len(t.Roots)-1]
		if n := len(l1.Children); n == 0 || a-l1.Children[n-1].Span.StartMS >= 60_000 {
			l1.Children = append(l1.Children, &tree.Node{ID: tree.NodeID(id, len(t.Roots)-1, n), Level: tree.L2, Text: turn.Text, Span: tree.MS(a, b)})
		}
		l2 := l1.Children[len(l1.Children)-1]
		l2.Children = append(l2.Children, &tree.Node{
			ID: tree.NodeID(id, len(t.Roots)-1, len(l1.Children)-1, len(l2.Children)), Level: tree.L3, Text: turn.Text, Span: tree.MS(a, b),
			Evidence: tree.Evidence{Cues: []tree.Cue{{StartMS: a, EndMS: b, Speaker: turn.Speaker, Text: turn.Text}}},
		})
		l1.Span.EndMS, l2.Span.EndMS = b, b
	}
	return t
}

// asker answers over real meetings, one library.
func asker(t *testing.T, meetings []meeting) (a *generate.Answerer, ids []string) {
	t.Helper()
	trees := map[string]*tree.Tree{}
	builtin := model.NewBuiltin()
	load := func(_ context.Context, _, id string) (*tree.Tree, error) { return trees[id], nil }
	e, err := retrieve.Open(retrieve.Config{Embed: builtin.Embed, Dim: builtin.Dim(), Trees: load})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	for i, m := range meetings {
		id := fmt.Sprintf("meetingmeetingmeetingmeet%c", 'a'+i)
		ids = append(ids, id)
		trees[id] = meetingTree(m, id)
		if err := e.AddTree(t.Context(), trees[id]); err != nil {
			t.Fatal(err)
		}
	}
	return &generate.Answerer{Find: e.Query, Trees: load}, ids
}

func answerOf(t *testing.T, a *generate.Answerer, q generate.Question) (text string, events []generate.Event) {
	t.Helper()
	q.Tenant = "default"
	err := a.Answer(t.Context(), q, func(e generate.Event) error {
		events = append(events, e)
		if token, ok := e.(generate.Token); ok {
			text += token.Text
		}
		return nil
	})
	if err != nil {
		t.Fatalf("%q: %v", q.Text, err)
	}
	return text, events
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// TestMeetingAnswersAreFaithful holds that every sentence of an extractive
// answer occurs in the evidence it cites, on real speech.
func TestMeetingAnswersAreFaithful(t *testing.T) {
	meetings := testkit.ReadJSONLines[meeting](t, testkit.Shared(t, "bench", "meetings-dev.jsonl.gz"))[:6]
	a, ids := asker(t, meetings)
	sentences, words, answered := 0, 0, 0
	for i, m := range meetings {
		for _, q := range m.Queries {
			text, events := answerOf(t, a, generate.Question{Text: q.Query, Sources: ids[i : i+1]})
			done := events[len(events)-1].(generate.Done)
			if done.Finish == generate.FinishNotFound {
				continue
			}
			answered++
			words += tree.Words(text)
			quotes, from := map[int]string{}, 0
			for _, e := range events {
				switch e := e.(type) {
				case generate.Evidence:
					quotes[e.N] = oneLine(e.Quote)
				case generate.Citation:
					said := oneLine(strings.TrimPrefix(strings.TrimSpace(string([]rune(text)[from:e.At])), "- "))
					if said == "" || !strings.Contains(quotes[e.N], said) {
						t.Errorf("%q: %q is not in evidence %d", q.Query, said, e.N)
					}
					from = e.At
					sentences++
				}
			}
			if from != len([]rune(text)) {
				t.Errorf("%q: words without a citation: %q", q.Query, text)
			}
		}
	}
	t.Logf("%d answers, %d sentences, %.1f words each", answered, sentences, float64(words)/float64(max(1, answered)))
	if answered < 20 {
		t.Errorf("only %d questions were answered", answered)
	}
}

var shownPiece = regexp.MustCompile(`(?m)^\[(\d+)\] [^\n]*:\n([^\n]+)$`)

// cites is a chat model that repeats words of each piece of evidence and gives
// it the number of the piece that many places on.
func cites(shift int) generate.Chat {
	return func(_ context.Context, r generate.ChatRequest, onToken func(string) error) (generate.ChatReply, error) {
		pieces := shownPiece.FindAllStringSubmatch(r.Text, -1)
		for i, p := range pieces {
			words := strings.Fields(p[2])
			mid := len(words) / 2
			said := strings.Join(words[max(0, mid-8):min(len(words), mid+8)], " ")
			said = strings.NewReplacer(".", "", "?", "", "!", "").Replace(said)
			if err := onToken(fmt.Sprintf("Someone said that %s [%s]. ", said, pieces[(i+shift)%len(pieces)][1])); err != nil {
				return generate.ChatReply{}, err
			}
		}
		return generate.ChatReply{Finish: "stop"}, nil
	}
}

// TestWrongCitationsAreFlagged holds the threshold of support on real speech,
// where the pieces of evidence for one question resemble each other.
func TestWrongCitationsAreFlagged(t *testing.T) {
	meetings := testkit.ReadJSONLines[meeting](t, testkit.Shared(t, "bench", "meetings-dev.jsonl.gz"))[:6]
	a, ids := asker(t, meetings)
	for _, embed := range []retrieve.Embed{nil, model.NewBuiltin().Embed} {
		a.Embed = embed
		var share [2]float64
		for shift := range 2 {
			a.Chat = cites(shift)
			flagged, all := 0, 0
			for i, m := range meetings {
				for _, q := range m.Queries {
					_, events := answerOf(t, a, generate.Question{Text: q.Query, Sources: ids[i : i+1]})
					for _, e := range events {
						if c, ok := e.(generate.Citation); ok && len(events) > 8 {
							all++
							if c.Unsupported {
								flagged++
							}
						}
					}
				}
			}
			share[shift] = float64(flagged) / float64(max(1, all))
		}
		t.Logf("with vectors %v: %.3f of the true citations are flagged, %.3f of the wrong ones", embed != nil, share[0], share[1])
		if share[0] > .1 || share[1] < .8 {
			t.Errorf("want at most .1 and at least .8")
		}
	}
}
