package generate

import (
	"strings"
	"testing"
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
	meetings := readMeetings(t, "meetings-dev.jsonl.gz", 0, lines(2))
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
	if answered < 60 {
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
