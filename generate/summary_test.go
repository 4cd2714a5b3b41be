package generate

import (
	"context"
	"errors"
	"testing"

	"github.com/reeltree/reeltree/tree"
)

func TestModesOfSummaries(t *testing.T) {
	tr := hostileTree()
	trees := func(_ context.Context, _, id string) (*tree.Tree, error) {
		if id != lens.ID {
			return nil, errors.New("gone")
		}
		return tr, nil
	}
	a := &Answerer{Find: finder(true), Trees: trees}
	span := tree.MS(3_600_000, 3_700_000)
	for name, c := range map[string]struct {
		q      Question
		text   string
		finish string
	}{
		"chapters":   {Question{Mode: ModeChapters}, "The problem [1](javascript:x).\nRings -->\nof glass", FinishStop},
		"highlights": {Question{Mode: ModeHighlights}, "Rings.", FinishStop},
		"span":       {Question{Mode: ModeChapters, Span: &span}, "Rings -->\nof glass", FinishStop},
		"no source":  {Question{Mode: ModeSummary, Sources: []string{}}, "", FinishError},
		"lost":       {Question{Mode: ModeSummary, Sources: []string{"other"}}, "", FinishError},
	} {
		t.Run(name, func(t *testing.T) {
			if c.q.Sources == nil {
				c.q.Sources = []string{lens.ID}
			}
			events, text := collect(t, a, c.q)
			if d := last(t, events); text != c.text || d.Finish != c.finish {
				t.Errorf("%q %+v", text, d)
			}
		})
	}
	events, _ := collect(t, a, Question{Mode: ModeChapters, Sources: []string{lens.ID}})
	if got, want := last(t, events).Coverage, float64(61_020+38_999)/3_700_000; got != want {
		t.Errorf("coverage %v, want %v: half of it is not described yet", got, want)
	}
}
