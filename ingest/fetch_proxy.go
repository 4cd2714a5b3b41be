package ingest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode"

	"golang.org/x/net/idna"
)

// lookupWait is how long a name is looked up before it is left to the proxy.
const lookupWait = 3 * time.Second

// outbound is the proxy the operator named. The socket then leads to the
// proxy, so the guard of the dialler cannot see the target; the target is
// checked here instead, before every request. A name that is not known here is
// left to the proxy, whose own rules then decide: that is what a network
// without names of its own needs, and the price is that its private names are
// the proxy's business.
type outbound struct {
	at       *url.URL
	guard    guard
	resolver *net.Resolver // nil = the system's
	dialer   *net.Dialer   // without guard: the proxy may be private, since the operator named it
}

// newOutbound reads http[s]://[NAME:PASSWORD@]HOST:PORT.
func newOutbound(c FetchConfig) (*outbound, error) {
	at, err := url.Parse(c.Proxy)
	if err != nil || (at.Scheme != "http" && at.Scheme != "https") || at.Hostname() == "" || strings.Trim(at.Path, "/") != "" {
		return nil, unfetchable("the proxy setting is not of the form http://HOST:PORT; correct --proxy")
	}
	at.Path = ""
	return &outbound{at: at, guard: guard{c.Allow}, resolver: c.Resolver, dialer: &net.Dialer{Timeout: c.Connect, Resolver: c.Resolver}}, nil
}

// through makes a transport go through the proxy: https by CONNECT, so that
// the proxy sees the host alone, and http as a request to the proxy.
func (o *outbound) through(t *http.Transport) {
	t.Proxy = o.route
	t.DialContext = o.dial
	t.OnProxyConnectResponse = o.answered
}

// route is the proxy for a request whose target may be asked for.
func (o *outbound) route(req *http.Request) (*url.URL, error) {
	if err := o.check(req.Context(), req.URL.Hostname()); err != nil {
		return nil, err
	}
	return o.at, nil
}

// check refuses hosts that are, are spelled like, or resolve here to addresses
// that are not public.
func (o *outbound) check(ctx context.Context, host string) error {
	name, err := idna.Lookup.ToASCII(strings.TrimRight(host, "."))
	if err != nil {
		name = strings.TrimRight(host, ".") // an IPv6 address, or a name with an underscore
		if strings.ContainsFunc(name, func(r rune) bool { return r > unicode.MaxASCII }) {
			return unfetchable("%s is not fetched: it is not a host name; check the address", oneLine(host, 80))
		}
	}
	name = strings.ToLower(strings.TrimRight(name, "."))
	if addr, err := netip.ParseAddr(name); err == nil {
		return o.guard.check(addr)
	}
	labels := strings.Split(name, ".")
	last := labels[len(labels)-1]
	switch {
	case last == "localhost":
		return o.guard.check(netip.AddrFrom4([4]byte{127, 0, 0, 1}))
	case isNumber(last): // 127.1, 0x7f000001: a proxy may read them as an address
		return unfetchable("%s is not fetched: it is a short spelling of an address; write all four numbers", oneLine(host, 80))
	}
	ctx, cancel := context.WithTimeout(ctx, min(lookupWait, o.dialer.Timeout))
	defer cancel()
	resolver := o.resolver
	if resolver == nil {
		resolver = net.DefaultResolver
	}
	addrs, err := resolver.LookupNetIP(ctx, "ip", name)
	if err != nil {
		return nil // not known here: the proxy's own resolver and rules decide
	}
	for _, addr := range addrs { // all of them, since the proxy may take any
		if err := o.guard.check(addr); err != nil {
			return err
		}
	}
	return nil
}

// isNumber tells labels that resolvers of C libraries read as numbers.
func isNumber(label string) bool {
	_, err := strconv.ParseUint(label, 0, 64)
	_, plain := strconv.ParseUint(label, 10, 64)
	return err == nil || plain == nil || errors.Is(err, strconv.ErrRange)
}

// dial connects to the proxy; nothing else is dialled.
func (o *outbound) dial(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := o.dialer.DialContext(ctx, network, address)
	if err != nil && ctx.Err() == nil {
		return nil, fetchLater(err, "the proxy %s cannot be reached; check --proxy", o.at.Host)
	}
	return conn, err
}

// answered explains a proxy that does not open a tunnel.
func (o *outbound) answered(_ context.Context, _ *url.URL, req *http.Request, resp *http.Response) error {
	if resp.StatusCode == http.StatusOK {
		return nil
	}
	return o.refusal(req.Host, resp.StatusCode)
}

func (o *outbound) refusal(target string, status int) *FetchError {
	host, _, err := net.SplitHostPort(target)
	if err != nil {
		host = target
	}
	switch {
	case status == http.StatusProxyAuthRequired:
		return unfetchable("the proxy %s asks for a name and a password; put them into --proxy as http://NAME:PASSWORD@HOST:PORT", o.at.Host)
	case status >= 500:
		return fetchLater(fmt.Errorf("proxy status %d", status), "the proxy %s cannot reach %s (status %d); check the address or try again later", o.at.Host, host, status)
	}
	return unfetchable("the proxy %s does not let this service reach %s (status %d); ask its operator", o.at.Host, host, status)
}
