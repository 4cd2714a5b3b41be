package testkit

import (
	"crypto/tls"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// Proxy is a CONNECT proxy that leads nowhere: it ends TLS itself, with
// certificates of its own authority, and answers for the hosts it was given.
// So a product can be led to a scripted site by settings alone: its proxy, and
// an authority to trust (SSL_CERT_FILE).
type Proxy struct {
	URL string
	CA  *Authority

	server *http.Server // speaks the proxy's own protocol
	site   *http.Server // speaks inside the tunnels
	tunnel *handOver
	served sync.WaitGroup
	hosts  func(host string) http.Handler

	mu     sync.Mutex
	asked  []string
	auth   string
	refuse int
}

// NewProxy starts a proxy on loopback that is closed with the test. hosts
// gives the site of a host (lower case, without port), nil for a host it does
// not reach: then the answer is status 502.
func NewProxy(tb testing.TB, hosts func(host string) http.Handler) *Proxy {
	tb.Helper()
	p, err := startProxy("127.0.0.1:0", hosts)
	if err != nil {
		tb.Fatalf("scripted proxy: %v", err)
	}
	tb.Cleanup(p.Close)
	return p
}

func startProxy(addr string, hosts func(host string) http.Handler) (*Proxy, error) {
	ca, err := NewAuthority()
	if err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, err
	}
	p := &Proxy{URL: "http://" + l.Addr().String(), CA: ca, hosts: hosts, tunnel: newHandOver(l.Addr())}
	p.server = &http.Server{Handler: http.HandlerFunc(p.serve), ReadHeaderTimeout: 10 * time.Second}
	p.site = &http.Server{ReadHeaderTimeout: 10 * time.Second, Handler: http.HandlerFunc(p.inside), ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug)}
	p.served.Go(func() { _ = p.server.Serve(l) })      // ends with Close
	p.served.Go(func() { _ = p.site.Serve(p.tunnel) }) // ends with Close
	return p, nil
}

// Require makes the proxy ask for this Proxy-Authorization header.
func (p *Proxy) Require(header string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.auth = header
}

// Refuse makes the proxy answer everything with a status; 0 ends that.
func (p *Proxy) Refuse(status int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.refuse = status
}

// Asked lists what the proxy was asked for, "CONNECT HOST:PORT" or
// "GET http://HOST/PATH", in order.
func (p *Proxy) Asked() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.asked...)
}

// Close ends all connections and waits for the servers.
func (p *Proxy) Close() {
	_ = p.server.Close()
	_ = p.site.Close()
	_ = p.tunnel.Close()
	p.served.Wait()
}

// serve answers a client of the proxy.
func (p *Proxy) serve(w http.ResponseWriter, r *http.Request) {
	host := r.URL.Hostname()
	if r.Method == http.MethodConnect {
		host, _, _ = net.SplitHostPort(r.Host)
	}
	p.mu.Lock()
	what := r.URL.String()
	if r.Method == http.MethodConnect {
		what = r.Host
	}
	p.asked = append(p.asked, r.Method+" "+what)
	auth, refuse := p.auth, p.refuse
	p.mu.Unlock()
	site := p.hosts(strings.ToLower(host))
	switch {
	case auth != "" && r.Header.Get("Proxy-Authorization") != auth:
		http.Error(w, "who are you?", http.StatusProxyAuthRequired)
	case refuse != 0:
		http.Error(w, "not from here", refuse)
	case site == nil:
		http.Error(w, "no such host", http.StatusBadGateway)
	case r.Method != http.MethodConnect:
		site.ServeHTTP(w, r)
	default:
		p.open(w)
	}
}

// open hands the connection over to the site inside the tunnel.
func (p *Proxy) open(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return // the client went away
	}
	if _, err := conn.Write([]byte("HTTP/1.1 200 Connection established\r\n\r\n")); err != nil {
		_ = conn.Close()
		return
	}
	p.tunnel.give(tls.Server(conn, &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: p.CA.Certificate}))
}

// inside answers a request that came through a tunnel.
func (p *Proxy) inside(w http.ResponseWriter, r *http.Request) {
	host := strings.ToLower(r.Host)
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	if site := p.hosts(host); site != nil {
		site.ServeHTTP(w, r)
		return
	}
	http.Error(w, "no such site", http.StatusMisdirectedRequest)
}

// handOver is a listener whose connections come from elsewhere.
type handOver struct {
	addr  net.Addr
	conns chan net.Conn
	quit  chan struct{}
	once  sync.Once
}

func newHandOver(addr net.Addr) *handOver {
	return &handOver{addr: addr, conns: make(chan net.Conn), quit: make(chan struct{})}
}

func (h *handOver) give(c net.Conn) {
	select {
	case h.conns <- c:
	case <-h.quit:
		_ = c.Close()
	}
}

// Accept implements net.Listener.
func (h *handOver) Accept() (net.Conn, error) {
	select {
	case c := <-h.conns:
		return c, nil
	case <-h.quit:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (h *handOver) Close() error {
	h.once.Do(func() { close(h.quit) })
	return nil
}

// Addr implements net.Listener.
func (h *handOver) Addr() net.Addr { return h.addr }
