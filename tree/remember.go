package tree

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
)

// Memory keeps replies under a key (64 hex digits).
type Memory interface {
	// Recall gives what was kept, nil when there is nothing.
	Recall(ctx context.Context, key string) ([]byte, error)
	Keep(ctx context.Context, key string, reply []byte) error
}

// Remember asks only what was not asked before: replies are kept under the
// hash of the model's name and the whole prompt, pictures included. So a build
// that was killed at any moment pays for no call twice, and a new subtitle file
// or setting redoes only the calls whose prompt it changes. A remembered reply
// reports the tokens it once cost. Empty replies are not kept.
func Remember(ask Ask, model string, m Memory) Ask {
	return func(ctx context.Context, p Prompt) (Reply, error) {
		key := promptKey(model, p)
		kept, err := m.Recall(ctx, key)
		if err != nil {
			return Reply{}, fmt.Errorf("cannot look up an earlier reply: %w", err)
		}
		var r Reply
		if kept != nil && json.Unmarshal(kept, &r) == nil && r.Text != "" {
			return r, nil
		}
		if r, err = ask(ctx, p); err != nil || r.Text == "" {
			return r, err
		}
		b, err := json.Marshal(r)
		if err != nil {
			return r, fmt.Errorf("cannot keep a reply: %w", err)
		}
		if err := m.Keep(context.WithoutCancel(ctx), key, b); err != nil {
			return r, fmt.Errorf("cannot keep a reply: %w", err)
		}
		return r, nil
	}
}

func promptKey(model string, p Prompt) string {
	h := sha256.New()
	part(h, []byte(model))
	part(h, fmt.Appendf(nil, "%d %t %d", p.Level, p.JSON, p.MaxTokens))
	part(h, []byte(p.System))
	part(h, []byte(p.Text))
	part(h, p.Schema)
	for _, img := range p.Images {
		part(h, img)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// part hashes length and bytes, so that parts cannot flow into each other.
func part(h hash.Hash, b []byte) {
	_, _ = fmt.Fprintf(h, "%d:", len(b)) // a hash never fails to write
	_, _ = h.Write(b)
}
