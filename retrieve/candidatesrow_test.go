package retrieve

import "testing"

// A table is filled in row by row: the row that was asked for comes first,
// alone, before the sentence that only names the crop.
func TestTablesAreFilledByRow(t *testing.T) {
	e, _ := engine(t, harvest)
	r := find(t, e, Query{Text: "maize tons in 2020", Fill: true})
	if it := topItem(r.Items); it.Quote != "maize | 2020 | 55" || it.Span.RowStart != 2 || it.Span.RowEnd != 3 {
		t.Errorf("the best is %q at %+v", it.Quote, it.Span)
	}
	for _, it := range r.Items {
		if it.Score > 1 || it.Score < 0 {
			t.Errorf("%q scores %g", it.Quote, it.Score)
		}
	}
}

// Rows together are worth the best of them, not less for being many.
func TestRowsAreWorthTheBestOfThem(t *testing.T) {
	e, _ := engine(t, harvest)
	v, err := e.view(t.Context(), "default", harvest.Source.ID)
	if err != nil {
		t.Fatal(err)
	}
	q := &questionOf{"maize 2020", make([]float32, 64), v}
	s, f := q.scored(), &finder{}
	table := s.clips[2].groups
	row := s.leaves[s.clips[2].leafLo+1].group
	if all, one := f.tabular(s, table), f.tabular(s, row); all[signalOwn] < one[signalOwn] || one[signalOwn] <= s.signals(row, 0)[signalOwn] {
		t.Errorf("the table's words count %g, those of its best row %g", all[signalOwn], one[signalOwn])
	}
	if text := s.clips[0].groups; f.tabular(s, text) != s.signals(text, 0) {
		t.Error("sentences are no rows")
	}
}

// Without a budget limit only the most relevant candidates are read closely.
func TestOnlyTheMostRelevantAreRead(t *testing.T) {
	s := &scored{view: &view{clips: []clipView{{node: clipNode("clip0")}}, tree: &tree0}, q: &question{}}
	for range mostRead + 9 {
		s.units = append(s.units, unit{leaf: 0, quote: "word", tokens: 1, vector: []float32{1}})
	}
	s.leaves = []leafView{{node: clipNode("l"), hi: len(s.units)}}
	var all []*candidate
	for i := range s.units {
		all = append(all, &candidate{s: s, lo: i, hi: i + 1, tokens: 1, rel: 1 / float64(i+1)})
	}
	l := newLedger(s.q)
	if kept, _ := l.choose(all, limits{tokens: 100, items: 12}); len(kept) == 0 || kept[0] != all[0] {
		t.Error("the most relevant is not first")
	}
	if all[mostRead].vector != nil || all[mostRead-1].vector == nil {
		t.Error("too many or too few were read")
	}
}
