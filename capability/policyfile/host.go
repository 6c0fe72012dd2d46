package policyfile

import (
	"fmt"
	"net/netip"
	"net/url"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"golang.org/x/net/idna"
	"golang.org/x/net/publicsuffix"

	"scupper.dev/scupper/capability"
)

// host reads the host of a grant: a name, "*." and a name, or an address.
func (s *source) host(e hcl.Expression) (capability.HostPattern, bool) {
	v, ok := s.word(e)
	if !ok {
		return capability.HostPattern{}, false
	}
	at := e.Range()
	if summary, detail := splitHost(v); summary != "" {
		if strings.Contains(v, "@") {
			s.conceal(at, summary, detail)
		} else {
			s.fail(at, summary, detail)
		}
		return capability.HostPattern{}, false
	}
	name, wildcard := strings.CutPrefix(v, "*.")
	if strings.Contains(name, "*") || name == "" {
		s.fail(at, "a wildcard stands for one whole label at the left", fmt.Sprintf(`name the host, or write host = %q; a policy does not grant every host`, wildcardExample(v)))
		return capability.HostPattern{}, false
	}
	h, ok := s.hostName(name, at)
	if !ok {
		return capability.HostPattern{}, false
	}
	if wildcard {
		return capability.HostPattern{Name: h, Wildcard: true}, s.checkWildcard(h, at)
	}
	return capability.HostPattern{Name: h}, s.checkAddress(h, at)
}

// hostName brings a name of a policy into canonical form, IDNA names included (RFC
// 5891 section 5).
func (s *source) hostName(name string, at hcl.Range) (capability.Host, bool) {
	ascii := name
	if !isASCII(name) {
		var err error
		if ascii, err = idna.Lookup.ToASCII(name); err != nil {
			s.fail(at, "not an internationalised host name", "write the name as it is registered, or in its ASCII form (xn--...)")
			return "", false
		}
		s.warn(at, "the host is not ASCII", fmt.Sprintf("it stands for %q: check that this is the host you mean", ascii))
	}
	h, err := capability.ParseHost(ascii)
	if err != nil {
		s.fail(at, fmt.Sprintf("%q is not a host", name), err.Error()+addressHint(name))
		return "", false
	}
	if _, literal := h.Addr(); literal && string(h) != strings.Trim(ascii, "[]") {
		s.fail(at, "an address that is not in its canonical form", fmt.Sprintf("write host = %q", string(h)))
		return "", false
	}
	return h, true
}

// addressHint offers the reading of the octal, hexadecimal and short spellings that
// some resolvers take for an IPv4 address.
func addressHint(name string) string {
	if strings.Trim(strings.ToLower(name), "0123456789abcdefx.") != "" || !strings.ContainsAny(name, "0123456789") {
		return ""
	}
	return `: write it in full, as in host = "203.0.113.7"`
}

// splitHost finds what belongs into other attributes and shows where.
func splitHost(v string) (summary, detail string) {
	var found []string
	rest := v
	scheme, after, hasScheme := strings.Cut(v, "://")
	if hasScheme {
		found, rest = append(found, "a scheme"), after
	}
	if i := strings.LastIndexByte(authority(rest), '@'); i >= 0 {
		found, rest = append(found, "user information"), rest[i+1:]
	}
	name, path := rest, ""
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		name, path = rest[:i], rest[i:]
		found = append(found, "a path")
	}
	name, port := splitPort(name)
	if port != "" {
		found = append(found, "a port")
	}
	if len(found) == 0 {
		return "", ""
	}
	parts := []string{fmt.Sprintf("host = %q", name)}
	if hasScheme && !strings.EqualFold(scheme, "https") {
		parts = append(parts, fmt.Sprintf("scheme = %q", strings.ToLower(scheme)))
	}
	if port != "" {
		parts = append(parts, "port = "+port)
	}
	if path, _, _ = strings.Cut(path, "?"); len(path) > 1 && path[0] == '/' {
		parts = append(parts, fmt.Sprintf("path = %q in an allow block", path))
	}
	return "the host holds " + strings.Join(found, " and "), "write " + strings.Join(parts, ", ")
}

// authority is the part of a URL, or of a host with something behind it, that names
// the server.
func authority(s string) string {
	if _, after, ok := strings.Cut(s, "://"); ok {
		s = after
	}
	if i := strings.IndexAny(s, "/?#"); i >= 0 {
		return s[:i]
	}
	return s
}

// splitPort cuts ":port" off, but not the end of a bare IPv6 address.
func splitPort(s string) (name, port string) {
	if _, err := netip.ParseAddr(s); err == nil {
		return s, ""
	}
	u := url.URL{Host: s}
	if u.Port() == "" {
		return s, ""
	}
	return u.Hostname(), u.Port()
}

func wildcardExample(v string) string {
	labels := strings.Split(strings.ReplaceAll(v, "*", ""), ".")
	for len(labels) > 0 && (labels[0] == "" || len(labels) > 2) {
		labels = labels[1:]
	}
	if len(labels) < 2 {
		return "*.example.com"
	}
	return "*." + strings.Join(labels, ".")
}

// checkWildcard refuses a wildcard over names that belong to different people: a
// public suffix, of a registry or of a hosting service (publicsuffix.org).
func (s *source) checkWildcard(h capability.Host, at hcl.Range) bool {
	if _, literal := h.Addr(); literal {
		s.fail(at, "a wildcard over an address", "name the address itself; networks are granted with `networks`")
		return false
	}
	if suffix, _ := publicsuffix.PublicSuffix(string(h)); suffix == string(h) {
		s.fail(at, fmt.Sprintf("a wildcard over the public suffix %q", h), fmt.Sprintf(`anyone can register a name under it: write a name of your own under it, as in host = "*.example.%s"`, h))
		return false
	}
	return true
}

// checkAddress judges a host that is an address.
func (s *source) checkAddress(h capability.Host, at hcl.Range) bool {
	addr, literal := h.Addr()
	if literal && capability.IsMetadata(addr) {
		s.fail(at, "a cloud metadata address is never reachable", "no policy grants it: take this grant out")
		return false
	}
	return true
}

func isASCII(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}
