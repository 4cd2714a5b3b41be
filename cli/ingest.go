package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/reeltree/reeltree/client"
	"github.com/reeltree/reeltree/ingest"
	"github.com/reeltree/reeltree/tree"
)

type ingestCmd struct {
	Collection string   `help:"Collection the sources join." placeholder:"NAME"`
	Subtitles  string   `help:"Subtitle file of the source; without it one beside the file with the same base name is taken." placeholder:"FILE"`
	Keep       string   `help:"What stays after the ingest: media (the file and its frames) or frames." choice:"media,frames" default:"media"`
	Detail     string   `help:"How closely pictures are looked at: low, normal or high." choice:"low,normal,high" default:"normal"`
	Visual     string   `help:"Whether pictures are looked at: on or off." choice:"on,off" default:"on"`
	Language   string   `help:"Language of the speech and the wanted captions, like en or pt-BR; unset = as the source says." placeholder:"TAG"`
	AudioTrack count    `help:"Audio stream to use, from 1; 0 = the default one." default:"0"`
	From       duration `help:"Where the wanted part begins." default:"0s"`
	To         duration `help:"Where the wanted part ends; 0 = at the end." default:"0s"`
	Quote      bool     `help:"Say what the ingest would cost in model calls, and do not ingest."`
	Sources    []string `arg:"" name:"source" help:"Files, folders, http(s) and YouTube addresses."`
}

// Run ingests one source after the other; a failed one does not stop the rest.
func (cmd ingestCmd) Run(ctx context.Context, s *Settings, p Process) error {
	return withClient(ctx, s, p, func(c *client.Client) error {
		failed := false
		for _, source := range expand(cmd.Sources, func(note string) { say(p.Stderr, "%s\n", note) }) {
			if cmd.Quote {
				ok, err := cmd.quote(ctx, c, s, p, source, client.UploadOptions{Options: cmd.options(s)})
				if failed = failed || !ok; err != nil {
					return err
				}
				continue
			}
			out := cmd.one(ctx, c, s, p, source)
			failed = failed || out.State != tree.StateDone && out.State != tree.StatePartial
			if err := printOutcome(s, p, out); err != nil {
				return err
			}
			if ctx.Err() != nil {
				return ctx.Err()
			}
		}
		if failed {
			return errQuiet
		}
		return nil
	})
}

// one ingests a single source and says how it ended.
func (cmd ingestCmd) one(ctx context.Context, c *client.Client, s *Settings, p Process, source named) outcome {
	out := outcome{Title: cmp.Or(source.name, `""`), State: tree.StateFailed, Warnings: []string{}}
	took, err := cmd.hand(ctx, c, s, source)
	if err == nil {
		err = followIngest(ctx, c, s, p, filepath.Base(source.name), took, &out)
	}
	if err != nil {
		out.Error = ownWords(err).Error()
	}
	return out
}

// hand gives a source to the service.
func (cmd ingestCmd) hand(ctx context.Context, c *client.Client, s *Settings, source named) (took client.Accepted, err error) {
	opt := client.UploadOptions{Collection: cmd.Collection, Options: cmd.options(s)}
	if source.err != nil {
		return took, source.err
	}
	if address, ok := addressOf(source.name); ok {
		return c.IngestURL(ctx, address, opt)
	}
	err = cmd.withFile(source.name, opt, func(f *os.File, opt client.UploadOptions) error {
		took, err = c.Upload(ctx, filepath.Base(source.name), f, opt)
		return err
	})
	return took, err
}

func (cmd ingestCmd) options(s *Settings) tree.IngestOptions {
	opt := tree.IngestOptions{
		Language: cmd.Language, FromMS: cmd.From.V.Milliseconds(), ToMS: cmd.To.V.Milliseconds(), AudioTrack: cmd.AudioTrack.V,
		MaxCalls: s.MaxCalls.V, MaxTokens: s.MaxTokens.V,
	}
	if cmd.Keep != "media" {
		opt.Keep = cmd.Keep
	}
	if cmd.Detail != "normal" {
		opt.Detail = cmd.Detail
	}
	if cmd.Visual != "on" {
		opt.Visual = cmd.Visual
	}
	return opt
}

// withFile opens a file and its subtitles to be handed over.
func (cmd ingestCmd) withFile(file string, opt client.UploadOptions, hand func(*os.File, client.UploadOptions) error) error {
	f, err := openFile(file)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) && ingest.LooksLikeAddress(file) {
			return errors.New("there is no such file: write https:// before it if it is an address")
		}
		return err
	}
	defer func() { _ = f.Close() }()
	side := cmd.Subtitles
	if side == "" {
		side = sidecar(file)
	}
	if side != "" {
		if opt.Subtitles, err = readFile(side); err != nil {
			return fmt.Errorf("the subtitles %s: %w", filepath.Base(side), err)
		}
		opt.SubtitlesName = filepath.Base(side)
	}
	return hand(f, opt)
}
