package difference

import (
	"net/netip"
	"strings"
)

// networks are the addresses that a host may lead to: the public ones, and ranges.
type networks struct {
	public  bool
	ranges  []netip.Prefix
	without []netip.Prefix
}

func (n networks) minus(_ *comparison, other set) (set, relation) {
	o, ok := other.(networks)
	if !ok {
		return n, partly
	}
	rest := networks{without: append(n.without[:len(n.without):len(n.without)], o.ranges...)}
	for _, p := range n.ranges {
		if _, free := outside(p, rest.without); free {
			rest.ranges = append(rest.ranges, p)
		}
	}
	if len(rest.ranges) == 0 {
		return nil, covered
	}
	return rest, partly
}

// outside is the first address of p that is in none of the ranges.
func outside(p netip.Prefix, ranges []netip.Prefix) (netip.Addr, bool) {
	overlap := false
	for _, r := range ranges {
		if r.Overlaps(p) {
			overlap = true
			if r.Bits() <= p.Bits() {
				return netip.Addr{}, false
			}
		}
	}
	if !overlap {
		return p.Masked().Addr(), true
	}
	low, high := halves(p)
	if a, ok := outside(low, ranges); ok {
		return a, true
	}
	return outside(high, ranges)
}

func halves(p netip.Prefix) (low, high netip.Prefix) {
	bits := p.Bits()
	low = netip.PrefixFrom(p.Masked().Addr(), bits+1)
	b := low.Addr().AsSlice()
	b[bits/8] |= 0x80 >> (bits % 8)
	addr, _ := netip.AddrFromSlice(b)
	return low, netip.PrefixFrom(addr, bits+1)
}

func (n networks) key() string { return n.String() }

func (n networks) String() string {
	s := prefixes(n.ranges)
	if n.public {
		s = strings.TrimSuffix("public, "+s, ", ")
	}
	if len(n.without) > 0 {
		s += " without " + prefixes(n.without)
	}
	return s
}

func prefixes(ps []netip.Prefix) string {
	texts := make([]string, len(ps))
	for i, p := range ps {
		texts[i] = p.String()
	}
	return strings.Join(texts, ", ")
}

func (n networks) unsure() bool { return false }
