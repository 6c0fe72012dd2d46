package replay

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"encoding/json"
	"hash"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"time"
)

// What is kept of a body or of a connection; wholeMax is for Config.Whole.
const (
	headMax  = 4096
	wholeMax = 64 << 20
)

// hosts maps a canonical host name to what serves it.
type hosts struct {
	mu       sync.Mutex
	handlers map[string]http.Handler
}

func newHosts() *hosts { return &hosts{handlers: map[string]http.Handler{}} }

func (h *hosts) set(host string, handler http.Handler) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.handlers[canonicalName(host)] = handler
}

func (h *hosts) get(authority string) http.Handler {
	host, _, err := net.SplitHostPort(authority)
	if err != nil {
		host = authority
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	name := canonicalName(host)
	if handler := h.handlers[name]; handler != nil {
		return handler
	}
	for _, above, ok := strings.Cut(name, "."); ok; _, above, ok = strings.Cut(above, ".") {
		if handler := h.handlers["*."+above]; handler != nil {
			return handler
		}
	}
	return http.HandlerFunc(echo)
}

// echo answers with what it received, as JSON.
func echo(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(io.LimitReader(r.Body, 1<<20))
	io.Copy(io.Discard, r.Body)
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(map[string]any{
		"proto": r.Proto, "method": r.Method, "host": r.Host, "uri": r.RequestURI, "header": r.Header, "body": string(body),
	})
}

func forward(target *url.URL) http.Handler {
	return &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			r.SetXForwarded()
			r.Out.Host = r.In.Host
		},
		ErrorLog: log.New(io.Discard, "", 0),
	}
}

type connKey struct{}

func (in *Internet) serveHTTP(port uint16, secure bool) error {
	l, err := tcpListener(port)
	if err != nil {
		return err
	}
	s := &http.Server{
		Handler:     http.HandlerFunc(in.record),
		ErrorLog:    log.New(io.Discard, "", 0),
		ConnContext: func(ctx context.Context, c net.Conn) context.Context { return context.WithValue(ctx, connKey{}, c) },
		TLSConfig:   &tls.Config{GetCertificate: in.authority.leaf, NextProtos: []string{"h2", "http/1.1"}},
	}
	serve := s.Serve
	switch {
	case in.whole:
		serve = func(l net.Listener) error { return in.serveTapped(s, l, secure) }
	case secure:
		serve = func(l net.Listener) error { return s.ServeTLS(l, "", "") }
	}
	in.serving.Go(func() { serve(in.counted(l)) })
	in.closers = append(in.closers, s)
	return nil
}

// record puts the request on the ledger before anything answers it, so that a
// handler that never returns is seen too.
func (in *Internet) record(w http.ResponseWriter, r *http.Request) {
	e := &Exchange{
		Time: time.Now(), Destination: destination(r), Proto: r.Proto, Method: r.Method, Host: r.Host, URI: r.RequestURI,
		Header: r.Header.Clone(),
	}
	if t, ok := r.Context().Value(connKey{}).(*tapped); ok && r.TLS == nil {
		r.TLS = t.state()
	}
	e.TLS = r.TLS != nil
	if r.TLS != nil {
		e.SNI = r.TLS.ServerName
	}
	in.ledger.request(e)
	body := &bodyMeter{ReadCloser: r.Body, hash: sha256.New(), keep: in.ledger.keep}
	r.Body = body
	defer in.ledger.finish(e, func(e *Exchange) {
		e.BodyLen, e.BodySHA256, e.BodyHead = body.n, hex.EncodeToString(body.hash.Sum(nil)), string(body.head)
		e.Trailer, e.Done = r.Trailer.Clone(), true
	})
	in.hosts.get(r.Host).ServeHTTP(w, r)
}

func destination(r *http.Request) netip.AddrPort {
	conn, _ := r.Context().Value(connKey{}).(net.Conn)
	return addrPort(conn.LocalAddr())
}

func addrPort(a net.Addr) netip.AddrPort {
	tcp, ok := a.(*net.TCPAddr)
	if !ok {
		return netip.AddrPort{}
	}
	ap := tcp.AddrPort()
	return netip.AddrPortFrom(ap.Addr().Unmap(), ap.Port())
}

// bodyMeter measures what a handler reads of a body.
type bodyMeter struct {
	io.ReadCloser
	n    int64
	hash hash.Hash
	head []byte
	keep int
}

func (b *bodyMeter) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.n += int64(n)
	b.hash.Write(p[:n])
	b.head = append(b.head, p[:min(n, b.keep-len(b.head))]...)
	return n, err
}
