package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/reeltree/reeltree/tree"
)

// handle acts on one frame of a client. An error ends the connection; a refusal
// is an error message and the connection goes on.
func (c *socket) handle(data []byte) error {
	var head struct {
		Type   string `json:"type"`
		ID     string `json:"id"`
		Stream string `json:"stream"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		if data = bytes.TrimSpace(data); len(data) == 0 || data[0] != '{' {
			return &closeError{closeProtocol, "the frame is not a JSON object"}
		}
		wrong, ok := errors.AsType[*json.UnmarshalTypeError](err)
		if !ok {
			return &closeError{closeProtocol, "the frame is not a JSON object"}
		}
		return c.refuse("", "", wrongType(wrong))
	}
	if c.tenant == "" {
		return c.hello(head.Type, data)
	}
	handlers := map[string]func([]byte, string) error{
		"ask": c.ask, "ingest": c.ingest, "cancel": c.cancel, "subscribe": c.subscribe, "unsubscribe": c.unsubscribe, "ping": c.ping,
	}
	h, known := handlers[head.Type]
	if head.Type == "hello" {
		return c.refuse(head.ID, "", newError(codeUnknownType, "hello was said already: it opens a connection once"))
	}
	if !known {
		return c.refuse(head.ID, "", newError(codeUnknownType, "the message type %.40q is unknown: send ask, ingest, cancel, subscribe, unsubscribe or ping", head.Type))
	}
	if err := h(data, head.ID); err != nil {
		var closing *closeError
		if errors.As(err, &closing) || c.ending.Err() != nil {
			return err
		}
		return c.refuse(head.ID, head.Stream, c.s.wireError(err, codeNoSource))
	}
	return nil
}

// send queues a reply of the service itself.
func (c *socket) send(v any) error {
	frame, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return c.enqueue(c.ending, frame)
}

type errorMessage struct {
	Type   string `json:"type"`
	ID     string `json:"id,omitempty"`
	Stream string `json:"stream,omitempty"`
	*Error
}

func (c *socket) refuse(id, stream string, e *Error) error {
	return c.send(errorMessage{"error", id, stream, e})
}

func (c *socket) hello(kind string, data []byte) error {
	var m struct {
		Type   string `json:"type"`
		Token  string `json:"token"`
		Client string `json:"client"`
	}
	if kind != "hello" {
		return &closeError{closeProtocol, "the first message must be hello"}
	}
	if err := decodeStrict(data, &m); err != nil {
		return &closeError{closeProtocol, "the hello cannot be read"}
	}
	tenant, ok := c.s.tokenTenant(m.Token)
	if !ok {
		return &closeError{closeBadToken, "the token is missing or wrong"}
	}
	c.tenant = tenant
	welcome := map[string]any{
		"type": "welcome", "session": newEpoch(), "server": "reeltree " + c.s.cfg.Version,
		"limits": map[string]int{"frame_bytes": readLimit, "streams": maxStreams, "queue_bytes": queueBytes, "answers": c.s.cfg.MaxAnswers},
	}
	if t := c.s.ticket(tenant, allMedia); t != "" {
		welcome["media_ticket"] = t
	}
	return c.send(welcome)
}

type accepted struct {
	Type   string `json:"type"`
	ID     string `json:"id,omitempty"`
	Stream string `json:"stream"`
	Epoch  string `json:"epoch"`
}

func (c *socket) ask(data []byte, _ string) error {
	var m askBody
	if err := decodeStrict(data, &m); err != nil {
		return err
	}
	if m.ID == "" || len(m.ID) > 200 {
		return newError(codeBadRequest, "an ask needs an id of at most 200 bytes, new for each question")
	}
	if err := c.hasRoom(); err != nil {
		return err
	}
	st, err := c.s.startAnswer(c.ending, c.tenant, m.ID, m.Question)
	if err != nil {
		return err
	}
	return c.follow(st, m.ID, st.epoch, 0)
}

func (c *socket) hasRoom() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.subs) >= maxStreams {
		return newError(codeManyStreams, "this connection follows %d streams already: unsubscribe from one", maxStreams)
	}
	return nil
}

func (c *socket) ingest(data []byte, _ string) error {
	var m struct {
		Type       string             `json:"type"`
		ID         string             `json:"id"`
		URL        string             `json:"url"`
		Collection string             `json:"collection"`
		Options    tree.IngestOptions `json:"options"`
	}
	if err := decodeStrict(data, &m); err != nil {
		return err
	}
	if m.ID == "" || len(m.ID) > 200 {
		return newError(codeBadRequest, "an ingest needs an id of at most 200 bytes, new for each source")
	}
	if c.s.cfg.Submit == nil || strings.TrimSpace(m.URL) == "" {
		return newError(codeBadRequest, "an ingest needs the url of a source")
	}
	if err := c.hasRoom(); err != nil {
		return err
	}
	job, err := c.s.submit(c.ending, m.ID, Upload{Tenant: c.tenant, URL: m.URL, Collection: m.Collection, Options: m.Options})
	if err != nil {
		return err
	}
	st := c.s.followJob(job)
	return c.follow(st, m.ID, st.epoch, 0)
}

func (c *socket) cancel(data []byte, id string) error {
	var m struct {
		Type   string `json:"type"`
		ID     string `json:"id"`
		Stream string `json:"stream"`
	}
	if err := decodeStrict(data, &m); err != nil {
		return err
	}
	return c.s.cancelStream(c.ending, c.tenant, m.Stream)
}

// cancelStream stops an answer or a job; one that has ended is left as it is.
func (s *Server) cancelStream(ctx context.Context, tenant, id string) error {
	if st := s.hub.find(tenant, id); st != nil && st.cancel != nil {
		st.cancel()
		return nil
	}
	if _, err := s.cfg.Catalog.Job(ctx, tenant, id); err != nil || s.cfg.Act == nil {
		return newError(codeNoStream, "%s", notFoundSentence(codeNoStream))
	}
	return s.cfg.Act(ctx, tenant, id, "cancel", 0, 0)
}

func (c *socket) subscribe(data []byte, _ string) error {
	var m struct {
		Type   string `json:"type"`
		ID     string `json:"id"`
		Stream string `json:"stream"`
		Epoch  string `json:"epoch"`
		After  uint64 `json:"after"`
	}
	if err := decodeStrict(data, &m); err != nil {
		return err
	}
	st, err := c.s.lookup(c.ending, c.tenant, m.Stream)
	if err != nil && m.Epoch != "" && tree.ValidID(m.Stream) {
		// It was seen once and is gone, by a restart or by age: the client asks again.
		st, err = newStream(m.Stream, c.tenant, 0), nil
		st.ended = true
	}
	if err != nil {
		return err
	}
	c.mu.Lock()
	_, again := c.subs[st.id]
	c.mu.Unlock()
	if !again {
		if err := c.hasRoom(); err != nil {
			return err
		}
	}
	return c.follow(st, m.ID, m.Epoch, m.After)
}

// follow answers with accepted and sends the stream's events after a sequence.
// Repeating it starts again from there.
func (c *socket) follow(st *eventStream, id, epoch string, after uint64) error {
	c.drop(st.id)
	if err := c.send(accepted{"accepted", id, st.id, st.epoch}); err != nil {
		return err
	}
	after, lost := st.from(epoch, after)
	if lost {
		if err := c.gap(st, after+1); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithCancel(c.ending)
	sub := &subscription{st: st, cancel: cancel, done: make(chan struct{})}
	c.mu.Lock()
	c.subs[st.id] = sub
	c.mu.Unlock()
	c.writers.Go(func() {
		defer close(sub.done)
		defer cancel()
		err := st.read(ctx, after, func(first uint64) error { return c.gap(st, first) }, func(events []event) error { return c.deliver(ctx, st, events) })
		if err == nil { // the stream has ended: its place is free
			c.mu.Lock()
			if c.subs[st.id] == sub {
				delete(c.subs, st.id)
			}
			c.mu.Unlock()
		}
	})
	return nil
}

func (c *socket) gap(st *eventStream, first uint64) error {
	return c.send(map[string]any{"type": "gap", "stream": st.id, "epoch": st.epoch, "first": first})
}

func (c *socket) deliver(ctx context.Context, st *eventStream, events []event) error {
	for _, e := range events {
		if err := c.enqueue(ctx, st.wire(e)); err != nil {
			return err
		}
	}
	return nil
}

// drop ends a subscription and waits until it sends nothing more.
func (c *socket) drop(stream string) {
	c.mu.Lock()
	sub := c.subs[stream]
	delete(c.subs, stream)
	c.mu.Unlock()
	if sub != nil {
		sub.cancel()
		<-sub.done
	}
}

func (c *socket) unsubscribe(data []byte, _ string) error {
	var m struct {
		Type   string `json:"type"`
		ID     string `json:"id"`
		Stream string `json:"stream"`
	}
	if err := decodeStrict(data, &m); err != nil {
		return err
	}
	c.drop(m.Stream)
	return nil
}

func (c *socket) ping(data []byte, _ string) error {
	var m struct {
		Type string `json:"type"`
		ID   string `json:"id,omitempty"`
	}
	if err := decodeStrict(data, &m); err != nil {
		return err
	}
	m.Type = "pong"
	return c.send(m)
}
