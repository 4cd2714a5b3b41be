package cli

import (
	"context"
	"fmt"
	"slices"

	"github.com/reeltree/reeltree/client"
	"github.com/reeltree/reeltree/tree"
)

// outcome is one line of ingest --json.
type outcome struct {
	Source     string      `json:"source"`
	Title      string      `json:"title"`
	State      tree.State  `json:"state"`
	DurationMS int64       `json:"duration_ms"`
	Nodes      tree.Counts `json:"nodes"`
	Calls      int         `json:"calls"`
	Warnings   []string    `json:"warnings"` // one sentence each
	Error      string      `json:"error"`
}

// followIngest shows the progress of a job until it has come to rest. A fetch
// goes on as the ingest of what was fetched.
func followIngest(ctx context.Context, c *client.Client, s *Settings, p Process, title string, took client.Accepted, out *outcome) error {
	bar := newBar(s, p, title)
	defer bar.end()
	for stream := took.Stream; ; {
		if err := c.FollowJob(ctx, stream, func(e client.Event) error { bar.show(e); return nil }); err != nil {
			return err
		}
		job, err := c.Job(ctx, stream)
		if err != nil {
			return err
		}
		out.Warnings = append(out.Warnings, job.Warnings...)
		if job.URL != "" && job.State != tree.StateDone {
			out.State, out.Error = job.State, job.Error
			if out.Error == "" {
				out.Error = fmt.Sprintf("the download ended as %s", job.State)
			}
			return nil
		}
		src, err := c.Source(ctx, job.Source)
		if err != nil {
			return err
		}
		if job.URL == "" {
			out.settle(src, job)
			return nil
		}
		stream = src.Job
	}
}

// settle takes in how a job ended. The record of its source says so only where
// the source was never finished before.
func (o *outcome) settle(src tree.Source, job tree.Job) {
	o.Source, o.Title, o.DurationMS, o.Nodes, o.Calls = src.ID, src.Title, src.DurationMS, src.Nodes, src.Calls
	o.State, o.Error = job.State, job.Error
	for _, w := range src.Warnings {
		if src.Job == job.ID && !slices.Contains(o.Warnings, w) {
			o.Warnings = append(o.Warnings, w)
		}
	}
}

func printOutcome(s *Settings, p Process, out outcome) error {
	if s.JSON {
		return writeJSON(p.Stdout, out)
	}
	if out.Error == "" {
		say(p.Stdout, "%s: %s, %s, %s, %s, %s (%s)\n", out.Title, out.State, tree.Clock(out.DurationMS),
			counted(out.Nodes.L1, "stretch", "stretches"), counted(out.Nodes.L2, "clip", "clips"), counted(out.Nodes.L3, "moment", "moments"), out.Source)
	}
	for _, w := range out.Warnings {
		say(p.Stderr, "%s: warning: %s\n", out.Title, w)
	}
	if out.Error != "" {
		say(p.Stderr, "%s: %s: %s\n", out.Title, out.State, out.Error)
	}
	return nil
}

// counted is a number with its noun.
func counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
