package library

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/reeltree/reeltree/tree"
)

// DeadTask is a task that was set aside with the reason of its last failure.
type DeadTask struct {
	Task   json.RawMessage `json:"task"`
	Reason string          `json:"reason"`
	Time   time.Time       `json:"time"`
}

const (
	maxDead   = 10_000 // the oldest go first
	maxReason = 2_000  // bytes
	deadWait  = 10 * time.Second
)

// setAside adds a task to the list of dead tasks; the caller then takes it off
// the queue.
func (s *Store) setAside(ctx context.Context, msg jetstream.Msg, t tree.Task, reason string) error {
	ctx = context.WithoutCancel(ctx)
	d := DeadTask{Task: msg.Data(), Reason: reason[:min(len(reason), maxReason)], Time: time.Now().UTC()}
	if !json.Valid(d.Task) {
		d.Task = json.RawMessage("null")
	}
	data, err := json.Marshal(d)
	if err != nil {
		return err
	}
	publish, cancel := context.WithTimeout(ctx, deadWait)
	defer cancel()
	if _, err := s.js.Publish(publish, "dead."+msg.Subject(), data); err != nil {
		return err
	}
	s.log.Error("a task failed too often and was set aside", "job", t.Job, "stretch", t.Stretch, "reason", reason)
	if s.cfg.SetAside != nil {
		s.cfg.SetAside(ctx, t, reason)
	}
	return nil
}

// Dead lists the tasks that were set aside, oldest first.
func (s *Store) Dead(ctx context.Context) ([]DeadTask, error) {
	info, err := s.dead.Info(ctx)
	if err != nil {
		return nil, fmt.Errorf("the dead tasks cannot be listed: %w", err)
	}
	var all []DeadTask
	for seq := info.State.FirstSeq; seq <= info.State.LastSeq && seq > 0; seq++ {
		msg, err := s.dead.GetMsg(ctx, seq)
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("the dead tasks cannot be listed: %w", err)
		}
		var d DeadTask
		if err := json.Unmarshal(msg.Data, &d); err != nil {
			return nil, fmt.Errorf("a dead task is damaged: %w", err)
		}
		all = append(all, d)
	}
	return all, nil
}
