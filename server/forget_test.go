package server

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/reeltree/reeltree/generate"
	"github.com/reeltree/reeltree/tree"
)

// TestDeletionEndsWhatQuotesIt: with a source go the answers that quote it, one
// that is being written and one that has ended; those of others stay.
func TestDeletionEndsWhatQuotesIt(t *testing.T) {
	gone, stays := strings.Repeat("a", 26), strings.Repeat("b", 26)
	s := newService(t, func(c *Config) {
		c.Answer = func(ctx context.Context, q generate.Question, emit generate.Emit) error {
			d := generate.Done{Finish: generate.FinishStop, TextSHA256: sha("x")}
			for _, e := range []generate.Event{generate.Evidence{N: 1, Node: tree.NodeID(q.Sources[0], 0), Quote: "secret"}, generate.Token{Text: "x"}} {
				if err := emit(e); err != nil {
					return err
				}
			}
			if q.Text == "slow" {
				<-ctx.Done()
				d.Finish = generate.FinishCancelled
			}
			return emit(d)
		}
	})
	for _, id := range []string{gone, stays} {
		s.shelf.sources[id] = tree.Source{ID: id, Tenant: "default", State: tree.StateDone}
	}
	conn := s.hello(t)
	streams := map[string]string{}
	for name, ask := range map[string]string{"ended": gone, "other": stays, "running": gone} {
		question := map[bool]string{true: "slow", false: "fast"}[name == "running"]
		say(t, conn, fmt.Sprintf(`{"type":"ask","id":%q,"question":%q,"sources":[%q]}`, name, question, ask))
		for m := hear(t, conn); m["type"] != "done"; m = hear(t, conn) {
			if m["type"] == "accepted" {
				streams[name] = fmt.Sprint(m["stream"])
			}
			if m["type"] == "token" && name == "running" {
				break
			}
		}
	}
	if status, _, body := s.request(t, http.MethodDelete, "/v1/sources/"+gone, nil, nil); status != http.StatusNoContent {
		t.Fatalf("%d %s", status, body)
	}
	for m := hear(t, conn); m["type"] != "done" || m["stream"] != streams["running"]; m = hear(t, conn) {
		if m["type"] == "token" || m["type"] == "evidence" {
			t.Fatalf("after the deletion came %v", m)
		}
	}
	for _, name := range []string{"running", "ended", "other"} {
		waitFor(t, func() bool { return (s.hub.find("default", streams[name]) != nil) == (name == "other") })
	}
}

// TestLateAnswerOfADeletedSourceIsForgotten: one that quotes a source only after
// its deletion is not recorded and cannot be read again.
func TestLateAnswerOfADeletedSourceIsForgotten(t *testing.T) {
	s := newService(t, func(c *Config) { c.Records = refusing{} })
	conn := s.hello(t)
	say(t, conn, `{"type":"ask","id":"q","question":"How far?"}`)
	id := fmt.Sprint(hear(t, conn)["stream"])
	stream(t, conn)
	waitFor(t, func() bool { return s.hub.find("default", id) == nil })
	if status, _, body := s.request(t, http.MethodGet, "/v1/answers/"+id, nil, nil); status != http.StatusNotFound {
		t.Errorf("%d %s", status, body)
	}
}

// refusing keeps no answer: what they quote is gone.
type refusing struct{}

func (refusing) SaveAnswer(context.Context, string, Answer) error { return errAbsent }
func (refusing) Answer(context.Context, string, string) (Answer, error) {
	return Answer{}, errAbsent
}
func (refusing) Answers(context.Context, string) ([]Answer, error) { return nil, nil }
