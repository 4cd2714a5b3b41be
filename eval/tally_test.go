package eval

import (
	"encoding/json"
	"testing"
)

func TestMetricsAreMeansByName(t *testing.T) {
	var y tally
	y.question("a")
	y.add("x", 1)
	y.yes("seen", true)
	y.question("b")
	y.add("x", 0)
	y.question("b")
	y.add("x", 0)
	m := y.metrics()
	if m["x"] != .3333 || m["seen"] != 1 || len(m) != 2 {
		t.Errorf("%v", m)
	}
}

func TestRound4(t *testing.T) {
	// The exact halves go to the even digit, as the reference scorer's language rounds.
	for x, want := range map[float64]float64{2. / 3: .6667, .03125: .0312, .09375: .0938, 1: 1, 146.99995: 147, 0: 0} {
		if got := round4(x); got != want {
			t.Errorf("%v: %v, want %v", x, got, want)
		}
	}
}

func TestMetricsAsJSON(t *testing.T) {
	m := Metrics{"b": 1, "a": .25, "predictions": 3, "words": 146}
	got, err := m.MarshalJSON()
	if want := `{"a": 0.25, "b": 1.0, "predictions": 3, "words": 146.0}`; err != nil || string(got) != want {
		t.Errorf("%s, want %s (%v)", got, want, err)
	}
	var back map[string]float64
	if err := json.Unmarshal(got, &back); err != nil || back["words"] != 146 {
		t.Errorf("%v %v", back, err)
	}
}

func TestF1(t *testing.T) {
	if f1(0, 0) != 0 || f1(1, .5) != 2./3 || f1(1, 1) != 1 {
		t.Error(f1(0, 0), f1(1, .5), f1(1, 1))
	}
}
