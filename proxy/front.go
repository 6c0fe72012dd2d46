package proxy

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"scupper.dev/scupper/capability"
)

// front is one way in: a listener, the links that came from it, and the HTTP servers
// that get those links whose bytes are HTTP.
type front struct {
	p     *Proxy
	kind  capability.Front
	http1 *server
	http2 *server

	wait  sync.WaitGroup // links before HTTP
	mu    sync.Mutex
	links map[*link]struct{} // all open ones
	busy  int                // requests that are being judged or answered
	ended bool
	idle  chan struct{} // closed when it has ended and nothing is busy
}

func (p *Proxy) newFront(kind capability.Front) *front {
	f := &front{
		p: p, kind: kind, http1: p.newServer(), http2: p.newServer(), links: make(map[*link]struct{}), idle: make(chan struct{}),
	}
	f.http1.Protocols.SetHTTP1(true)
	// TLS has ended before net/http sees a connection.
	f.http2.Protocols.SetUnencryptedHTTP2(true)
	return f
}

// serve accepts until ctx ends.
func (f *front) serve(ctx context.Context, ln net.Listener) error {
	stop := context.AfterFunc(ctx, func() { ln.Close() })
	defer stop()
	f.p.live.open(f)
	defer f.p.live.closed(f)
	var serving errgroup.Group
	serving.Go(f.http1.serve)
	serving.Go(f.http2.serve)

	err := f.accept(ctx, ln)
	ln.Close()
	f.end()
	err = errors.Join(err, serving.Wait())
	if ctx.Err() != nil {
		return nil
	}
	return err
}

func (f *front) accept(ctx context.Context, ln net.Listener) error {
	for {
		conn, err := ln.Accept()
		switch {
		case err == nil && f.slot():
			f.wait.Go(func() { f.open(conn) })
		case err == nil:
			f.crowd(ctx, conn)
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE), errors.Is(err, syscall.ECONNABORTED):
			pause(ctx, 10*time.Millisecond)
		default:
			return fmt.Errorf("accept %s connection: %w", f.kind, err)
		}
	}
}

// slot takes the place of one more connection; false: there is none.
func (f *front) slot() bool {
	select {
	case f.p.slots <- struct{}{}:
		return true
	default:
		return false
	}
}

func (f *front) release() { <-f.p.slots }

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
		f.http1.feed.put(&stream{Conn: l, link: l})
		return
	}
	f.openTransparent(l)
}

// end closes what is left after the grace period.
func (f *front) end() {
	ctx, cancel := context.WithTimeout(context.Background(), f.p.cfg.Limits.Grace)
	defer cancel()
	f.wait.Go(func() { f.http2.end(ctx) })
	f.http1.end(ctx)
	for _, l := range f.close() {
		l.Close()
	}
	f.p.live.stop(f)
	f.wait.Wait()
	select {
	case <-f.idle:
	case <-time.After(farewell): // an authority that hangs must not hang us
	}
	f.p.pools.close()
}

// close lets nothing begin any more and returns the links that are open.
func (f *front) close() (left []*link) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ended = true; f.busy == 0 {
		close(f.idle)
	}
	for l := range f.links {
		left = append(left, l)
	}
	return left
}

// begin counts a request, so that no front ends before its outcomes are on record; false:
// it has ended.
func (f *front) begin() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ended {
		return false
	}
	f.busy++
	return true
}

func (f *front) done() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.busy--; f.ended && f.busy == 0 {
		close(f.idle)
	}
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
