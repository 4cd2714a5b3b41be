package eval

import (
	"context"
	"errors"
	"strings"

	"github.com/reeltree/reeltree/retrieve"
	"github.com/reeltree/reeltree/tree"
)

// NewAnswer makes the product's answerer, without a model, over an engine.
type NewAnswer func(e *retrieve.Engine, trees retrieve.Trees) Answer

// Answer answers a question about one source in the source's own words.
type Answer func(ctx context.Context, source, question string) (Answered, error)

// Answered is one answer.
type Answered struct {
	Found   bool    // false: the answerer said that it is not in the source
	Text    string  // as it is shown
	Cited   []Cited // its sentences in order
	Support float64 // how well the source supports an answer; larger is better
	Calls   int     // model calls
}

// Cited is a sentence with the words of the evidence it cites.
type Cited struct{ Sentence, Evidence string }

// answerLine is one line of the predictions of answers.
type answerLine struct {
	ID      string  `json:"id"`
	Query   int     `json:"query"`
	Asked   string  `json:"asked"` // the recording that was asked
	Found   bool    `json:"found"`
	Support float64 `json:"support"`
	Answer  string  `json:"answer,omitempty"`
}

// answers asks the questions of recordings of their own recording, and of the
// wrong one: the next of the file, the first after the last.
type answers struct {
	data  []meeting
	calls int
	lines []any
	rows  []answerRow
}

// answerRow is what one question gave.
type answerRow struct {
	series       string
	right, wrong Answered
	scores       map[string]float64 // ROUGE of the answer and of both baselines
}

func runAnswers(ctx context.Context, c Config, f Files) (Report, error) {
	if c.Answer == nil {
		return Report{}, errors.New("eval: answers need an answerer")
	}
	data, err := readLines[meeting](f.Data)
	if err != nil {
		return Report{}, err
	}
	lib, err := (&meetings{data: data}).library(ctx, c)
	if err != nil {
		return Report{}, err
	}
	e, err := lib.open(ctx, c, retrieve.Switches{}, nil)
	if err != nil {
		return Report{}, err
	}
	defer func() { _ = e.Close() }() // it is in memory
	a := &answers{data: data}
	if err := a.ask(ctx, c.Answer(e, lib.tree)); err != nil {
		return Report{}, err
	}
	if f.Out != "" {
		if err := writeLines(f.Out, a.lines); err != nil {
			return Report{}, err
		}
	}
	return Report{Metrics: a.metrics(), Curve: curves(a.rows)}, nil
}

func (a *answers) ask(ctx context.Context, answer Answer) error {
	for i := range a.data {
		rec, other := &a.data[i], &a.data[(i+1)%len(a.data)]
		base := newBaseline(rec)
		for k, q := range rec.Queries {
			row := answerRow{series: rec.series()}
			for _, asked := range []*meeting{rec, other} {
				got, err := answer(ctx, sourceID(asked.ID), q.Query)
				if err != nil {
					return err
				}
				a.calls += got.Calls
				if asked == rec {
					row.right = got
				} else {
					row.wrong = got
				}
				a.lines = append(a.lines, answerLine{rec.ID, k, asked.ID, got.Found, got.Support, got.Text})
			}
			if row.right.Found {
				row.scores = base.compare(row.right.said(), q)
			}
			a.rows = append(a.rows, row)
		}
	}
	return nil
}

// said is the answer without marks of layout.
func (a *Answered) said() string {
	var parts []string
	for _, c := range a.Cited {
		parts = append(parts, c.Sentence)
	}
	return strings.Join(parts, " ")
}

// faithful counts the sentences that occur in the evidence they cite, blanks
// made equal.
func (a *Answered) faithful() (held, all int) {
	for _, c := range a.Cited {
		all++
		if s := oneLine(c.Sentence); s != "" && strings.Contains(oneLine(c.Evidence), s) {
			held++
		}
	}
	return held, all
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// metrics are the shares of right questions answered and wrong ones refused,
// over all and by series, ROUGE of the answers beside both baselines, and the
// share of faithful sentences.
func (a *answers) metrics() Metrics {
	t := &tally{}
	held, all, words := 0, 0, 0
	for _, r := range a.rows {
		t.question(r.series)
		for _, label := range []string{"", r.series + "_"} {
			t.yes(label+"right_answered", r.right.Found)
			t.yes(label+"wrong_refused", !r.wrong.Found)
		}
		for name, v := range r.scores {
			t.add(name, v)
		}
		h, n := r.right.faithful()
		held, all, words = held+h, all+n, words+tree.Words(r.right.said())
	}
	m := t.metrics()
	m["faithful"] = round4(ratio(held, all))
	m["sentences"] = float64(all)
	m["answer_words"] = round4(ratio(words, int(m["right_answered"]*float64(len(a.rows))+.5)))
	m["model_calls"] = float64(a.calls)
	m["predictions"] = float64(len(a.lines))
	return m
}
