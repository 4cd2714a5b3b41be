package ingest

import (
	"fmt"
	"net/netip"
	"syscall"
)

// guard decides which addresses may be connected to. It is asked by the
// dialler's Control hook with the address of the real socket, after every
// spelling, redirect and name resolution: there is no later lookup that could
// answer differently.
type guard struct {
	allow []netip.Prefix // exceptions, for services of the operator's own network
}

// errGuard is the refusal of an address.
type errGuard struct{ addr netip.Addr }

func (e *errGuard) Error() string {
	return fmt.Sprintf("it leads to %s, which is not a public address", e.addr)
}

// refusedV4 are the ranges of RFC 6890 and its successors that are not public:
// this network, private, shared (CGNAT), loopback, link-local with the
// metadata service, protocol assignments, documentation, 6to4 relays,
// benchmarks, multicast, reserved and broadcast.
var refusedV4 = prefixes(
	"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12",
	"192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15",
	"198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
)

// refusedV6 are ranges inside the global unicast block 2000::/3 that are not
// public or that carry another address which nobody here could check: protocol
// assignments with Teredo, documentation, 6to4. Everything outside the block
// (loopback, link-local, unique local, multicast, mapped) is refused anyway.
var refusedV6 = prefixes("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20")

var (
	globalV6 = netip.MustParsePrefix("2000::/3")
	nat64    = netip.MustParsePrefix("64:ff9b::/96")
)

func prefixes(list ...string) []netip.Prefix {
	out := make([]netip.Prefix, len(list))
	for i, s := range list {
		out[i] = netip.MustParsePrefix(s)
	}
	return out
}

// check is nil for a public address and for an allowed one.
func (g guard) check(addr netip.Addr) error {
	plain := addr.Unmap().WithZone("")
	if within(g.allow, plain) {
		return nil
	}
	public := plain
	if nat64.Contains(plain) { // the gateway goes on to the IPv4 address inside
		b := plain.As16()
		public = netip.AddrFrom4([4]byte(b[12:]))
		if within(g.allow, public) {
			return nil
		}
	}
	switch {
	case !addr.IsValid() || addr.Zone() != "":
	case public.Is4() && !within(refusedV4, public):
		return nil
	case public.Is6() && globalV6.Contains(public) && !within(refusedV6, public):
		return nil
	}
	return &errGuard{addr}
}

func within(list []netip.Prefix, addr netip.Addr) bool {
	for _, p := range list {
		if p.Contains(addr) {
			return true
		}
	}
	return false
}

// control is the dialler's hook: the last moment before the socket connects.
func (g guard) control(network, address string, _ syscall.RawConn) error {
	if network != "tcp4" && network != "tcp6" {
		return fmt.Errorf("network %q is not used here", network)
	}
	to, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("socket address %q: %w", address, err)
	}
	return g.check(to.Addr())
}
