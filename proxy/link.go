package proxy

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"scupper.dev/scupper/capability"
)

// link is one connection of a client and what is known of it before any request.
type link struct {
	net.Conn
	front *front

	host    capability.Host   // where it goes; empty outside the tunnels of the explicit front
	port    uint16            // likewise
	addr    netip.Addr        // the address the client used; transparent only
	scheme  capability.Scheme // what the bytes are: https once TLS ended here
	granted capability.Scheme // what the endpoint speaks; empty when there is none
	settled atomic.Bool       // granted is set

	prefix  []byte            // read already, to be read again
	reason  capability.Reason // why the TLS handshake is being refused
	sni     string            // of the handshake
	pending atomic.Bool       // an HTTP/1 request has begun and no handler has it
	served  int               // HTTP/1 requests that handlers had; they come one after the other
	http2   bool

	once  sync.Once
	close func() // gives back the slot, or finishes the decision that opened a tunnel
}

// Read reads what was peeked at first.
func (l *link) Read(b []byte) (int, error) {
	if len(l.prefix) == 0 {
		return l.Conn.Read(b)
	}
	n := copy(b, l.prefix)
	l.prefix = l.prefix[n:]
	return n, nil
}

// Close ends the link. It may be called more than once.
func (l *link) Close() error {
	err := l.Conn.Close()
	l.once.Do(func() {
		l.front.drop(l)
		if l.close != nil {
			l.close()
		}
	})
	return err
}

// peek waits for the first byte and leaves it to be read.
func (l *link) peek(wait time.Duration) (byte, error) {
	if len(l.prefix) > 0 {
		return l.prefix[0], nil
	}
	if err := l.SetReadDeadline(time.Now().Add(wait)); err != nil {
		return 0, err
	}
	first := make([]byte, 1)
	if _, err := l.Conn.Read(first); err != nil {
		return 0, err
	}
	l.prefix = first
	return first[0], l.SetReadDeadline(time.Time{})
}

// outside reports whether requests on l name their destination themselves.
func (l *link) outside() bool { return l.host == "" }

// request is what is known of any request on l.
func (l *link) request(kind capability.Kind) *capability.Request {
	return &capability.Request{
		Time: l.front.p.cfg.Now(), Kind: kind, Front: l.front.kind,
		Host: l.host, Port: l.port, Scheme: l.scheme, Address: l.addr,
		Issued: l.front.p.issued,
	}
}

// CloseWrite ends our side only.
func (l *link) CloseWrite() error {
	if c, ok := l.Conn.(interface{ CloseWrite() error }); ok {
		return c.CloseWrite()
	}
	return errors.ErrUnsupported
}

type connKey struct{}

// withConn lets handlers find the connection of their request.
func withConn(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, c)
}

func linkOf(r *http.Request) *link {
	c, _ := r.Context().Value(connKey{}).(net.Conn)
	return linkUnder(c)
}

// violationOf is the violation that r stands for, nil for an ordinary request.
func violationOf(r *http.Request, l *link) *violation {
	switch c := r.Context().Value(connKey{}).(type) {
	case *stream:
		n := l.served
		l.served++
		return c.violation(n)
	case *frames:
		return c.violation(r.Host)
	}
	return nil
}

func linkUnder(c net.Conn) *link {
	switch c := c.(type) {
	case *stream:
		return c.link
	case *frames:
		return c.link
	}
	return nil
}

// watch records the requests that net/http answers with 400 or 431 by itself: they
// begin, and the connection closes without a handler.
func (p *Proxy) watch(c net.Conn, state http.ConnState) {
	l := linkUnder(c)
	if l == nil || l.http2 {
		return
	}
	switch state {
	case http.StateActive:
		l.pending.Store(true)
	case http.StateClosed:
		s, ok := c.(*stream)
		if l.pending.Swap(false) || ok && s.begun.Load() {
			p.cfg.Authority.Refuse(l.request(capability.KindHTTP), l.malformed())
		}
	}
}

// malformed is the reason for bytes that are not a request.
func (l *link) malformed() capability.Reason {
	if l.granted == capability.HTTPS && l.scheme == capability.HTTP {
		return capability.NotTLS
	}
	return capability.MalformedRequest
}
