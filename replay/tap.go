package replay

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"sync"
	"time"
)

// tapped is a connection of which every byte is kept, whether it is HTTP or not. With
// TLS it is the plaintext.
type tapped struct {
	net.Conn
	in     *Internet
	record *Connection
	secure *tls.Conn // nil: no TLS
}

// Read keeps what it reads.
func (t *tapped) Read(p []byte) (int, error) {
	n, err := t.Conn.Read(p)
	t.in.ledger.bytes(t.record, p[:n])
	return n, err
}

// state is what TLS agreed on, or nil.
func (t *tapped) state() *tls.ConnectionState {
	if t.secure == nil {
		return nil
	}
	state := t.secure.ConnectionState()
	return &state
}

// serveTapped serves s on l, and ends TLS before s sees the connection: net/http would
// take a wrapped TLS connection for a plain one, and not speak HTTP/2.
func (in *Internet) serveTapped(s *http.Server, l net.Listener, secure bool) error {
	s.Protocols = new(http.Protocols)
	s.Protocols.SetHTTP1(true)
	s.Protocols.SetUnencryptedHTTP2(true)
	s.ConnContext = func(ctx context.Context, c net.Conn) context.Context { return context.WithValue(ctx, connKey{}, c) }
	if !secure {
		return s.Serve(l)
	}
	h := &handshaker{Listener: l, config: s.TLSConfig, ready: make(chan net.Conn), done: make(chan struct{})}
	in.serving.Go(h.accept)
	return s.Serve(h)
}

// handshaker is a listener whose connections have TLS behind them.
type handshaker struct {
	net.Listener
	config *tls.Config
	ready  chan net.Conn
	done   chan struct{}
	once   sync.Once
	shakes sync.WaitGroup
}

// handshakeTime is how long a client may take for a handshake.
const handshakeTime = 10 * time.Second

func (h *handshaker) accept() {
	defer h.shakes.Wait()
	for {
		c, err := h.Listener.Accept()
		if err != nil {
			h.stop()
			return
		}
		h.shakes.Go(func() { h.shake(c) })
	}
}

func (h *handshaker) stop() { h.once.Do(func() { close(h.done) }) }

// shake leaves the bytes of the handshake out of what is kept.
func (h *handshaker) shake(c net.Conn) {
	outer, ok := c.(*tapped)
	if !ok {
		c.Close()
		return
	}
	first := &prelude{Conn: outer.Conn}
	secure := tls.Server(first, h.config)
	ctx, cancel := context.WithTimeout(context.Background(), handshakeTime)
	defer cancel()
	if secure.HandshakeContext(ctx) != nil {
		outer.in.ledger.bytes(outer.record, first.foreign())
		c.Close()
		return
	}
	inner := &tapped{Conn: secure, in: outer.in, record: outer.record, secure: secure}
	select {
	case h.ready <- inner:
	case <-h.done:
		c.Close()
	}
}

// Accept returns the next connection that has finished its handshake.
func (h *handshaker) Accept() (net.Conn, error) {
	select {
	case c := <-h.ready:
		return c, nil
	case <-h.done:
		return nil, net.ErrClosed
	}
}

// Close ends accepting.
func (h *handshaker) Close() error {
	h.stop()
	return h.Listener.Close()
}

// prelude keeps what a connection begins with until it is known whether that is TLS.
type prelude struct {
	net.Conn
	head []byte
}

// Read keeps the first 4096 bytes of what it reads.
func (p *prelude) Read(b []byte) (int, error) {
	n, err := p.Conn.Read(b)
	p.head = append(p.head, b[:min(n, headMax-len(p.head))]...)
	return n, err
}

// handshakeRecord is what a ClientHello begins with (RFC 8446 section 5.1).
const handshakeRecord = 22

// foreign is what was read where it is no handshake.
func (p *prelude) foreign() []byte {
	if len(p.head) > 0 && p.head[0] == handshakeRecord {
		return nil
	}
	return p.head
}
