package generate

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/reeltree/reeltree/internal/testkit"
)

// neverEnough asks for more each time: once for the question's own rarest words
// in another order, then for words of the evidence itself, as critics that
// cannot be pleased do.
func neverEnough(_ context.Context, s Standing) (Verdict, error) {
	words := strings.Fields(s.Question)
	slices.SortStableFunc(words, func(a, b string) int { return len(b) - len(a) })
	follow := strings.Join(words[:min(3, len(words))], " ")
	if len(s.Queries) > 1 && len(s.Evidence) > 0 {
		follow = firstWords(strings.Fields(s.Evidence[0].Quote), 8)
	}
	return Verdict{Missing: []string{follow}, FollowUp: follow, Usage: Usage{Calls: 1}}, nil
}

// TestCallsPerQuestion counts the model calls of an answer over real meetings:
// at most 2.8 a question, with a critic that is content and with one that never is.
func TestCallsPerQuestion(t *testing.T) {
	meetings := readMeetings(t, "meetings-dev.jsonl.gz", 0, lines(5))
	a, ids := asker(t, meetings)
	endpoint := testkit.NewEndpoint(t)
	a.Chat = chatOver(t, endpoint)
	for name, critic := range map[string]Critic{"scripted critic": NewCritic(a.Chat), "never content": neverEnough} {
		a.Critic = critic
		before, calls, n := endpoint.Count(), 0, 0
		for i, m := range meetings {
			for _, q := range m.Queries {
				_, events := answerOf(t, a, Question{Text: q.Query, Sources: ids[i : i+1]})
				n++
				used := last(t, events).Usage.Calls
				if calls += used; used > maxRounds {
					t.Errorf("%q took %d calls", q.Query, used)
				}
			}
		}
		t.Logf("%s: %.2f calls a question over %d questions, the endpoint saw %d", name, float64(calls)/float64(n), n, endpoint.Count()-before)
		if float64(calls)/float64(n) > 2.8 {
			t.Errorf("%s: more than 2.8 calls a question", name)
		}
		if name == "scripted critic" && endpoint.Count()-before != calls {
			t.Errorf("%d calls are counted, the endpoint saw %d", calls, endpoint.Count()-before)
		}
	}
}
