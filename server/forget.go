package server

import (
	"encoding/json"
	"strings"
)

// forget drops the answers of a tenant that quote a source from memory and ends
// those that are still written: its words are nobody's any more.
func (h *hub) forget(tenant, source string) {
	for _, s := range h.quoting(tenant, source) {
		if s.cancel != nil {
			s.cancel()
		}
		h.drop(s)
	}
}

func (h *hub) quoting(tenant, source string) []*eventStream {
	h.mu.Lock()
	defer h.mu.Unlock()
	var out []*eventStream
	for _, s := range h.streams {
		if s.tenant == tenant && s.request != "" && s.quotes(source) {
			out = append(out, s)
		}
	}
	return out
}

// drop takes a stream out; who reads it reads on to its end.
func (h *hub) drop(s *eventStream) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if key := s.tenant + "\x00" + s.id; h.streams[key] == s {
		delete(h.streams, key)
	}
	if key := s.tenant + "\x00" + s.request; h.requests[key] == s {
		delete(h.requests, key)
	}
}

// quotes reports whether a piece of evidence of the stream is of a source.
func (s *eventStream) quotes(source string) bool {
	events, _, _, _ := s.after(0)
	for _, e := range events {
		var ev struct{ Node string }
		if e.kind == "evidence" && json.Unmarshal(e.body, &ev) == nil && strings.HasPrefix(ev.Node, source+"/") {
			return true
		}
	}
	return false
}
