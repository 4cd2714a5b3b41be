package server

import (
	"context"
	"encoding/json"
	"strings"
	"sync"

	"github.com/reeltree/reeltree/tree"
)

// hub holds the streams of a process: running and recently finished answers,
// job progress, and one library feed per tenant.
type hub struct {
	over func(*eventStream) bool // its life is past; nil: never

	mu       sync.Mutex
	streams  map[string]*eventStream // tenant NUL id
	requests map[string]*eventStream // tenant NUL request id
	ingests  map[string]ingest       // tenant NUL request id
}

func newHub() *hub {
	return &hub{streams: map[string]*eventStream{}, requests: map[string]*eventStream{}, ingests: map[string]ingest{}}
}

// keepEvents bounds feeds that have no end of their own.
const keepEvents = 1000

func (h *hub) find(tenant, id string) *eventStream {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.streams[tenant+"\x00"+id]
}

// open gives the stream with that id, made by make when there is none or when
// the one there has ended and renew is set.
func (h *hub) open(tenant, id string, renew bool, make func() *eventStream) *eventStream {
	h.mu.Lock()
	defer h.mu.Unlock()
	key := tenant + "\x00" + id
	s := h.streams[key]
	if s != nil && renew {
		if _, _, ended, _ := s.after(0); ended {
			s = nil
		}
	}
	if s == nil {
		s = make()
		h.streams[key] = s
	}
	return s
}

// claim gives the stream of a request id: the one that is there, or made.
func (h *hub) claim(tenant, request string, make func() *eventStream) (s *eventStream, fresh bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if s := h.requests[tenant+"\x00"+request]; s != nil && !h.past(s) {
		return s, false
	}
	s = make()
	h.streams[tenant+"\x00"+s.id] = s
	h.requests[tenant+"\x00"+request] = s
	return s, true
}

func (h *hub) past(s *eventStream) bool { return h.over != nil && h.over(s) }

// sweep drops streams whose life is over.
func (h *hub) sweep(over func(*eventStream) bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for key, s := range h.streams {
		if over(s) {
			delete(h.streams, key)
			if request := s.tenant + "\x00" + s.request; h.requests[request] == s {
				delete(h.requests, request) // a replayed record never owned its request id
			}
		}
	}
}

// Report adds a step of a job to its stream; of a job that has come to rest it
// adds the end. A step that comes after the end, from a task that did not know
// yet, reopens nothing.
func (s *Server) Report(job tree.Job, p tree.Progress) {
	if job.State.Ended() {
		s.JobEnded(job)
		return
	}
	if st := s.hub.find(job.Tenant, job.ID); st != nil {
		if _, _, ended, _ := st.after(0); ended {
			if now, err := s.cfg.Catalog.Job(s.ctx, job.Tenant, job.ID); err != nil || now.State.Ended() {
				return
			}
		}
	}
	body, err := json.Marshal(struct {
		Type string `json:"type"`
		tree.Progress
	}{"progress", p})
	if err != nil {
		s.cfg.Log.Error("a progress event cannot be sent", "error", err)
		return
	}
	s.jobStream(job.Tenant, job.ID, true).add("progress", body, "", false, s.cfg.Now())
}

// SourceChanged adds a change to the library feed and, where the job of the
// source has come to rest as well, ends its stream. The state of a source is not
// that of its job: one that was finished before stays so while it is ingested
// anew, and when that fails.
func (s *Server) SourceChanged(op string, src tree.Source) {
	body, err := json.Marshal(map[string]string{"op": op, "id": src.ID, "state": string(src.State)})
	if err != nil {
		return // strings always marshal
	}
	s.library(src.Tenant).add("source", append([]byte(`{"type":"source",`), body[1:]...), "", false, s.cfg.Now())
	if !src.State.Ended() || src.Job == "" {
		return
	}
	if job, err := s.cfg.Catalog.Job(s.ctx, src.Tenant, src.Job); err == nil && job.State.Ended() {
		s.JobEnded(job)
	}
}

// JobEnded ends the stream of a job that has come to rest, such as one that
// never became a source.
func (s *Server) JobEnded(job tree.Job) {
	s.endJob(job.Tenant, job.ID, job.Source, job.State, job.Error)
}

func (s *Server) endJob(tenant, job, source string, state tree.State, fault string) {
	done := struct {
		Type   string     `json:"type"`
		State  tree.State `json:"state"`
		Source string     `json:"source"`
		Error  *Error     `json:"error,omitempty"`
	}{Type: "done", State: state, Source: source}
	if fault != "" {
		done.Error = newError(codeRefused, "%s", fault)
	}
	if body, err := json.Marshal(done); err == nil {
		s.jobStream(tenant, job, false).add("done", body, "", true, s.cfg.Now())
	}
}

func (s *Server) jobStream(tenant, job string, renew bool) *eventStream {
	return s.hub.open(tenant, job, renew, func() *eventStream { return newStream(job, tenant, keepEvents) })
}

func (s *Server) library(tenant string) *eventStream {
	return s.hub.open(tenant, "library", false, func() *eventStream { return newStream("library", tenant, keepEvents) })
}

// lookup finds a stream to subscribe to: one that lives, a finished answer from
// its record, or a job that has not said anything in this process.
func (s *Server) lookup(ctx context.Context, tenant, id string) (*eventStream, error) {
	if id == "library" {
		return s.library(tenant), nil
	}
	if st := s.hub.find(tenant, id); st != nil {
		if st.request != "" {
			return st, nil
		}
		if job, err := s.cfg.Catalog.Job(ctx, tenant, id); err == nil {
			return s.followJob(job), nil // it may have ended or been resumed since
		}
		return st, nil
	}
	if !tree.ValidID(strings.TrimSpace(id)) {
		return nil, newError(codeNoStream, "%s", notFoundSentence(codeNoStream))
	}
	if s.cfg.Records != nil {
		if a, err := s.cfg.Records.Answer(ctx, tenant, id); err == nil {
			return s.hub.open(tenant, id, false, func() *eventStream { return recorded(tenant, a, s) }), nil
		}
	}
	job, err := s.cfg.Catalog.Job(ctx, tenant, id)
	if err != nil {
		return nil, newError(codeNoStream, "%s", notFoundSentence(codeNoStream))
	}
	return s.followJob(job), nil
}

// followJob is the stream of a job as its record stands: a new one when the job
// was resumed after its end, an ended one when the job has come to rest. A job
// whose source does not say so yet is still ending: whoever heard of its end now
// would read the source as it was before.
func (s *Server) followJob(job tree.Job) *eventStream {
	job, rests := s.standing(job)
	st := s.jobStream(job.Tenant, job.ID, !rests)
	if !rests { // it may have ended since it was read, in the stream before this one
		if now, err := s.cfg.Catalog.Job(s.ctx, job.Tenant, job.ID); err == nil {
			job, rests = s.standing(now)
		}
	}
	if rests {
		s.JobEnded(job)
	}
	return st
}

// standing is a job as its followers see it, and whether it has come to rest.
func (s *Server) standing(job tree.Job) (seen tree.Job, rests bool) {
	src, err := s.cfg.Catalog.Source(s.ctx, job.Tenant, job.Source)
	if err != nil {
		return job, job.State.Ended()
	}
	job = s.goesOn(job, src)
	ending := (src.Job == job.ID || job.URL != "") && !src.State.Ended()
	return job, job.State.Ended() && !ending
}

// goesOn gives a fetch (URL) that has ended well the state of the ingest of what
// it fetched: people follow both in its stream.
func (s *Server) goesOn(job tree.Job, src tree.Source) tree.Job {
	if job.URL == "" || job.State != tree.StateDone {
		return job
	}
	if next, err := s.cfg.Catalog.Job(s.ctx, job.Tenant, src.Job); err == nil {
		job.State, job.Error = next.State, next.Error
	}
	return job
}

// recorded is a finished answer as a stream again, with the epoch it had.
func recorded(tenant string, a Answer, s *Server) *eventStream {
	st := newStream(a.Stream, tenant, 0)
	st.epoch, st.request, st.hash, st.sign = a.Epoch, a.Request, a.BodyHash, s.ticket
	for i, body := range a.Events {
		var head struct{ Type, Text string }
		_ = json.Unmarshal(body, &head) // a damaged event has no type and is passed on as it is
		st.add(head.Type, body, head.Text, i == len(a.Events)-1, s.cfg.Now())
	}
	return st
}
