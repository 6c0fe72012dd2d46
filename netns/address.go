package netns

import "net/netip"

// Ports of our own sockets inside the namespace.
const (
	// ExplicitPort is where the explicit proxy listens, on Gateway4 and Gateway6.
	ExplicitPort = 3128
	// transparentPort receives what tproxy diverts. It is not reachable by its own number.
	transparentPort = 15001
	dnsPort         = 53
)

// Gateway4 and Gateway6 are the addresses of our own listeners inside the namespace; resolv.conf names Gateway4.
func Gateway4() netip.Addr { return netip.AddrFrom4([4]byte{100, 64, 0, 1}) }

// Gateway6 is the IPv6 counterpart of Gateway4.
func Gateway6() netip.Addr { return netip.MustParseAddr("fd00:64::1") }

// Sandbox4 and Sandbox6 are the addresses that connections made inside the namespace come from.
func Sandbox4() netip.Addr { return netip.AddrFrom4([4]byte{100, 64, 0, 2}) }

// Sandbox6 is the IPv6 counterpart of Sandbox4.
func Sandbox6() netip.Addr { return netip.MustParseAddr("fd00:64::2") }
