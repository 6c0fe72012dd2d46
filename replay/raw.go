package replay

import (
	"net"
	"sync"
	"time"
)

// counted puts every accepted connection on the ledger.
func (in *Internet) counted(l net.Listener) net.Listener { return &countedListener{l, in} }

type countedListener struct {
	net.Listener
	in *Internet
}

func (l *countedListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	record := newConnection(c)
	l.in.ledger.connection(record)
	l.in.ledger.ended(record)
	if l.in.whole {
		return &tapped{Conn: c, in: l.in, record: record}, nil
	}
	return c, nil
}

func newConnection(c net.Conn) *Connection {
	return &Connection{Time: time.Now(), Source: addrPort(c.RemoteAddr()), Destination: addrPort(c.LocalAddr())}
}

// serveRaw accepts and reads until the peer ends, answering nothing.
func (in *Internet) serveRaw(port uint16) error {
	l, err := tcpListener(port)
	if err != nil {
		return err
	}
	open := &openConns{conns: map[net.Conn]bool{}}
	in.closers = append(in.closers, closer(func() error { open.close(); return l.Close() }))
	in.serving.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			record := newConnection(c)
			in.ledger.connection(record)
			if open.add(c) {
				in.serving.Go(func() { in.drain(c, record); open.remove(c) })
			}
		}
	})
	return nil
}

func (in *Internet) drain(c net.Conn, record *Connection) {
	defer in.ledger.ended(record)
	buf := make([]byte, 32<<10)
	for {
		n, err := c.Read(buf)
		in.ledger.bytes(record, buf[:n])
		if err != nil {
			return
		}
	}
}

// openConns are the connections that Close has to end.
type openConns struct {
	mu     sync.Mutex
	closed bool
	conns  map[net.Conn]bool
}

func (o *openConns) add(c net.Conn) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		c.Close()
		return false
	}
	o.conns[c] = true
	return true
}

func (o *openConns) remove(c net.Conn) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.conns, c)
	c.Close()
}

func (o *openConns) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed = true
	for c := range o.conns {
		c.Close()
	}
}
