package library

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"
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

// SaveAnswer stores a finished answer as one record.
func (s *Store) SaveAnswer(ctx context.Context, tenant string, a Answer) error {
	data, err := json.Marshal(a)
	if err != nil {
		return fmt.Errorf("the answer %s cannot be stored: %w", a.Stream, err)
	}
	if _, err := s.answers.Put(ctx, recordKey(tenant, a.Stream), data); err != nil {
		return fmt.Errorf("the answer %s cannot be stored: %w", a.Stream, err)
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
