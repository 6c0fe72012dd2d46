package face

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// addressed reports whether a request is meant for this gateway. A page of another site
// whose name was made to resolve here (DNS rebinding) has that name in Host, and a page
// of another site has its own in Origin.
func (f *Face) addressed(r *http.Request) bool {
	if !f.local(r.Host, f.config.Hosts) {
		return false
	}
	for _, origin := range r.Header.Values("Origin") {
		if slices.Contains(f.config.Origins, origin) {
			continue
		}
		u, err := url.Parse(origin)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || !f.local(u.Host, nil) {
			return false
		}
	}
	return true
}

// local reports whether a host, with or without a port, is of the loopback or listed.
func (f *Face) local(host string, listed []string) bool {
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	name = strings.TrimSuffix(strings.ToLower(name), ".")
	if slices.Contains(listed, name) {
		return true
	}
	addr, err := netip.ParseAddr(strings.Trim(name, "[]"))
	return name == "localhost" || err == nil && addr.IsLoopback() && addr.Zone() == ""
}
