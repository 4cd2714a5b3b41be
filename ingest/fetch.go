package ingest

import (
	"cmp"
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"time"

	"github.com/reeltree/reeltree/tree"
)

// FetchConfig limits what is fetched from the network.
type FetchConfig struct {
	Allow    []netip.Prefix // addresses that may be connected to although they are not public; nil = none
	MaxBytes int64          // of one file; 0 = 20 GiB
	Connect  time.Duration  // until a connection stands; 0 = 10 s
	Stall    time.Duration  // without a single byte; 0 = 30 s
	Total    time.Duration  // one source; 0 = 4 h

	// Proxy is the operator's own proxy, http[s]://[NAME:PASSWORD@]HOST:PORT;
	// empty = connect directly. The proxy variables of the environment are
	// never read.
	Proxy string

	Resolver *net.Resolver // nil = the system's
	Log      *slog.Logger  // nil: silent
}

// FetchOptions are the wishes for one source.
type FetchOptions struct {
	Language string // of the captions, BCP 47; empty = the uploader's first, else automatic ones
}

// Fetched is what came with the bytes.
type Fetched struct {
	URL        string // where the bytes came from after redirects, without its query
	Name       string // a file name for people; never used as a path
	Title      string
	Author     string
	MIME       string // as the server says
	DurationMS int64  // as the server says, 0 = not said
	Bytes      int64
	Captions   []tree.Cue
	Language   string   // of the captions
	Warnings   []string // one sentence each
}

// FetchProgress is told how many bytes are there; total is 0 while unknown.
type FetchProgress func(done, total int64)

// Fetcher gets sources from the network. Everything it does goes through one
// transport that refuses addresses that are not public: in its dialler, or,
// where a proxy connects for it, before each request. It never uses
// http.DefaultClient. Safe for concurrent use.
type Fetcher struct {
	cfg   FetchConfig
	web   *http.Transport
	proxy *outbound // nil: connections are direct
}

// NewFetcher prepares a fetcher; it opens no connection.
func NewFetcher(c FetchConfig) (*Fetcher, error) {
	c.MaxBytes = cmp.Or(c.MaxBytes, 20<<30)
	c.Connect = cmp.Or(c.Connect, 10*time.Second)
	c.Stall = cmp.Or(c.Stall, 30*time.Second)
	c.Total = cmp.Or(c.Total, 4*time.Hour)
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	dialer := &net.Dialer{Timeout: c.Connect, Resolver: c.Resolver, Control: guard{c.Allow}.control}
	f := &Fetcher{cfg: c, web: &http.Transport{
		Proxy:                  nil, // not that of the environment: it would connect for us, past the guard
		DialContext:            dialer.DialContext,
		TLSHandshakeTimeout:    c.Connect,
		ResponseHeaderTimeout:  c.Stall,
		MaxResponseHeaderBytes: 64 << 10,
		IdleConnTimeout:        30 * time.Second,
		DisableCompression:     true, // files are taken as they are, replies cannot unpack to gigabytes
		ForceAttemptHTTP2:      true,
	}}
	if c.Proxy != "" {
		var err error
		if f.proxy, err = newOutbound(c); err != nil {
			return nil, err
		}
		f.proxy.through(f.web)
	}
	return f, nil
}

// Close drops idle connections.
func (f *Fetcher) Close() { f.web.CloseIdleConnections() }

// Fetch writes the bytes of an address to w: a video of YouTube, or whatever
// an http or https address gives. progress may be nil. On an error w holds a
// part at most, which the caller throws away.
func (f *Fetcher) Fetch(ctx context.Context, address string, opt FetchOptions, w io.Writer, progress FetchProgress) (Fetched, error) {
	ctx, cancel := context.WithTimeout(ctx, f.cfg.Total)
	defer cancel()
	if progress == nil {
		progress = func(int64, int64) {}
	}
	u, err := parseAddress(address)
	if err != nil {
		return Fetched{}, err
	}
	if isYouTube(u) {
		id, err := youTubeID(u)
		if err != nil {
			return Fetched{}, err
		}
		return f.fetchYouTube(ctx, id, opt, w, progress)
	}
	return f.fetchHTTP(ctx, u, w, progress)
}
