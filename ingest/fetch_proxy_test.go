package ingest

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/reeltree/reeltree/internal/testkit"
)

// unknownNames is a resolver that knows no name but those of the hosts file.
var unknownNames = &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
	return nil, errors.New("no name server")
}}

// filmProxy is a proxy that serves one film on every host of example.
func filmProxy(t *testing.T) *testkit.Proxy {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("/film.mp4", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "the film") })
	mux.HandleFunc("/to", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Location", r.URL.Query().Get("u"))
		w.WriteHeader(http.StatusFound)
	})
	return testkit.NewProxy(t, func(host string) http.Handler {
		if strings.HasSuffix(host, ".example") {
			return mux
		}
		return nil
	})
}

// proxied is a fetcher behind p that trusts its authority.
func proxied(t *testing.T, p *testkit.Proxy, c FetchConfig) *Fetcher {
	t.Helper()
	if c.Proxy == "" {
		c.Proxy = p.URL
	}
	if c.Resolver == nil {
		c.Resolver = unknownNames
	}
	f := newFetcher(t, c)
	f.web.TLSClientConfig = &tls.Config{RootCAs: p.CA.Pool()}
	return f
}

func fetchFails(t *testing.T, f *Fetcher, address, words string) *FetchError {
	t.Helper()
	_, err := f.Fetch(t.Context(), address, FetchOptions{}, io.Discard, nil)
	var named *FetchError
	if !errors.As(err, &named) || !strings.Contains(err.Error(), words) || strings.ContainsAny(err.Error(), "\n") {
		t.Fatalf("%s: error %v, want %q", address, err, words)
	}
	return named
}

// TestProxyCarriesBothSchemes: https by CONNECT, http as a request to the
// proxy; the proxy's own address is private and no exception allows it.
func TestProxyCarriesBothSchemes(t *testing.T) {
	p := filmProxy(t)
	f := proxied(t, p, FetchConfig{})
	for _, address := range []string{"https://a.example/film.mp4", "http://b.example/film.mp4", "https://a.example/to?u=http://c.example/film.mp4"} {
		var out bytes.Buffer
		if got, err := f.Fetch(t.Context(), address, FetchOptions{}, &out, nil); err != nil || out.String() != "the film" || got.Name != "film.mp4" {
			t.Errorf("%s: %+v, %q, %v", address, got, out.String(), err)
		}
	}
	want := "CONNECT a.example:443, GET http://b.example/film.mp4, GET http://c.example/film.mp4"
	if got := strings.Join(p.Asked(), ", "); got != want {
		t.Errorf("the proxy was asked for %s", got)
	}
}

// TestProxyIsAskedForNothingPrivate: every spelling is refused before the
// proxy is connected, whatever the names of this network say.
func TestProxyIsAskedForNothingPrivate(t *testing.T) {
	p := filmProxy(t)
	lying := proxied(t, p, FetchConfig{Resolver: fakeDNS(t, "127.0.0.1")})
	for _, host := range append([]string{"any.example", "a_b.example", "08", "1.2.3", "0x.1", "127.0.0.1..", "①②⑦_⓪"}, hostSpellings...) {
		for _, scheme := range []string{"http://", "https://"} {
			fetchFails(t, lying, scheme+host+"/film.mp4", "")
		}
	}
	strict := proxied(t, p, FetchConfig{}) // nothing but literals can be judged here
	for _, host := range []string{"127.0.0.1", "[::1]", "10.0.0.1", "127.1", "2130706433", "0x7f000001", "017700000001", "0x7f.1", "①②⑦.⓪.⓪.①", "localhost", "a.localhost.", "169.254.169.254"} {
		fetchFails(t, strict, "https://"+host+"/film.mp4", "is not fetched")
	}
	fetchFails(t, strict, "http://127.0.0.1/x", "--allow-private")
	if asked := p.Asked(); len(asked) != 0 {
		t.Errorf("the proxy was asked for %v", asked)
	}
	fetchFails(t, strict, "http://a.example/to?u=http://127.0.0.1/x", "not a public address")
	fetchFails(t, strict, "http://a.example/to?u=http://127.1/x", "short spelling")
	if asked := p.Asked(); len(asked) != 2 || !strings.HasPrefix(asked[1], "GET http://a.example/") {
		t.Errorf("the proxy was asked for %v", asked)
	}
}

// TestProxyNames: one private address among several refuses a name; a name
// that is not known here is the proxy's business; an exception opens its range.
func TestProxyNames(t *testing.T) {
	p := filmProxy(t)
	var public, mixed outbound
	for o, answers := range map[*outbound][]string{&public: {"93.184.216.34"}, &mixed: {"93.184.216.34", "2606:4700::1111", "10.0.0.1"}} {
		*o = outbound{resolver: fakeDNS(t, answers...), dialer: &net.Dialer{Timeout: time.Second}}
	}
	if err := public.check(t.Context(), "film.example"); err != nil {
		t.Errorf("a public name: %v", err)
	}
	var seen error
	for range 3 { // the resolver gives one answer after the other
		seen = errors.Join(seen, mixed.check(t.Context(), "film.example"))
	}
	if _, ok := errors.AsType[*errGuard](seen); !ok {
		t.Errorf("a name that also leads to 10.0.0.1: %v", seen)
	}
	fetchFails(t, proxied(t, p, FetchConfig{}), "https://unknown.test/x", "cannot reach unknown.test (status 502)")
	allowed := proxied(t, p, FetchConfig{Allow: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}})
	fetchFails(t, allowed, "https://10.1.2.3/x", "status 502")
	if got := strings.Join(p.Asked(), ", "); got != "CONNECT unknown.test:443, CONNECT 10.1.2.3:443" {
		t.Errorf("the proxy was asked for %s", got)
	}
}

// TestProxyRefusals are sentences about the proxy, never about the target, and
// hold no password.
func TestProxyRefusals(t *testing.T) {
	p := filmProxy(t)
	p.Require("Basic " + base64.StdEncoding.EncodeToString([]byte("ada:canary")))
	for _, scheme := range []string{"https", "http"} {
		fetchFails(t, proxied(t, p, FetchConfig{}), scheme+"://a.example/film.mp4", "asks for a name and a password")
	}
	named := proxied(t, p, FetchConfig{Proxy: strings.Replace(p.URL, "//", "//ada:canary@", 1)})
	for _, scheme := range []string{"https", "http"} {
		if _, err := named.Fetch(t.Context(), scheme+"://a.example/film.mp4", FetchOptions{}, io.Discard, nil); err != nil {
			t.Errorf("with a name and a password: %v", err)
		}
	}
	for status, words := range map[int]string{403: "does not let this service reach b.example", 503: "cannot reach b.example (status 503)"} {
		p.Refuse(status)
		got := fetchFails(t, named, "https://b.example/film.mp4", words)
		if got.Retry != (status == 503) || strings.Contains(got.Error(), "canary") {
			t.Errorf("status %d: retry %v, %v", status, got.Retry, got)
		}
	}
	p.Close()
	if got := fetchFails(t, named, "https://b.example/film.mp4", "cannot be reached; check --proxy"); !got.Retry || strings.Contains(got.Error(), "canary") {
		t.Errorf("a proxy that is gone: %v", got)
	}
}

func TestProxySetting(t *testing.T) {
	for _, setting := range []string{"nonsense", "ftp://h:1", "http://", "socks5://h:1", "http://h:1/path", "http://h:bad"} {
		if _, err := NewFetcher(FetchConfig{Proxy: setting}); err == nil || !strings.Contains(err.Error(), "--proxy") {
			t.Errorf("%q: %v", setting, err)
		}
	}
	for _, setting := range []string{"http://h:1", "https://h", "http://[fd00::1]:3128/"} {
		if _, err := NewFetcher(FetchConfig{Proxy: setting}); err != nil {
			t.Errorf("%q: %v", setting, err)
		}
	}
}

// TestProxyTunnelEndsWithTheCaller: a cancel is the caller's own, no refusal.
func TestProxyTunnelEndsWithTheCaller(t *testing.T) {
	p := filmProxy(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := proxied(t, p, FetchConfig{}).Fetch(ctx, "https://a.example/film.mp4", FetchOptions{}, io.Discard, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}
