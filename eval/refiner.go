package eval

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math"

	"github.com/reeltree/reeltree/retrieve"
	"github.com/reeltree/reeltree/tree"
)

// placed is a question with the places its answer lies in.
type placed struct {
	source, text, kind, cluster string
	gold                        []tree.Span
}

// placing is a task whose questions have places inside one source.
type placing interface {
	job
	places() []placed
}

// runRefiner measures the decisions of the refiner on the lines of a task that
// has places: the share of regions at which all preferences hold, and beside it
// the share of preferences; and which questions are taken to be aggregate.
func runRefiner(ctx context.Context, c Config, f Files) (Report, error) {
	j, err := loadPlacing(f)
	if err != nil {
		return Report{}, err
	}
	lib, err := j.library(ctx, c)
	if err != nil {
		return Report{}, err
	}
	e, err := lib.open(ctx, c, retrieve.Switches{}, nil)
	if err != nil {
		return Report{}, err
	}
	defer func() { _ = e.Close() }() // it is in memory
	d, lines := decisions{}, []any{}
	for _, q := range j.places() {
		found, err := e.Junctions(ctx, tree.DefaultTenant, q.source, q.text, q.gold)
		if err != nil {
			return Report{}, fmt.Errorf("the question %.80q: %w", q.text, err)
		}
		for i := range found {
			d.note(&found[i])
			if f.Out != "" {
				lines = append(lines, lessonOf(q, &found[i]))
			}
		}
	}
	if f.Out != "" {
		err = writeLines(f.Out, lines)
	}
	m := d.metrics()
	maps.Copy(m, aggregates(j))
	return Report{Metrics: m}, err
}

// loadPlacing reads the lines of whichever task with places they are of.
func loadPlacing(f Files) (placing, error) {
	var failed error
	for _, load := range []func(Files) (job, error){loadMoments, loadMeetings, loadTables} {
		j, err := load(f)
		if err == nil {
			return j.(placing), nil
		}
		failed = errors.Join(failed, err)
	}
	return nil, fmt.Errorf("%s holds no lines of moments, meetings or tables, which have places: %w", f.Data, failed)
}

// decisions count preferences by level; "" is every one.
type decisions map[string]*decided

type decided struct{ regions, right, preferences, held int }

func (d decisions) note(j *retrieve.Junction) {
	held, all := j.Held()
	for _, level := range []string{"", "_" + j.Level, wholeness(j)} {
		if d[level] == nil {
			d[level] = &decided{}
		}
		n := d[level]
		n.regions, n.preferences, n.held = n.regions+1, n.preferences+all, n.held+held
		if held == all {
			n.right++
		}
	}
}

// wholeness tells regions that are to be kept from those that are to be cut.
func wholeness(j *retrieve.Junction) string {
	if j.Whole.Gold == 1 {
		return "_wholly"
	}
	return "_partly"
}

func (d decisions) metrics() Metrics {
	m := Metrics{}
	for level, n := range d {
		m["decision_accuracy"+level] = round4(ratio(n.right, n.regions))
		m["preference_share"+level] = round4(ratio(n.held, n.preferences))
		m["decisions"+level] = float64(n.regions)
	}
	return m
}

// lesson is a junction as training reads it: numbers as little-endian float32.
type lesson struct {
	Source  string       `json:"source"`
	Cluster string       `json:"cluster"`
	Kind    string       `json:"kind"`
	Query   string       `json:"query"`
	Level   string       `json:"level"`
	Layer   string       `json:"layer"`
	Asked   []byte       `json:"asked"`
	Sides   []lessonSide `json:"sides"` // the whole first
}

type lessonSide struct {
	Level  string  `json:"level"`
	Gold   float64 `json:"gold"`
	Tokens int     `json:"tokens"`
	Terms  []byte  `json:"terms"`
	Vector []byte  `json:"vector"`
}

func lessonOf(q placed, j *retrieve.Junction) lesson {
	out := lesson{Source: q.source, Cluster: q.cluster, Kind: q.kind, Query: q.text, Level: j.Level, Layer: j.Layer, Asked: floats(j.Asked)}
	for _, s := range append([]retrieve.Side{j.Whole}, j.Parts...) {
		out.Sides = append(out.Sides, lessonSide{s.Level, s.Gold, s.Tokens, floats(s.Terms), floats(s.Vector)})
	}
	return out
}

func floats(v []float32) []byte {
	out := make([]byte, 0, 4*len(v))
	for _, x := range v {
		out = binary.LittleEndian.AppendUint32(out, math.Float32bits(x))
	}
	return out
}
