//go:build e2e

package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"
)

// socket is a WebSocket connection as a third-party client would write it: no
// line of the product's own client is in it.
type socket struct {
	t    testing.TB
	conn *websocket.Conn
}

// dial connects, says hello and takes the welcome.
func dial(t testing.TB, s *service) *socket {
	t.Helper()
	dialer := websocket.Dialer{Subprotocols: []string{"reeltree.v1"}, HandshakeTimeout: 10 * time.Second}
	conn, reply, err := dialer.Dial(strings.Replace(s.addr, "http://", "ws://", 1)+"/v1/ws", http.Header{})
	if err != nil {
		t.Fatalf("dial: %v (%v)", err, reply)
	}
	t.Cleanup(func() { _ = conn.Close() })
	c := &socket{t, conn}
	c.say(map[string]any{"type": "hello", "client": "e2e"})
	if m := c.hear(); m.Type != "welcome" {
		t.Fatalf("after hello came %+v", m)
	}
	return c
}

func (c *socket) say(message map[string]any) {
	c.t.Helper()
	if err := c.conn.WriteJSON(message); err != nil {
		c.t.Fatalf("send %v: %v", message, err)
	}
}

// frame is one message of the service: the fields of PROTOCOL these tests use.
type frame struct {
	event
	ID, Stream, Epoch string
	Seq, From         uint64
	Support           float64
	Stage, State      string
	Done, Total       int64
	Code              int
	Message           string
	Fault             struct{ Message string } `json:"error"`
	Usage             struct {
		Calls            int
		DroppedCitations int `json:"dropped_citations"`
	}
	Heard time.Time `json:"-"`
}

// hear takes the next message, within a minute.
func (c *socket) hear() frame {
	c.t.Helper()
	_ = c.conn.SetReadDeadline(time.Now().Add(time.Minute))
	_, data, err := c.conn.ReadMessage()
	if err != nil {
		c.t.Fatalf("receive: %v", err)
	}
	f := frame{Heard: time.Now()}
	var mismatch *json.UnmarshalTypeError
	if err := json.Unmarshal(data, &f); err != nil && !errors.As(err, &mismatch) { // source is a text in jobs, an object in evidence
		c.t.Fatalf("not a message: %s: %v", data, err)
	}
	return f
}

// until takes messages up to the first of a type and gives them all.
func (c *socket) until(kind string, see func(frame)) (all []frame) {
	c.t.Helper()
	for {
		f := c.hear()
		all = append(all, f)
		if see != nil {
			see(f)
		}
		switch f.Type {
		case kind:
			return all
		case "done", "error":
			c.t.Fatalf("before any %s came %+v", kind, f)
		}
	}
}

// asking is the message of a question, under an id of its own.
func asking(question, id string, options map[string]any) map[string]any {
	m := map[string]any{"type": "ask", "id": id, "question": question}
	if options != nil {
		m["options"] = options
	}
	return m
}

// ordered holds a stream to the protocol: sequence numbers without a hole,
// evidence before the first token, citations of that evidence only, at places
// that never fall, one done at the end.
func ordered(all []frame) error {
	var seq uint64
	proof, at, points := map[int]bool{}, 0, 0
	for i, f := range all {
		if f.Type == "accepted" {
			continue
		}
		first := f.Seq
		if f.From > 0 {
			first = f.From
		}
		if first != seq+1 {
			return fmt.Errorf("event %d has sequence %d after %d", i, first, seq)
		}
		seq = f.Seq
		switch f.Type {
		case "evidence", "round", "queued":
			if points > 0 {
				return fmt.Errorf("%s after the first token", f.Type)
			}
			proof[f.N] = true
		case "token":
			if len(proof) == 0 {
				return fmt.Errorf("a token before any evidence")
			}
			points += len([]rune(f.Text))
		case "citation":
			if !proof[f.N] || f.At < at || f.At > points {
				return fmt.Errorf("citation %+v at %d of %d code points", f, at, points)
			}
			at = f.At
		case "done":
			if i != len(all)-1 {
				return fmt.Errorf("done is not the last")
			}
		default:
			return fmt.Errorf("unknown event %s", f.Type)
		}
	}
	return nil
}
