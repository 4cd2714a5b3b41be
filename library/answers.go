package library

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/reeltree/reeltree/tree"
)

// Answer is the durable record of one finished answer.
type Answer struct {
	Stream       string            `json:"stream"`
	Epoch        string            `json:"epoch"`
	Request      string            `json:"request"`   // the client's request id
	BodyHash     string            `json:"body_hash"` // of the whole request, to tell reuse from repetition
	Question     string            `json:"question"`
	Conversation string            `json:"conversation,omitempty"`
	Sources      []string          `json:"sources,omitempty"`
	Created      time.Time         `json:"created"`
	Events       []json.RawMessage `json:"events"`
}

// SaveAnswer stores a finished answer as one record. Beyond Config.Answers of a
// tenant, those stored first are dropped. An answer that quotes a source which
// was deleted meanwhile is not stored: ErrNotFound.
func (s *Store) SaveAnswer(ctx context.Context, tenant string, a Answer) error {
	data, err := json.Marshal(a)
	if err != nil {
		return fmt.Errorf("the answer %s cannot be stored: %w", a.Stream, err)
	}
	if len(data) > maxRecord-1024 { // the rest is for headers
		return fmt.Errorf("the answer %s cannot be stored: it has %d bytes, more than the %d one record may have", a.Stream, len(data), maxRecord)
	}
	unlock, err := s.present(ctx, tenant, quotedSources(a.Events)...)
	if err != nil {
		return fmt.Errorf("the answer %s cannot be stored, what it quotes is gone: %w", a.Stream, err)
	}
	defer unlock()
	if _, err := s.answers.Put(ctx, recordKey(tenant, a.Stream), data); err != nil {
		return fmt.Errorf("the answer %s cannot be stored: %w", a.Stream, err)
	}
	return s.trimAnswers(ctx, tenant)
}

// quotedSources are the sources of the evidence among the events of an answer.
func quotedSources(events []json.RawMessage) []string {
	var out []string
	for _, raw := range events {
		var e struct{ Type, Node string }
		if json.Unmarshal(raw, &e) != nil || e.Type != "evidence" {
			continue
		}
		if source, _, err := tree.ParseNodeID(e.Node); err == nil && !slices.Contains(out, source) {
			out = append(out, source)
		}
	}
	return out
}

// trimAnswers drops the oldest records over the limit; it reads no contents.
func (s *Store) trimAnswers(ctx context.Context, tenant string) error {
	type kept struct {
		key      string
		revision uint64
	}
	var all []kept
	err := scan(ctx, s.answers, safe(tenant)+".*", func(e jetstream.KeyValueEntry) error {
		all = append(all, kept{e.Key(), e.Revision()})
		return nil
	}, jetstream.MetaOnly())
	if err != nil || len(all) <= s.cfg.Answers {
		return err
	}
	slices.SortFunc(all, func(a, b kept) int { return cmp.Compare(a.revision, b.revision) })
	for _, k := range all[:len(all)-s.cfg.Answers] {
		if err := s.answers.Purge(ctx, k.key); err != nil {
			return fmt.Errorf("an old answer cannot be dropped: %w", err)
		}
	}
	return nil
}

// dropAnswers removes the answers that name a source: they quote it. An id is
// long and random enough to be found as bytes.
func (s *Store) dropAnswers(ctx context.Context, tenant, source string) error {
	var keys []string
	err := scan(ctx, s.answers, safe(tenant)+".*", func(e jetstream.KeyValueEntry) error {
		if bytes.Contains(e.Value(), []byte(source)) {
			keys = append(keys, e.Key())
		}
		return nil
	})
	for _, key := range keys {
		err = errors.Join(err, s.answers.Purge(ctx, key))
	}
	if err != nil {
		return fmt.Errorf("the answers about %s cannot be dropped: %w", source, err)
	}
	return nil
}

// Answer gives a finished answer back, ErrNotFound without one.
func (s *Store) Answer(ctx context.Context, tenant, stream string) (Answer, error) {
	a, _, err := read[Answer](ctx, s.answers, recordKey(tenant, stream))
	return a, err
}

// Answers lists a tenant's finished answers, oldest first.
func (s *Store) Answers(ctx context.Context, tenant string) ([]Answer, error) {
	all, err := list[Answer](ctx, s.answers, safe(tenant)+".*")
	slices.SortFunc(all, func(a, b Answer) int {
		return cmp.Or(a.Created.Compare(b.Created), cmp.Compare(a.Stream, b.Stream))
	})
	return all, err
}
