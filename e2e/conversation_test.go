//go:build e2e

package e2e

import (
	"strings"
	"testing"

	"github.com/reeltree/reeltree/internal/testkit"
)

// TestFollowUpGoesOnWhereTheAnswerEnded: "after that" is behind the last place
// the turn before cited, in its source; a chat model is shown that turn as data.
func TestFollowUpGoesOnWhereTheAnswerEnded(t *testing.T) {
	e, data := testkit.NewEndpoint(t), t.TempDir()
	ingestOne(t, data, demo(t))
	for name, flags := range map[string][]string{"extractive": nil, "chat": {"--llm-url", e.URL, "--llm-model", "scripted"}} {
		t.Run(name, func(t *testing.T) {
			c := dial(t, serve(t, data, flags...))
			turn := func(id, question string, budget int) []frame {
				m := asking(question, name+id, map[string]any{"rounds": 1, "budget_tokens": budget})
				m["conversation"] = "talk-" + name
				c.say(m)
				return c.until("done", nil)
			}
			const first, second = "Where was the first lens lit?", "And what happened after that?"
			end := lastCited(turn("first", first, 70)) // room for the place itself
			if end < 80_000 || end > 100_000 {
				t.Fatalf("the last cited place ends at %d ms", end)
			}
			all := turn("second", second, 3000)
			if last := all[len(all)-1]; last.Finish != "stop" || len(citedNumbers(all)) == 0 {
				t.Errorf("the follow-up ends as %+v", last)
			}
			for _, f := range all {
				if f.Type == "evidence" && f.Span.EndMS <= end {
					t.Errorf("evidence %d..%d ms is not behind %d ms", f.Span.StartMS, f.Span.EndMS, end)
				}
			}
			if flags == nil {
				return
			}
			calls := e.Calls()
			if prompt := calls[len(calls)-1].Prompt; !strings.Contains(prompt, "<earlier>\nQuestion: "+first) {
				t.Errorf("the model is not shown the turn before: %q", prompt)
			}
		})
	}
}

// lastCited is where the place of the last citation ends, in milliseconds.
func lastCited(all []frame) (end int64) {
	shown := map[int]frame{}
	for _, f := range all {
		switch f.Type {
		case "evidence":
			shown[f.N] = f
		case "citation":
			if end = f.Span.EndMS; end == 0 {
				end = shown[f.N].Span.EndMS
			}
		}
	}
	return end
}
