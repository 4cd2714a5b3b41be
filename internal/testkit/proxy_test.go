package testkit

import (
	"crypto/tls"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"
)

// through is a client behind p that trusts its authority.
func through(t *testing.T, p *Proxy) *http.Client {
	t.Helper()
	at, err := url.Parse(p.URL)
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{Proxy: http.ProxyURL(at), TLSClientConfig: &tls.Config{RootCAs: p.CA.Pool()}}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

func fetch(c *http.Client, address string) (string, error) {
	resp, err := c.Get(address) //nolint:noctx // a test of the peer itself
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return fmt.Sprint(resp.StatusCode, " ", string(b)), err
}

// TestProxyEndsTLS: sites of several hosts, over TLS and without, each seeing
// its own host; others are not reached, and who does not trust the authority
// gets nothing.
func TestProxyEndsTLS(t *testing.T) {
	p := NewProxy(t, func(host string) http.Handler {
		if !strings.HasSuffix(host, ".test") {
			return nil
		}
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = fmt.Fprint(w, host, " ", r.Host, r.URL.Path) })
	})
	c := through(t, p)
	for address, want := range map[string]string{
		"https://a.test/x": "200 a.test a.test/x", "https://B.test:8443/y": "200 b.test B.test:8443/y", "http://c.test/z": "200 c.test c.test/z",
		"http://d.example/": "502 no such host\n",
	} {
		if got, err := fetch(c, address); err != nil || got != want {
			t.Errorf("%s: %q, %v", address, got, err)
		}
	}
	if got, err := fetch(c, "https://d.example/"); err == nil {
		t.Errorf("a host that is not there: %q", got)
	}
	stranger := through(t, p)
	stranger.Transport.(*http.Transport).TLSClientConfig = nil
	var untrusted *tls.CertificateVerificationError
	if got, err := fetch(stranger, "https://a.test/x"); !errors.As(err, &untrusted) {
		t.Errorf("a stranger gets %q, %v", got, err)
	}
	if asked := p.Asked(); !slices.Contains(asked, "CONNECT a.test:443") || !slices.Contains(asked, "GET http://c.test/z") {
		t.Errorf("asked %q", asked)
	}
}

func TestProxyRefuses(t *testing.T) {
	p := NewProxy(t, func(string) http.Handler { return http.NotFoundHandler() })
	c := through(t, p)
	p.Require("Basic x")
	if got, err := fetch(c, "http://a.test/"); err != nil || !strings.HasPrefix(got, "407 ") {
		t.Errorf("without a password: %q, %v", got, err)
	}
	p.Require("")
	p.Refuse(403)
	if got, err := fetch(c, "http://a.test/"); err != nil || !strings.HasPrefix(got, "403 ") {
		t.Errorf("refusing: %q, %v", got, err)
	}
	p.Refuse(0)
	if got, err := fetch(c, "https://a.test/"); err != nil || !strings.HasPrefix(got, "404 ") {
		t.Errorf("open again: %q, %v", got, err)
	}
}

func TestAuthorityFile(t *testing.T) {
	a, err := NewAuthority()
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(a.File(t))
	if block, _ := pem.Decode(data); err != nil || block == nil || block.Type != "CERTIFICATE" || string(block.Bytes) != string(a.cert.Raw) {
		t.Errorf("%s, %v", data, err)
	}
}

// TestYouTubeAnswersBehindItsProxy: both hosts, nothing else; a stalled reply
// does not keep the test from ending.
func TestYouTubeAnswersBehindItsProxy(t *testing.T) {
	y := NewYouTube(t, Video{ID: "aaaaaaaaaaa", Title: "A film", Seconds: 3, Media: []byte("0123456789")}, Video{ID: "bbbbbbbbbbb", Mode: "stall"})
	c := through(t, y.Proxy)
	for address, want := range map[string]string{
		"https://rr1---sn-scripted.googlevideo.com/videoplayback?id=aaaaaaaaaaa&range=2-4": "200 234",
		"https://www.youtube.com/embed/aaaaaaaaaaa":                                        `200 <html><script src="/s/player/good0000/player_ias.vflset/en_US/base.js"></script></html>`,
		"https://www.youtube.com/nothing":                                                  "404 404 page not found\n",
	} {
		if got, err := fetch(c, address); err != nil || got != want {
			t.Errorf("%s: %q, %v", address, got, err)
		}
	}
	if _, err := fetch(c, "https://elsewhere.test/"); err == nil {
		t.Error("another host was reached")
	}
	stalled, err := c.Get("https://rr1---sn-scripted.googlevideo.com/videoplayback?id=bbbbbbbbbbb") //nolint:noctx // ends with the test
	if err != nil {
		t.Fatal(err)
	}
	_ = stalled.Body.Close()
	if asked := y.Asked(); !slices.Contains(asked, "GET www.youtube.com/nothing") {
		t.Errorf("asked %q", asked)
	}
}
