package server

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/reeltree/reeltree/generate"
	"github.com/reeltree/reeltree/retrieve"
	"github.com/reeltree/reeltree/tree"
)

// postAnswer asks a question; the reply is the stream as server-sent events, or
// the whole answer where JSON is accepted.
func (s *Server) postAnswer(w http.ResponseWriter, r *http.Request, tenant string) error {
	var body askBody
	if err := readJSON(r, readLimit, &body); err != nil {
		return err
	}
	st, err := s.startAnswer(r.Context(), tenant, body.ID, body.Question)
	if err != nil {
		return err
	}
	if strings.Contains(r.Header.Get("Accept"), "application/json") {
		return s.wholeAnswer(w, r, st)
	}
	return s.sendEvents(w, r, st, st.epoch, 0)
}

// getAnswer resumes an answer after Last-Event-ID (EPOCH:SEQ).
func (s *Server) getAnswer(w http.ResponseWriter, r *http.Request, tenant string) error {
	st, err := s.lookup(r.Context(), tenant, r.PathValue("stream"))
	if err != nil {
		return err
	}
	if st.request == "" { // jobs and the library are followed over the WebSocket
		return newError(codeNoStream, "%s", notFoundSentence(codeNoStream))
	}
	if strings.Contains(r.Header.Get("Accept"), "application/json") {
		return s.wholeAnswer(w, r, st)
	}
	epoch, seq, after := "", r.Header.Get("Last-Event-ID"), uint64(0)
	if seq != "" {
		epoch, seq, _ = strings.Cut(seq, ":")
		if after, err = strconv.ParseUint(seq, 10, 64); err != nil {
			return newError(codeBadRequest, "Last-Event-ID must be EPOCH:SEQ as the stream gave it")
		}
	}
	return s.sendEvents(w, r, st, epoch, after)
}

// whileServing ends with the request or with the service.
func (s *Server) whileServing(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(s.ctx, cancel)
	return ctx, func() { stop(); cancel() }
}

// sendEvents writes the stream until it ends or the client goes.
func (s *Server) sendEvents(w http.ResponseWriter, r *http.Request, st *eventStream, epoch string, after uint64) error {
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Reeltree-Stream", st.id)
	control := http.NewResponseController(w)
	write := func(text string) error {
		if err := control.SetWriteDeadline(time.Now().Add(s.cfg.WriteWait)); err != nil {
			return err
		}
		if _, err := fmt.Fprint(w, text); err != nil {
			return err
		}
		return control.Flush()
	}
	gap := func(first uint64) error {
		return write(fmt.Sprintf("event: gap\ndata: {\"type\":\"gap\",\"stream\":%q,\"epoch\":%q,\"first\":%d}\n\n", st.id, st.epoch, first))
	}
	// A later request on the same connection must not inherit the deadline.
	defer func() { _ = control.SetWriteDeadline(time.Time{}) }()
	after, lost := st.from(epoch, after)
	if lost {
		if err := gap(after + 1); err != nil {
			return nil // the header is out: nothing else can be said
		}
	}
	ctx, cancel := s.whileServing(r.Context())
	defer cancel()
	err := st.read(ctx, after, gap, func(events []event) error {
		var b bytes.Buffer
		for _, e := range events {
			fmt.Fprintf(&b, "id: %s:%d\nevent: %s\ndata: %s\n\n", st.epoch, e.seq, e.kind, st.wire(e))
		}
		return write(b.String())
	})
	if err != nil && ctx.Err() == nil {
		s.cfg.Log.Debug("an event stream ended early", "stream", st.id, "error", err)
	}
	return nil // the header is out: nothing else can be said
}

// wholeAnswer waits for the end and gives everything at once.
func (s *Server) wholeAnswer(w http.ResponseWriter, r *http.Request, st *eventStream) error {
	out := struct {
		Stream    string            `json:"stream"`
		Epoch     string            `json:"epoch"`
		Text      string            `json:"text"`
		Evidence  []json.RawMessage `json:"evidence"`
		Citations []json.RawMessage `json:"citations"`
		Done      json.RawMessage   `json:"done"`
	}{Stream: st.id, Epoch: st.epoch, Evidence: []json.RawMessage{}, Citations: []json.RawMessage{}}
	ctx, cancel := s.whileServing(r.Context())
	defer cancel()
	err := st.read(ctx, 0, func(uint64) error { return nil }, func(events []event) error {
		for _, e := range events {
			switch e.kind {
			case "token":
				out.Text += e.text
			case "evidence":
				out.Evidence = append(out.Evidence, st.signed(e))
			case "citation":
				out.Citations = append(out.Citations, e.body)
			case "revised":
				out.Text, out.Citations = "", out.Citations[:0]
			case "done":
				out.Done = e.body
			}
		}
		return nil
	})
	if s.ctx.Err() != nil && err != nil {
		return newError(codeStopping, "the service is shutting down: ask again in a moment")
	}
	if err != nil {
		return err
	}
	reply(w, http.StatusOK, out)
	return nil
}

// getAnswers lists finished answers, newest last.
func (s *Server) getAnswers(w http.ResponseWriter, r *http.Request, tenant string) error {
	type row struct {
		Stream       string    `json:"stream"`
		Question     string    `json:"question"`
		Conversation string    `json:"conversation,omitempty"`
		Sources      []string  `json:"sources"`
		Created      time.Time `json:"created"`
	}
	rows := []row{}
	if s.cfg.Records != nil {
		all, err := s.cfg.Records.Answers(r.Context(), tenant)
		if err != nil {
			return err
		}
		source, conversation := r.URL.Query().Get("source"), r.URL.Query().Get("conversation")
		for _, a := range all {
			if (source == "" || slices.Contains(a.Sources, source)) && (conversation == "" || a.Conversation == conversation) {
				rows = append(rows, row{a.Stream, a.Question, a.Conversation, append([]string{}, a.Sources...), a.Created})
			}
		}
	}
	reply(w, http.StatusOK, map[string]any{"answers": rows})
	return nil
}

// getSearch gives evidence without an answer.
func (s *Server) getSearch(w http.ResponseWriter, r *http.Request, tenant string) error {
	v := r.URL.Query()
	q := generate.Question{Tenant: tenant, Text: v.Get("q"), Collection: v.Get("collection"), Sources: v["source"]}
	for _, k := range v["kind"] {
		q.Kinds = append(q.Kinds, tree.Kind(k))
	}
	if err := q.Validate(); err != nil {
		return err
	}
	if s.cfg.Search == nil {
		return newError(codeNoRoute, "this service searches nothing")
	}
	result, err := s.cfg.Search(r.Context(), retrieve.Query{Text: q.Text, Scope: retrieve.Scope{Tenant: tenant, Sources: q.Sources, Collection: q.Collection, Kinds: q.Kinds}}, nil)
	if err != nil {
		return err
	}
	type hit struct {
		generate.Evidence
		Ticket string `json:"ticket,omitempty"`
	}
	hits := []hit{}
	for i, it := range result.Items {
		e := generate.NewEvidence(i+1, it)
		e.Nearest = result.Weak
		h := hit{Evidence: e}
		if e.Frame != "" {
			h.Ticket = s.ticket(tenant, e.Frame)
		}
		hits = append(hits, h)
	}
	reply(w, http.StatusOK, map[string]any{"evidence": hits, "coverage": result.Coverage, "weak": result.Weak})
	return nil
}
