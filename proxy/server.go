package proxy

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
)

// server is net/http behind a feed of connections.
type server struct {
	*http.Server
	feed *feed
}

// newServer has no protocol yet.
func (p *Proxy) newServer() *server {
	s := &server{feed: newFeed(), Server: &http.Server{
		Handler:                      http.HandlerFunc(p.handle),
		Protocols:                    new(http.Protocols),
		ReadHeaderTimeout:            p.cfg.Limits.Header,
		IdleTimeout:                  p.cfg.Limits.Idle,
		MaxHeaderBytes:               4 * p.cfg.Limits.HeaderBytes, // what net/http refuses is not recorded
		HTTP2:                        &http.HTTP2Config{MaxConcurrentStreams: p.cfg.Limits.Streams},
		DisableGeneralOptionsHandler: true, // OPTIONS * is for us to refuse and record
		ConnContext:                  withConn,
		ConnState:                    p.watch,
		ErrorLog:                     p.cfg.ErrorLog,
	}}
	if s.ErrorLog == nil {
		s.ErrorLog = log.New(io.Discard, "", 0)
	}
	return s
}

// serve returns when end was called.
func (s *server) serve() error {
	if err := s.Serve(s.feed); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// end lets live requests end until ctx does.
func (s *server) end(ctx context.Context) {
	if s.Shutdown(ctx) != nil {
		s.Close()
	}
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
