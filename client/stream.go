package client

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/gorilla/websocket"

	"github.com/reeltree/reeltree/tree"
)

// Question is the body of an ask.
type Question struct {
	Question     string      `json:"question"`
	Sources      []string    `json:"sources,omitempty"`
	Collection   string      `json:"collection,omitempty"`
	Kinds        []tree.Kind `json:"kinds,omitempty"`
	Span         *tree.Span  `json:"span,omitempty"`
	Conversation string      `json:"conversation,omitempty"`
	Mode         string      `json:"mode,omitempty"`
	Options      Options     `json:"options,omitzero"`
}

// Options of a question; zero values mean the service's settings.
type Options struct {
	Rounds       int    `json:"rounds,omitempty"`
	BudgetTokens int    `json:"budget_tokens,omitempty"`
	Frames       int    `json:"frames,omitempty"`
	Answerer     string `json:"answerer,omitempty"`
	Trace        bool   `json:"trace,omitempty"`
	Language     string `json:"language,omitempty"`
	Follow       bool   `json:"follow,omitempty"`
}

// Event is one event of a stream. Fields of other types are zero; Raw is the
// whole frame.
type Event struct {
	Type   string `json:"type"`
	ID     string `json:"id"`
	Stream string `json:"stream"`
	Epoch  string `json:"epoch"`
	Seq    uint64 `json:"seq"`
	From   uint64 `json:"from"`

	Source  json.RawMessage `json:"source"` // of evidence an object with id and title, of a job its id
	N       int             `json:"n"`
	Quote   string          `json:"quote"`
	Nearest bool            `json:"nearest"`
	Speaker string          `json:"speaker"`
	Span    json.RawMessage `json:"span"`
	Text    string          `json:"text"`
	At      int             `json:"at"`

	Position int     `json:"position"`
	Stage    string  `json:"stage"`
	Done     int64   `json:"done"`
	Total    int64   `json:"total"`
	ETAMS    int64   `json:"eta_ms"`
	First    uint64  `json:"first"`
	Coverage float64 `json:"coverage"`

	Finish     string          `json:"finish"`
	State      tree.State      `json:"state"`
	Fault      json.RawMessage `json:"error"`
	TextSHA256 string          `json:"text_sha256"`
	Code       int             `json:"code"`
	Message    string          `json:"message"`
	Retry      bool            `json:"retry"`

	Raw json.RawMessage `json:"-"`
}

// ErrText is returned when the text that came is not the text that was sent.
var ErrText = errors.New("the answer that arrived differs from the one that was sent: ask again")

// errAskAgain: the service has lost the running answer, such as by a restart.
var errAskAgain = errors.New("the answer was lost and is asked for again")

// Ask streams an answer: see gets every event once and in order, over as many
// connections as it takes. It returns after done, or with see's error. A gap
// means that what was seen is void: the answer begins anew. The end of ctx
// cancels the answer.
func (c *Client) Ask(ctx context.Context, q Question, see func(Event) error) error {
	body, err := json.Marshal(q)
	if err != nil {
		return err
	}
	var id [12]byte
	_, _ = rand.Read(id[:]) // never fails, see crypto/rand
	request := fmt.Sprintf(`{"type":"ask","id":"%s",%s`, hex.EncodeToString(id[:]), strings.TrimPrefix(string(body), "{"))
	text := sha256.New()
	return c.follow(ctx, request, position{ask: true}, func(e Event) error {
		switch e.Type {
		case "token":
			text.Write([]byte(e.Text))
		case "revised", "gap":
			text.Reset()
		case "done":
			if e.TextSHA256 != hex.EncodeToString(text.Sum(nil)) {
				return ErrText
			}
		}
		return see(e)
	})
}

// FollowJob streams the progress of an ingest job until it is done.
func (c *Client) FollowJob(ctx context.Context, stream string, see func(Event) error) error {
	request, err := json.Marshal(map[string]any{"type": "subscribe", "id": "follow", "stream": stream, "after": 0})
	if err != nil {
		return err
	}
	return c.follow(ctx, string(request), position{}, see)
}

const (
	reconnectTries = 8
	reconnectWait  = 100 * time.Millisecond
	silence        = 75 * time.Second // three of the service's pings: the connection is dead
)

// position is how far a stream was seen.
type position struct {
	stream, epoch string
	seq           uint64
	ended         bool
	ask           bool // a lost stream is asked for again under the same id
}

// follow sends the request and reads its stream; a lost connection is made
// again and the stream resumed after the last event seen.
func (c *Client) follow(ctx context.Context, request string, p position, see func(Event) error) error {
	var final *finalError
	for try := 0; ; {
		seen := p.seq
		err := c.session(ctx, request, &p, see)
		switch {
		case errors.As(err, &final):
			return final.cause
		case p.ended:
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		}
		if try++; p.seq > seen {
			try = 1 // it got on: count the failures anew
		}
		if try > reconnectTries {
			return fmt.Errorf("the connection to %s was lost: %w", c.cfg.URL, err)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(reconnectWait << min(try-1, 4)):
		}
	}
}

// finalError is an error that no reconnect mends.
type finalError struct{ cause error }

func (e *finalError) Error() string { return e.cause.Error() }

// session is one connection's share of a stream.
func (c *Client) session(ctx context.Context, request string, p *position, see func(Event) error) error {
	conn, err := c.connect(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	stop := func() { _ = conn.NetConn().SetDeadline(time.Unix(1, 0)) }
	defer context.AfterFunc(ctx, stop)()
	alive := func() {
		_ = conn.SetReadDeadline(time.Now().Add(silence)) // on an error the next read fails
		if ctx.Err() != nil {
			stop() // not undone by the line above
		}
	}
	conn.SetPingHandler(func(data string) error {
		alive()
		return conn.WriteControl(websocket.PongMessage, []byte(data), time.Now().Add(time.Second))
	})
	hello, err := json.Marshal(map[string]string{"type": "hello", "token": c.cfg.Token, "client": "go"})
	if err != nil {
		return err
	}
	if p.stream != "" {
		request = fmt.Sprintf(`{"type":"subscribe","id":"resume","stream":%q,"epoch":%q,"after":%d}`, p.stream, p.epoch, p.seq)
	}
	for _, m := range []string{string(hello), request} {
		if err := conn.WriteMessage(websocket.TextMessage, []byte(m)); err != nil {
			return err
		}
	}
	for !p.ended {
		alive()
		_, data, err := conn.ReadMessage()
		if err != nil {
			sayCancel(ctx, conn, p)
			return closeReason(err)
		}
		if err := take(data, p, see); err != nil {
			return err
		}
	}
	return nil
}

// sayCancel ends an answer that is not wanted any more, so that it costs nothing
// further; if that does not get through, the answer ends by itself.
func sayCancel(ctx context.Context, conn *websocket.Conn, p *position) {
	if ctx.Err() == nil || !p.ask || p.stream == "" {
		return
	}
	_ = conn.SetWriteDeadline(time.Now().Add(time.Second))
	_ = conn.WriteMessage(websocket.TextMessage, fmt.Appendf(nil, `{"type":"cancel","stream":%q}`, p.stream))
	_ = conn.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(websocket.CloseNormalClosure, ""), time.Now().Add(time.Second))
}

func (c *Client) connect(ctx context.Context) (*websocket.Conn, error) {
	dialer := websocket.Dialer{Subprotocols: []string{"reeltree.v1"}, HandshakeTimeout: 10 * time.Second}
	if c.cfg.Dial != nil {
		dialer.NetDialContext = func(ctx context.Context, _, _ string) (net.Conn, error) { return c.cfg.Dial(ctx) }
	}
	conn, res, err := dialer.DialContext(ctx, "ws"+strings.TrimPrefix(c.cfg.URL, "http")+"/v1/ws", nil)
	if res != nil {
		_ = res.Body.Close()
		if err != nil && res.StatusCode >= 400 && res.StatusCode < 500 && res.StatusCode != http.StatusTooManyRequests {
			return nil, &finalError{fmt.Errorf("the service at %s refused the connection: %s", c.cfg.URL, res.Status)}
		}
	}
	if err != nil {
		return nil, fmt.Errorf("the service at %s cannot be reached: start it with reeltree serve, or check --server: %w", c.cfg.URL, err)
	}
	return conn, nil
}

// closeReason makes close codes that mean "not again" final.
func closeReason(err error) error {
	if closed, ok := errors.AsType[*websocket.CloseError](err); ok {
		switch closed.Code {
		case 4000, 4003, websocket.CloseMessageTooBig, websocket.CloseInvalidFramePayloadData:
			return &finalError{fmt.Errorf("the service closed the connection: %s", closed.Text)}
		}
	}
	return err
}

// take hands one frame on, once and in order.
func take(data []byte, p *position, see func(Event) error) error {
	var e Event
	if err := json.Unmarshal(data, &e); err != nil {
		return &finalError{fmt.Errorf("the service sent what cannot be read: %w", err)}
	}
	e.Raw = data
	switch e.Type {
	case "welcome", "pong":
		return nil
	case "error":
		return &finalError{&Error{Code: e.Code, Message: e.Message, Retry: e.Retry}}
	case "accepted":
		if p.stream == "" {
			p.stream, p.epoch = e.Stream, e.Epoch
			return final(see(e))
		}
		return nil
	case "gap":
		p.epoch, p.seq = e.Epoch, e.First-1
		if err := see(e); err != nil || !p.ask {
			return final(err)
		}
		p.stream, p.seq = "", 0
		return errAskAgain
	}
	if first := max(e.From, 1); e.Seq != 0 {
		if e.From == 0 {
			first = e.Seq
		}
		if first != p.seq+1 {
			return fmt.Errorf("event %d came after %d", first, p.seq)
		}
		p.seq = e.Seq
	}
	p.ended = e.Type == "done"
	return final(see(e))
}

func final(err error) error {
	if err == nil {
		return nil
	}
	return &finalError{err}
}
