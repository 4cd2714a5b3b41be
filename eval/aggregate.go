package eval

import "github.com/reeltree/reeltree/retrieve"

// aggregates are the shares of the questions of each kind that are taken to ask
// for all of something: recall where they do, false alarms where they do not.
func aggregates(j job) Metrics {
	t := &tally{}
	note := func(kind, text string, tables bool) {
		t.question("")
		t.yes("aggregate_"+kind, retrieve.Aggregate(text, tables))
	}
	switch j := j.(type) {
	case *meetings:
		for _, m := range j.data {
			for _, q := range m.General {
				note("general", q.Query, false)
			}
			for _, q := range m.Queries {
				note("specific", q.Query, false)
			}
		}
	case *tables:
		for _, p := range j.data {
			for _, q := range p.Queries {
				note(q.Type, q.Query, true)
			}
		}
	}
	return t.metrics()
}
