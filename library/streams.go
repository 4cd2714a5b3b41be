package library

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// How long and how many finished answers are kept unless the Config says so.
const (
	defaultAnswerTTL = 30 * 24 * time.Hour
	defaultAnswers   = 1000
)

// openStreams makes or opens the buckets and streams.
func (s *Store) openStreams(ctx context.Context) error {
	var err error
	for _, b := range []struct {
		name string
		ttl  time.Duration
		kv   *jetstream.KeyValue
	}{{"sources", 0, &s.sources}, {"jobs", 0, &s.jobs}, {"answers", s.cfg.AnswerTTL, &s.answers}} {
		*b.kv, err = s.js.CreateOrUpdateKeyValue(ctx, jetstream.KeyValueConfig{Bucket: b.name, TTL: b.ttl, Storage: jetstream.FileStorage})
		if err != nil {
			return fmt.Errorf("the %s of the data folder cannot be opened: %w", b.name, err)
		}
	}
	s.work, err = s.js.CreateOrUpdateStream(ctx, jetstream.StreamConfig{
		Name: "work", Subjects: []string{"work.>"}, Retention: jetstream.WorkQueuePolicy,
		// One message per subject, new ones refused: a task that waits is not queued twice.
		MaxMsgsPerSubject: 1, Discard: jetstream.DiscardNew, DiscardNewPerSubject: true,
	})
	if err != nil {
		return fmt.Errorf("the work queue cannot be opened: %w", err)
	}
	s.dead, err = s.js.CreateOrUpdateStream(ctx, jetstream.StreamConfig{Name: "dead", Subjects: []string{"dead.>"}, MaxMsgs: 10_000})
	if err != nil {
		return fmt.Errorf("the list of dead tasks cannot be opened: %w", err)
	}
	return nil
}

// recover empties tmp, sweeps after a crash, completes interrupted deletions and
// finds the sources again whose records were damaged.
func (s *Store) recover(ctx context.Context) error {
	leftovers, err := filepath.Glob(filepath.Join(s.cfg.Dir, "tmp", "*"))
	if err != nil {
		return err
	}
	for _, f := range leftovers {
		if err := os.Remove(f); err != nil {
			return fmt.Errorf("a leftover of an upload cannot be removed: %w", err)
		}
	}
	if s.crashed {
		if err := s.sweep(); err != nil {
			return err
		}
	}
	if err := s.completeDeletions(ctx); err != nil {
		return err
	}
	if s.damage {
		return s.adopt(ctx)
	}
	return nil
}
