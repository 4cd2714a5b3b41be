package server

import (
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/gorilla/websocket"
)

const (
	subprotocol   = "reeltree.v1"
	readLimit     = 64 << 10
	drained       = 16 << 20 // bytes of a message that is too large, read to its end
	queueBytes    = 1 << 20  // frames that wait for a slow client
	maxStreams    = 64       // per connection
	maxSockets    = 4096     // connections of the service
	pingEvery     = 25 * time.Second
	pongWait      = 60 * time.Second
	maxFrames     = 64               // that wait for a slow client; tokens are joined while they do
	messageWait   = 10 * time.Second // from the first to the last byte of a message
	maxPieces     = 2000             // reads one message may take: it must not come byte by byte
	framesASecond = 50               // sustained rate of a client's frames, control frames included
)

// Close codes of our own (docs/errors.md).
const (
	closeProtocol = 4000
	closeNoHello  = 4001
	closeBadToken = 4003
	closeTooSlow  = 4008
	closeTooMany  = 4029
)

// socket is one connection: this goroutine reads, one other writes, and each
// subscription has one that feeds the writer's bounded queue.
type socket struct {
	s       *Server
	conn    *websocket.Conn
	tenant  string // empty before hello
	reading bool   // a message has begun; only the reader looks

	mu     sync.Mutex
	queued int // bytes in out
	subs   map[string]*subscription

	out     chan []byte
	room    chan struct{}   // a token is put in whenever the queue has shrunk
	ending  context.Context //nolint:containedctx // the life of the connection
	end     context.CancelCauseFunc
	writers sync.WaitGroup
	rate    bucket
}

type subscription struct {
	st     *eventStream
	cancel context.CancelFunc
	done   chan struct{}
}

// closeError ends a connection with a code and a reason.
type closeError struct {
	code   int
	reason string
}

func (e *closeError) Error() string { return e.reason }

func (s *Server) serveSocket(w http.ResponseWriter, r *http.Request) {
	if !s.originAllowed(r) {
		fail(w, newError(codeBadOrigin, "the page's origin is not allowed: allow it with --origins"))
		return
	}
	s.mu.Lock()
	if s.closing {
		s.mu.Unlock()
		fail(w, newError(codeStopping, "the service is shutting down"))
		return
	}
	if s.open >= maxSockets {
		s.mu.Unlock()
		fail(w, newError(codeManySockets, "%d connections are open already: try again in a moment", maxSockets))
		return
	}
	s.open++
	s.sockets.Add(1)
	s.mu.Unlock()
	defer s.leaveSocket()
	conn, err := s.upgrader.Upgrade(w, r, nil)
	if err != nil {
		return // the upgrader has replied
	}
	c := &socket{s: s, conn: conn, subs: map[string]*subscription{}, out: make(chan []byte, maxFrames), room: make(chan struct{}, 1), rate: bucket{size: 4 * framesASecond, perSecond: framesASecond}}
	c.ending, c.end = context.WithCancelCause(context.Background())
	c.serve()
}

func (s *Server) leaveSocket() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open--
	s.sockets.Done()
}

// serve runs the connection to its end and waits for all its goroutines.
func (c *socket) serve() {
	if c.conn.Subprotocol() != subprotocol {
		c.end(&closeError{closeProtocol, "the subprotocol must be " + subprotocol})
	}
	c.writers.Go(c.write)
	c.writers.Go(func() {
		select {
		case <-c.s.going:
			c.finishEnded()
			c.end(&closeError{websocket.CloseGoingAway, "the service is shutting down, resume on reconnect"})
		case <-c.ending.Done():
		}
	})
	err := c.read()
	c.end(err)
	c.mu.Lock()
	for _, sub := range c.subs {
		sub.cancel()
	}
	c.mu.Unlock()
	c.writers.Wait()
}

// finishEnded lets the last events of streams that have ended reach the queue.
func (c *socket) finishEnded() {
	limit := time.NewTimer(time.Second)
	defer limit.Stop()
	c.mu.Lock()
	subs := slices.Collect(maps.Values(c.subs))
	c.mu.Unlock()
	for _, sub := range subs {
		if _, _, ended, _ := sub.st.after(0); !ended {
			continue
		}
		select {
		case <-sub.done:
		case <-limit.C:
			return
		case <-c.ending.Done():
			return
		}
	}
}

// read takes frames until the connection ends; what it returns says why.
func (c *socket) read() error {
	// The limit is kept by message, not by the connection, which would close
	// without a word why.
	if err := c.conn.SetReadDeadline(time.Now().Add(c.s.cfg.HelloWait)); err != nil {
		return err
	}
	c.conn.SetPongHandler(func(string) error { return c.control() })
	c.conn.SetPingHandler(func(data string) error {
		if err := c.control(); err != nil {
			return err
		}
		return c.conn.WriteControl(websocket.PongMessage, []byte(data), time.Now().Add(time.Second))
	})
	for {
		kind, data, err := c.message()
		switch {
		case c.ending.Err() != nil:
			return context.Cause(c.ending)
		case err != nil && c.tenant == "" && isTimeout(err):
			return &closeError{closeNoHello, "no hello within the time allowed"}
		case isTimeout(err) && c.reading:
			return &closeError{closeProtocol, "the message was not complete in time"}
		case err != nil:
			return err
		case !c.rate.take(time.Now()):
			return &closeError{closeTooMany, "too many frames"}
		case kind != websocket.TextMessage:
			return &closeError{closeProtocol, "frames must be JSON text"}
		case !utf8.Valid(data):
			return &closeError{websocket.CloseInvalidFramePayloadData, "the frame is not valid UTF-8"}
		}
		if err := c.handle(data); err != nil {
			return err
		}
		if err := c.alive(); err != nil {
			return err
		}
	}
}

// message reads one whole message.
func (c *socket) message() (kind int, data []byte, err error) {
	kind, r, err := c.conn.NextReader()
	if err != nil {
		return 0, nil, err
	}
	c.reading = true
	if c.tenant != "" { // else the time for hello goes on
		if err := c.conn.SetReadDeadline(time.Now().Add(messageWait)); err != nil {
			return 0, nil, err
		}
	}
	buf := make([]byte, 0, 512)
	for range maxPieces {
		if len(buf) == cap(buf) {
			buf = append(buf, 0)[:len(buf)]
		}
		n, err := r.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		if errors.Is(err, io.EOF) {
			c.reading = false
			return kind, buf, nil
		}
		if err != nil {
			return 0, nil, err
		}
		if len(buf) > readLimit {
			// Who is still sending would be cut off before reading why.
			_, _ = io.Copy(io.Discard, io.LimitReader(r, drained)) // ends with the message, the deadline or the limit
			return 0, nil, &closeError{websocket.CloseMessageTooBig, "the frame is larger than 64 KB"}
		}
	}
	return 0, nil, &closeError{closeTooMany, "the message came in too many pieces"}
}

// control counts a control frame; the connection is alive.
func (c *socket) control() error {
	if !c.rate.take(time.Now()) {
		return &closeError{closeTooMany, "too many frames"}
	}
	return c.alive()
}

// alive gives the peer more time, but neither for its hello nor for a message
// that it has begun.
func (c *socket) alive() error {
	if c.tenant == "" || c.reading {
		return nil
	}
	return c.conn.SetReadDeadline(time.Now().Add(pongWait))
}

func isTimeout(err error) bool {
	var t interface{ Timeout() bool }
	return errors.As(err, &t) && t.Timeout()
}

// write is the only goroutine that writes data frames.
func (c *socket) write() {
	defer func() { _ = c.conn.Close() }()
	ping := time.NewTicker(pingEvery)
	defer ping.Stop()
	for {
		select {
		case frame := <-c.out:
			if err := c.writeFrame(frame); err != nil {
				c.end(err)
				return
			}
		case <-ping.C:
			if err := c.conn.WriteControl(websocket.PingMessage, nil, time.Now().Add(c.s.cfg.WriteWait)); err != nil {
				c.end(err)
				return
			}
		case <-c.ending.Done():
			c.sayGoodbye()
			return
		}
	}
}

func (c *socket) writeFrame(frame []byte) error {
	// Longer than a queue may stay full: a client that reads again in time is
	// told by the close code why it was dropped.
	if err := c.conn.SetWriteDeadline(time.Now().Add(3 * c.s.cfg.WriteWait)); err != nil {
		return err
	}
	err := c.conn.WriteMessage(websocket.TextMessage, frame)
	c.mu.Lock()
	c.queued -= len(frame)
	c.mu.Unlock()
	c.hasShrunk()
	if isTimeout(err) {
		return c.tooSlow()
	}
	return err
}

// hasShrunk wakes one who waits for room; it passes the word on when it has got in.
func (c *socket) hasShrunk() {
	select {
	case c.room <- struct{}{}:
	default:
	}
}

// sayGoodbye sends what is queued for a client that is told why it is closed.
func (c *socket) sayGoodbye() {
	code, reason := websocket.CloseNormalClosure, ""
	if own, ok := errors.AsType[*closeError](context.Cause(c.ending)); ok {
		code, reason = own.code, own.reason
	}
	for len(c.out) > 0 && code != closeTooSlow {
		if c.writeFrame(<-c.out) != nil {
			return
		}
	}
	_ = c.conn.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(code, reason), time.Now().Add(time.Second))
}

// enqueue hands a frame to the writer, waiting while the queue is full. A queue
// that stays full for WriteWait ends the connection with 4008.
func (c *socket) enqueue(ctx context.Context, frame []byte) error {
	timer := time.NewTimer(c.s.cfg.WriteWait)
	defer timer.Stop()
	for {
		c.mu.Lock()
		if c.queued+len(frame) <= queueBytes || c.queued == 0 {
			c.queued += len(frame)
			c.mu.Unlock()
			c.hasShrunk() // there may be room for another who waits
			break
		}
		c.mu.Unlock()
		select {
		case <-c.room:
		case <-timer.C:
			return c.tooSlow()
		case <-ctx.Done():
			c.hasShrunk() // the word may have come at the same moment
			return ctx.Err()
		case <-c.ending.Done():
			return context.Cause(c.ending)
		}
	}
	select {
	case c.out <- frame:
		return nil
	case <-timer.C:
		return c.tooSlow()
	case <-ctx.Done():
		c.mu.Lock()
		c.queued -= len(frame)
		c.mu.Unlock()
		return ctx.Err()
	case <-c.ending.Done():
		return context.Cause(c.ending)
	}
}

// tooSlow ends the connection and notes who lost how much.
func (c *socket) tooSlow() error {
	err := &closeError{closeTooSlow, "the client reads too slowly"}
	c.mu.Lock()
	queued := c.queued
	c.mu.Unlock()
	c.s.cfg.Log.Warn("a slow client was closed", "client", c.conn.RemoteAddr(), "queued_bytes", queued)
	c.end(err)
	return err
}

// bucket is a token bucket over frames.
type bucket struct {
	size, perSecond float64
	used            float64
	last            time.Time
}

func (b *bucket) take(now time.Time) bool {
	b.used = max(0, b.used-now.Sub(b.last).Seconds()*b.perSecond)
	b.last = now
	b.used++
	return b.used <= b.size
}
