package proxy

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"syscall"
	"time"

	"scupper.dev/scupper/capability"
)

// front is one way in: a listener, the links that came from it, and the HTTP server
// that gets those links whose bytes are HTTP.
type front struct {
	p      *Proxy
	kind   capability.Front
	server *http.Server
	feed   *feed

	slots chan struct{}  // one for each connection that may be open
	wait  sync.WaitGroup // links before HTTP
	mu    sync.Mutex
	links map[*link]struct{} // all open ones
	ended bool
}

func (p *Proxy) newFront(kind capability.Front) *front {
	f := &front{
		p: p, kind: kind, feed: newFeed(), links: make(map[*link]struct{}),
		slots: make(chan struct{}, p.cfg.Limits.Connections),
	}
	f.server = &http.Server{
		Handler:                      http.HandlerFunc(p.handle),
		TLSConfig:                    &tls.Config{NextProtos: []string{"h2", "http/1.1"}},
		ReadHeaderTimeout:            p.cfg.Limits.Header,
		IdleTimeout:                  p.cfg.Limits.Idle,
		MaxHeaderBytes:               4 * p.cfg.Limits.HeaderBytes, // what net/http refuses is not recorded
		DisableGeneralOptionsHandler: true,                         // OPTIONS * is for us to refuse and record
		ConnContext:                  withConn,
		ConnState:                    p.watch,
		ErrorLog:                     p.cfg.ErrorLog,
	}
	if f.server.ErrorLog == nil {
		f.server.ErrorLog = log.New(io.Discard, "", 0)
	}
	return f
}

// serve accepts until ctx ends.
func (f *front) serve(ctx context.Context, ln net.Listener) error {
	stop := context.AfterFunc(ctx, func() { ln.Close() })
	defer stop()
	served := make(chan error, 1)
	go func() { served <- f.server.Serve(f.feed) }()

	err := f.accept(ctx, ln)
	ln.Close()
	f.end()
	if e := <-served; !errors.Is(e, http.ErrServerClosed) {
		err = errors.Join(err, e)
	}
	if ctx.Err() != nil {
		return nil
	}
	return err
}

func (f *front) accept(ctx context.Context, ln net.Listener) error {
	for f.slot(ctx) {
		conn, err := ln.Accept()
		if err == nil {
			f.wait.Go(func() { f.open(conn) })
			continue
		}
		f.release()
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE), errors.Is(err, syscall.ECONNABORTED):
			pause(ctx, 10*time.Millisecond)
		default:
			return fmt.Errorf("accept %s connection: %w", f.kind, err)
		}
	}
	return nil
}

// slot waits until one more connection may be open; false: ctx ended first.
func (f *front) slot(ctx context.Context) bool {
	select {
	case f.slots <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

func (f *front) release() { <-f.slots }

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// open starts a link on conn.
func (f *front) open(conn net.Conn) {
	l := &link{Conn: conn, front: f, close: f.release}
	if !f.add(l) {
		l.Close()
		return
	}
	if f.kind == capability.Explicit {
		f.feed.put(&stream{Conn: l, link: l})
		return
	}
	f.openTransparent(l)
}

// end closes what is left after the grace period.
func (f *front) end() {
	ctx, cancel := context.WithTimeout(context.Background(), f.p.cfg.Limits.Grace)
	defer cancel()
	if f.server.Shutdown(ctx) != nil {
		f.server.Close()
	}
	f.mu.Lock()
	f.ended = true
	left := make([]*link, 0, len(f.links))
	for l := range f.links {
		left = append(left, l)
	}
	f.mu.Unlock()
	for _, l := range left {
		l.Close()
	}
	f.wait.Wait()
	f.p.pools.close()
}

func (f *front) add(l *link) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ended {
		return false
	}
	f.links[l] = struct{}{}
	return true
}

func (f *front) drop(l *link) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.links, l)
}

// feed is a listener whose connections are put into it.
type feed struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

func newFeed() *feed { return &feed{conns: make(chan net.Conn), done: make(chan struct{})} }

// put hands conn to the HTTP server, or closes it when that has ended.
func (f *feed) put(conn net.Conn) {
	select {
	case f.conns <- conn:
	case <-f.done:
		conn.Close()
	}
}

func (f *feed) Accept() (net.Conn, error) {
	select {
	case c := <-f.conns:
		return c, nil
	case <-f.done:
		return nil, net.ErrClosed
	}
}

func (f *feed) Close() error {
	f.once.Do(func() { close(f.done) })
	return nil
}

func (f *feed) Addr() net.Addr { return &net.TCPAddr{} }
