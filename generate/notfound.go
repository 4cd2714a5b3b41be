package generate

import (
	"context"
	"fmt"
	"slices"

	"github.com/reeltree/reeltree/retrieve"
)

// mostNearest is how many moments are shown where there is no answer.
const mostNearest = 3

// supported reports whether the evidence can hold an answer. A critic that found
// it sufficient has read it and is believed, and what is asked for by its place
// is there; else words and vectors decide.
func (a *Answerer) supported(ctx context.Context, q Question, weak bool, w *writer) (ok bool, elsewhere string) {
	if (w.sufficient || q.placed) && len(w.evidence) > 0 {
		return true, ""
	}
	w.support, elsewhere = a.holds(ctx, q, w.items, weak)
	return w.support >= .5, elsewhere
}

// notFound withdraws evidence that holds no answer, shows the nearest moments
// and says so.
func (a *Answerer) notFound(result retrieve.Result, elsewhere string, w *writer) (string, error) {
	nearest := nearestItems(result, w)
	if err := w.withdraw(); err != nil {
		return FinishError, err
	}
	for _, it := range nearest {
		if err := w.prove(it, true); err != nil {
			return FinishError, err
		}
	}
	if elsewhere != "" {
		w.note = fmt.Sprintf("Outside what was searched %q says more about it.", oneLine(elsewhere))
	}
	text := "This is not in what was searched."
	if len(nearest) > 0 {
		text = "This is not in what was searched; the nearest moments are shown."
	}
	return FinishNotFound, w.say(text)
}

// nearestItems are the best moments of a search, in the order of the material.
func nearestItems(result retrieve.Result, w *writer) []item {
	if len(result.Nearest) > 0 {
		return result.Nearest[:min(len(result.Nearest), mostNearest)]
	}
	var nearest []item
	best := byScore(w.evidence)
	best = best[:min(len(best), mostNearest)]
	slices.Sort(best)
	for _, i := range best {
		nearest = append(nearest, w.items[i])
	}
	return nearest
}
