package server

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/reeltree/reeltree/generate"
	"github.com/reeltree/reeltree/tree"
)

// TestLostStreamSaysGap: a stream that was seen and is gone gives a new epoch
// and a gap; one that nobody can have seen is an error.
func TestLostStreamSaysGap(t *testing.T) {
	s := newService(t, nil)
	conn := s.hello(t)
	id := strings.Repeat("z", 26)
	say(t, conn, fmt.Sprintf(`{"type":"subscribe","id":"r","stream":%q,"epoch":"0123456789abcdef","after":7}`, id))
	took, gap := hear(t, conn), hear(t, conn)
	if took["type"] != "accepted" || gap["type"] != "gap" || gap["first"] != 1.0 || gap["epoch"] == "0123456789abcdef" || gap["epoch"] != took["epoch"] {
		t.Errorf("got %v and %v", took, gap)
	}
	say(t, conn, fmt.Sprintf(`{"type":"subscribe","id":"r","stream":%q,"after":7}`, id))
	if m := hear(t, conn); m["type"] != "error" || m["code"] != float64(codeNoStream) {
		t.Errorf("without an epoch: %v", m)
	}
}

func TestPositionsOutsideTheStream(t *testing.T) {
	s := newService(t, nil)
	conn := s.hello(t)
	say(t, conn, `{"type":"ask","id":"q","question":"How far?"}`)
	live, text := stream(t, conn)
	id, epoch, last := live[0]["stream"], live[0]["epoch"], int(live[len(live)-1]["seq"].(float64))
	say(t, conn, fmt.Sprintf(`{"type":"subscribe","stream":%q,"epoch":%q,"after":%d}`, id, epoch, last+1))
	if took, gap := hear(t, conn), hear(t, conn); took["type"] != "accepted" || gap["type"] != "gap" {
		t.Errorf("after more than there is: %v, %v", took, gap)
	}
	if _, again := stream(t, conn); again != text {
		t.Errorf("after the gap: %q", again)
	}
	say(t, conn, fmt.Sprintf(`{"type":"subscribe","stream":%q,"epoch":%q,"after":%d}`, id, epoch, last))
	hear(t, conn)
	say(t, conn, `{"type":"ping","id":"quiet"}`)
	if m := hear(t, conn); m["type"] != "pong" {
		t.Errorf("after the last: %v, want silence", m)
	}
}

// TestOldEventsAreAGap: a feed holds a bounded number of events.
func TestOldEventsAreAGap(t *testing.T) {
	s := newService(t, nil)
	id := strings.Repeat("j", 26)
	for i := range keepEvents + 1 {
		s.Report(tree.Job{ID: id, Tenant: tree.DefaultTenant}, tree.Progress{Stage: "describe", Done: int64(i)})
	}
	conn := s.hello(t)
	say(t, conn, fmt.Sprintf(`{"type":"subscribe","stream":%q,"after":3}`, id))
	hear(t, conn)
	gap, next := hear(t, conn), hear(t, conn)
	if first := float64(keepEvents/2 + 2); gap["type"] != "gap" || gap["first"] != first || next["seq"] != first {
		t.Errorf("got %v, %v", gap, next)
	}
}

// TestResumedJobHasANewStream: a job that went on after its end is followed
// anew, and one that rests answers with its end at once.
func TestResumedJobHasANewStream(t *testing.T) {
	s := newService(t, nil)
	job := tree.Job{ID: strings.Repeat("j", 26), Tenant: tree.DefaultTenant, State: tree.StatePaused}
	put := func(state tree.State) {
		s.shelf.mu.Lock()
		defer s.shelf.mu.Unlock()
		job.State = state
		s.shelf.jobs[job.ID] = job
	}
	follow := func(report bool) (epoch any, first map[string]any) {
		conn := s.hello(t)
		say(t, conn, fmt.Sprintf(`{"type":"subscribe","stream":%q}`, job.ID))
		epoch = hear(t, conn)["epoch"]
		if report {
			s.Report(job, tree.Progress{Stage: "index"})
		}
		return epoch, hear(t, conn)
	}
	put(tree.StatePaused)
	paused, m := follow(false)
	if m["type"] != "done" || m["state"] != "paused" {
		t.Errorf("a job that rests: %v", m)
	}
	put(tree.StateRunning)
	running, m := follow(true)
	if m["type"] != "progress" || m["seq"] != 1.0 || running == paused {
		t.Errorf("a job that goes on: %v, epoch %v after %v", m, running, paused)
	}
	put(tree.StateDone)
	conn := s.hello(t)
	say(t, conn, fmt.Sprintf(`{"type":"subscribe","stream":%q,"after":1}`, job.ID))
	if took, m := hear(t, conn), hear(t, conn); m["type"] != "done" || m["state"] != "done" || took["epoch"] != running {
		t.Errorf("a job that is done: %v, %v", took, m)
	}
}

// TestTicketsAreFreshAndNeverRecorded: evidence is sent with a ticket that works
// and stored without one.
func TestTicketsAreFreshAndNeverRecorded(t *testing.T) {
	frame := strings.Repeat("f", 26)
	s := newService(t, func(c *Config) {
		c.Token = "sesame"
		c.Answer = answerOf(generate.Evidence{N: 1, Frame: "/v1/frames/" + frame + ".jpg"}, generate.Done{Finish: "stop", TextSHA256: sha("")})
	})
	s.shelf.frames[frame] = []byte("jpeg")
	auth := map[string]string{"Authorization": "Bearer sesame", "Content-Type": "application/json", "Accept": "application/json"}
	status, _, body := s.request(t, "POST", "/v1/answers", strings.NewReader(`{"question":"How far?"}`), auth)
	var whole struct {
		Evidence []struct{ Frame, Ticket string }
	}
	if err := json.Unmarshal([]byte(body), &whole); err != nil || status != http.StatusOK || len(whole.Evidence) != 1 {
		t.Fatalf("%d %s", status, body)
	}
	e := whole.Evidence[0]
	if status, _, body := s.request(t, "GET", e.Frame+"?ticket="+url.QueryEscape(e.Ticket), nil, nil); status != http.StatusOK || body != "jpeg" {
		t.Errorf("the ticket opens nothing: %d %s", status, body)
	}
	waitFor(t, func() bool { s.shelf.mu.Lock(); defer s.shelf.mu.Unlock(); return len(s.shelf.answers) == 1 })
	for _, a := range s.shelf.answers {
		if raw, _ := json.Marshal(a.Events); strings.Contains(string(raw), "ticket") {
			t.Errorf("a ticket was recorded: %s", raw)
		}
	}
}

// TestFunctionsThatAreMissing answer with a sentence, not with a panic.
func TestFunctionsThatAreMissing(t *testing.T) {
	s := newService(t, func(c *Config) {
		c.Submit, c.Act, c.Delete, c.Import, c.Quote, c.Export, c.Search, c.Page, c.Records = nil, nil, nil, nil, nil, nil, nil, nil, nil
	})
	id := strings.Repeat("a", 26)
	s.shelf.sources[id], s.shelf.jobs[id] = tree.Source{ID: id}, tree.Job{ID: id}
	for _, route := range []string{
		"POST /v1/sources", "DELETE /v1/sources/" + id, "GET /v1/sources/" + id + "/export?format=vtt", "GET /v1/sources/" + id + "/captions.vtt",
		"DELETE /v1/jobs/" + id, "POST /v1/import", "POST /v1/quotes", "GET /v1/search?q=x", "GET /",
	} {
		method, path, _ := strings.Cut(route, " ")
		if status, _, body := s.request(t, method, path, strings.NewReader("{}"), map[string]string{"Content-Type": "application/json"}); status != http.StatusNotFound || !strings.Contains(body, `"code":1006`) {
			t.Errorf("%s: %d %s", route, status, body)
		}
	}
}
