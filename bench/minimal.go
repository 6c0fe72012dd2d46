package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"flag"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"time"
)

// minimalMain is the anchor of all ratios: the least intercepting proxy that
// net/http makes. A server takes CONNECT and ends TLS with certificates of its
// own, a Transport fetches. It decides nothing and records nothing.
func minimalMain(args []string) error {
	flags := flag.NewFlagSet("minimal", flag.ContinueOnError)
	listen := flags.String("listen", proxyAddr, "where")
	ca := flags.String("ca", "", "certificate and key of the authority, PEM")
	trust := flags.String("roots", "", "whom to trust upstream, PEM")
	if err := flags.Parse(args); err != nil {
		return err
	}
	leaves, err := newLeaves(*ca)
	if err != nil {
		return err
	}
	pool, err := roots(*trust)
	if err != nil {
		return err
	}
	front, err := net.Listen("tcp", *listen)
	if err != nil {
		return err
	}
	transport := &http.Transport{
		TLSClientConfig:     &tls.Config{RootCAs: pool, ClientSessionCache: tls.NewLRUClientSessionCache(4096)},
		MaxIdleConnsPerHost: 1024, IdleConnTimeout: 5 * time.Minute, DisableCompression: true,
	}
	tunnels := make(chan net.Conn, 64)
	config := &tls.Config{NextProtos: []string{"h2", "http/1.1"}, GetCertificate: leaves.get}
	quiet := log.New(io.Discard, "", 0)
	inner := &http.Server{Handler: relay{transport}, TLSConfig: config, ErrorLog: quiet, ReadHeaderTimeout: time.Minute}
	outer := &http.Server{Handler: connect(tunnels, config), ErrorLog: quiet, ReadHeaderTimeout: time.Minute}
	go inner.Serve(&taken{tunnels, front.Addr()})
	return outer.Serve(front)
}

// connect answers CONNECT and hands the connection to the inner server.
func connect(tunnels chan<- net.Conn, config *tls.Config) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodConnect {
			http.Error(w, "only CONNECT", http.StatusMethodNotAllowed)
			return
		}
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		if _, err := io.WriteString(conn, "HTTP/1.1 200 OK\r\n\r\n"); err != nil {
			conn.Close()
			return
		}
		tunnels <- tls.Server(conn, config)
	})
}

// taken is a listener of the connections that the outer server gave up.
type taken struct {
	tunnels <-chan net.Conn
	addr    net.Addr
}

func (t *taken) Accept() (net.Conn, error) { return <-t.tunnels, nil }
func (t *taken) Close() error              { return nil }
func (t *taken) Addr() net.Addr            { return t.addr }

// relay fetches each request with the transport.
type relay struct{ transport *http.Transport }

func (f relay) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	target := *r.URL
	target.Scheme, target.Host = "https", r.Host
	hopByHop(r.Header)
	out := (&http.Request{Method: r.Method, URL: &target, Host: r.Host, Header: r.Header, Body: r.Body, ContentLength: r.ContentLength}).WithContext(r.Context())
	if r.ContentLength == 0 {
		out.Body = nil
	}
	resp, err := f.transport.RoundTrip(out)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	defer resp.Body.Close()
	hopByHop(resp.Header)
	for name, values := range resp.Header {
		w.Header()[name] = values
	}
	w.WriteHeader(resp.StatusCode)
	io.Copy(w, resp.Body)
}

func hopByHop(h http.Header) {
	for _, name := range []string{"Connection", "Proxy-Connection", "Keep-Alive", "Te", "Trailer", "Transfer-Encoding", "Upgrade"} {
		delete(h, name)
	}
}

// leaves makes one certificate for each name; all share one key.
type leaves struct {
	authority *authority
	key       *ecdsa.PrivateKey
	mu        sync.Mutex
	made      map[string]*tls.Certificate
}

func newLeaves(ca string) (*leaves, error) {
	pair, err := loadPair(ca)
	if err != nil {
		return nil, err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	signer, ok := pair.PrivateKey.(*ecdsa.PrivateKey)
	if !ok {
		return nil, errors.New("the authority's key is not ECDSA")
	}
	return &leaves{authority: &authority{pair.Leaf, signer}, key: key, made: map[string]*tls.Certificate{}}, nil
}

func (l *leaves) get(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if c, ok := l.made[hello.ServerName]; ok {
		return c, nil
	}
	leaf, err := l.authority.leaf(l.key, hello.ServerName)
	if err != nil {
		return nil, err
	}
	c := &tls.Certificate{Certificate: [][]byte{leaf.Raw}, PrivateKey: l.key, Leaf: leaf}
	l.made[hello.ServerName] = c
	return c, nil
}
