package server

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"github.com/reeltree/reeltree/tree"
)

// bodyHash tells two requests apart.
func bodyHash(v any) string {
	body, err := json.Marshal(v)
	if err != nil {
		return rand.Text() // plain fields always marshal; never take it for another
	}
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:])
}

// streamID follows from the request id, so that the same request finds its
// answer after a restart too. Streams are looked up by tenant, so it opens
// nothing for who guesses it elsewhere.
func streamID(tenant, request string) string {
	h := tree.NewIDHash(tenant)
	_, _ = fmt.Fprintf(h, "answer\x00%s", request) // a hash never fails to write
	return h.ID()
}

// before is the recorded answer of a request that this process does not know,
// nil when there is none or its life is over.
func (s *Server) before(ctx context.Context, tenant, request string) (*eventStream, error) {
	if s.cfg.Records == nil || s.hub.knows(tenant, request) {
		return nil, nil
	}
	a, err := s.cfg.Records.Answer(ctx, tenant, streamID(tenant, request))
	switch {
	case err != nil && s.cfg.NotFound(err):
		return nil, nil
	case err != nil:
		return nil, err
	case len(a.Events) == 0 || s.cfg.Now().Sub(endOf(a)) >= s.cfg.AnswerTTL:
		return nil, nil
	}
	return recorded(tenant, a, s), nil
}

// endOf is when a recorded answer ended.
func endOf(a Answer) time.Time {
	var done struct {
		TimingMS struct{ Total float64 } `json:"timing_ms"`
	}
	_ = json.Unmarshal(a.Events[len(a.Events)-1], &done) // a damaged record ended when it began
	return a.Created.Add(time.Duration(done.TimingMS.Total * float64(time.Millisecond)))
}

// knows reports whether a request id has a stream in this process.
func (h *hub) knows(tenant, request string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	st := h.requests[tenant+"\x00"+request]
	return st != nil && !h.past(st)
}

// ingest is what the request id of an ingest has started.
type ingest struct {
	hash string
	job  tree.Job
	at   time.Time
}

// submit starts the ingest of an address once per request id.
func (s *Server) submit(ctx context.Context, request string, u Upload) (tree.Job, error) {
	key, hash := u.Tenant+"\x00"+request, bodyHash(u)
	s.hub.mu.Lock()
	in, known := s.hub.ingests[key]
	s.hub.mu.Unlock()
	switch now := s.cfg.Now(); {
	case known && in.hash != hash && now.Sub(in.at) < s.cfg.AnswerTTL:
		return tree.Job{}, newError(codeIDReused, "the id %.60q was used for another source: use a new id for each", request)
	case known && in.hash == hash && now.Sub(in.at) < s.cfg.AnswerTTL:
		if job, err := s.cfg.Catalog.Job(ctx, u.Tenant, in.job.ID); err == nil {
			return job, nil
		}
		return in.job, nil
	}
	job, err := s.cfg.Submit(ctx, u)
	if err == nil {
		s.hub.mu.Lock()
		s.hub.ingests[key] = ingest{hash, job, s.cfg.Now()}
		s.hub.mu.Unlock()
	}
	return job, err
}

// forgetIngests drops the request ids whose time is over.
func (h *hub) forgetIngests(now time.Time, ttl time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for key, in := range h.ingests {
		if now.Sub(in.at) >= ttl {
			delete(h.ingests, key)
		}
	}
}
