package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"os"

	"github.com/reeltree/reeltree/generate"
	"github.com/reeltree/reeltree/ingest"
	"github.com/reeltree/reeltree/library"
	"github.com/reeltree/reeltree/model"
	"github.com/reeltree/reeltree/tree"
)

// config is an endpoint's settings for the model room. OPENAI_BASE_URL and
// OPENAI_API_KEY stand in for what is unset.
func (e endpoint) config(s *Settings, log *slog.Logger) model.Config {
	key := e.Key
	if !key.Set() {
		key = model.NewSecret(os.Getenv("OPENAI_API_KEY"))
	}
	return model.Config{URL: e.URL.V, Model: e.Model, Key: key, Concurrency: s.Concurrency.V, Log: log}
}

// newEmbedder is the embedder of the settings: one behind an address, else the
// one that is named.
func newEmbedder(s *Settings, log *slog.Logger) (embedder, error) {
	if s.Embed.URL.V == "" {
		if s.Embedder == "minilm" {
			m, err := model.NewMiniLM(model.MiniLMConfig{Dir: s.MiniLMDir})
			if err != nil {
				return nil, err
			}
			return m, nil
		}
		return model.NewBuiltin(), nil
	}
	e, err := model.NewEmbedder(s.Embed.config(s, log))
	if err != nil {
		return nil, err
	}
	// One vector tells the dimension, which the index needs before the first node.
	if _, err := e.Embed(context.Background(), []string{"dimension"}); err != nil {
		return nil, err
	}
	return e, nil
}

// newChat is the chat model of answers, nil where none is configured.
func newChat(s *Settings, log *slog.Logger) (generate.Chat, error) {
	if s.LLM.URL.V == "" {
		return nil, nil
	}
	chat, err := model.NewChat(s.LLM.config(s, log))
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, r generate.ChatRequest, onToken func(string) error) (generate.ChatReply, error) {
		reply, err := chat.Complete(ctx, model.Request{
			System: r.System, Messages: []model.Message{{Text: r.Text, Images: r.Images}}, MaxTokens: r.MaxTokens, JSONSchema: r.JSONSchema,
		}, onToken)
		return generate.ChatReply{Text: reply.Text, Finish: reply.Finish, TokensIn: reply.TokensIn, TokensOut: reply.TokensOut}, err
	}, nil
}

// extractive is what describes where no vision model is configured.
const extractive = "extractive"

// newDescriber is the vision describer with replies kept in the store, or nil
// (the extractive one) where no vision model is configured.
func newDescriber(s *Settings, memory *library.Store, log *slog.Logger) (tree.Describer, string, error) {
	if s.VLM.URL.V == "" {
		return nil, extractive, nil
	}
	eyes := s.VLM.config(s, log)
	eyes.Role = "vision"
	chat, err := model.NewChat(eyes)
	if err != nil {
		return nil, "", err
	}
	ask := func(ctx context.Context, p tree.Prompt) (tree.Reply, error) {
		reply, err := chat.Complete(ctx, model.Request{
			System: p.System, Messages: []model.Message{{Text: p.Text, Images: p.Images}}, MaxTokens: p.MaxTokens, JSONSchema: p.Schema,
		}, nil)
		if errors.Is(err, model.ErrNoText) {
			return tree.Reply{}, nil // the build has a text of its own for this
		}
		return tree.Reply{Text: reply.Text, Finish: reply.Finish, TokensIn: reply.TokensIn, TokensOut: reply.TokensOut}, capped(err)
	}
	name := s.VLM.Model
	return tree.NewVision(tree.Remember(ask, name, memory), tree.VisionOptions{Batch: s.L3Batch.V, Language: s.Language}), name, nil
}

// newTranscriber reads speech with cues kept in the store, or is nil where no
// speech model is configured.
func newTranscriber(s *Settings, memory *library.Store, log *slog.Logger) (ingest.Transcribe, error) {
	if s.ASR.URL.V == "" {
		return nil, nil
	}
	t, err := model.NewTranscriber(s.ASR.config(s, log))
	if err != nil {
		return nil, err
	}
	hear := func(ctx context.Context, wav []byte, language string) ([]tree.Cue, error) {
		cues, err := t.Transcribe(ctx, wav, language)
		return cues, capped(err)
	}
	return ingest.RememberSpeech(hear, s.ASR.Model, memory), nil
}

// capped marks an error of a used-up budget for the ingest, which pauses the job.
func capped(err error) error {
	if errors.Is(err, model.ErrBudget) {
		return fmt.Errorf("%w: %w", ingest.ErrCap, err)
	}
	return err
}

// meter gives ingest a budget of the model room.
type meter struct{ budget *model.Budget }

func newMeter(calls, tokens int) ingest.Meter {
	return meter{model.NewBudget(model.Limits{Calls: calls, Tokens: tokens}, model.Spent{})}
}

// Bind implements ingest.Meter.
func (m meter) Bind(ctx context.Context) context.Context { return model.WithBudget(ctx, m.budget) }

// Retries implements ingest.Meter.
func (m meter) Retries() int {
	spent := m.budget.Spent()
	return spent.Retries + spent.Fallbacks
}

func fetchConfig(s *Settings, log *slog.Logger) ingest.FetchConfig {
	c := ingest.FetchConfig{Proxy: s.Proxy.V, MaxBytes: s.UploadLimit.V, Log: log}
	if s.AllowPrivate {
		c.Allow = []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0"), netip.MustParsePrefix("::/0")}
	}
	return c
}

// sourceRefusal finds the one sentence an error has for people.
func sourceRefusal(err error) (string, bool) {
	var source *ingest.SourceError
	var media *ingest.MediaError
	var fetch *ingest.FetchError
	switch {
	case errors.As(err, &source):
		return source.Reason, true
	case errors.As(err, &media):
		return media.Reason, true
	case errors.As(err, &fetch):
		return fetch.Error(), true
	}
	return "", false
}
