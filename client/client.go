package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime/multipart"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"unicode"

	"github.com/reeltree/reeltree/tree"
)

// Config of a Client.
type Config struct {
	URL   string // base address, such as http://127.0.0.1:8400
	Token string // bearer token; empty: none is sent
	// Dial replaces the connection to the service for HTTP and WebSocket alike,
	// such as one to a service in the same process; nil means TCP.
	Dial func(ctx context.Context) (net.Conn, error)
}

// Client talks to one service. Safe for concurrent use.
type Client struct {
	cfg  Config
	http *http.Client
}

// New makes a client; nothing is connected yet.
func New(cfg Config) *Client {
	cfg.URL = strings.TrimRight(cfg.URL, "/")
	transport := &http.Transport{MaxIdleConnsPerHost: 4}
	if cfg.Dial != nil {
		transport.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) { return cfg.Dial(ctx) }
	}
	return &Client{cfg: cfg, http: &http.Client{Transport: transport}}
}

// Close frees idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Error is a refusal of the service.
type Error struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Retry   bool   `json:"retry"`
	Status  int    `json:"-"`
}

// Error is the service's sentence.
func (e *Error) Error() string { return e.Message }

// do sends a request and hands the body of a good reply to read.
func (c *Client) do(ctx context.Context, method, path string, body io.Reader, kind string, read func(io.Reader) error) error {
	sent := &sending{r: body}
	if _, inMemory := body.(*bytes.Reader); body != nil && !inMemory { // those can be sent again
		body = sent
	}
	req, err := http.NewRequestWithContext(ctx, method, c.cfg.URL+path, body)
	if err != nil {
		return fmt.Errorf("the address %s cannot be used: %w", c.cfg.URL, err)
	}
	if kind != "" {
		req.Header.Set("Content-Type", kind)
	}
	if c.cfg.Token != "" {
		req.Header.Set("Authorization", "Bearer "+c.cfg.Token)
	}
	res, err := c.http.Do(req)
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if cause := sent.failure(); cause != nil {
			return fmt.Errorf("what was to be sent cannot be read to its end: %w", cause)
		}
		return fmt.Errorf("the service at %s cannot be reached: start it with reeltree serve, or check --server: %w", c.cfg.URL, err)
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode >= 400 {
		var reply struct{ Error *Error }
		if err := json.NewDecoder(io.LimitReader(res.Body, 1<<20)).Decode(&reply); err != nil || reply.Error == nil {
			return &Error{Message: fmt.Sprintf("the service at %s answered %s", c.cfg.URL, res.Status), Status: res.StatusCode}
		}
		reply.Error.Status = res.StatusCode
		return reply.Error
	}
	if read == nil {
		return nil
	}
	return read(res.Body)
}

// sending keeps why the body of a request could not be read, which is not the
// service's fault.
type sending struct {
	r io.Reader

	mu  sync.Mutex
	err error
}

// Read implements io.Reader.
func (s *sending) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrClosedPipe) {
		s.mu.Lock()
		s.err = err
		s.mu.Unlock()
	}
	return n, err
}

func (s *sending) failure() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

func into(v any) func(io.Reader) error {
	return func(r io.Reader) error { return json.NewDecoder(r).Decode(v) }
}

// Health is nil while the service lives.
func (c *Client) Health(ctx context.Context) error {
	return c.do(ctx, http.MethodGet, "/healthz", nil, "", nil)
}

// Sources lists the sources, of one collection where it is not empty.
func (c *Client) Sources(ctx context.Context, collection string) ([]tree.Source, error) {
	var out struct{ Sources []tree.Source }
	err := c.do(ctx, http.MethodGet, "/v1/sources?collection="+url.QueryEscape(collection), nil, "", into(&out))
	return out.Sources, err
}

// Source is one source.
func (c *Client) Source(ctx context.Context, id string) (src tree.Source, err error) {
	err = c.do(ctx, http.MethodGet, "/v1/sources/"+url.PathEscape(id), nil, "", into(&src))
	return src, err
}

// Tree is a source's tree as JSON, as far as it is finished.
func (c *Client) Tree(ctx context.Context, id string) (raw json.RawMessage, err error) {
	err = c.do(ctx, http.MethodGet, "/v1/sources/"+url.PathEscape(id)+"/tree", nil, "", func(r io.Reader) error {
		raw, err = io.ReadAll(r)
		return err
	})
	return raw, err
}

// ReadTree is a source's tree, as far as it is finished.
func (c *Client) ReadTree(ctx context.Context, id string) (*tree.Tree, error) {
	raw, err := c.Tree(ctx, id)
	if err != nil {
		return nil, err
	}
	t := new(tree.Tree)
	if err := json.Unmarshal(raw, t); err != nil {
		return nil, fmt.Errorf("the tree of %s cannot be read: %w", id, err)
	}
	return t, nil
}

// Export writes a source in a format.
func (c *Client) Export(ctx context.Context, id, format string, w io.Writer) error {
	return c.download(ctx, "/v1/sources/"+url.PathEscape(id)+"/export?format="+url.QueryEscape(format), w)
}

// ExportClip writes parts of a source's medium as an MP4 file, all of it where
// none are named; exact begins and ends at their times.
func (c *Client) ExportClip(ctx context.Context, id string, parts []tree.Span, exact bool, w io.Writer) error {
	q := url.Values{"format": {"clip"}}
	var list []string
	for _, p := range parts {
		list = append(list, fmt.Sprintf("%d-%d", p.StartMS, p.EndMS))
	}
	if len(list) > 0 {
		q.Set("parts", strings.Join(list, ","))
	}
	if exact {
		q.Set("exact", "1")
	}
	return c.download(ctx, "/v1/sources/"+url.PathEscape(id)+"/export?"+q.Encode(), w)
}

// ExportAnswer writes a finished answer in a format; query holds further wishes
// of the format: source, concat, exact.
func (c *Client) ExportAnswer(ctx context.Context, stream, format string, query url.Values, w io.Writer) error {
	q := url.Values{"format": {format}}
	maps.Copy(q, query)
	return c.download(ctx, "/v1/answers/"+url.PathEscape(stream)+"/export?"+q.Encode(), w)
}

func (c *Client) download(ctx context.Context, path string, w io.Writer) error {
	return c.do(ctx, http.MethodGet, path, nil, "", func(r io.Reader) error {
		_, err := io.Copy(w, r)
		return err
	})
}

// Delete removes a source with everything made of it.
func (c *Client) Delete(ctx context.Context, id string) error {
	return c.do(ctx, http.MethodDelete, "/v1/sources/"+url.PathEscape(id), nil, "", nil)
}

// Import stores a tree file.
func (c *Client) Import(ctx context.Context, r io.Reader) (src tree.Source, err error) {
	err = c.do(ctx, http.MethodPost, "/v1/import", r, "application/json", into(&src))
	return src, err
}

// Jobs lists the ingest jobs.
func (c *Client) Jobs(ctx context.Context) ([]tree.Job, error) {
	var out struct{ Jobs []tree.Job }
	err := c.do(ctx, http.MethodGet, "/v1/jobs", nil, "", into(&out))
	return out.Jobs, err
}

// Job is one ingest job.
func (c *Client) Job(ctx context.Context, id string) (job tree.Job, err error) {
	err = c.do(ctx, http.MethodGet, "/v1/jobs/"+url.PathEscape(id), nil, "", into(&job))
	return job, err
}

// Act cancels, pauses, resumes or retries a job.
func (c *Client) Act(ctx context.Context, id, action string, maxCalls, maxTokens int) (job tree.Job, err error) {
	body, err := json.Marshal(map[string]any{"action": action, "max_calls": maxCalls, "max_tokens": maxTokens})
	if err != nil {
		return job, err
	}
	err = c.do(ctx, http.MethodPost, "/v1/jobs/"+url.PathEscape(id), bytes.NewReader(body), "application/json", into(&job))
	return job, err
}

// Quote is what ingesting a stored source would cost, as JSON.
func (c *Client) Quote(ctx context.Context, source string, opt tree.IngestOptions) (raw json.RawMessage, err error) {
	body, err := json.Marshal(map[string]any{"source": source, "options": opt})
	if err != nil {
		return nil, err
	}
	err = c.do(ctx, http.MethodPost, "/v1/quotes", bytes.NewReader(body), "application/json", into(&raw))
	return raw, err
}

// Accepted is an ingest that was taken in; Stream gives its progress.
type Accepted struct{ Source, Job, Stream string }

// UploadOptions of an ingest.
type UploadOptions struct {
	Collection    string
	SubtitlesName string // of a sidecar file; empty: none
	Subtitles     []byte
	Options       tree.IngestOptions
}

// Upload sends a file without holding it in memory.
func (c *Client) Upload(ctx context.Context, name string, content io.Reader, opt UploadOptions) (out Accepted, err error) {
	err = c.send(ctx, "/v1/sources", name, content, opt, into(&out))
	return out, err
}

// QuoteFile is what ingesting a file would cost, as JSON; the service keeps
// nothing of it.
func (c *Client) QuoteFile(ctx context.Context, name string, content io.Reader, opt UploadOptions) (raw json.RawMessage, err error) {
	err = c.send(ctx, "/v1/quotes", name, content, opt, into(&raw))
	return raw, err
}

// QuoteURL is what ingesting what is at an address would cost, as JSON; the
// service downloads it to see and keeps nothing.
func (c *Client) QuoteURL(ctx context.Context, address string, opt tree.IngestOptions) (raw json.RawMessage, err error) {
	body, err := json.Marshal(map[string]any{"url": address, "options": opt})
	if err != nil {
		return nil, err
	}
	err = c.do(ctx, http.MethodPost, "/v1/quotes", bytes.NewReader(body), "application/json", into(&raw))
	return raw, err
}

// send posts a file as a form.
func (c *Client) send(ctx context.Context, path, name string, content io.Reader, opt UploadOptions, read func(io.Reader) error) error {
	pr, pw := io.Pipe()
	form := multipart.NewWriter(pw)
	done := make(chan struct{})
	go func() {
		defer close(done)
		pw.CloseWithError(writeForm(form, name, content, opt))
	}()
	err := c.do(ctx, http.MethodPost, path, pr, form.FormDataContentType(), read)
	_ = pr.Close() // lets the writer end when the service refused early
	<-done
	return err
}

// oneLine replaces the control characters of a file name, line breaks above all,
// which a form would spell out as %0A.
func oneLine(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, name)
}

func writeForm(form *multipart.Writer, name string, content io.Reader, opt UploadOptions) error {
	options, err := json.Marshal(opt.Options)
	if err != nil {
		return err
	}
	if err := form.WriteField("options", string(options)); err != nil {
		return err
	}
	if err := form.WriteField("collection", opt.Collection); err != nil {
		return err
	}
	if opt.Subtitles != nil {
		part, err := form.CreateFormFile("subtitles", oneLine(opt.SubtitlesName))
		if err == nil {
			_, err = part.Write(opt.Subtitles)
		}
		if err != nil {
			return err
		}
	}
	part, err := form.CreateFormFile("file", oneLine(name))
	if err == nil {
		_, err = io.Copy(part, content)
	}
	if err != nil {
		return err
	}
	return form.Close()
}

// IngestURL lets the service fetch and ingest an address.
func (c *Client) IngestURL(ctx context.Context, address string, opt UploadOptions) (out Accepted, err error) {
	body, err := json.Marshal(map[string]any{"url": address, "collection": opt.Collection, "options": opt.Options})
	if err != nil {
		return out, err
	}
	err = c.do(ctx, http.MethodPost, "/v1/sources", bytes.NewReader(body), "application/json", into(&out))
	return out, err
}
