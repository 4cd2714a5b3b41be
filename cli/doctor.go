package cli

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/reeltree/reeltree/model"
)

type doctorCmd struct{}

// check is one finding of doctor.
type check struct {
	Name  string `json:"name"`
	State string `json:"state"` // ok, built in, failed
	Error string `json:"error,omitempty"`
}

const embedding = "embedding model"

// Run checks the data folder and makes one tiny call per configured model.
func (doctorCmd) Run(ctx context.Context, s *Settings, p Process) error {
	log := s.logger(p)
	checks := []check{checked("data folder "+s.Data, writable(s.Data))}
	for _, e := range []struct {
		name string
		at   endpoint
		ping func(model.Config) error
	}{
		{"chat model", s.LLM, func(c model.Config) error { return pingChat(ctx, c) }},
		{"vision model", s.VLM, func(c model.Config) error { c.Role = "vision"; return pingChat(ctx, c) }},
		{embedding, s.Embed, func(c model.Config) error {
			m, err := model.NewEmbedder(c)
			if err != nil {
				return err
			}
			return m.Ping(ctx)
		}},
		{"speech model", s.ASR, func(c model.Config) error {
			m, err := model.NewTranscriber(c)
			if err != nil {
				return err
			}
			return m.Ping(ctx)
		}},
	} {
		if e.name == embedding && e.at.URL.V == "" && s.Embedder == "minilm" {
			checks = append(checks, checked(e.name+" MiniLM", pingMiniLM(ctx, s)))
			continue
		}
		if e.at.URL.V == "" {
			checks = append(checks, check{Name: e.name, State: "built in"})
			continue
		}
		checks = append(checks, checked(e.name+" "+e.at.Model, e.ping(e.at.config(s, log))))
	}
	failed := false
	for _, c := range checks {
		failed = failed || c.State == "failed"
		if s.JSON {
			if err := writeJSON(p.Stdout, c); err != nil {
				return err
			}
			continue
		}
		say(p.Stdout, "%-8s  %s  %s\n", c.State, c.Name, c.Error)
	}
	if failed {
		return errQuiet
	}
	return nil
}

func checked(name string, err error) check {
	if err != nil {
		return check{name, "failed", err.Error()}
	}
	return check{name, "ok", ""}
}

func pingChat(ctx context.Context, c model.Config) error {
	m, err := model.NewChat(c)
	if err != nil {
		return err
	}
	return m.Ping(ctx)
}

func pingMiniLM(ctx context.Context, s *Settings) error {
	m, err := model.NewMiniLM(model.MiniLMConfig{Dir: s.MiniLMDir})
	if err != nil {
		return err
	}
	_, err = m.Embed(ctx, []string{"ping"})
	return errors.Join(err, m.Close())
}

// writable tries to make and remove a file.
func writable(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, "doctor-")
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Remove(filepath.Clean(f.Name()))
}
