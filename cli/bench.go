package cli

import (
	"context"
	"fmt"

	"github.com/reeltree/reeltree/eval"
	"github.com/reeltree/reeltree/retrieve"
)

// benchCmd is this program's side of make bench.
type benchCmd struct {
	Engine  string `arg:"" enum:"exact,hnsw,coder-hnsw,embedder,page" help:"exact, hnsw, coder-hnsw or embedder: measured by the commands on standard input (build; ef N, the breadth of a search of the graph; search FROM TO; mapped, the memory that files stand behind; readers N, at once, alone and beside a writer; embed FROM TO), one JSON object a line. page puts the measurements of the file --result into those of --kept and writes the page --out."`
	Vectors string `help:"Vectors to index: rows of little-endian float32." placeholder:"FILE"`
	Queries string `help:"Vectors to search for, the same way." placeholder:"FILE"`
	Texts   string `help:"Texts to embed, one a line." placeholder:"FILE"`
	Dim     int    `help:"Values of a vector." default:"256"`
	Result  string `help:"Measurements of one run." placeholder:"FILE"`
	Kept    string `help:"Measurements of all runs, from which the page is written; made where it is not there." placeholder:"FILE"`
	Out     string `help:"Page to write." placeholder:"FILE"`
}

// Run serves the commands of standard input until it ends.
func (cmd benchCmd) Run(ctx context.Context, s *Settings, p Process) error {
	if cmd.Engine == "page" {
		if err := eval.MergePerformance(cmd.Kept, cmd.Result); err != nil {
			return err
		}
		return eval.WritePerformance(cmd.Out, cmd.Kept)
	}
	if cmd.Dim <= 0 {
		return fmt.Errorf("%w: --dim is how many values a vector has, so it must be above 0", errUsage)
	}
	speed := eval.Speed{Dim: cmd.Dim, Vectors: cmd.Vectors, Queries: cmd.Queries, Texts: cmd.Texts}
	switch cmd.Engine {
	case "exact":
		speed.Index = retrieve.NewExact(cmd.Dim)
	case "hnsw":
		speed.Index = retrieve.NewHNSW(cmd.Dim, retrieve.HNSWOptions{Scan: -1})
	case "coder-hnsw":
		speed.Index = retrieve.NewCoderHNSW(cmd.Dim)
	case "embedder":
		e, err := newEmbedder(s, s.logger(p))
		if err != nil {
			return err
		}
		speed.Embed = e.Embed
	}
	return speed.Serve(ctx, p.Stdin, p.Stdout)
}
