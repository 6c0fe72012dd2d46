package face

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"scupper.dev/scupper/gateway"
)

// ServeSocket serves p to whoever connects, until ctx ends: HTTP as ServeHTTP does, and
// MCP one message a line to whoever begins with one, as over stdio. It closes l.
func (f *Face) ServeSocket(ctx context.Context, l net.Listener, p gateway.Principal) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	talk := &talkers{Listener: l, web: make(chan net.Conn), open: make(map[net.Conn]bool)}
	served := make(chan error, 1)
	go func() { served <- f.ServeHTTP(ctx, talk, Door{As: &p}) }()
	err := talk.sort(ctx, func(c net.Conn) { _ = f.ServeStdio(ctx, p, c, c) }) // what went wrong, the other side has been told
	stop()
	talk.cut()
	talk.wait.Wait()
	return errors.Join(err, <-served)
}

// talkers tells connections apart by their first byte. As a Listener it accepts those
// that speak HTTP.
type talkers struct {
	net.Listener
	web  chan net.Conn
	wait sync.WaitGroup

	mu   sync.Mutex
	open map[net.Conn]bool // nil: no further one
}

// sort takes connections until the listener is closed.
func (t *talkers) sort(ctx context.Context, lines func(net.Conn)) error {
	defer close(t.web)
	closed := context.AfterFunc(ctx, func() { _ = t.Listener.Close() })
	defer closed()
	var handed sync.WaitGroup
	defer handed.Wait()
	for {
		c, err := t.Listener.Accept()
		switch {
		case ctx.Err() != nil || errors.Is(err, net.ErrClosed):
			return nil
		case err != nil:
			return fmt.Errorf("accept on the gateway's socket: %w", err)
		case !t.enter(c):
			_ = c.Close()
			continue
		}
		handed.Go(func() { t.tell(ctx, c, lines) })
	}
}

// enter counts a connection, unless there are too many.
func (t *talkers) enter(c net.Conn) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.open == nil || len(t.open) >= maxOpen {
		return false
	}
	t.open[c] = true
	return true
}

func (t *talkers) leave(c net.Conn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.open, c)
}

// cut closes every connection.
func (t *talkers) cut() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for c := range t.open {
		_ = c.Close()
	}
	t.open = nil
}

// tell finds out what c speaks and hands it on.
func (t *talkers) tell(ctx context.Context, c net.Conn, lines func(net.Conn)) {
	read := &begun{Conn: c, r: bufio.NewReader(c), left: func() { t.leave(c) }}
	_ = c.SetReadDeadline(time.Now().Add(headerTime))
	first, err := read.r.Peek(1)
	_ = c.SetReadDeadline(time.Time{})
	switch {
	case err != nil:
		_ = read.Close()
	case first[0] == '{' || first[0] == '[' || first[0] == '\n':
		t.wait.Go(func() {
			lines(read)
			_ = read.Close()
		})
	default:
		select {
		case t.web <- read:
		case <-ctx.Done():
			_ = read.Close()
		}
	}
}

// Accept returns the next connection that speaks HTTP.
func (t *talkers) Accept() (net.Conn, error) {
	c, ok := <-t.web
	if !ok {
		return nil, net.ErrClosed
	}
	return c, nil
}

// begun is a connection of which a byte has been looked at.
type begun struct {
	net.Conn
	r    *bufio.Reader
	left func()
}

// Read reads what was looked at, and then the rest.
func (b *begun) Read(p []byte) (int, error) { return b.r.Read(p) }

// Close closes the connection and makes room for another.
func (b *begun) Close() error {
	b.left()
	return b.Conn.Close()
}
