package testkit

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// handle records a request, lets the modes that need no reply answer, and
// gives the rest to answer.
func (e *Endpoint) handle(parse func(*Call) error, answer func(*reply) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // gone before the request was whole
		}
		c := &Call{Path: r.URL.Path, Header: r.Header.Clone(), Body: body}
		if err := parse(c); err != nil {
			writeError(w, http.StatusBadRequest, "scripted endpoint: "+err.Error())
			return
		}
		c.Mode = e.modeOf(*c)
		e.opened(c)
		rep := &reply{e: e, c: c, w: w, r: r, mode: parseMode(c.Mode)}
		if err := CheckMode(c.Mode); err != nil {
			writeError(w, http.StatusBadRequest, err.Error())
			e.closed(c, nil)
			return
		}
		aborted := true
		defer func() {
			if aborted {
				e.closed(c, nil) // a mode that breaks the connection
			}
		}()
		if err = rep.start(); err == nil && !rep.fail() {
			err = answer(rep)
		}
		aborted = false
		e.closed(c, err)
	}
}

// reply is one answer while it is written.
type reply struct {
	e    *Endpoint
	c    *Call
	w    http.ResponseWriter
	r    *http.Request
	mode modeSet
}

// start waits as ok-jitter says.
func (p *reply) start() error {
	most := p.mode.wait("ok-jitter", 20*time.Millisecond)
	if most == 0 {
		return nil
	}
	h := fnv.New32a()
	_, _ = h.Write(p.c.Body) // a hash never fails to write
	_, _ = h.Write([]byte(strconv.Itoa(p.c.N)))
	return p.pause(time.Duration(h.Sum32()%1000) * most / 1000)
}

// pause ends early with an error when the client goes away or the endpoint closes.
func (p *reply) pause(d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-p.r.Context().Done():
		return errGone
	case <-p.e.quit:
		return nil
	}
}

// hang waits for the client to go away.
func (p *reply) hang() error {
	select {
	case <-p.r.Context().Done():
		return errGone
	case <-p.e.quit:
		return nil
	}
}

// fail writes the reply of a mode that fails before anything else; false when
// there is none.
func (p *reply) fail() bool {
	header := p.w.Header()
	after, _ := strconv.Atoi(p.arg("429", "429-date"))
	after = max(after, 1)
	switch {
	case p.mode.has("429"):
		header.Set("Retry-After", strconv.Itoa(after))
		writeError(p.w, 429, "rate limit reached")
	case p.mode.has("429-date"):
		at := time.Now().Add(time.Duration(after) * time.Second).Add(time.Second - 1) // dates count whole seconds
		header.Set("Retry-After", at.UTC().Format(http.TimeFormat))
		writeError(p.w, 429, "rate limit reached")
	case p.mode.has("429-bare"):
		writeError(p.w, 429, "rate limit reached")
	case p.mode.has("401"):
		writeError(p.w, 401, "Incorrect API key provided: "+p.key())
	case p.mode.has("404-model"):
		writeError(p.w, 404, fmt.Sprintf("The model '%s' does not exist", p.c.Model))
	case p.mode.has("500"):
		writeError(p.w, 500, "the server had an error")
	case p.mode.has("503-html"):
		writePage(p.w, 503)
	case p.mode.has("html403"):
		writePage(p.w, 403)
	case p.mode.has("html200"):
		writePage(p.w, 200)
	case p.mode.has("redirect"):
		http.Redirect(p.w, p.r, "http://"+p.r.Host+"/elsewhere", http.StatusTemporaryRedirect)
	default:
		return p.refuse()
	}
	return true
}

// refuse is the answer of servers that do not know a field.
func (p *reply) refuse() bool {
	has := func(field string) bool { return strings.Contains(string(p.c.Body), `"`+field+`"`) }
	switch {
	case p.mode.has("no-json") && p.c.Format != "",
		p.mode.has("no-schema") && p.c.Format == "json_schema":
		writeError(p.w, 400, "response_format of type '"+p.c.Format+"' is not supported")
	case p.mode.has("no-max-tokens") && has("max_tokens"):
		writeError(p.w, 400, "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.")
	case p.mode.has("no-stream-options") && has("stream_options"):
		writeError(p.w, 422, "extra inputs are not permitted: stream_options")
	case p.mode.has("no-verbose") && p.c.Format == "verbose_json":
		writeError(p.w, 400, "response_format 'verbose_json' is not compatible with this model")
	default:
		return false
	}
	return true
}

func (p *reply) arg(names ...string) string {
	for _, name := range names {
		if a := p.mode[name]; a != "" {
			return a
		}
	}
	return ""
}

func (p *reply) key() string { return strings.TrimPrefix(p.c.Header.Get("Authorization"), "Bearer ") }

func writeError(w http.ResponseWriter, status int, message string) {
	writeJSON(w, status, map[string]any{"error": map[string]any{"message": message, "type": "scripted", "code": nil}})
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // a client that went away is seen by its context
}

func writePage(w http.ResponseWriter, status int) {
	w.Header().Set("Content-Type", "text/html")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, "<!DOCTYPE html><html><head><title>Gateway</title></head><body>Please sign in.</body></html>\n")
}

func models(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, 200, map[string]any{"object": "list", "data": []any{map[string]any{"id": "scripted", "object": "model"}}})
}
