package retrieve

import (
	"fmt"
	"testing"

	"github.com/reeltree/reeltree/internal/testkit"
	"github.com/reeltree/reeltree/tree"
)

type meeting struct {
	ID    string
	Turns []struct {
		Start, End    float64
		Speaker, Text string
	}
	Queries []struct {
		Query string
		Turns [][2]int
	}
}

// meetingTree lays a transcript out as the product does: a turn is an L3, an
// L2 about a minute, an L1 about ten.
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

// TestMeetingsRecall asks the questions of real meetings with gold stretches:
// the evidence must hold much more of the gold than as many random words would,
// and most questions asked of the wrong meeting must be called weak.
func TestMeetingsRecall(t *testing.T) {
	meetings := testkit.ReadJSONLines[meeting](t, testkit.Shared(t, "bench", "meetings-dev.jsonl.gz"))[:10]
	trees := map[string]*tree.Tree{}
	ids := make([]string, len(meetings))
	for i, m := range meetings {
		ids[i] = fmt.Sprintf("meetingmeetingmeeting%c", 'a'+i)
		trees[ids[i]] = meetingTree(m, ids[i])
	}
	e := opened(t, trees)
	var recall, share float64
	asked, right, wrong := 0, 0, 0
	for i, m := range meetings {
		for _, q := range m.Queries {
			ask := func(source string) Result {
				r, err := e.Query(t.Context(), Query{Text: q.Query, Budget: 1200, Scope: Scope{Tenant: "default", Sources: []string{source}}}, nil)
				if err != nil {
					t.Fatalf("%q: %v", q.Query, err)
				}
				return r
			}
			got := ask(ids[i])
			r, s := goldShare(m, q.Turns, got.Items)
			recall, share, asked = recall+r, share+s, asked+1
			if !got.Weak {
				right++
			}
			if ask(ids[(i+1)%len(ids)]).Weak {
				wrong++
			}
		}
	}
	n := float64(asked)
	t.Logf("%d questions: recall %.3f of the gold in %.3f of the time; right meeting answered %.2f, wrong meeting refused %.2f", asked, recall/n, share/n, float64(right)/n, float64(wrong)/n)
	if recall < 3*share || float64(right)/n < .75 {
		t.Errorf("recall %.3f in %.3f of the time is close to chance", recall/n, share/n)
	}
}

// goldShare is the share of gold seconds that evidence holds, and the share of
// all seconds that evidence takes.
func goldShare(m meeting, gold [][2]int, items []Item) (recall, taken float64) {
	held, all, used := 0.0, 0.0, 0.0
	for i, turn := range m.Turns {
		in, is := false, false
		for _, g := range gold {
			is = is || i >= g[0] && i <= g[1]
		}
		for _, it := range items {
			in = in || it.Span.Contains(int64(turn.Start*1000)+1)
		}
		d := turn.End - turn.Start
		if is {
			all += d
		}
		if in {
			used += d
		}
		if is && in {
			held += d
		}
	}
	return held / max(all, 1), used / m.Turns[len(m.Turns)-1].End
}
