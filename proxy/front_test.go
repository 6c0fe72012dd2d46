package proxy

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
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

// TestServeEndsWithOutcomes: when a front has ended, what it allowed has its outcome.
func TestServeEndsWithOutcomes(t *testing.T) {
	for name, begin := range map[string]func(w *world, c net.Conn){
		"a WebSocket": func(w *world, c net.Conn) {
			upgraded(w, nil, "", func(c net.Conn, _ *bufio.Reader) { io.Copy(io.Discard, c) })
			w.upgrade(c, "")
		},
		"a WebSocket whose client has said farewell": func(w *world, c net.Conn) {
			upgraded(w, nil, "", func(c net.Conn, _ *bufio.Reader) { io.Copy(io.Discard, c) })
			w.upgrade(c, maskedFrame(finBit|opClose, "\x03\xe8"))
			c.Close()
		},
		"a request without an answer": func(w *world, c net.Conn) {
			seen := make(chan struct{})
			w.tls.handler = func(_ http.ResponseWriter, r *http.Request) { close(seen); <-r.Context().Done() }
			fmt.Fprint(c, w.filled("GET /plain HTTP/1.1\r\nHost: HOST\r\n\r\n"))
			<-seen
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, webSockets)
			ln := listen(t, "0.0.0.0:0")
			ctx, cancel := context.WithCancel(context.Background())
			done := make(chan error, 1)
			go func() { done <- w.proxy.ServeTransparent(ctx, ln) }()
			grants := webSockets(w)
			grants[0].Port = portOf(ln)
			w.reload(grants)
			w.proxy.cfg.Overrides[0].Port = portOf(ln)
			w.port = portOf(ln)
			begin(w, w.inside())
			begun := time.Now()
			cancel()
			if err := <-done; err != nil {
				t.Error(err)
			}
			if took := time.Since(begun); took > farewell-time.Second {
				t.Errorf("ending took %v", took)
			}
			for _, r := range w.log.all() {
				if r.Decision.Allowed() && r.Outcome == nil {
					t.Errorf("no outcome: %+v", r.Request)
				}
			}
		})
	}
}

// wantAlert looks for a TLS alert from the proxy.
func wantAlert(t *testing.T, err error) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), "remote error: tls: ") {
		t.Errorf("got %v, want an alert", err)
	}
}

// full is a world whose only connection is taken; leave gives its place back.
func full(t *testing.T) (w *world, leave func()) {
	w = newWorld(t, nil, limited(func(l *Limits) { l.Connections, l.Handshake, l.Refused = 1, 20*time.Second, 50*time.Millisecond }))
	c := w.inside()
	if status, _ := w.say(c, "GET /public/a HTTP/1.1\r\nHost: HOST\r\n\r\n"); status != 200 {
		t.Fatalf("control: got %d", status)
	}
	w.forget()
	return w, func() { c.Close() }
}

// TestConnectionsAreBounded: whoever is one too many learns it at once, in the protocol
// that it begins with.
func TestConnectionsAreBounded(t *testing.T) {
	over := func(t *testing.T, w *world, front capability.Front) {
		t.Helper()
		d := w.denials(1)[0]
		if d.Decision.Reason != capability.LimitExceeded || d.Request.Limit != limitConnections || d.Request.Front != front {
			t.Errorf("got %s for %q at the %s front", d.Decision.Reason, d.Request.Limit, d.Request.Front)
		}
		w.untouched()
	}
	for _, protocol := range []string{"http/1.1", "h2"} {
		t.Run("transparent, "+protocol, func(t *testing.T) {
			w, _ := full(t)
			_, err := w.dialTLS(&tls.Config{ServerName: "allowed.example", NextProtos: []string{protocol}})
			wantAlert(t, err)
			over(t, w, capability.Transparent)
		})
	}
	t.Run("transparent, cleartext", func(t *testing.T) {
		w, _ := full(t)
		status, body := w.say(w.dial(fmt.Sprintf("%s:%d", good, w.cleart)), "GET /public/a HTTP/1.1\r\nHost: CLEAR\r\n\r\n")
		if status != 429 || !strings.Contains(body, `"reason":"limit_exceeded"`) || !strings.Contains(body, w.denials(1)[0].Decision.ID) {
			t.Errorf("got %d %s", status, body)
		}
		over(t, w, capability.Transparent)
	})
	for _, text := range []string{"CONNECT HOST HTTP/1.1\r\nHost: HOST\r\n\r\n", "GET http://CLEAR/public/a HTTP/1.1\r\nHost: CLEAR\r\n\r\n"} {
		method, _, _ := strings.Cut(text, " ")
		t.Run("explicit, "+method, func(t *testing.T) {
			w, _ := full(t)
			if status, _ := w.say(w.dial(w.explicit), text); status != 429 {
				t.Errorf("got %d", status)
			}
			over(t, w, capability.Explicit)
		})
	}
	t.Run("one that says nothing", func(t *testing.T) {
		w, _ := full(t)
		ended(t, w.dial(w.explicit))
		over(t, w, capability.Explicit)
	})
	t.Run("one that comes as another goes", func(t *testing.T) {
		w, leave := full(t)
		c := w.dial(w.explicit)
		leave()
		if status, _ := w.say(c, "GET http://CLEAR/public/a HTTP/1.1\r\nHost: CLEAR\r\n\r\n"); status != 200 {
			t.Errorf("got %d", status)
		}
		w.denials(0)
	})
}
