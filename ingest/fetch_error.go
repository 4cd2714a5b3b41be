package ingest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"syscall"
)

// FetchError says in one sentence why an address gave no source.
type FetchError struct {
	Reason string
	Retry  bool // the same address may work later
	Cause  error
}

// Error is the sentence.
func (e *FetchError) Error() string { return e.Reason }

// Unwrap gives the cause.
func (e *FetchError) Unwrap() error { return e.Cause }

func unfetchable(format string, args ...any) *FetchError {
	return &FetchError{Reason: fmt.Sprintf(format, args...)}
}

func fetchLater(cause error, format string, args ...any) *FetchError {
	return &FetchError{Reason: fmt.Sprintf(format, args...), Retry: true, Cause: cause}
}

// errStalled is the cause of a context that ended because nothing came.
var errStalled = errors.New("stalled")

// youTube stands for all of its hosts: the address of none was given by anybody,
// so it cannot be wrong.
const youTube = "YouTube"

const checkNetwork = "check that this machine has a network, and name your proxy with --proxy where it has no direct way out"

// explainNet turns an error of the transport into a sentence about host. An
// end the caller asked for is passed on as it is.
func explainNet(ctx context.Context, host string, err error) error {
	var known *FetchError
	var guarded *errGuard
	var dns *net.DNSError
	var timeout net.Error
	switch {
	case errors.As(err, &known):
		return known
	case errors.Is(context.Cause(ctx), errStalled):
		return fetchLater(errStalled, "%s sent nothing for too long; try again later", host)
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return fetchLater(ctx.Err(), "fetching from %s took longer than allowed", host)
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &guarded):
		return &FetchError{Reason: fmt.Sprintf("%s is not fetched: %s; only public addresses are, unless the service runs with --allow-private", host, guarded), Cause: guarded}
	case errors.As(err, &dns) && dns.IsNotFound && host != youTube:
		return fetchLater(err, "the host name %s is not known; check the address, and %s", host, checkNetwork)
	case errors.As(err, &dns), errors.Is(err, syscall.ENETUNREACH), errors.Is(err, syscall.EHOSTUNREACH):
		return fetchLater(err, "%s cannot be found from this machine; %s", host, checkNetwork)
	case errors.Is(err, syscall.ECONNREFUSED) && host != youTube:
		return fetchLater(err, "%s refuses the connection; check the address", host)
	case errors.Is(err, syscall.ECONNREFUSED):
		return fetchLater(err, "%s refuses the connection; %s", host, checkNetwork)
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, io.EOF):
		return fetchLater(err, "%s broke off the connection; try again later", host)
	case errors.As(err, &timeout) && timeout.Timeout():
		return fetchLater(err, "%s does not answer; try again later", host)
	}
	return fetchLater(err, "%s cannot be fetched: %s", host, oneLine(rootCause(err), 160))
}

func rootCause(err error) string {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err.Error()
		}
		err = inner
	}
}

// explainStatus names an HTTP status other than success.
func explainStatus(host string, status int) *FetchError {
	switch {
	case status == 401 || status == 403:
		return unfetchable("%s does not hand this out without permission (status %d)", host, status)
	case status == 404 || status == 410:
		return unfetchable("%s has nothing at this address (status %d); check it", host, status)
	case status == 429:
		return fetchLater(nil, "%s is asked too often (status 429); try again later", host)
	case status >= 500:
		return fetchLater(nil, "%s has a problem of its own (status %d); try again later", host, status)
	}
	return unfetchable("%s answers with status %d instead of a file", host, status)
}

// oneLine makes foreign text fit into a sentence or title: one line without
// control characters, at most limit code points.
func oneLine(text string, limit int) string {
	text = strings.Join(strings.FieldsFunc(strings.ToValidUTF8(text, ""), func(r rune) bool {
		return r <= ' ' || r == 0x7f || (r >= 0x80 && r < 0xa0) || r == 0x2028 || r == 0x2029 || (r >= 0x202a && r <= 0x202e) || (r >= 0x2066 && r <= 0x2069)
	}), " ")
	if r := []rune(text); len(r) > limit {
		text = string(r[:limit]) + "…"
	}
	return text
}
