package eval

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
)

// readPerformance is what bench/run.py measured and noted in a file.
func readPerformance(name string) (p performance, err error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return p, fmt.Errorf("the measurements cannot be read: %w", err)
	}
	if err := json.Unmarshal(data, &p); err != nil {
		return p, fmt.Errorf("%s does not hold measurements (%w): run make bench", name, err)
	}
	for i := range p.Indexes {
		if p.Indexes[i].Version == "" {
			p.Indexes[i].Version = p.Version
		}
	}
	return p, nil
}

// MergePerformance puts the measurements of result into a file that keeps those
// of earlier runs, which need not be there. A size that was measured anew
// replaces all that is known of it: ratios are of engines that ran side by side.
func MergePerformance(kept, result string) error {
	now, err := readPerformance(result)
	if err != nil {
		return err
	}
	before, err := readPerformance(kept)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	measured := now.sizes()
	for _, r := range before.Indexes {
		if !slices.Contains(measured, r.Vectors) {
			now.Indexes = append(now.Indexes, r)
		}
	}
	for _, e := range before.Embedders {
		if !slices.ContainsFunc(now.Embedders, func(n embedderSpeed) bool { return n.Engine == e.Engine }) {
			now.Embedders = append(now.Embedders, e)
		}
	}
	data, err := json.MarshalIndent(now, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(kept, append(data, '\n'), 0o644)
}
