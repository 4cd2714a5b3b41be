package eval

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// WriteDetails prints what the metrics do not say: the statistics of every kind
// of question as one JSON object, then the ablation as a table.
func WriteDetails(w io.Writer, r Report) error {
	enc := json.NewEncoder(w)
	if len(r.Stats) > 0 {
		if err := enc.Encode(map[string]any{"task": r.Task, "stats": r.Stats}); err != nil {
			return err
		}
	}
	if r.Curve != nil {
		at := map[string]Point{}
		for name, points := range r.Curve {
			at[name] = balanced(points)
		}
		if err := enc.Encode(map[string]any{"task": r.Task, "balanced": at, "curve": r.Curve["all"]}); err != nil {
			return err
		}
	}
	for _, s := range r.Ablation {
		if _, err := fmt.Fprintf(w, "%-26s %s\n", s.Name, s.line()); err != nil {
			return err
		}
	}
	return nil
}

// line is a step in words: each metric with the interval of its change.
func (s *Step) line() string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(s.Metrics)) {
		text := fmt.Sprintf("%s %.4f", name, s.Metrics[name])
		if d, ok := s.Change[name]; ok {
			text += fmt.Sprintf(" (%+.4f, %+.4f to %+.4f)", d.Mean, d.Low, d.High)
		}
		parts = append(parts, text)
	}
	return strings.Join(append(parts, fmt.Sprintf("tokens %.1f  scored %.1f  ranked %.1f  walked %.2f", s.Tokens, s.Scored, s.Pieces, s.Walked)), "  ")
}
