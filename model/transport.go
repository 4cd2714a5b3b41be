package model

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// exchange is what the transport learned about one request. go-openai drops
// Retry-After, hides an error inside a stream and takes a plain JSON or HTML
// body for an empty stream; here all of it is kept. One goroutine uses it.
type exchange struct {
	want       wanted
	status     int
	media      string // media type of the reply, without parameters
	retryAfter time.Duration
	body       []byte // of a failure, of a whole reply, or whatever came instead of a stream
	cut        bool   // body holds only the beginning of a failure's body
	tooLarge   bool
}

// wanted says what the caller does with a successful body.
type wanted int

const (
	wantStream wanted = iota // server-sent events
	wantWhole                // read into exchange.body, for our own stricter decoder
)

type exchangeKey struct{}

func withExchange(ctx context.Context, ex *exchange) context.Context {
	return context.WithValue(ctx, exchangeKey{}, ex)
}

// failureBytes is how much of a failure's body is read: enough for a message.
const failureBytes = 64 << 10

var errTooLarge = errors.New("reply over the size limit")

// transport is the only place that knows the key.
type transport struct {
	base     *http.Transport
	key      Secret
	maxReply int64
	now      func() time.Time
}

func newTransport(c Config) *transport {
	dialer := net.Dialer{Timeout: c.Connect}
	return &transport{
		base: &http.Transport{
			// The address of a model is the operator's own setting, so the
			// usual proxy variables hold for it.
			Proxy:               http.ProxyFromEnvironment,
			DialContext:         dialer.DialContext,
			TLSHandshakeTimeout: c.Connect,
			MaxIdleConnsPerHost: c.Concurrency,
			IdleConnTimeout:     time.Minute,
			ForceAttemptHTTP2:   true,
		},
		key: c.Key, maxReply: c.MaxReply, now: time.Now,
	}
}

// RoundTrip adds the key and fills the exchange. The cap holds for the
// decompressed bytes, since base undoes the compression it asked for.
func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	ex, ok := req.Context().Value(exchangeKey{}).(*exchange)
	if !ok {
		return nil, errors.New("request outside a call")
	}
	req = req.Clone(req.Context())
	req.Header.Set("User-Agent", "reeltree")
	if t.key.Set() {
		req.Header.Set("Authorization", "Bearer "+t.key.reveal())
	}
	resp, err := t.base.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	ex.status = resp.StatusCode
	ex.media, _, _ = strings.Cut(resp.Header.Get("Content-Type"), ";")
	ex.retryAfter = retryAfter(resp.Header.Get("Retry-After"), t.now())
	body := &capReader{ReadCloser: resp.Body, left: t.maxReply, ex: ex}
	switch {
	case resp.StatusCode >= 300 && resp.StatusCode <= 399:
		_ = body.Close() // go-openai would read it as a reply
		return nil, errors.New("redirect, which is not followed")
	case resp.StatusCode < 200 || resp.StatusCode > 299:
		resp.Body, err = ex.keepFailure(body)
	case ex.want == wantWhole:
		resp.Body, err = ex.keepWhole(body)
	default:
		resp.Body = newEventBody(body, ex)
	}
	if err != nil {
		return nil, err // never both: net/http would log about it
	}
	return resp, nil
}

// keepFailure reads the beginning of a failure's body.
func (ex *exchange) keepFailure(body io.ReadCloser) (io.ReadCloser, error) {
	defer body.Close() //nolint:errcheck // nothing is lost with a failure's body
	data, err := io.ReadAll(io.LimitReader(body, failureBytes+1))
	if ex.cut = len(data) > failureBytes; ex.cut {
		data = data[:failureBytes]
	}
	ex.body = data
	if len(data) > 0 {
		err = nil // the status and the first words are enough
	}
	return io.NopCloser(bytes.NewReader(data)), err
}

// keepWhole reads the whole body and hands go-openai an empty object instead.
func (ex *exchange) keepWhole(body io.ReadCloser) (io.ReadCloser, error) {
	defer body.Close() //nolint:errcheck // it was read to its end, or the error is reported
	data, err := io.ReadAll(body)
	ex.body = data
	return io.NopCloser(strings.NewReader("{}")), err
}

// capReader ends a body that goes over the limit with an error.
type capReader struct {
	io.ReadCloser
	left int64
	ex   *exchange
}

func (r *capReader) Read(p []byte) (int, error) {
	if int64(len(p)) > r.left+1 {
		p = p[:r.left+1]
	}
	n, err := r.ReadCloser.Read(p)
	if r.left -= int64(n); r.left < 0 {
		r.ex.tooLarge = true
		return 0, errTooLarge
	}
	return n, err
}

// retryAfter reads both forms of the header (RFC 9110, 10.2.3); 0 = not told.
func retryAfter(value string, now time.Time) time.Duration {
	value = strings.TrimSpace(value)
	if seconds, err := strconv.ParseFloat(value, 64); err == nil && seconds > 0 && seconds < 1e6 {
		return time.Duration(seconds * float64(time.Second))
	}
	if at, err := http.ParseTime(value); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}
