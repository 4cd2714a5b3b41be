package ingest

import (
	"context"
	"io"
	"mime"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"
)

// maxRedirects is how many are followed, each with a check of its own.
const maxRedirects = 5

// parseAddress accepts http and https without a user name: a password in an
// address would end up in lists and logs.
func parseAddress(address string) (*url.URL, error) {
	if len(address) > 4096 {
		return nil, unfetchable("the address is longer than 4096 characters")
	}
	if completed, ok := ReadAddress(address); ok {
		address = completed
	}
	u, err := url.Parse(strings.TrimSpace(address))
	if err != nil {
		return nil, unfetchable("this is not an address; it must look like https://HOST/PATH")
	}
	return u, checkURL(u)
}

func checkURL(u *url.URL) error {
	switch {
	case u.Scheme == "":
		return unfetchable("the address does not say how to get it; it must look like https://HOST/PATH")
	case u.Scheme != "http" && u.Scheme != "https":
		return unfetchable("only http and https addresses are fetched, not %s ones; download it by other means and hand over the file", oneLine(u.Scheme, 20))
	case u.Hostname() == "":
		return unfetchable("the address names no host; it must look like https://HOST/PATH")
	case u.User != nil:
		return unfetchable("the address holds a user name, which is not supported; give one without")
	}
	return nil
}

// fetchHTTP follows redirects by hand and copies the body.
func (f *Fetcher) fetchHTTP(ctx context.Context, u *url.URL, w io.Writer, progress FetchProgress) (Fetched, error) {
	ctx, w2 := f.watch(ctx)
	defer w2.stop()
	resp, u, err := f.follow(ctx, u)
	if err != nil {
		return Fetched{}, err
	}
	defer resp.Body.Close() //nolint:errcheck // read to its end, or failed already
	host := u.Hostname()
	if f.proxy != nil && resp.StatusCode == http.StatusProxyAuthRequired {
		return Fetched{}, f.proxy.refusal(host, resp.StatusCode)
	}
	if resp.StatusCode != http.StatusOK {
		return Fetched{}, explainStatus(host, resp.StatusCode)
	}
	if enc := resp.Header.Get("Content-Encoding"); enc != "" && enc != "identity" {
		return Fetched{}, unfetchable("%s sends the file packed (%s) although it was not asked to", host, oneLine(enc, 20))
	}
	total := max(0, resp.ContentLength)
	if total > f.cfg.MaxBytes {
		return Fetched{}, f.tooLarge(host, total)
	}
	body := &meter{body: resp.Body, watch: w2, tell: func(n int64) { progress(n, total) }}
	n, err := copyLimited(ctx, w, body, f.cfg.MaxBytes)
	switch {
	case isWrite(err):
		return Fetched{}, err
	case err != nil:
		return Fetched{}, explainNet(ctx, host, err)
	case n > f.cfg.MaxBytes:
		return Fetched{}, f.tooLarge(host, n)
	case n == 0:
		return Fetched{}, unfetchable("%s sends an empty file", host)
	}
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	return Fetched{URL: withoutQuery(u), Name: fileName(resp, u), MIME: kind, Bytes: n}, nil
}

// follow sends the request and follows redirects, each checked like the first.
func (f *Fetcher) follow(ctx context.Context, u *url.URL) (*http.Response, *url.URL, error) {
	for range maxRedirects + 1 {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
		if err != nil {
			return nil, u, unfetchable("this is not an address; it must look like https://HOST/PATH")
		}
		req.Header.Set("User-Agent", "reeltree")
		req.Header.Set("Accept-Encoding", "identity")
		resp, err := f.web.RoundTrip(req)
		if err != nil {
			return nil, u, explainNet(ctx, u.Hostname(), err)
		}
		to := resp.Header.Get("Location")
		if resp.StatusCode < 300 || resp.StatusCode > 399 || to == "" {
			return resp, u, nil
		}
		_ = resp.Body.Close() // the body of a redirect says nothing
		next, err := u.Parse(to)
		if err != nil {
			return nil, u, unfetchable("%s redirects to something that is no address", u.Hostname())
		}
		if err := checkURL(next); err != nil {
			return nil, u, &FetchError{Reason: u.Hostname() + " redirects elsewhere: " + err.Error(), Cause: err}
		}
		u = next
	}
	return nil, u, unfetchable("%s redirects more than %d times", u.Hostname(), maxRedirects)
}

func (f *Fetcher) tooLarge(host string, n int64) *FetchError {
	if n > f.cfg.MaxBytes+1 {
		return unfetchable("the file at %s has %d bytes, more than the allowed %d", host, n, f.cfg.MaxBytes)
	}
	return unfetchable("the file at %s has more than the allowed %d bytes", host, f.cfg.MaxBytes)
}

// watch ends its context when nothing came for the stall time.
func (f *Fetcher) watch(ctx context.Context) (context.Context, *stallWatch) {
	ctx, cancel := context.WithCancelCause(ctx)
	timer := time.AfterFunc(f.cfg.Stall, func() { cancel(errStalled) })
	return ctx, &stallWatch{timer: timer, after: f.cfg.Stall, cancel: cancel}
}

type stallWatch struct {
	timer  *time.Timer
	after  time.Duration
	cancel context.CancelCauseFunc
}

func (w *stallWatch) alive() { w.timer.Reset(w.after) }

func (w *stallWatch) stop() {
	w.timer.Stop()
	w.cancel(context.Canceled)
}

// meter counts what it reads; the time the writer takes is not the server's.
type meter struct {
	body  io.Reader
	watch *stallWatch
	tell  func(int64)
	n     int64
}

func (m *meter) Read(p []byte) (int, error) {
	m.watch.alive()
	n, err := m.body.Read(p)
	m.watch.timer.Stop()
	if n > 0 {
		m.n += int64(n)
		m.tell(m.n)
	}
	return n, err
}

// writeError marks a failure of the caller's writer.
type writeError struct{ error }

func (e *writeError) Unwrap() error { return e.error }

func isWrite(err error) bool {
	_, ok := err.(*writeError) //nolint:errorlint // never wrapped
	return ok
}

// copyLimited copies at most limit bytes. Of a body that goes on it reports
// limit+1 without writing more. An end that came after ctx had ended is no end of
// the body: we hung up, whichever of both the transport noticed first.
func copyLimited(ctx context.Context, w io.Writer, r io.Reader, limit int64) (int64, error) {
	n, err := io.Copy(markWrites{w}, io.LimitReader(r, limit))
	if err == nil && n < limit && ctx.Err() != nil {
		err = io.ErrUnexpectedEOF
	}
	if err != nil || n < limit {
		return n, err
	}
	extra, err := io.ReadFull(r, make([]byte, 1))
	if err == io.EOF { //nolint:errorlint // ReadFull says it bare
		err = nil
	}
	return n + int64(extra), err
}

type markWrites struct{ w io.Writer }

func (m markWrites) Write(p []byte) (int, error) {
	n, err := m.w.Write(p)
	if err != nil {
		err = &writeError{err}
	}
	return n, err
}

func withoutQuery(u *url.URL) string {
	plain := *u
	plain.RawQuery, plain.Fragment, plain.RawFragment = "", "", ""
	return plain.String()
}

// fileName is the name the server gives, else the end of the path: one line,
// without folders.
func fileName(resp *http.Response, u *url.URL) string {
	_, params, err := mime.ParseMediaType(resp.Header.Get("Content-Disposition"))
	name := params["filename"]
	if err != nil || name == "" {
		name = u.Path
	}
	name = oneLine(path.Base(strings.ReplaceAll(name, `\`, "/")), 200)
	if name == "." || name == "/" || name == ".." {
		return u.Hostname()
	}
	return name
}
