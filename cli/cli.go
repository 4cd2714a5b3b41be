// Package cli is the command line of reeltree: one settings struct that gives
// flags, environment, help and the documented page, the commands, and the
// wiring of the rooms. It is called by main and holds no algorithm.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"

	"github.com/alecthomas/kong"

	"github.com/reeltree/reeltree/model"
)

// Version is set by the build.
var Version = "dev"

// Process is what a command sees of the operating system.
type Process struct {
	Args           []string
	Stdin          io.Reader
	Stdout, Stderr io.Writer
}

// Exit codes of Run.
const (
	exitOK     = 0
	exitFailed = 1 // the command ran and failed
	exitUsage  = 2 // the command line or a setting cannot be used
)

type commands struct {
	Settings

	Serve  serveCmd  `cmd:"" help:"Run the whole service in one process."`
	Ingest ingestCmd `cmd:"" help:"Turn files and addresses into searchable trees."`
	Ask    askCmd    `cmd:"" help:"Ask a question and print the streamed answer with its times."`
	Probe  probeCmd  `cmd:"" help:"Print the facts of a media file without ingesting it."`
	List   listCmd   `cmd:"" help:"List the sources."`
	Show   showCmd   `cmd:"" help:"Print a source with its tree."`
	Export exportCmd `cmd:"" help:"Write a source as tree, captions, chapters, Markdown or edit list."`
	Import importCmd `cmd:"" help:"Read a tree file, ours or the original description-tree format."`
	Rm     rmCmd     `cmd:"" help:"Delete a source with everything that was made of it."`
	Jobs   jobsCmd   `cmd:"" help:"List the ingest jobs, or cancel, pause, resume or retry one."`
	Doctor doctorCmd `cmd:"" help:"Check this machine and make one tiny call per configured model."`
	Eval   evalCmd   `cmd:"" help:"Measure a public benchmark task through trees and retrieval."`
	Bench  benchCmd  `cmd:"" help:"Measure an index engine or the embedder for make bench."`

	Health  healthCmd  `cmd:"" help:"Ask the service at --server whether it lives; for containers and supervisors."`
	Config  configCmd  `cmd:"" hidden:"" help:"Print the documentation of the settings."`
	Version versionCmd `cmd:"" help:"Print the version."`

	MediaWorker mediaWorkerCmd `cmd:"" hidden:"" help:"Serve one media request; started by the service itself."`
}

// errQuiet ends a command with exit code 1 after it has already said why.
var errQuiet = errors.New("the command has already printed its error")

// Run parses the command line, runs the command and returns the exit code.
func Run(ctx context.Context, p Process) int {
	parser, c, err := newParser(p)
	if err != nil {
		_, _ = fmt.Fprintln(p.Stderr, "reeltree:", err)
		return exitUsage
	}
	exited := -1
	parser.Exit = func(code int) { exited = code; panic(exitSignal{}) }
	kctx, err := parse(parser, p.Args)
	if exited >= 0 {
		return exited
	}
	if err == nil {
		err = mistakes(kctx.Flags(), &c.Settings)
	}
	if err != nil {
		_, _ = fmt.Fprintln(p.Stderr, "reeltree:", err)
		return exitUsage
	}
	kctx.BindTo(ctx, (*context.Context)(nil))
	switch err := ownWords(kctx.Run(&c.Settings, p)); {
	case err == nil:
		return exitOK
	case errors.Is(err, errQuiet):
		return exitFailed
	case errors.Is(err, errUsage):
		_, _ = fmt.Fprintln(p.Stderr, "reeltree:", err)
		return exitUsage
	case errors.Is(err, context.Canceled) && ctx.Err() != nil:
		_, _ = fmt.Fprintln(p.Stderr, "reeltree: stopped")
		return exitFailed
	default:
		_, _ = fmt.Fprintln(p.Stderr, "reeltree:", err)
		return exitFailed
	}
}

// exitSignal unwinds kong after it printed help, since only main ends the process.
type exitSignal struct{}

func parse(parser *kong.Kong, args []string) (kctx *kong.Context, err error) {
	defer func() {
		if r := recover(); r != nil {
			if _, ok := r.(exitSignal); !ok {
				panic(r)
			}
		}
	}()
	return parser.Parse(negatives(args))
}

func newParser(p Process) (*kong.Kong, *commands, error) {
	c := &commands{}
	parser, err := kong.New(c,
		kong.Name("reeltree"),
		kong.Description("Long videos, recordings and documents as description trees; answers as a stream, with times you can click."),
		kong.DefaultEnvars("REELTREE"),
		kong.Writers(p.Stdout, p.Stderr),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, FlagsLast: true}),
		kong.KindMapper(reflect.String, kong.MapperFunc(verbatim)),
		kong.Vars{"data": defaultData(), "minilm": model.DefaultMiniLMDir()},
	)
	return parser, c, err
}

func defaultData() string {
	base := os.Getenv("XDG_DATA_HOME")
	if base == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return "reeltree-data"
		}
		base = filepath.Join(home, ".local", "share")
	}
	return filepath.Join(base, "reeltree")
}
