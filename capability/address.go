package capability

import (
	"net/netip"
	"slices"
)

// special are the ranges that a name must not lead to unless the grant's networks
// cover them (IANA special-purpose address registries, RFC 6890).
var special = prefixes(
	"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
	"192.168.0.0/16", "198.18.0.0/15", "224.0.0.0/4", "240.0.0.0/4",
	"::/128", "::1/128", "fc00::/7", "fe80::/10", "fec0::/10", "ff00::/8", "100::/64", "5f00::/16",
)

// metadata are the services that hand out a machine's own credentials. No grant
// reaches them.
var metadata = prefixes(
	"169.254.0.0/16", "100.100.100.200/32", "168.63.129.16/32", "192.0.0.192/32", "fd00:ec2::254/128", "fd20:ce::254/128",
)

var (
	nat64      = netip.MustParsePrefix("64:ff9b::/96")    // RFC 6052
	nat64Local = netip.MustParsePrefix("64:ff9b:1::/48")  // RFC 8215
	sixToFour  = netip.MustParsePrefix("2002::/16")       // RFC 3056
	teredo     = netip.MustParsePrefix("2001::/32")       // RFC 4380
	compatible = netip.MustParsePrefix("::/96")           // RFC 4291 section 2.5.5.1
	translated = netip.MustParsePrefix("::ffff:0:0:0/96") // RFC 2765
)

func prefixes(texts ...string) []netip.Prefix {
	out := make([]netip.Prefix, len(texts))
	for i, t := range texts {
		out[i] = netip.MustParsePrefix(t)
	}
	return out
}

// CheckAddress judges one address that a granted name resolved to. It is Granted,
// NetworkNotGranted for an address that is not public and not in networks, or
// MetadataAddress. own are the addresses of this host's interfaces, which count as
// not public.
func CheckAddress(addr netip.Addr, networks []netip.Prefix, own []netip.Addr) Reason {
	if !addr.IsValid() || addr.Zone() != "" {
		return NetworkNotGranted
	}
	addr = addr.Unmap()
	inner, carries := embedded(addr)
	if IsMetadata(addr) || carries && IsMetadata(inner) {
		return MetadataAddress
	}
	public := !carries && !within(addr, special) && !slices.Contains(own, addr)
	if public || within(addr, networks) {
		return Granted
	}
	return NetworkNotGranted
}

// IsMetadata reports whether addr is that of a cloud metadata service, which nothing
// reaches: no grant, no override.
func IsMetadata(addr netip.Addr) bool { return within(addr.Unmap(), metadata) }

func within(addr netip.Addr, ranges []netip.Prefix) bool {
	for _, p := range ranges {
		if p.Contains(addr) {
			return true
		}
	}
	return false
}

// embedded is the IPv4 address inside an IPv6 one that some gateway would use.
func embedded(addr netip.Addr) (netip.Addr, bool) {
	if !addr.Is6() {
		return netip.Addr{}, false
	}
	b := addr.As16()
	switch {
	case nat64.Contains(addr), nat64Local.Contains(addr), translated.Contains(addr):
		return netip.AddrFrom4([4]byte(b[12:16])), true
	case compatible.Contains(addr) && !within(addr, special):
		return netip.AddrFrom4([4]byte(b[12:16])), true
	case sixToFour.Contains(addr):
		return netip.AddrFrom4([4]byte(b[2:6])), true
	case teredo.Contains(addr):
		return netip.AddrFrom4([4]byte{^b[12], ^b[13], ^b[14], ^b[15]}), true
	}
	return netip.Addr{}, false
}
