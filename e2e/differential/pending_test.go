package differential

import (
	"errors"
	"net"
	"sync"
	"time"
)

// pending counts what has begun and not ended. The zero value is none.
type pending struct {
	mu    sync.Mutex
	n     int
	ended chan struct{} // closed when n falls to 0; nil: nobody waits
}

func (p *pending) add(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.n += n; p.n == 0 && p.ended != nil {
		close(p.ended)
		p.ended = nil
	}
}

var errUnsettled = errors.New("a connection or an allowed request has not ended after ten seconds")

// wait returns when nothing is pending any more.
func (p *pending) wait() error {
	p.mu.Lock()
	if p.n == 0 {
		p.mu.Unlock()
		return nil
	}
	if p.ended == nil {
		p.ended = make(chan struct{})
	}
	ended := p.ended
	p.mu.Unlock()
	select {
	case <-ended:
		return nil
	case <-time.After(10 * time.Second):
		return errUnsettled
	}
}

// settle waits until the enforcer has done with the connections of a sample, whose
// client has closed them: all that it will ever judge of them is judged then.
func (w *world) settle() error {
	return errors.Join(w.conns.wait(), w.witness.pending.wait())
}

// counted is a listener that takes connections off the count when they are closed. Who
// dials puts them on it: a connection may wait for long to be accepted.
type counted struct {
	net.Listener
	conns *pending
}

func (l counted) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &countedConn{TCPConn: c.(*net.TCPConn), conns: l.conns}, nil
}

type countedConn struct {
	*net.TCPConn
	conns *pending
	once  sync.Once
}

func (c *countedConn) Close() error {
	c.once.Do(func() { c.conns.add(-1) })
	return c.TCPConn.Close()
}
