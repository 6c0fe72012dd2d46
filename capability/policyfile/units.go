package policyfile

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"

	"scupper.dev/scupper/capability"
)

// size reads a number of bytes: "64KiB", "1MiB", "1GB".
func (s *source) size(e hcl.Expression) (int64, bool) {
	v, ok := s.str(e)
	if !ok {
		return 0, false
	}
	n, err := Size(v)
	if err != nil {
		s.fail(e.Range(), fmt.Sprintf("%q is not a size", v), `write a positive number and a unit: "512B", "64KiB", "1MiB", "1GB"`)
		return 0, false
	}
	return n, true
}

// sizeUpTo reads a number of bytes that is not over most.
func (s *source) sizeUpTo(e hcl.Expression, most int64) (int64, bool) {
	n, ok := s.size(e)
	if ok && n > most {
		v, _ := s.str(e)
		s.fail(e.Range(), fmt.Sprintf("%q is over %d bytes", v, most), "write less: every connection may hold as much")
		return 0, false
	}
	return n, ok
}

func byteUnit(name string) (int64, bool) {
	switch name {
	case "B":
		return 1, true
	case "KiB":
		return 1 << 10, true
	case "MiB":
		return 1 << 20, true
	case "GiB":
		return 1 << 30, true
	case "kB", "KB":
		return 1e3, true
	case "MB":
		return 1e6, true
	case "GB":
		return 1e9, true
	}
	return 1, false
}

// rate reads requests in a time: "10/s", "600/m", "1000/h".
func (s *source) rate(e hcl.Expression) (capability.Rate, bool) {
	v, ok := s.str(e)
	if !ok {
		return capability.Rate{}, false
	}
	number, unit, _ := strings.Cut(v, "/")
	n, err := strconv.ParseUint(number, 10, 63)
	per := map[string]time.Duration{"s": time.Second, "m": time.Minute, "h": time.Hour}[unit]
	if err != nil || n < 1 || per == 0 {
		s.fail(e.Range(), fmt.Sprintf("%q is not a rate", v), `write a positive number of requests and a time: "10/s", "600/m", "1000/h"`)
		return capability.Rate{}, false
	}
	return capability.Rate{Requests: int64(n), Per: per}, true
}

// expires reads a date, which holds through its last second in UTC, or a time (RFC
// 3339). It is the first moment that is too late.
func (s *source) expires(e hcl.Expression, now time.Time) time.Time {
	v, ok := s.str(e)
	if !ok {
		return time.Time{}
	}
	t, err := time.Parse(time.RFC3339, v)
	if day, dayErr := time.Parse(time.DateOnly, v); dayErr == nil {
		t, err = day.AddDate(0, 0, 1), nil
	}
	if err != nil {
		s.fail(e.Range(), fmt.Sprintf("%q is not a date", v), `write expires = "2027-03-31", or a time as in "2027-03-31T18:00:00Z"`)
		return time.Time{}
	}
	if !now.IsZero() && !now.Before(t) {
		s.warn(e.Range(), "the grant has expired", "it denies everything: renew it or take it out")
	}
	return t
}

// networks reads ranges of addresses in CIDR notation.
func (s *source) networks(e hcl.Expression) []netip.Prefix {
	items, _ := s.list(e, `networks = ["10.0.0.0/8"]`)
	var out []netip.Prefix
	for _, i := range items {
		v, ok := s.word(i)
		if !ok {
			continue
		}
		p, err := netip.ParsePrefix(v)
		switch {
		case err != nil:
			s.fail(i.Range(), fmt.Sprintf("%q is not a network", v), `write an address and a prefix length: "10.0.0.0/8", "203.0.113.7/32", "fd00::/8"`)
		case p != p.Masked():
			s.fail(i.Range(), fmt.Sprintf("%q has bits set after its prefix", v), fmt.Sprintf("write %q for the network, or %q for the one address", p.Masked(), netip.PrefixFrom(p.Addr(), p.Addr().BitLen())))
		default:
			s.checkNetwork(p, i.Range())
			out = append(out, p)
		}
	}
	return out
}

func (s *source) checkNetwork(p netip.Prefix, at hcl.Range) {
	if p.Bits() == 0 {
		s.warn(at, "the network is every address", "private addresses, this host's included, become reachable under the granted name: name the range that it lives in")
		return
	}
	metadata := [...]string{"169.254.169.254", "100.100.100.200", "168.63.129.16", "192.0.0.192", "fd00:ec2::254", "fd20:ce::254"}
	covers := capability.IsMetadata(p.Addr())
	for _, a := range metadata {
		covers = covers || p.Contains(netip.MustParseAddr(a))
	}
	if covers {
		s.warn(at, "the network covers a cloud metadata service", "that address is never reachable, whatever the policy: the rest of the network is")
	}
}
