package cli

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"

	"github.com/reeltree/reeltree/client"
	"github.com/reeltree/reeltree/tree"
)

type listCmd struct {
	Collection string `help:"Only this collection." placeholder:"NAME"`
}

// Run lists the sources.
func (cmd listCmd) Run(ctx context.Context, s *Settings, p Process) error {
	return withClient(ctx, s, p, func(c *client.Client) error {
		all, err := c.Sources(ctx, cmd.Collection)
		if err != nil {
			return err
		}
		for _, src := range all {
			if s.JSON {
				if err := writeJSON(p.Stdout, src); err != nil {
					return err
				}
				continue
			}
			say(p.Stdout, "%s  %-9s  %8s  %s\n", src.ID, src.State, tree.Clock(src.DurationMS), src.Title)
		}
		return nil
	})
}

type showCmd struct {
	ID string `arg:"" help:"Source id."`
}

// Run prints a source with its tree.
func (cmd showCmd) Run(ctx context.Context, s *Settings, p Process) error {
	return withClient(ctx, s, p, func(c *client.Client) error {
		raw, err := c.Tree(ctx, cmd.ID)
		if err != nil {
			return err
		}
		if s.JSON {
			_, err := fmt.Fprintf(p.Stdout, "%s\n", bytes.TrimSpace(raw))
			return err
		}
		var t tree.Tree
		if err := json.Unmarshal(raw, &t); err != nil {
			return err
		}
		say(p.Stdout, "%s (%s, %s)\n", t.Source.Title, t.Source.State, tree.Clock(t.Source.DurationMS))
		for _, r := range t.Roots {
			showNode(p, r)
		}
		return nil
	})
}

func showNode(p Process, n *tree.Node) {
	say(p.Stdout, "%s%s  %s\n", strings.Repeat("  ", int(n.Level)), n.Span, strings.Join(strings.Fields(n.Text), " "))
	for _, c := range n.Children {
		showNode(p, c)
	}
}

type exportCmd struct {
	Format string   `help:"tree, json, vtt, srt, chapters, chapters.vtt, md, edl or clip (an MP4 file)." default:"tree"`
	From   duration `help:"Where a clip begins." default:"0s"`
	To     duration `help:"Where a clip ends; 0 = at the end." default:"0s"`
	Exact  bool     `help:"Begin and end a clip at these times, encoded anew; without it the clip is copied from the key frame before."`
	Answer string   `help:"Export this answer, by its stream, instead of a source; as a clip the moment it cites first." placeholder:"STREAM"`
	Concat bool     `help:"Join all moments an answer cites into one clip."`
	ID     string   `arg:"" optional:"" help:"Source id; with --answer only the moments of this source."`
}

// Run writes a source or an answer in a format.
func (cmd exportCmd) Run(ctx context.Context, s *Settings, p Process) error {
	if cmd.ID == "" && cmd.Answer == "" {
		return fmt.Errorf("%w: name the source to export, or an answer with --answer: reeltree list shows the sources", errUsage)
	}
	return withClient(ctx, s, p, func(c *client.Client) error {
		switch {
		case cmd.Answer != "":
			return c.ExportAnswer(ctx, cmd.Answer, cmd.Format, cmd.wishes(), p.Stdout)
		case cmd.Format == "clip":
			return cmd.clip(ctx, c, p)
		}
		return c.Export(ctx, cmd.ID, cmd.Format, p.Stdout)
	})
}

// wishes are what a clip of an answer may be asked for.
func (cmd exportCmd) wishes() url.Values {
	q := url.Values{}
	for name, v := range map[string]bool{"concat": cmd.Concat, "exact": cmd.Exact} {
		if v {
			q.Set(name, "1")
		}
	}
	if cmd.ID != "" {
		q.Set("source", cmd.ID)
	}
	return q
}

func (cmd exportCmd) clip(ctx context.Context, c *client.Client, p Process) error {
	var parts []tree.Span
	if cmd.From.V > 0 || cmd.To.V > 0 {
		src, err := c.Source(ctx, cmd.ID)
		if err != nil {
			return err
		}
		parts = []tree.Span{tree.MS(cmd.From.V.Milliseconds(), cmp.Or(cmd.To.V.Milliseconds(), src.DurationMS))}
	}
	return c.ExportClip(ctx, cmd.ID, parts, cmd.Exact, p.Stdout)
}

type importCmd struct {
	File string `arg:"" help:"Tree file."`
}

// Run stores a tree file.
func (cmd importCmd) Run(ctx context.Context, s *Settings, p Process) error {
	f, err := openFile(cmd.File)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	return withClient(ctx, s, p, func(c *client.Client) error {
		src, err := c.Import(ctx, f)
		if err != nil {
			return err
		}
		if s.JSON {
			return writeJSON(p.Stdout, src)
		}
		say(p.Stdout, "%s: imported (%s)\n", src.Title, src.ID)
		return nil
	})
}

type rmCmd struct {
	ID string `arg:"" help:"Source id."`
}

// Run deletes a source.
func (cmd rmCmd) Run(ctx context.Context, s *Settings, p Process) error {
	return withClient(ctx, s, p, func(c *client.Client) error { return c.Delete(ctx, cmd.ID) })
}

type jobsCmd struct {
	Action    string `arg:"" optional:"" enum:"list,cancel,pause,resume,retry" default:"list" help:"list, cancel, pause, resume or retry."`
	ID        string `arg:"" optional:"" help:"Job id."`
	NewCalls  count  `help:"New cap of model calls for resume and retry." default:"0"`
	NewTokens count  `help:"New cap of tokens for resume and retry." default:"0"`
}

// Run lists the jobs or acts on one.
func (cmd jobsCmd) Run(ctx context.Context, s *Settings, p Process) error {
	if cmd.Action != "list" && cmd.ID == "" {
		return fmt.Errorf("%w: name the job to %s: reeltree jobs lists them", errUsage, cmd.Action)
	}
	return withClient(ctx, s, p, func(c *client.Client) error {
		var jobs []tree.Job
		var err error
		if cmd.Action == "list" {
			jobs, err = c.Jobs(ctx)
		} else {
			jobs = make([]tree.Job, 1)
			jobs[0], err = c.Act(ctx, cmd.ID, cmd.Action, cmd.NewCalls.V, cmd.NewTokens.V)
		}
		if err != nil {
			return err
		}
		for _, j := range jobs {
			if s.JSON {
				if err := writeJSON(p.Stdout, j); err != nil {
					return err
				}
				continue
			}
			say(p.Stdout, "%s  %-9s  %s%s  %s\n", j.ID, j.State, j.Source, j.URL, j.Error)
		}
		return nil
	})
}
