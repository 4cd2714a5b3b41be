package model

import (
	"context"
	"errors"
)

// Ping makes one tiny call to see that address, key and name are right. A
// model that thinks longer than the few tokens it is given is well.
func (c *Chat) Ping(ctx context.Context) error {
	_, err := c.Complete(ctx, Request{
		Messages:  []Message{{Text: "Answer with the single word: ready"}},
		MaxTokens: 16,
	}, nil)
	var e *Error
	if errors.As(err, &e) && e.Kind == KindBadReply && errors.Is(e, errThoughts) {
		return nil
	}
	return err
}

// Ping embeds one word; afterwards Dim is known.
func (e *Embedder) Ping(ctx context.Context) error {
	_, err := e.Embed(ctx, []string{"ready"})
	return err
}

// Ping transcribes half a second of silence.
func (t *Transcriber) Ping(ctx context.Context) error {
	_, err := t.Transcribe(ctx, silence(), "")
	return err
}
