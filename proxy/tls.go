package proxy

import (
	"context"
	"crypto/tls"
	"strconv"
	"time"

	"scupper.dev/scupper/capability"
)

// serverTLS is how TLS ends here. Ticket keys are those of this Config alone, so a
// session is resumed within the run only, and there is no early data.
func (p *Proxy) serverTLS() *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS12,
		NextProtos: []string{"h2", "http/1.1"},
		// This leg never leaves the machine: the hybrid key exchange would protect nothing.
		CurvePreferences: []tls.CurveID{tls.X25519, tls.CurveP256, tls.CurveP384},
		// Not GetCertificate: that is not asked when a session is resumed.
		GetConfigForClient: p.judgeHello,
		GetCertificate: func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
			l, ok := hello.Conn.(*link)
			if !ok {
				return nil, nil
			}
			return p.cfg.CA.leaf(l.host)
		},
	}
}

// refusingTLS reads a ClientHello and answers unrecognized_name (RFC 6066 section 3).
func refusingTLS() *tls.Config {
	return &tls.Config{
		MinVersion:             tls.VersionTLS12,
		SessionTicketsDisabled: true,
		GetCertificate:         func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return nil, nil },
	}
}

// admitTLS ends TLS on l and hands the inside on, or refuses with an alert and one
// record.
func (f *front) admitTLS(l *link) {
	switch l.granted {
	case "":
		f.p.deny(l)
		f.p.alert(l)
		return
	case capability.HTTP:
		f.p.cfg.Authority.Refuse(l.request(capability.KindConnect), capability.ProtocolNotGranted)
		f.p.alert(l)
		return
	}
	if !f.p.handshakes.Take(time.Now()) {
		r := l.request(capability.KindConnect)
		r.Limit = limitHandshakes
		f.p.cfg.Authority.Refuse(r, capability.LimitExceeded)
		f.p.alert(l)
		return
	}
	conn := tls.Server(l, f.p.tls)
	if err := f.p.handshake(conn, l); err != nil {
		f.p.refuseHandshake(l)
		l.Close()
		return
	}
	if l.http2 = conn.ConnectionState().NegotiatedProtocol == "h2"; l.http2 {
		f.http2.feed.put(newFrames(conn, l))
		return
	}
	f.http1.feed.put(&stream{Conn: conn, link: l})
}

func (p *Proxy) handshake(conn *tls.Conn, l *link) error {
	if err := l.SetDeadline(time.Now().Add(p.cfg.Limits.Handshake)); err != nil {
		return err
	}
	if err := conn.HandshakeContext(context.Background()); err != nil {
		return err
	}
	return l.SetDeadline(time.Time{})
}

// alert lets the client know by an alert that l is refused, and closes it.
func (p *Proxy) alert(l *link) {
	defer l.Close()
	if l.SetDeadline(time.Now().Add(p.cfg.Limits.Refused)) == nil {
		_ = tls.Server(l, p.refusing).HandshakeContext(context.Background()) // always an error: that is the alert
	}
}

func (p *Proxy) refuseHandshake(l *link) {
	r := l.request(capability.KindConnect)
	reason := l.reason
	if reason == "" {
		reason = capability.TLSFailed
	}
	r.Excerpt = excerpt(l.sni)
	p.cfg.Authority.Refuse(r, reason)
}

// judgeHello wants the name in this ClientHello to be the one the connection goes to.
// An encrypted ClientHello is judged by its outer name: we have no key for the inner.
func (p *Proxy) judgeHello(hello *tls.ClientHelloInfo) (*tls.Config, error) {
	l, ok := hello.Conn.(*link)
	if !ok {
		return p.refusing, nil
	}
	l.sni = hello.ServerName
	if !l.isNamed(hello.ServerName) {
		l.reason = capability.AuthorityMismatch
		return p.refusing, nil
	}
	return nil, nil
}

// isNamed reports whether sni names the host of l. Literals have no SNI (RFC 6066
// section 3).
func (l *link) isNamed(sni string) bool {
	if sni == "" {
		_, literal := l.host.Addr()
		return literal
	}
	h, err := capability.ParseHost(sni)
	return err == nil && h == l.host
}

// excerpt is a piece of s that is safe to record: without credentials where they are known.
func excerpt(s string) string {
	if s == "" {
		return ""
	}
	s = capability.Shown(s)
	return strconv.QuoteToASCII(s[:min(len(s), 128)])
}
