package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/reeltree/reeltree/client"
	"github.com/reeltree/reeltree/tree"
)

type ingestCmd struct {
	Collection string   `help:"Collection the sources join." placeholder:"NAME"`
	Subtitles  string   `help:"Subtitle file of the source; without it one beside the file with the same base name is taken." placeholder:"FILE" type:"path"`
	Keep       string   `help:"What stays after the ingest: media (the file and its frames) or frames." enum:"media,frames" default:"media"`
	Detail     string   `help:"How closely pictures are looked at: low, normal or high." enum:"low,normal,high" default:"normal"`
	Visual     string   `help:"Whether pictures are looked at: on or off." enum:"on,off" default:"on"`
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
		for _, source := range expand(cmd.Sources) {
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

// expand replaces folders by the files in them, in order.
func expand(sources []string) []string {
	var all []string
	for _, s := range sources {
		info, err := os.Stat(s)
		if err != nil || !info.IsDir() {
			all = append(all, s)
			continue
		}
		_ = filepath.WalkDir(s, func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() && !strings.HasPrefix(d.Name(), ".") {
				all = append(all, path)
			}
			return nil // what cannot be read is reported when it is opened
		})
	}
	return all
}

// namesAddress tells addresses from files; a file that is there wins over an
// address of the same spelling.
func namesAddress(s string) bool {
	_, err := os.Stat(s)
	return err != nil && (strings.HasPrefix(s, "http://") || strings.HasPrefix(s, "https://"))
}

// one ingests a single source and says how it ended.
func (cmd ingestCmd) one(ctx context.Context, c *client.Client, s *Settings, p Process, source string) outcome {
	out := outcome{Title: filepath.Base(source), State: tree.StateFailed, Warnings: []string{}}
	opt := client.UploadOptions{Collection: cmd.Collection, Options: cmd.options(s)}
	var took client.Accepted
	var err error
	if namesAddress(source) {
		out.Title = source
		took, err = c.IngestURL(ctx, source, opt)
	} else {
		err = cmd.withFile(source, opt, func(f *os.File, opt client.UploadOptions) error {
			took, err = c.Upload(ctx, filepath.Base(source), f, opt)
			return err
		})
	}
	if err == nil {
		err = followIngest(ctx, c, s, p, out.Title, took, &out)
	}
	if err != nil {
		out.Error = err.Error()
	}
	return out
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
	f, err := os.Open(file)
	if err != nil {
		return fmt.Errorf("the file cannot be read: %w", errors.Unwrap(err))
	}
	defer func() { _ = f.Close() }()
	if info, err := f.Stat(); err == nil && !info.Mode().IsRegular() {
		return errors.New("this is not a regular file: name a file, a folder or an address")
	}
	side := cmd.Subtitles
	if side == "" {
		side = sidecar(file)
	}
	if side != "" {
		if opt.Subtitles, err = os.ReadFile(side); err != nil {
			return fmt.Errorf("the subtitles %s cannot be read: %w", filepath.Base(side), errors.Unwrap(err))
		}
		opt.SubtitlesName = filepath.Base(side)
	}
	return hand(f, opt)
}

var subtitleSuffixes = []string{".srt", ".vtt", ".ass", ".ssa", ".smi"}

// sidecar is the subtitle file beside a media file: the same base name, with
// an optional language between name and suffix.
func sidecar(file string) string {
	own := strings.ToLower(filepath.Ext(file))
	base := strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
	if slices.Contains(subtitleSuffixes, own) {
		return "" // a subtitle file is a source of its own
	}
	entries, err := os.ReadDir(filepath.Dir(file))
	if err != nil {
		return ""
	}
	for _, e := range entries { // sorted by name: the plain one comes before one with a language
		name, isSidecar := e.Name(), false
		for _, s := range subtitleSuffixes {
			isSidecar = isSidecar || strings.EqualFold(filepath.Ext(name), s)
		}
		rest, same := strings.CutPrefix(strings.TrimSuffix(name, filepath.Ext(name)), base)
		if isSidecar && same && (rest == "" || strings.HasPrefix(rest, ".") && len(rest) <= 12 && !strings.Contains(rest[1:], ".")) {
			return filepath.Join(filepath.Dir(file), name)
		}
	}
	return ""
}
