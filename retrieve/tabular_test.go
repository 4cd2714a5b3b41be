package retrieve

import (
	"slices"
	"testing"
)

// A year of the question that heads a column is seen in any digits, a longer
// number is no year.
func TestHeaded(t *testing.T) {
	for _, c := range []struct {
		text   string
		header []string
		want   bool
	}{
		{"sales in 2019?", []string{"", "2019 €m", "2018 €m"}, true},
		{"sales in 2017?", []string{"", "2019 €m", "2018 €m"}, false},
		{"sales of 20195?", []string{"20195"}, false},
		{"مبيعات ٢٠١٩", []string{"السنة", "٢٠١٩"}, true},
		{"2019年的销售", []string{"2019年"}, true},
		{"sales", []string{"2019"}, false},
		{"in 2019", nil, false},
	} {
		if got := headed(c.text, c.header); got != c.want {
			t.Errorf("%q under %q: %v", c.text, c.header, got)
		}
	}
	if got := yearsOf("2019-2020, 12 and 1,999"); !slices.Equal(got, []string{"2019", "2020"}) {
		t.Errorf("years %q", got)
	}
}

// A row counts more against a sentence where the question compares or names a
// column's year, and a sentence as much as ever.
func TestRowsAreWorthMoreWhereNumbersAreCompared(t *testing.T) {
	e, _ := engine(t, harvest)
	v, err := e.view(t.Context(), "default", harvest.Source.ID)
	if err != nil {
		t.Fatal(err)
	}
	q := &questionOf{"maize 2020", make([]float32, 64), v}
	s := q.scored()
	row, text := s.leaves[s.clips[2].leafLo+1].group, s.clips[0].groups
	plain, compared := &finder{}, &finder{compare: true}
	if a, b := plain.tabular(s, row)[signalOwn], compared.tabular(s, row)[signalOwn]; a <= 0 || b/a != namedWorth/rowWorth {
		t.Errorf("a row counts %g, compared %g", a, b)
	}
	if plain.tabular(s, text) != compared.tabular(s, text) {
		t.Error("a sentence is worth another amount")
	}
	for text, want := range map[string]bool{
		"What is the percentage change of sales?": true, "Which year was highest?": true, "¿Cuál es la diferencia?": true, "平均是多少": true,
		"نسبة المبيعات": true, "What is a lens?": false, "Who sold maize?": false, "什么是透镜": false,
	} {
		if marked(text, compareWords) != want {
			t.Errorf("%q: want %v", text, want)
		}
	}
}
