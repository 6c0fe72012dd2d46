package proxy

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"testing"
	"time"

	"scupper.dev/scupper/capability"
)

func TestServeEnds(t *testing.T) {
	for _, kind := range []capability.Front{capability.Transparent, capability.Explicit} {
		t.Run(string(kind)+" with live connections of every kind", func(t *testing.T) {
			w := newWorld(t, nil)
			hang := make(chan struct{})
			w.tls.handler = func(rw http.ResponseWriter, r *http.Request) {
				close(hang)
				<-r.Context().Done()
			}
			ln := listen(t, "0.0.0.0:0")
			serve, addr := w.proxy.ServeTransparent, fmt.Sprintf("%s:%d", good, portOf(ln))
			if kind == capability.Explicit {
				serve = w.proxy.ServeExplicit
			}
			ctx, cancel := context.WithCancel(context.Background())
			done := make(chan error, 1)
			go func() { done <- serve(ctx, ln) }()

			silent := w.dial(addr)
			partial := w.dial(addr)
			fmt.Fprint(partial, "GET / HT")
			conns := []net.Conn{silent, partial}
			if kind == capability.Explicit {
				tunnel := w.dial(addr)
				w.say(tunnel, "CONNECT HOST HTTP/1.1\r\nHost: HOST\r\n\r\n")
				conns = append(conns, tunnel)
			}
			live := w.inside()
			fmt.Fprintf(live, "GET /public/a HTTP/1.1\r\nHost: allowed.example:%d\r\n\r\n", w.port)
			<-hang

			begun := time.Now()
			cancel()
			select {
			case err := <-done:
				if err != nil {
					t.Error(err)
				}
			case <-time.After(3 * time.Second):
				t.Fatal("serve did not return")
			}
			if took := time.Since(begun); took > 2*time.Second {
				t.Errorf("ending took %v", took)
			}
			for _, c := range conns {
				ended(t, c)
			}
			if _, err := net.DialTimeout("tcp", addr, time.Second); err == nil {
				t.Error("the listener is still open")
			}
		})
	}
}

func TestConnectionsAreBounded(t *testing.T) {
	w := newWorld(t, nil, configured(func(c *Config) { c.Limits.Connections = 2; c.Limits.Handshake = 20 * time.Second }))
	first := w.inside()
	w.inside()
	third := w.dial(fmt.Sprintf("%s:%d", good, w.port))
	first.Close()
	fmt.Fprintf(third, "GET /public/a HTTP/1.1\r\nHost: allowed.example:%d\r\n\r\n", w.port)
	third.SetReadDeadline(time.Now().Add(5 * time.Second))
	if resp, err := http.ReadResponse(bufio.NewReader(third), nil); err != nil || resp.StatusCode != 400 {
		t.Errorf("the third was not served after the first had gone: %v", err)
	}
}
