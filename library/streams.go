package library

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// storeVersion is the version of the layout; a newer one is refused.
const storeVersion = "1"

const (
	ackWait       = 30 * time.Second
	signalEvery   = 8 * time.Second // well inside ackWait
	maxDeliveries = 5
)

// openStreams makes or opens the buckets and streams, and starts the consumer
// anew: this process is the only one, so what an earlier one had taken and not
// acknowledged is handed out again at once instead of after the ack wait.
func (s *Store) openStreams(ctx context.Context) error {
	var err error
	for _, b := range []struct {
		name string
		ttl  time.Duration
		kv   *jetstream.KeyValue
	}{{"sources", 0, &s.sources}, {"jobs", 0, &s.jobs}, {"answers", s.answerTTL(), &s.answers}} {
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
	if err := s.work.DeleteConsumer(ctx, "workers"); err != nil && !errors.Is(err, jetstream.ErrConsumerNotFound) {
		return fmt.Errorf("the work queue cannot be resumed: %w", err)
	}
	s.consumer, err = s.work.CreateConsumer(ctx, jetstream.ConsumerConfig{
		Durable: "workers", AckPolicy: jetstream.AckExplicitPolicy, AckWait: ackWait, MaxAckPending: 1000,
	})
	if err != nil {
		return fmt.Errorf("the work queue cannot be resumed: %w", err)
	}
	return nil
}

func (s *Store) answerTTL() time.Duration {
	if s.cfg.AnswerTTL > 0 {
		return s.cfg.AnswerTTL
	}
	return 30 * 24 * time.Hour
}

// recover checks the version, empties tmp and completes interrupted deletions.
func (s *Store) recover(ctx context.Context) error {
	file := filepath.Join(s.cfg.Dir, "version")
	version, err := os.ReadFile(file)
	switch {
	case errors.Is(err, os.ErrNotExist):
		if err := os.WriteFile(file, []byte(storeVersion), 0o600); err != nil {
			return fmt.Errorf("the data folder cannot be written: %w", err)
		}
	case err != nil:
		return fmt.Errorf("the version of the data folder cannot be read: %w", err)
	case string(version) != storeVersion:
		return fmt.Errorf("the data folder has layout version %.20q and this reeltree reads version %s: use a newer reeltree", version, storeVersion)
	}
	leftovers, err := filepath.Glob(filepath.Join(s.cfg.Dir, "tmp", "*"))
	if err != nil {
		return err
	}
	for _, f := range leftovers {
		if err := os.Remove(f); err != nil {
			return fmt.Errorf("a leftover of an upload cannot be removed: %w", err)
		}
	}
	return s.completeDeletions(ctx)
}
