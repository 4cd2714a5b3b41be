package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"

	"github.com/reeltree/reeltree/eval"
	"github.com/reeltree/reeltree/generate"
	"github.com/reeltree/reeltree/ingest"
	"github.com/reeltree/reeltree/retrieve"
	"github.com/reeltree/reeltree/tree"
)

// evalCmd takes its data file from --data, which is the data folder elsewhere.
type evalCmd struct {
	Task    string `arg:"" help:"answers, meetings, moments, multihop, passages, tables, or refiner with the lines of meetings, moments or tables; --data names its file. page writes the reports of the folder --data into the page --out."`
	Pool    string `help:"Passages of multihop, one JSON object a line." placeholder:"FILE"`
	Out     string `help:"File the predictions are written to, one JSON object a line." placeholder:"PREDICTIONS"`
	Ablate  bool   `help:"Also measure every stage and baseline, printed to standard error."`
	Join    int    `help:"moments: so many videos after one another are one source." placeholder:"N"`
	Stress  string `help:"meetings: copies adds a second upload and a highlight clip, damage spoils 15 %% of the words." placeholder:"KIND"`
	Halting bool   `help:"meetings: compare the learned stop of a walk with five rounds."`
	Numbers bool   `name:"sensitivity" help:"Compare 5, 10 and 20 nodes of the entry, and regions of 2 and 4 parts."`
	Report  string `help:"File for everything that was measured, as JSON." placeholder:"FILE"`
}

// Run measures a benchmark task: its metrics go to standard output as one JSON
// object, what retrieval did for them to standard error.
func (cmd evalCmd) Run(ctx context.Context, s *Settings, p Process) error {
	if s.Data == defaultData() {
		return fmt.Errorf("%w: eval reads the lines of a task: name their file with --data", errUsage)
	}
	if cmd.Task == "page" {
		reports, err := eval.ReadReports(s.Data)
		if err != nil {
			return err
		}
		return eval.WritePage(cmd.Out, reports)
	}
	c, err := evalConfig(s, s.logger(p))
	if err != nil {
		return err
	}
	rep, err := eval.Run(ctx, c, cmd.Task, eval.Files{Data: s.Data, Pool: cmd.Pool, Out: cmd.Out, Trial: eval.Trial{Join: cmd.Join, Stress: cmd.Stress, Halting: cmd.Halting, Numbers: cmd.Numbers}}, cmd.Ablate)
	if err != nil {
		return err
	}
	rep.Version = Version
	if cmd.Report != "" {
		data, err := json.MarshalIndent(rep, "", " ")
		if err != nil {
			return err
		}
		if err := os.WriteFile(cmd.Report, append(data, '\n'), 0o644); err != nil {
			return fmt.Errorf("the report cannot be written: %w", err)
		}
	}
	if err := eval.WriteDetails(p.Stderr, rep); err != nil {
		return err
	}
	line, err := rep.Metrics.MarshalJSON() // the encoder would take its blanks out
	if err != nil {
		return err
	}
	say(p.Stdout, "%s\n", line)
	return nil
}

// evalConfig wires the product's embedder, index, cutter and answerer.
func evalConfig(s *Settings, log *slog.Logger) (eval.Config, error) {
	e, err := newEmbedder(s, log)
	if err != nil {
		return eval.Config{}, err
	}
	c := eval.Config{
		Embed: e.Embed, Embedder: e.Name(), Dim: e.Dim(), Rounds: s.Rounds.V,
		Cut:    cutter(ingest.Settings{L1Target: s.L1Target.V, L2Target: s.L2Target.V}),
		Answer: extractiveAnswer(e.Embed),
	}
	switch s.Index {
	case "hnsw":
		c.Vectors = func(dim int) retrieve.Index { return retrieve.NewHNSW(dim, retrieve.HNSWOptions{}) }
	case "coder-hnsw":
		c.Vectors = func(dim int) retrieve.Index { return retrieve.NewCoderHNSW(dim) }
	}
	return c, nil
}

// cutter cuts a recording as an ingest does.
func cutter(s ingest.Settings) eval.Cut {
	return func(src tree.Source, cues []tree.Cue) []tree.Material {
		facts := ingest.CutFacts{ToMS: src.DurationMS, Cues: cues}
		var out []tree.Material
		for i, st := range ingest.CutStretches(facts, s) {
			m := tree.Material{Source: src, Index: i, Span: st.Span, Title: st.Title}
			for _, span := range ingest.CutClips(st, facts, nil, s) {
				m.Clips = append(m.Clips, tree.Clip{Span: span, Leaves: ingest.CutLeaves(span, nil, nil, cues, s)})
			}
			out = append(out, m)
		}
		return out
	}
}

// extractiveAnswer answers with generate's extractive answerer.
func extractiveAnswer(embed retrieve.Embed) eval.NewAnswer {
	return func(e *retrieve.Engine, trees retrieve.Trees) eval.Answer {
		a := &generate.Answerer{Find: e.Query, Trees: generate.Trees(trees), Embed: embed}
		return func(ctx context.Context, source, question string) (eval.Answered, error) {
			var got answered
			q := generate.Question{Tenant: tree.DefaultTenant, Text: question, Sources: []string{source}}
			if err := a.Answer(ctx, q, got.take); err != nil {
				return eval.Answered{}, err
			}
			return got.out, got.err
		}
	}
}

// answered collects an answer's events.
type answered struct {
	out    eval.Answered
	quotes map[int]string
	from   int // code points that are cited already
	err    error
}

func (a *answered) take(e generate.Event) error {
	switch e := e.(type) {
	case generate.Evidence:
		if a.quotes == nil {
			a.quotes = map[int]string{}
		}
		a.quotes[e.N] = e.Quote
	case generate.Token:
		a.out.Text += e.Text
	case generate.Citation:
		said := strings.TrimPrefix(strings.TrimSpace(string([]rune(a.out.Text)[a.from:e.At])), "- ")
		a.out.Cited = append(a.out.Cited, eval.Cited{Sentence: said, Evidence: a.quotes[e.N]})
		a.from = e.At
	case generate.Done:
		a.out.Found, a.out.Calls, a.out.Support = e.Finish == generate.FinishStop, e.Usage.Calls, e.Support
		if e.Error != nil {
			a.err = errors.New(e.Error.Message)
		}
	}
	return nil
}
