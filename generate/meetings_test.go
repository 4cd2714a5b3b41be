package generate

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/reeltree/reeltree/internal/testkit"
	"github.com/reeltree/reeltree/model"
	"github.com/reeltree/reeltree/retrieve"
)

// faithful counts the sentences of an extractive answer, and complains of those
// that do not occur in the evidence they cite and of words without a citation.
func faithful(t *testing.T, question, text string, events []Event) (sentences int) {
	t.Helper()
	quotes, from := map[int]string{}, 0
	for _, e := range events {
		switch e := e.(type) {
		case Evidence:
			quotes[e.N] = oneLine(e.Quote)
		case Citation:
			said := oneLine(strings.TrimPrefix(strings.TrimSpace(string([]rune(text)[from:e.At])), "- "))
			if said == "" || !strings.Contains(quotes[e.N], said) {
				t.Errorf("%q: %q is not in evidence %d", question, said, e.N)
			}
			from = e.At
			sentences++
		}
	}
	if from != len([]rune(text)) {
		t.Errorf("%q: words without a citation: %q", question, text)
	}
	return sentences
}

// TestMeetingAnswersAreFaithful holds that every sentence of an extractive
// answer occurs in the evidence it cites, on real speech.
func TestMeetingAnswersAreFaithful(t *testing.T) {
	meetings := testkit.ReadJSONLines[meeting](t, testkit.Shared(t, "bench", "meetings-dev.jsonl.gz"))
	a, ids := asker(t, meetings)
	sentences, answered := 0, 0
	for i, m := range meetings {
		for _, q := range m.Queries {
			text, events := answerOf(t, a, Question{Text: q.Query, Sources: ids[i : i+1]})
			if last(t, events).Finish == FinishStop {
				answered++
				sentences += faithful(t, q.Query, text, events)
			}
		}
	}
	t.Logf("%d answers, %d sentences", answered, sentences)
	if answered < 150 {
		t.Errorf("only %d questions were answered", answered)
	}
}

// TestArticleAnswersAreFaithful is the same in five languages; all questions
// with -fit, else some of each article.
func TestArticleAnswersAreFaithful(t *testing.T) {
	for _, lang := range []string{"en", "es", "zh", "ar", "hi"} {
		all, a, ids := articles(t, lang)
		sentences, answered := 0, 0
		for i, d := range all {
			queries := d.Queries
			if !*fit {
				queries = queries[:3]
			}
			for _, q := range queries {
				text, events := answerOf(t, a, Question{Text: q.Query, Sources: ids[i : i+1]})
				if last(t, events).Finish == FinishStop {
					answered++
					sentences += faithful(t, q.Query, text, events)
				}
			}
		}
		t.Logf("%s: %d answers, %d sentences", lang, answered, sentences)
		if answered < 2*len(all) {
			t.Errorf("%s: only %d questions were answered", lang, answered)
		}
	}
}

var shownPiece = regexp.MustCompile(`(?m)^\[(\d+)\] [^\n]*:\n([^\n]+)$`)

// cites is a chat model that repeats words of each piece of evidence and gives
// it the number of the piece that many places on.
func cites(shift int) Chat {
	return func(_ context.Context, r ChatRequest, onToken func(string) error) (ChatReply, error) {
		pieces := shownPiece.FindAllStringSubmatch(r.Text, -1)
		for i, p := range pieces {
			words := strings.Fields(p[2])
			mid := len(words) / 2
			said := strings.Join(words[max(0, mid-8):min(len(words), mid+8)], " ")
			said = strings.NewReplacer(".", "", "?", "", "!", "").Replace(said)
			if err := onToken(fmt.Sprintf("Someone said that %s [%s]. ", said, pieces[(i+shift)%len(pieces)][1])); err != nil {
				return ChatReply{}, err
			}
		}
		return ChatReply{Finish: "stop"}, nil
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
					_, events := answerOf(t, a, Question{Text: q.Query, Sources: ids[i : i+1]})
					for _, e := range events {
						if c, ok := e.(Citation); ok && len(events) > 8 {
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
