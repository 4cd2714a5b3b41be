package library

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/reeltree/reeltree/tree"
)

// adopt gives the trees whose record was lost to damage a record again: a saved
// tree holds that of its source. It runs after a repair only; at other times a
// tree without a record is what is left of a source that was deleted.
func (s *Store) adopt(ctx context.Context) error {
	keys, err := s.keys(ctx, "trees", false)
	if err != nil {
		return err
	}
	for _, key := range keys {
		parts := strings.Split(key, "/")
		if len(parts) != 3 {
			continue
		}
		tenant, ok := unsafe(parts[1])
		if !ok {
			continue
		}
		if err := s.adoptOne(ctx, tenant, parts[2]); err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) adoptOne(ctx context.Context, tenant, id string) error {
	_, _, err := read[tree.Source](ctx, s.sources, recordKey(tenant, id))
	if !errors.Is(err, ErrNotFound) {
		return err
	}
	t, err := s.savedTree(ctx, tenant, id)
	if err != nil {
		s.log.Error("a source whose record was damaged cannot be restored", "source", id, "error", err)
		return nil
	}
	_, err = s.UpdateSource(ctx, tenant, id, func(v *tree.Source) error {
		*v = t.Source
		v.ID, v.Tenant, v.Nodes, v.Calls = id, tenant, t.Counts(), t.Calls.Total()
		if v.Created.IsZero() {
			v.Created = time.Now().UTC()
		}
		if !v.State.Ended() {
			v.State = tree.StateDone
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("the record of %s cannot be restored: %w", id, err)
	}
	s.log.Warn("a source whose record was damaged was restored from its tree", "source", id)
	return nil
}

// unsafe is the string that safe wrote so; a hashed one has no way back.
func unsafe(s string) (string, bool) {
	encoded, isHex := strings.CutPrefix(s, "_")
	if !isHex {
		return s, true
	}
	plain, err := hex.DecodeString(encoded)
	return string(plain), err == nil
}
