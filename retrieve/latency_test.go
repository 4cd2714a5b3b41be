package retrieve

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/reeltree/reeltree/internal/testkit"
	"github.com/reeltree/reeltree/model"
	"github.com/reeltree/reeltree/tree"
)

// twoHours joins meetings into one recording of about two hours.
func twoHours(ms []meeting, id string) *tree.Tree {
	var long meeting
	at := 0.0
	for _, m := range ms {
		for _, turn := range m.Turns {
			turn.Start, turn.End = turn.Start+at, turn.End+at
			long.Turns = append(long.Turns, turn)
		}
		at = long.Turns[len(long.Turns)-1].End
		if at > 7200 {
			break
		}
	}
	return meetingTree(long, id)
}

// BenchmarkQuery asks a recording of two hours whose tree is at hand, alone and
// among others.
func BenchmarkQuery(b *testing.B) {
	meetings := testkit.ReadJSONLines[meeting](b, testkit.Shared(b, "bench", "meetings-dev.jsonl.gz"))
	var questions []string
	for _, m := range meetings {
		for _, q := range m.Queries {
			questions = append(questions, q.Query)
		}
	}
	for _, n := range []int{1, 8} {
		trees := map[string]*tree.Tree{}
		for i := range n {
			id := fmt.Sprintf("twohourstwohourstwoho%c", 'a'+i)
			trees[id] = twoHours(meetings[i:], id)
		}
		e := opened(b, trees)
		for id := range trees {
			if err := e.Warm(b.Context(), "default", id); err != nil {
				b.Fatal(err)
			}
		}
		b.Run(fmt.Sprintf("%d-recordings", n), func(b *testing.B) {
			var times []time.Duration
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				began := time.Now()
				q := Query{Text: questions[i%len(questions)], Scope: Scope{Tenant: "default"}}
				if _, err := e.Query(b.Context(), q, nil); err != nil {
					b.Fatal(err)
				}
				times = append(times, time.Since(began))
			}
			slices.Sort(times)
			b.ReportMetric(float64(times[len(times)/2].Microseconds())/1000, "p50-ms")
			b.ReportMetric(float64(times[len(times)*99/100].Microseconds())/1000, "p99-ms")
		})
	}
}

// BenchmarkWarm lays out a recording of two hours for its first question.
func BenchmarkWarm(b *testing.B) {
	meetings := testkit.ReadJSONLines[meeting](b, testkit.Shared(b, "bench", "meetings-dev.jsonl.gz"))
	const id = "twohourstwohourstwohoua"
	tr := twoHours(meetings, id)
	for b.Loop() {
		b.StopTimer()
		e := opened(b, map[string]*tree.Tree{id: tr})
		b.StartTimer()
		if err := e.Warm(b.Context(), "default", id); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(tr.Counts().L3), "leaves")
}

// opened is an engine over trees with the built-in embedder.
func opened(tb testing.TB, trees map[string]*tree.Tree) *Engine {
	tb.Helper()
	builtin := model.NewBuiltin()
	e, err := Open(Config{
		Embed: builtin.Embed, EmbedderName: builtin.Name(), Dim: builtin.Dim(),
		Trees: func(_ context.Context, _, id string) (*tree.Tree, error) { return trees[id], nil },
	})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = e.Close() })
	for _, tr := range trees {
		if err := e.AddTree(tb.Context(), tr); err != nil {
			tb.Fatal(err)
		}
	}
	return e
}
