package proxy

import (
	"mime"
	"net/http"
	"strings"

	"scupper.dev/scupper/capability"
)

// identify brings r into the form in which it is judged. The reason is Granted when
// there is one reading of r; else it says what is wrong, and the request holds what
// could be made out, for the record.
func identify(r *http.Request, l *link) (*capability.Request, capability.Reason) {
	req := l.request(capability.KindHTTP)
	req.Method, req.Protocol = r.Method, r.Proto
	target, reason := locate(r, l, req)
	if reason == capability.Granted {
		reason = l.front.p.cfg.Limits.overLong(req, target)
	}
	if reason == capability.Granted {
		reason = readTarget(req, target)
	}
	if reason == capability.Granted {
		reason = readHeader(req, r, l)
	}
	if reason != capability.Granted {
		before, _, _ := strings.Cut(r.RequestURI, "?") // queries are not recorded in the clear
		req.Excerpt = excerpt(before)
	}
	return req, reason
}

// locate fills in the destination and returns the path and query as they were sent.
func locate(r *http.Request, l *link, req *capability.Request) (target string, reason capability.Reason) {
	if l.granted == capability.HTTPS && l.scheme == capability.HTTP {
		return "", capability.NotTLS
	}
	if r.Method == http.MethodConnect || r.Method == http.MethodTrace {
		return "", capability.ProtocolNotGranted
	}
	raw, target, reason := splitURI(r, l)
	if reason != capability.Granted {
		return "", reason
	}
	if l.outside() {
		req.Scheme = capability.HTTP
	}
	a, err := parseAuthority(raw, req.Scheme.DefaultPort())
	if err != nil {
		return "", capability.MalformedHost
	}
	if l.outside() {
		req.Host, req.Port = a.host, a.port
	}
	if a.host != req.Host || a.port != req.Port || !sameHost(r, a, req.Scheme) {
		return "", capability.AuthorityMismatch
	}
	return target, capability.Granted
}

// splitURI cuts a request target (RFC 9112 section 3.2) into authority and the rest.
// It works on the bytes that were sent, not on what net/url made of them.
func splitURI(r *http.Request, l *link) (raw, target string, reason capability.Reason) {
	uri := r.RequestURI
	if strings.HasPrefix(uri, "/") {
		if l.outside() {
			return "", "", capability.MalformedRequest
		}
		return r.Host, uri, capability.Granted
	}
	scheme, rest, ok := strings.Cut(uri, "://")
	if !ok || r.ProtoMajor != 1 {
		return "", "", capability.MalformedPath
	}
	want := l.scheme
	if l.outside() {
		want = capability.HTTP
	}
	if !strings.EqualFold(scheme, string(want)) {
		return "", "", capability.ProtocolNotGranted
	}
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		return rest, "/", capability.Granted
	}
	if target = rest[end:]; target[0] == '?' {
		target = "/" + target
	}
	return rest[:end], target, capability.Granted
}

// sameHost: HTTP/2 may carry a Host beside :authority (RFC 9113 section 8.3.1).
func sameHost(r *http.Request, a authority, scheme capability.Scheme) bool {
	for _, h := range r.Header["Host"] {
		if b, err := parseAuthority(h, scheme.DefaultPort()); err != nil || a != b {
			return false
		}
	}
	return true
}

func readTarget(req *capability.Request, target string) capability.Reason {
	path, query, _ := strings.Cut(target, "?")
	var err error
	if req.Path, err = capability.ParsePath(path); err != nil {
		return capability.MalformedPath
	}
	if req.Query, err = capability.ParseQuery(query); err != nil {
		return capability.MalformedQuery
	}
	return capability.Granted
}

func readHeader(req *capability.Request, r *http.Request, l *link) capability.Reason {
	h := r.Header
	if l.outside() {
		dropProxy(h) // addressed to us, not to the origin; inside a tunnel nothing is
	}
	dropH2C(h)
	if reason := readUpgrade(req, r); reason != capability.Granted {
		return reason
	}
	req.Header = h
	req.Trailer = trailersOf(r)
	return readBody(req, r)
}

// dropH2C ignores the offer to go on in cleartext HTTP/2, as RFC 9113 section 3.1
// wants of whoever does not implement it.
func dropH2C(h http.Header) {
	if u := h["Upgrade"]; len(u) == 1 && strings.EqualFold(u[0], "h2c") {
		delete(h, "Upgrade")
		delete(h, "Http2-Settings")
	}
}

func dropProxy(h http.Header) {
	for name := range h {
		if strings.HasPrefix(name, "Proxy-") {
			delete(h, name)
		}
	}
}

// readBody says what the body is declared to be. A header that describes it twice has
// two readings.
func readBody(req *capability.Request, r *http.Request) capability.Reason {
	kind, coding := r.Header["Content-Type"], r.Header["Content-Encoding"]
	if len(kind) > 1 || len(coding) > 1 {
		return capability.MalformedRequest
	}
	if r.ContentLength == 0 {
		return capability.Granted
	}
	req.Body = capability.Body{Present: true, Length: r.ContentLength}
	if len(coding) == 1 && !strings.EqualFold(coding[0], "identity") {
		req.Body.Encoding = strings.ToLower(coding[0])
	}
	if len(kind) == 0 {
		return capability.Granted
	}
	media, _, err := mime.ParseMediaType(kind[0])
	if err != nil {
		return capability.MalformedRequest
	}
	req.Body.Type = media
	return capability.Granted
}
