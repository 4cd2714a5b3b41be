package ingest

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"
)

// canary is a listener on loopback that counts connections.
type canary struct {
	port string
	seen atomic.Int64
}

func newCanary(t *testing.T) *canary {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := &canary{}
	_, c.port, _ = net.SplitHostPort(l.Addr().String())
	listeners := []net.Listener{l}
	if l6, err := net.Listen("tcp", "[::1]:"+c.port); err == nil {
		listeners = append(listeners, l6)
	}
	done := make(chan struct{}, len(listeners))
	for _, l := range listeners {
		go func() {
			defer func() { done <- struct{}{} }()
			for {
				conn, err := l.Accept()
				if err != nil {
					return
				}
				c.seen.Add(1)
				_, _ = conn.Read(make([]byte, 4096))
				_, _ = conn.Write([]byte("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi"))
				_ = conn.Close()
			}
		}()
	}
	t.Cleanup(func() {
		for _, l := range listeners {
			_ = l.Close()
			<-done
		}
	})
	return c
}

// fakeDNS answers every question with the next of its answers, the last for
// ever: a resolver of the worst kind.
func fakeDNS(tb testing.TB, answers ...string) *net.Resolver {
	tb.Helper()
	pc, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		buf := make([]byte, 1500)
		for asked := 0; ; {
			n, from, err := pc.ReadFrom(buf)
			if err != nil {
				return
			}
			var m dnsmessage.Message
			if m.Unpack(buf[:n]) != nil || len(m.Questions) != 1 {
				continue
			}
			m.Response, m.Authoritative, m.Additionals = true, true, nil
			addr := netip.MustParseAddr(answers[min(asked, len(answers)-1)])
			q := m.Questions[0]
			head := dnsmessage.ResourceHeader{Name: q.Name, Class: dnsmessage.ClassINET, TTL: 0}
			switch {
			case q.Type == dnsmessage.TypeA && addr.Is4():
				m.Answers = []dnsmessage.Resource{{Header: head, Body: &dnsmessage.AResource{A: addr.As4()}}}
				asked++
			case q.Type == dnsmessage.TypeAAAA && addr.Is6():
				m.Answers = []dnsmessage.Resource{{Header: head, Body: &dnsmessage.AAAAResource{AAAA: addr.As16()}}}
				asked++
			}
			if b, err := m.Pack(); err == nil {
				_, _ = pc.WriteTo(b, from)
			}
		}
	}()
	tb.Cleanup(func() { _ = pc.Close(); <-done })
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "udp", pc.LocalAddr().String())
	}}
}

func newFetcher(tb testing.TB, c FetchConfig) *Fetcher {
	tb.Helper()
	if c.Connect == 0 {
		c.Connect = 2 * time.Second
	}
	f, err := NewFetcher(c)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(f.Close)
	return f
}

// hostSpellings all lead to addresses that are not public, some through a
// resolver that gives 127.0.0.1 for every name.
var hostSpellings = []string{
	"127.0.0.1", "127.0.0.2", "127.1", "127.0.1", "127.255.255.254", "0", "0.0.0.0", "0.0.0.1", "localhost", "LOCALHOST", "localhost.",
	"localhost.localdomain", "a.localhost", "2130706433", "0x7f000001", "0x7f.1", "0x7f.0.0.1", "0177.0.0.1", "0177.1", "017700000001",
	"127.0.0.1.", "127.000.000.001", "00000127.0.0.1", "1", "any.example.test", "127.0.0.1.nip.example", "①②⑦.⓪.⓪.①", "１２７.０.０.１", "127。0。0。1",
	"ⓛⓞⓒⓐⓛⓗⓞⓢⓣ", "10.0.0.1", "10.255.255.255", "172.16.0.1", "172.31.255.255", "192.168.0.1", "192.168.1.1.", "100.64.0.1", "100.127.255.255",
	"169.254.169.254", "169.254.0.1", "0xa9fea9fe", "2852039166", "192.0.0.192", "192.0.2.1", "198.18.0.1", "198.51.100.1", "203.0.113.1",
	"224.0.0.1", "239.255.255.250", "240.0.0.1", "255.255.255.255",
	"[::1]", "[::]", "[0:0:0:0:0:0:0:1]", "[::0001]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::ffff:10.0.0.1]", "[::ffff:169.254.169.254]",
	"[::127.0.0.1]", "[64:ff9b::127.0.0.1]", "[64:ff9b::7f00:1]", "[64:ff9b::a9fe:a9fe]", "[64:ff9b:1::7f00:1]", "[fd00:ec2::254]", "[fc00::1]", "[fdff::1]",
	"[fe80::1]", "[fe80::1%25lo]", "[fec0::1]", "[ff02::1]", "[2001:db8::1]", "[2002:7f00:1::]", "[2001::7f00:1]", "[100::1]", "[::1%25lo]",
}

// TestNoPrivateAddressIsReached: 70 spellings, none of them connects.
func TestNoPrivateAddressIsReached(t *testing.T) {
	c := newCanary(t)
	f := newFetcher(t, FetchConfig{Resolver: fakeDNS(t, "127.0.0.1")})
	if len(hostSpellings) < 60 {
		t.Fatalf("only %d spellings", len(hostSpellings))
	}
	for _, host := range hostSpellings {
		for _, format := range []string{"http://%/x", "http://user@%/x", "http://example.com@%/x"} {
			address := strings.Replace(format, "%", host+":"+c.port, 1)
			var out strings.Builder
			_, err := f.Fetch(t.Context(), address, FetchOptions{}, &out, nil)
			var named *FetchError
			if !errors.As(err, &named) || out.Len() > 0 {
				t.Errorf("%s: error %v, %d bytes", address, err, out.Len())
			}
		}
	}
	if n := c.seen.Load(); n != 0 {
		t.Errorf("the canary saw %d connections", n)
	}
}

// TestCanaryIsReachable proves the test above: with an exception it connects.
func TestCanaryIsReachable(t *testing.T) {
	c := newCanary(t)
	f := newFetcher(t, FetchConfig{
		Allow:    []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")},
		Resolver: fakeDNS(t, "127.0.0.1"),
	})
	for _, host := range []string{"127.0.0.1", "any.example.test", "[::ffff:127.0.0.1]"} {
		if _, err := f.Fetch(t.Context(), "http://"+host+":"+c.port+"/x", FetchOptions{}, &strings.Builder{}, nil); err != nil {
			t.Errorf("%s: %v", host, err)
		}
	}
	if n := c.seen.Load(); n != 3 {
		t.Errorf("the canary saw %d connections", n)
	}
	if _, err := f.Fetch(t.Context(), "http://10.0.0.1:"+c.port, FetchOptions{}, &strings.Builder{}, nil); err == nil {
		t.Error("an exception for one range opened another")
	}
}

// TestResolverThatChangesItsMind: whatever it says later, the socket's own
// address decides.
func TestResolverThatChangesItsMind(t *testing.T) {
	c := newCanary(t)
	f := newFetcher(t, FetchConfig{Resolver: fakeDNS(t, "192.0.2.7", "127.0.0.1", "192.0.2.7", "127.0.0.1")})
	for range 4 {
		_, err := f.Fetch(t.Context(), "http://rebind.example.test:"+c.port+"/", FetchOptions{}, &strings.Builder{}, nil)
		if _, ok := errors.AsType[*errGuard](err); !ok {
			t.Errorf("error %v", err)
		}
	}
	if n := c.seen.Load(); n != 0 {
		t.Errorf("the canary saw %d connections", n)
	}
}

func TestGuardAllowsPublicAddresses(t *testing.T) {
	for _, s := range []string{
		"8.8.8.8", "1.1.1.1", "93.184.216.34", "100.63.255.255", "100.128.0.1", "172.15.0.1", "172.32.0.1", "192.0.1.1",
		"11.0.0.1", "126.255.255.255", "128.0.0.1", "223.255.255.255", "2606:4700::1111", "2a00:1450::1", "::ffff:8.8.8.8", "64:ff9b::808:808",
	} {
		if err := (guard{}).check(netip.MustParseAddr(s)); err != nil {
			t.Errorf("%s: %v", s, err)
		}
	}
	for _, network := range []string{"udp4", "unix", ""} {
		if (guard{}).control(network, "8.8.8.8:80", nil) == nil {
			t.Errorf("network %q was allowed", network)
		}
	}
	for _, address := range []string{"", "8.8.8.8", "host:80"} {
		if (guard{}).control("tcp4", address, nil) == nil {
			t.Errorf("address %q was allowed", address)
		}
	}
}

// FuzzGuard: whatever passes is public by the standard library's own words.
func FuzzGuard(f *testing.F) {
	for _, s := range []string{"127.0.0.1", "8.8.8.8", "::ffff:10.0.0.1", "64:ff9b::7f00:1", "fe80::1%lo", "2606:4700::1"} {
		addr := netip.MustParseAddr(s)
		f.Add(addr.AsSlice(), addr.Zone())
	}
	f.Fuzz(func(t *testing.T, raw []byte, zone string) {
		addr, ok := netip.AddrFromSlice(raw)
		if !ok {
			return
		}
		addr = addr.WithZone(zone)
		if (guard{}).check(addr) != nil {
			return
		}
		inner := addr.Unmap()
		if b := inner.As16(); strings.HasPrefix(string(b[:]), "\x00\x64\xff\x9b") {
			inner = netip.AddrFrom4([4]byte(b[12:]))
		}
		if !inner.IsGlobalUnicast() || inner.IsPrivate() || inner.Zone() != "" || inner.Is4() && inner.As4()[0] == 0 {
			t.Fatalf("%s (%s) passed", addr, inner)
		}
	})
}
