package dnsfilter

import (
	"net/netip"
	"slices"
	"strings"
)

// reverse is the address that a name under in-addr.arpa (RFC 1035 section 3.5) or ip6.arpa
// (RFC 3596 section 2.5) stands for.
func reverse(name string) (netip.Addr, bool) {
	if labels, ok := strings.CutSuffix(name, ".in-addr.arpa"); ok {
		return parseReversed(labels, 4, ".")
	}
	if labels, ok := strings.CutSuffix(name, ".ip6.arpa"); ok {
		return parseReversed(labels, 32, "")
	}
	return netip.Addr{}, false
}

// parseReversed reads n labels from right to left, the decimal bytes of IPv4 or the
// hexadecimal digits of IPv6.
func parseReversed(labels string, n int, separator string) (netip.Addr, bool) {
	parts := strings.Split(labels, ".")
	if len(parts) != n {
		return netip.Addr{}, false
	}
	slices.Reverse(parts)
	text := strings.Join(parts, separator)
	if separator == "" {
		if len(text) != n {
			return netip.Addr{}, false
		}
		groups := slices.Collect(slices.Chunk([]byte(text), 4))
		words := make([]string, len(groups))
		for i, g := range groups {
			words[i] = string(g)
		}
		text = strings.Join(words, ":")
	}
	addr, err := netip.ParseAddr(text)
	return addr, err == nil
}
