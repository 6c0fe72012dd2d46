package proxy

import (
	"time"

	"scupper.dev/scupper/capability"
)

// recordHandshake is the first byte of a TLS connection (RFC 8446 section 5.1).
const recordHandshake = 0x16

// admit looks at the first byte of a link whose destination is known and either ends
// TLS on it, hands it on as HTTP, or closes it with a record.
func (f *front) admit(l *link) {
	l.settle()
	first, err := l.peek(f.p.patience(l))
	switch {
	case err == nil && first == recordHandshake:
		l.scheme = capability.HTTPS
		f.admitTLS(l)
	case err == nil && beginsMethod(first):
		l.scheme = capability.HTTP
		f.http1.feed.put(&stream{Conn: l, link: l})
	default:
		f.p.reject(l, err)
	}
}

// patience is how long l may say nothing. Whoever uses a leased name will speak soon
// and should learn why it is refused; whoever scans addresses should not wait.
func (p *Proxy) patience(l *link) time.Duration {
	_, literal := l.host.Addr()
	switch {
	case l.granted != "":
		return p.cfg.Limits.Handshake
	case literal:
		return p.cfg.Limits.Refused
	}
	return 10 * p.cfg.Limits.Refused
}

// beginsMethod: the methods in use begin with a capital letter.
func beginsMethod(c byte) bool { return 'A' <= c && c <= 'Z' }

// reject closes a link that spoke neither TLS nor HTTP, or nothing at all.
func (p *Proxy) reject(l *link, err error) {
	defer l.Close()
	reason := capability.MalformedRequest
	switch {
	case l.granted == "":
		p.deny(l)
		return
	case l.granted == capability.HTTPS && err != nil:
		reason = capability.TLSFailed
	case l.granted == capability.HTTPS:
		reason = capability.NotTLS
	}
	p.cfg.Authority.Refuse(l.request(capability.KindConnect), reason)
}

// deny records a connection to an endpoint that no grant covers.
func (p *Proxy) deny(l *link) {
	d := p.cfg.Authority.Authorize(l.request(capability.KindConnect))
	if d.Allowed() { // the policy changed under us; the client may come again
		p.cfg.Authority.Finish(d, capability.Outcome{Error: errClosed})
	}
}
