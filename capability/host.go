package capability

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"
)

// Host is a host in canonical form: a lower-case ASCII name without a trailing dot,
// or an IP literal as netip prints it, IPv4-mapped addresses unmapped. ParseHost is
// the only way to one.
type Host string

// maxName is the length of a name without its root dot (RFC 1035 section 2.3.4).
const maxName = 253

// ParseHost brings a host as it stands in a URL, a Host header, a DNS question or an
// SNI into canonical form. IPv6 literals stand in brackets, or bare where there is no
// port beside them. It refuses everything a second parser could read differently:
// userinfo, ports, zone identifiers, brackets round a name, NUL, octal, hexadecimal
// and short IPv4 spellings, and non-ASCII names.
func ParseHost(s string) (Host, error) {
	if len(s) > 0 && s[0] == '[' {
		return parseBracketed(s)
	}
	if strings.IndexByte(s, ':') >= 0 {
		return parseAddress(s)
	}
	s = strings.TrimSuffix(s, ".")
	if len(s) == 0 || len(s) > maxName {
		return "", errors.New("a host name has 1 to 253 characters")
	}
	if err := checkLabels(s); err != nil {
		return "", err
	}
	if numericLast(s) {
		return parseAddress(s)
	}
	return Host(strings.ToLower(s)), nil
}

func parseBracketed(s string) (Host, error) {
	inner, ok := strings.CutSuffix(s[1:], "]")
	if !ok || strings.IndexByte(inner, ':') < 0 {
		return "", errors.New("brackets hold an IPv6 address and nothing else")
	}
	return parseAddress(inner)
}

func parseAddress(s string) (Host, error) {
	if strings.IndexByte(s, '%') >= 0 {
		return "", errors.New("a zone identifier has no place in a host")
	}
	a, err := netip.ParseAddr(s)
	if err != nil {
		return "", errors.New("an address is written as four decimal numbers or as plain IPv6")
	}
	return Host(a.Unmap().String()), nil
}

// checkLabels wants letters, digits and inner hyphens in labels of 1 to 63 (RFC 1123
// section 2.1).
func checkLabels(s string) error {
	start := 0
	for i := 0; i <= len(s); i++ {
		if i < len(s) && s[i] != '.' {
			if !isLDH(s[i]) {
				return fmt.Errorf("a host name holds letters, digits, hyphens and dots, not %q", s[i])
			}
			continue
		}
		if n := i - start; n == 0 || n > 63 {
			return errors.New("a label of a host name has 1 to 63 characters")
		}
		if s[start] == '-' || s[i-1] == '-' {
			return errors.New("a label of a host name does not begin or end with a hyphen")
		}
		start = i + 1
	}
	return nil
}

func isLDH(c byte) bool {
	return c == '-' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// numericLast reports whether the last label is a number, decimal or hexadecimal:
// then lenient parsers read an IPv4 address in it (WHATWG URL, "ends in a number").
func numericLast(s string) bool {
	last := s[strings.LastIndexByte(s, '.')+1:]
	if h := strings.TrimPrefix(strings.ToLower(last), "0x"); len(h) != len(last) {
		return strings.Trim(h, "0123456789abcdef") == ""
	}
	return strings.Trim(last, "0123456789") == ""
}

// Addr is the address that h is the literal of; ok is false for a name.
func (h Host) Addr() (addr netip.Addr, ok bool) {
	if h == "" || strings.IndexByte(string(h), ':') < 0 && !numericLast(string(h)) {
		return netip.Addr{}, false
	}
	a, err := netip.ParseAddr(string(h))
	return a, err == nil
}

// parent is h without its first label, as a wildcard names it; ok is false for an
// address and for a single label.
func (h Host) parent() (Host, bool) {
	if _, literal := h.Addr(); literal {
		return "", false
	}
	_, rest, ok := strings.Cut(string(h), ".")
	return Host(rest), ok
}

// HostPattern is the host of a grant: one name or literal, or, as in certificates
// (RFC 6125 section 6.4.3), any single label under a name.
type HostPattern struct {
	Name     Host // without the "*."
	Wildcard bool
}

// String is the pattern as policies write it.
func (p HostPattern) String() string {
	if p.Wildcard {
		return "*." + string(p.Name)
	}
	return string(p.Name)
}

// Match reports whether h is the host, or one label under it for a wildcard.
func (p HostPattern) Match(h Host) bool {
	if !p.Wildcard {
		return h == p.Name
	}
	up, ok := h.parent()
	return ok && up == p.Name
}
