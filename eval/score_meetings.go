package eval

import (
	"fmt"
	"slices"

	"github.com/reeltree/reeltree/tree"
)

// meetingLine is one prediction of meetings, spans best first.
type meetingLine struct {
	ID    string     `json:"id"`
	Query int        `json:"query"`
	Spans []interval `json:"spans"`
}

type meetingKey struct {
	id    string
	query int
}

const (
	wordsPerSecond = 2.5 // the recordings are laid out at 150 words a minute
	meetingShare   = .10 // of a recording's words that evidence may hold
)

// scoreMeetings measures which share of the gold seconds evidence holds that is
// cut where it would pass a tenth of the recording's words, how much of the
// evidence is gold, and whether the first spans lie in gold by half. Questions
// without gold seconds are left out and may have no prediction.
func scoreMeetings(data []meeting, lines []meetingLine) (*tally, error) {
	left, err := keyed(lines, func(l meetingLine) meetingKey { return meetingKey{l.ID, l.Query} })
	if err != nil {
		return nil, err
	}
	t := &tally{}
	for _, m := range data {
		for i, q := range m.Queries {
			gold := m.gold(q)
			if measure(gold) == 0 {
				continue
			}
			key := meetingKey{m.ID, i}
			spans := left[key].Spans
			delete(left, key)
			kept, used, err := m.cut(spans)
			if err != nil {
				return nil, fmt.Errorf("%w in %v", err, key)
			}
			t.question(m.ID)
			scoreMeeting(t, gold, spans, kept, used)
		}
	}
	return t, unknown(left)
}

func scoreMeeting(t *tally, gold, spans, kept []interval, used float64) {
	hit := measure(common(kept, gold)) * wordsPerSecond
	recall, precision := hit/(measure(gold)*wordsPerSecond), 0.0
	if used > 0 {
		precision = hit / used
	}
	t.add("recall@10%", recall)
	t.add("precision@10%", precision)
	t.add("f1@10%", f1(precision, recall))
	t.add("words_used", used)
	on := func(k int) bool {
		for _, s := range first(spans, k) {
			if measure(common([]interval{s}, gold)) >= .5*(s[1]-s[0]) {
				return true
			}
		}
		return false
	}
	t.yes("hit@1", on(1))
	t.yes("hit@5", on(5))
}

// words is the number of words of the whole recording.
func (m *meeting) words() int {
	n := 0
	for _, t := range m.Turns {
		n += tree.Words(t.Text)
	}
	return n
}

// gold are the seconds of the turns that a question's gold names.
func (m *meeting) gold(q meetingQuery) []interval {
	var out []interval
	for _, g := range q.Turns {
		for i := g[0]; i <= min(g[1], len(m.Turns)-1); i++ {
			out = append(out, interval{m.Turns[i].Start, m.Turns[i].End})
		}
	}
	return union(out)
}

// cut takes spans until they would pass the share of words, the last one cut.
func (m *meeting) cut(spans []interval) (kept []interval, used float64, err error) {
	budget := meetingShare * float64(m.words())
	for _, s := range spans {
		if s[1] <= s[0] {
			return nil, 0, fmt.Errorf("a span ends before it begins")
		}
		more := union(append(slices.Clip(kept), s))
		words := measure(more) * wordsPerSecond
		if words <= budget+1e-6 {
			kept, used = more, words
			continue
		}
		if room := (budget - used) / wordsPerSecond; room > 0 {
			kept = union(append(slices.Clip(kept), interval{s[0], s[0] + room}))
		}
		return kept, measure(kept) * wordsPerSecond, nil
	}
	return kept, used, nil
}
