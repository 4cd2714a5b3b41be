package generate

import (
	"context"
	"slices"
	"testing"

	"github.com/reeltree/reeltree/internal/testkit"
	"github.com/reeltree/reeltree/model"
	"github.com/reeltree/reeltree/retrieve"
)

// chatOver is the chat model behind a scripted endpoint, as the product wires it.
func chatOver(t testing.TB, e *testkit.Endpoint) Chat {
	t.Helper()
	chat, err := model.NewChat(model.Config{URL: e.URL, Model: "scripted"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(chat.Close)
	return func(ctx context.Context, r ChatRequest, onToken func(string) error) (ChatReply, error) {
		reply, err := chat.Complete(ctx, model.Request{
			System: r.System, Messages: []model.Message{{Text: r.Text, Images: r.Images}}, MaxTokens: r.MaxTokens, JSONSchema: r.JSONSchema,
		}, onToken)
		return ChatReply{Text: reply.Text, Finish: reply.Finish, TokensIn: reply.TokensIn, TokensOut: reply.TokensOut}, err
	}
}

// supports are the supports of all citations over recordings that an endpoint
// in some mode gives, sorted.
func supports(t *testing.T, meetings []meeting, mode string, embed retrieve.Embed) (all []float64, flagged int) {
	t.Helper()
	a, ids := asker(t, meetings)
	endpoint := testkit.NewEndpoint(t)
	endpoint.Always(mode)
	a.Chat, a.Embed = chatOver(t, endpoint), embed
	for i, m := range meetings {
		for _, q := range m.Queries {
			_, events := answerOf(t, a, Question{Text: q.Query, Sources: ids[i : i+1]})
			for _, e := range events {
				if c, ok := e.(Citation); ok {
					all = append(all, c.Support)
					if c.Unsupported {
						flagged++
					}
				}
			}
		}
	}
	slices.Sort(all)
	return all, flagged
}

// TestFitSupport prints what each threshold of support flags on the train part
// of public meetings: true citations of an endpoint that repeats the evidence,
// and wrong ones of one that gives each sentence the number of another piece.
func TestFitSupport(t *testing.T) {
	if !*fit {
		t.Skip("fits only with -fit")
	}
	train := readMeetings(t, "meetings-train.jsonl.gz", 0, 3)
	for name, embed := range map[string]retrieve.Embed{"words": nil, "words and vectors": model.NewBuiltin().Embed} {
		right, _ := supports(t, train, "ok", embed)
		wrong, _ := supports(t, train, "cite-wrong-evidence", embed)
		for _, at := range []float64{.2, .25, .3, .35, .4, .45, .5, .55, .6, .65, .7} {
			below := func(all []float64) float64 {
				n, _ := slices.BinarySearch(all, at)
				return float64(n) / float64(len(all))
			}
			t.Logf("%s, threshold %.2f: %.3f of %d true citations flagged, %.3f of %d wrong ones", name, at, below(right), len(right), below(wrong), len(wrong))
		}
	}
}

// TestWrongCitationsOfAModelAreFlagged is the check figure on the dev part:
// at least 80 of 100 wrong citations are flagged and at most 10 of 100 true ones.
func TestWrongCitationsOfAModelAreFlagged(t *testing.T) {
	every := 4
	if *fit {
		every = 1
	}
	dev := readMeetings(t, "meetings-dev.jsonl.gz", 0, lines(every))
	for name, embed := range map[string]retrieve.Embed{"words": nil, "words and vectors": model.NewBuiltin().Embed} {
		right, falsely := supports(t, dev, "ok", embed)
		wrong, flagged := supports(t, dev, "cite-wrong-evidence", embed)
		f, w := float64(falsely)/float64(len(right)), float64(flagged)/float64(len(wrong))
		t.Logf("%s: %.3f of %d true citations flagged, %.3f of %d wrong ones", name, f, len(right), w, len(wrong))
		if f > .1 || w < .8 || len(right) < 100 || len(wrong) < 100 {
			t.Errorf("%s: want at most .1 and at least .8", name)
		}
	}
}
