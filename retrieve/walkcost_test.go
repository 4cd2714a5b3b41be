package retrieve

import "testing"

// The trace tells what the navigator's work on a source came to.
func TestTraceTellsTheCostOfAWalk(t *testing.T) {
	e, _ := engine(t, lens)
	r := find(t, e, Query{Text: "How is the lens cleaned?", Trace: true})
	cost := map[string]float64{}
	for _, d := range r.Rounds[0].Trace {
		if d.Stage == "cost" && d.Node == lens.Source.ID {
			cost[d.Action] = d.Score
		}
	}
	if cost["rounds"] < 1 || cost["scored"] < 3*cost["rounds"] {
		t.Errorf("costs %v", cost)
	}
}
