package server

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"slices"
	"strconv"
	"sync"
	"time"
)

// event is one numbered event of a stream. body is its JSON without stream,
// epoch and seq; text is set for token events, which may be coalesced.
type event struct {
	seq  uint64
	from uint64 // first sequence a coalesced token stands for; 0 means seq
	kind string
	body json.RawMessage
	text string
}

// eventStream is a sequence of events that clients read at their own pace: readers
// pull, so a slow one costs nothing but the events the stream holds anyway.
type eventStream struct {
	id, epoch, tenant string
	keep              int // most events held; 0 means all

	mu      sync.Mutex
	first   uint64 // sequence of events[0]
	events  []event
	ended   bool
	endedAt time.Time
	changed chan struct{} // closed and replaced when something was added
	cancel  context.CancelFunc
	sign    func(tenant, path string) string // makes tickets; nil: none are needed
	request string                           // idempotency
	hash    string
}

func newEpoch() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails, see crypto/rand
	return hex.EncodeToString(b[:])
}

func newStream(id, tenant string, keep int) *eventStream {
	return &eventStream{id: id, epoch: newEpoch(), tenant: tenant, keep: keep, first: 1, changed: make(chan struct{})}
}

// add appends one event; its body begins with {"type":…. Nothing is added after
// the end.
func (s *eventStream) add(kind string, body []byte, text string, end bool, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return
	}
	s.events = append(s.events, event{seq: s.first + uint64(len(s.events)), kind: kind, body: body, text: text})
	if s.keep > 0 && len(s.events) > s.keep {
		drop := len(s.events) - s.keep/2
		s.first += uint64(drop)
		s.events = append([]event(nil), s.events[drop:]...)
	}
	s.ended, s.endedAt = end, now
	close(s.changed)
	s.changed = make(chan struct{})
}

// after gives the held events with a sequence above seq, the first sequence
// held, whether the stream has ended, and a channel that closes on change.
func (s *eventStream) after(seq uint64) (events []event, first uint64, ended bool, changed <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if at := int64(seq) + 1 - int64(s.first); at < int64(len(s.events)) {
		events = s.events[max(0, at):]
	}
	return events, s.first, s.ended, s.changed
}

// from is where a reader that has seen after of an epoch goes on; lost means
// that this is not there and the reader starts over at the oldest event held.
func (s *eventStream) from(epoch string, after uint64) (seq uint64, lost bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	last := s.first - 1 + uint64(len(s.events))
	if epoch != "" && epoch != s.epoch || after > last {
		return s.first - 1, true
	}
	return after, false
}

// textSum is text_sha256 of the tokens so far.
func (s *eventStream) textSum() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	sum := sha256.New()
	for _, e := range s.events {
		if e.kind == "revised" {
			sum.Reset()
		}
		_, _ = io.WriteString(sum, e.text) // a hash never fails to write
	}
	return hex.EncodeToString(sum.Sum(nil))
}

func (s *eventStream) over(now time.Time, ttl time.Duration) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ended && now.Sub(s.endedAt) > ttl
}

// read delivers what follows seq, batch by batch, until the stream has ended or
// ctx does. gap is called first when events between seq and the oldest are lost.
func (s *eventStream) read(ctx context.Context, seq uint64, gap func(first uint64) error, deliver func([]event) error) error {
	for {
		events, first, ended, changed := s.after(seq)
		if seq+1 < first {
			if err := gap(first); err != nil {
				return err
			}
			seq = first - 1
			continue
		}
		if len(events) > 0 {
			if err := deliver(coalesce(events)); err != nil {
				return err
			}
			seq = events[len(events)-1].seq
			continue
		}
		if ended {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-changed:
		}
	}
}

// coalesce joins consecutive tokens that a reader has fallen behind on.
func coalesce(events []event) []event {
	var out []event
	for _, e := range events {
		if n := len(out); e.kind == "token" && n > 0 && out[n-1].kind == "token" && len(out[n-1].text) < 4096 {
			last := &out[n-1]
			if last.from == 0 {
				last.from = last.seq
			}
			last.seq, last.text = e.seq, last.text+e.text
			continue
		}
		out = append(out, e)
	}
	return out
}

// signed is an event's body with a fresh ticket for its picture: a ticket ends
// long before a replay may be asked for, and it never goes into a record.
func (s *eventStream) signed(e event) []byte {
	if e.kind != "evidence" || s.sign == nil {
		return e.body
	}
	var ev struct{ Frame string }
	if err := json.Unmarshal(e.body, &ev); err != nil || ev.Frame == "" {
		return e.body
	}
	ticket := s.sign(s.tenant, ev.Frame)
	if ticket == "" {
		return e.body
	}
	quoted, _ := json.Marshal(ticket) // a string always marshals
	return slices.Concat(e.body[:len(e.body)-1], []byte(`,"ticket":`), quoted, []byte("}"))
}

// wire is the event as a frame: type, stream, epoch, seq, then its own fields.
func (s *eventStream) wire(e event) []byte {
	body := s.signed(e)
	if e.from != 0 {
		text, _ := json.Marshal(e.text) // a string always marshals
		body = []byte(`{"type":"token","from":` + strconv.FormatUint(e.from, 10) + `,"text":` + string(text) + `}`)
	}
	head, rest, _ := bytes.Cut(body, []byte{','})
	if rest == nil { // an event of its type alone
		head, rest = bytes.TrimSuffix(head, []byte("}")), []byte("}")
	} else {
		rest = append([]byte{','}, rest...)
	}
	var b bytes.Buffer
	b.Write(head)
	b.WriteString(`,"stream":"` + s.id + `","epoch":"` + s.epoch + `","seq":` + strconv.FormatUint(e.seq, 10))
	b.Write(rest)
	return b.Bytes()
}
