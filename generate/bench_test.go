package generate

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/reeltree/reeltree/internal/testkit"
	"github.com/reeltree/reeltree/tree"
)

// BenchmarkRelay measures the way from a chat model's token to the emitted
// event: scan, citation check, support and hash; the 99th percentile is reported.
func BenchmarkRelay(b *testing.B) {
	for _, at := range []int{1, 50} {
		b.Run(fmt.Sprintf("%d at once", at), func(b *testing.B) {
			var waits [][]time.Duration
			for range at {
				waits = append(waits, nil)
			}
			b.SetParallelism(1)
			for range b.N {
				done := make(chan struct{})
				for i := range at {
					go func() {
						waits[i] = append(waits[i], relay(b)...)
						done <- struct{}{}
					}()
				}
				for range at {
					<-done
				}
			}
			all := slices.Sorted(slices.Values(slices.Concat(waits...)))
			b.ReportMetric(float64(all[len(all)/2].Microseconds()), "µs/p50")
			b.ReportMetric(float64(all[len(all)*99/100].Microseconds()), "µs/p99")
		})
	}
}

// relay is one answer of 200 tokens over twelve pieces of evidence; for each
// token the time until what it holds was emitted.
func relay(b *testing.B) (waits []time.Duration) {
	b.Helper()
	var pieces []item
	for i := range 12 {
		pieces = append(pieces, made(int64(i)*10_000, strings.Repeat(fmt.Sprintf("Lens number%d went to the harbour. ", i), 20)))
	}
	var sent time.Time
	chat := func(_ context.Context, _ ChatRequest, onToken func(string) error) (ChatReply, error) {
		for i := range 200 {
			sent = time.Now()
			token := fmt.Sprintf(" lens%d", i)
			if i%10 == 9 {
				token = fmt.Sprintf(" harbour [%d].", i%12+1)
			}
			if err := onToken(token); err != nil {
				return ChatReply{}, err
			}
			waits = append(waits, time.Since(sent))
		}
		return ChatReply{Finish: "stop"}, nil
	}
	a := &Answerer{Find: finder(false, pieces...), Chat: chat}
	if err := a.Answer(context.Background(), Question{Tenant: "default", Text: "Where did the lens go?"}, func(Event) error { return nil }); err != nil {
		b.Error(err)
	}
	return waits
}

// BenchmarkExtractive answers from a recording of two hours that is laid out
// already, alone in its library and beside nine others.
func BenchmarkExtractive(b *testing.B) {
	for _, n := range []int{1, 10} {
		b.Run(fmt.Sprintf("%d sources", n), func(b *testing.B) {
			var trees []*tree.Tree
			for i := range n {
				trees = append(trees, meetingTree(b, longMeeting(b, i), sourceID(i)))
			}
			a, ids := answererOver(b, trees)
			ask := func() {
				q := Question{Tenant: "default", Text: "What was decided about the budget for the second phase?", Sources: ids[:1]}
				if err := a.Answer(context.Background(), q, func(Event) error { return nil }); err != nil {
					b.Fatal(err)
				}
			}
			ask()
			for b.Loop() {
				ask()
			}
		})
	}
}

// longMeeting is two hours of talk of made-up words: 3,600 turns.
func longMeeting(_ testing.TB, seed int) (m meeting) {
	m.ID = fmt.Sprintf("long-%d", seed)
	state := uint64(seed + 1)
	word := func() string {
		state = state*6364136223846793005 + 1442695040888963407
		n := state >> 33 % 4000
		if n < 40 {
			return []string{"budget", "phase", "decided", "second", "the", "for", "we", "about"}[n%8]
		}
		return fmt.Sprintf("word%d", n)
	}
	for i := range 3600 {
		var words []string
		for range 6 {
			words = append(words, word())
		}
		m.Turns = append(m.Turns, struct {
			Start, End    float64
			Speaker, Text string
		}{float64(i) * 2, float64(i)*2 + 2, fmt.Sprintf("Speaker %d", i%5), strings.Join(words, " ") + "."})
	}
	return m
}

// BenchmarkEndpoint is an answer through the whole client of a chat model.
func BenchmarkEndpoint(b *testing.B) {
	endpoint, err := testkit.StartEndpoint("127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(endpoint.Close)
	a := &Answerer{Find: finder(false, evidence...), Chat: chatOver(b, endpoint)}
	var waits []time.Duration
	for b.Loop() {
		var first time.Time
		n := endpoint.Count()
		err := a.Answer(context.Background(), Question{Tenant: "default", Text: "How far?"}, func(e Event) error {
			if _, ok := e.(Token); ok && first.IsZero() {
				first = time.Now()
			}
			return nil
		})
		if err != nil {
			b.Fatal(err)
		}
		waits = append(waits, first.Sub(endpoint.Calls()[n].FirstToken))
	}
	slices.Sort(waits)
	b.ReportMetric(float64(waits[len(waits)/2].Microseconds()), "µs/p50")
	b.ReportMetric(float64(waits[len(waits)*99/100].Microseconds()), "µs/p99")
}
