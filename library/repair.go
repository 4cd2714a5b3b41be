package library

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// The embedded server notices a flipped bit in a stored message only when the
// message is read: it then leaves the message out without a word, a listing
// waits for it for ever, and the next write to its subject stops the stream. So
// every stream is read once at the start, and one with damage is replaced by a
// new one with what can still be read.

// salvaged is one record that is carried over.
type salvaged struct {
	Stream  string `json:"stream"`
	Subject string `json:"subject"`
	Data    []byte `json:"data"`
	seq     uint64
}

// salvageFile holds what is carried over until the new stream has it all.
func (s *Store) salvageFile() string { return filepath.Join(s.cfg.Dir, "salvage.json") }

// repair reads all streams and replaces those with damage.
func (s *Store) repair(ctx context.Context) error {
	if err := s.restore(ctx); err != nil { // a repair was interrupted
		return err
	}
	var saved []salvaged
	var bad []string
	for _, name := range []string{"KV_sources", "KV_jobs", "KV_answers", "work"} {
		damaged, err := s.damaged(ctx, name)
		if err != nil {
			return err
		}
		if !damaged {
			continue
		}
		part, lost, err := s.salvage(ctx, name)
		if err != nil {
			return err
		}
		if len(lost) == 0 { // it was only slow
			continue
		}
		s.log.Error("records are damaged and lost, the others are kept", "store", name, "lost", lost, "kept", len(part))
		saved, bad = append(saved, part...), append(bad, name)
	}
	if len(bad) == 0 {
		return nil
	}
	s.damage = true
	if err := s.writeSalvage(saved); err != nil {
		return err
	}
	for _, name := range bad {
		if err := s.js.DeleteStream(ctx, name); err != nil {
			return fmt.Errorf("the damaged part %s of the data folder cannot be replaced: %w", name, err)
		}
	}
	if err := s.openStreams(ctx); err != nil {
		return err
	}
	return s.restore(ctx)
}

// damaged tells whether a stream cannot be read through.
func (s *Store) damaged(ctx context.Context, name string) (bool, error) {
	if name == "work" { // few and small: they are read one by one
		return true, nil
	}
	kv := map[string]jetstream.KeyValue{"KV_sources": s.sources, "KV_jobs": s.jobs, "KV_answers": s.answers}[name]
	err := scan(ctx, kv, ">", func(jetstream.KeyValueEntry) error { return nil }, jetstream.MetaOnly())
	if errors.Is(err, ErrDamaged) {
		return true, nil
	}
	return false, err
}

// salvage reads the newest message of every subject, in the order of writing.
func (s *Store) salvage(ctx context.Context, name string) (kept []salvaged, lost []string, err error) {
	stream, err := s.js.Stream(ctx, name)
	if err != nil {
		return nil, nil, fmt.Errorf("the part %s of the data folder cannot be read: %w", name, err)
	}
	info, err := stream.Info(ctx, jetstream.WithSubjectFilter(">"))
	if err != nil {
		return nil, nil, fmt.Errorf("the part %s of the data folder cannot be read: %w", name, err)
	}
	for subject := range info.State.Subjects {
		msg, err := stream.GetLastMsgForSubject(ctx, subject)
		switch {
		case errors.Is(err, jetstream.ErrMsgNotFound):
			lost = append(lost, subject)
		case err != nil:
			return nil, nil, fmt.Errorf("the part %s of the data folder cannot be read: %w", name, err)
		case len(msg.Data) > 0: // a record without data marks what was deleted
			kept = append(kept, salvaged{Stream: name, Subject: subject, Data: msg.Data, seq: msg.Sequence})
		}
	}
	slices.Sort(lost)
	slices.SortFunc(kept, func(a, b salvaged) int { return cmp.Compare(a.seq, b.seq) })
	return kept, lost, nil
}

func (s *Store) writeSalvage(saved []salvaged) error {
	data, err := json.Marshal(saved)
	if err != nil {
		return err
	}
	file := s.salvageFile()
	f, err := os.OpenFile(file+unfinished, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("the data folder cannot be repaired: %w", err)
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Rename(file+unfinished, file)
	}
	if err != nil {
		return fmt.Errorf("the data folder cannot be repaired: %w", err)
	}
	return syncDir(s.cfg.Dir)
}

// restore writes what was carried over and is not there yet.
func (s *Store) restore(ctx context.Context) error {
	data, err := os.ReadFile(s.salvageFile())
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("the repair of the data folder cannot go on: %w", err)
	}
	var saved []salvaged
	if err := json.Unmarshal(data, &saved); err != nil {
		return fmt.Errorf("the repair of the data folder cannot go on: %s is damaged; remove it to go on without what it holds: %w", s.salvageFile(), err)
	}
	s.damage = true
	for _, r := range saved {
		stream, err := s.js.Stream(ctx, r.Stream)
		if err != nil {
			return fmt.Errorf("the repair of the data folder cannot go on: %w", err)
		}
		if _, err := stream.GetLastMsgForSubject(ctx, r.Subject); err == nil {
			continue
		}
		if _, err := s.js.Publish(ctx, r.Subject, r.Data); err != nil {
			return fmt.Errorf("the repair of the data folder cannot go on: %w", err)
		}
	}
	if err := os.Remove(s.salvageFile()); err != nil {
		return fmt.Errorf("the repair of the data folder cannot end: %w", err)
	}
	return syncDir(s.cfg.Dir)
}

// stall is how long a listing may stand still before it counts as damaged. In a
// healthy store the next record comes within microseconds.
const stall = 3 * time.Second
