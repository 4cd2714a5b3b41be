package cli

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/reeltree/reeltree/ingest"
)

type probeCmd struct {
	File string `arg:"" help:"Media, subtitle or document file."`
}

// facts is the line of --json.
type facts struct {
	Kind       string `json:"kind"`
	DurationMS int64  `json:"duration_ms"`
	Video      int    `json:"video"`
	Audio      int    `json:"audio"`
	Subtitles  int    `json:"subtitles"`
	Pictures   int    `json:"pictures"`
	Display    string `json:"display"`
	Partial    bool   `json:"partial,omitempty"`
	Warning    string `json:"warning,omitempty"`
	Error      string `json:"error"`
}

// Run prints the facts of a file.
func (cmd probeCmd) Run(ctx context.Context, s *Settings, p Process) error {
	got, err := cmd.probe(ctx, s, p)
	if err != nil {
		got.Error = err.Error()
		if sentence, ok := sourceRefusal(err); ok {
			got.Error = sentence
		}
	}
	if s.JSON {
		if err := writeJSON(p.Stdout, got); err != nil {
			return err
		}
	} else if err == nil {
		say(p.Stdout, "%s, %d ms, %d video, %d audio, %d subtitle streams, %s, %s %s\n", got.Kind, got.DurationMS, got.Video, got.Audio, got.Subtitles, counted(got.Pictures, "picture", "pictures"), got.Display, got.Warning)
	} else {
		say(p.Stderr, "reeltree: %s\n", got.Error)
	}
	if err != nil {
		return errQuiet
	}
	return nil
}

func (cmd probeCmd) probe(ctx context.Context, s *Settings, p Process) (facts, error) {
	f, err := openFile(cmd.File)
	if err != nil {
		return facts{}, err
	}
	defer func() { _ = f.Close() }()
	self, err := os.Executable()
	if err != nil {
		return facts{}, err
	}
	m, err := ingest.ProbeFile(ctx, media(s, self, s.logger(p)), cmd.File, f)
	if err != nil {
		return facts{}, err
	}
	got := facts{Kind: string(m.Kind), DurationMS: m.DurationMS, Audio: len(m.Audio), Subtitles: len(m.Subtitles), Pictures: m.Pictures, Display: "-", Partial: m.Partial}
	if m.Video != nil {
		got.Video, got.Display = 1, fmt.Sprintf("%dx%d", m.Video.Width, m.Video.Height)
	}
	if len(m.Warnings) > 0 {
		got.Warning = strings.Join(m.Warnings, " ")
	}
	return got, nil
}
