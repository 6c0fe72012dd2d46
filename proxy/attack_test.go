package proxy

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"scupper.dev/scupper/capability"
)

// TestManyHosts: HOST-02, case and root dots mean nothing however many hosts there are.
func TestManyHosts(t *testing.T) {
	w := newWorld(t, func(w *world) []*capability.Grant {
		grants := standard(w)
		for i := range 150 {
			grants = append(grants, w.grant(fmt.Sprintf("h%d.example", i), allow(t, "GET", "/public/{rest...}")))
		}
		return grants
	})
	c := w.client(false)
	for _, host := range []string{"allowed.example", "ALLOWED.Example", "Allowed.Example."} {
		if status, _, _ := w.get(c, fmt.Sprintf("https://%s:%d/public/a", host, w.port)); status != 200 {
			t.Errorf("HOST-02 %s: got %d", host, status)
		}
	}
	w.forget()
	if status, _, _ := w.get(c, fmt.Sprintf("https://ALLOWED.example:%d/private", w.port)); status != 403 {
		t.Errorf("HOST-02: got %d", status)
	}
	w.refused(capability.PathNotGranted)
	w.forget()
	for _, host := range []string{"H149.Example", "h149.example."} { // names in CONNECT: there is no far side for them
		if status, _ := w.say(w.dial(w.explicit), fmt.Sprintf("CONNECT %s:%d HTTP/1.1\r\nHost: x\r\n\r\n", host, w.port)); status != 421 {
			t.Errorf("another Host than %s: got %d", host, status)
		}
		if status, _ := w.say(w.dial(w.explicit), fmt.Sprintf("CONNECT %[1]s:%[2]d HTTP/1.1\r\nHost: %[1]s:%[2]d\r\n\r\n", host, w.port)); status != 200 {
			t.Errorf("HOST-02 %s: got %d", host, status)
		}
	}
	if status, _ := w.say(w.dial(w.explicit), fmt.Sprintf("CONNECT H150.Example:%[1]d HTTP/1.1\r\nHost: H150.Example:%[1]d\r\n\r\n", w.port)); status != 403 {
		t.Errorf("HOST-02 a host beyond the list: got %d", status)
	}
	w.untouched()
}

// TestLargestMaximum: a body may be as long as a number can say.
func TestLargestMaximum(t *testing.T) {
	for name, inspector := range map[string]capability.Inspector{"streamed": nil, "inspected": shouting{}} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, func(w *world) []*capability.Grant {
				a := withBody(allow(t, "POST", "/notes"), "application/json", math.MaxInt64)
				a.Body.Inspector = inspector
				return []*capability.Grant{w.grant("allowed.example", a)}
			})
			resp, err := w.client(false).Post(w.url("/notes"), "application/json", strings.NewReader("hello"))
			if err != nil || resp.StatusCode != 200 {
				t.Fatalf("got %+v, %v", resp, err)
			}
			resp.Body.Close()
		})
	}
}

// TestExpiryOnKeepAlive: a connection that was opened in time buys nothing.
func TestExpiryOnKeepAlive(t *testing.T) {
	var late atomic.Bool
	end := time.Now().Add(time.Hour)
	w := newWorld(t, func(w *world) []*capability.Grant {
		g := w.grant("allowed.example", allow(t, "GET", "/public/{rest...}"))
		g.Expires = end
		return []*capability.Grant{g}
	}, configured(func(c *Config) {
		c.Now = func() time.Time {
			if late.Load() {
				return end
			}
			return end.Add(-time.Minute)
		}
	}))
	c := w.inside()
	br := bufio.NewReader(c)
	if status, _, err := w.exchange(c, br, "GET /public/a HTTP/1.1\r\nHost: HOST\r\n\r\n"); status != 200 {
		t.Fatalf("got %d, %v", status, err)
	}
	w.forget()
	late.Store(true)
	if status, _, err := w.exchange(c, br, "GET /public/a HTTP/1.1\r\nHost: HOST\r\n\r\n"); status != 403 {
		t.Errorf("got %d, %v", status, err)
	}
	w.refused(capability.GrantExpired)
}

// TestConnectWithBody: what is behind a CONNECT is what goes through the tunnel, and
// that is TLS or nothing.
func TestConnectWithBody(t *testing.T) {
	for _, framing := range []string{"Content-Length: 38\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\n26\r\n"} {
		w := newWorld(t, nil)
		c := w.dial(w.explicit)
		status, _ := w.say(c, "CONNECT HOST HTTP/1.1\r\nHost: HOST\r\n"+framing+"GET /public/a HTTP/1.1\r\nHost: HOST\r\n\r\n")
		if status != 200 && status != 400 {
			t.Errorf("got %d", status)
		}
		ended(t, c)
		if got := w.denials(1)[0].Decision.Reason; got != capability.NotTLS && got != capability.MalformedRequest {
			t.Errorf("got %s", got)
		}
		w.untouched()
	}
}

// TestGrantsOfOneHost: each request goes by the networks of the grant that covers it,
// over exact names and wildcards, one after the other and at once on one connection.
func TestGrantsOfOneHost(t *testing.T) {
	w := newWorld(t, func(w *world) []*capability.Grant {
		inner := w.grant("allowed.example", allow(t, "GET", "/public/{rest...}"))
		inner.Networks = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
		wild := w.grant("example", allow(t, "GET", "/public/{rest...}"), allow(t, "GET", "/wild/{rest...}"))
		wild.Name, wild.Host.Wildcard = "wild", true
		return []*capability.Grant{inner, wild}
	}, func(w *world) {
		dials := newDialRecorder(map[string]string{"127.0.0.1": w.tls.addr.String()})
		w.config.Overrides, w.config.Dialer = nil, dials
		w.config.Resolver = &answers{list: [][]string{{"127.0.0.1"}}}
	})
	c := w.client(true)
	var all sync.WaitGroup
	for i := range 40 {
		path, want := fmt.Sprintf("/public/%d", i), 200
		if i%2 == 1 {
			path, want = fmt.Sprintf("/wild/%d", i), 403
		}
		all.Go(func() {
			resp, err := c.Get(w.url(path))
			if err != nil {
				t.Error(err)
				return
			}
			resp.Body.Close()
			if resp.StatusCode != want {
				t.Errorf("%s: got %d, want %d", path, resp.StatusCode, want)
			}
		})
	}
	all.Wait()
	for _, s := range w.tls.requests() {
		if !strings.HasPrefix(s.URI, "/public/") {
			t.Errorf("the far side saw %s", s.URI)
		}
	}
}

// TestHeldBodiesAreBounded: bodies that are inspected are held whole, but not any
// number of them at once.
func TestHeldBodiesAreBounded(t *testing.T) {
	const size, clients = 8 << 20, 24
	w := newWorld(t, func(w *world) []*capability.Grant {
		a := withBody(allow(t, "POST", "/notes"), "application/json", size)
		a.Body.Inspector = shouting{}
		return []*capability.Grant{w.grant("allowed.example", a)}
	}, configured(func(c *Config) { c.Limits.Held = 32 << 20 }))
	head := fmt.Sprintf("POST /notes HTTP/1.1\r\nHost: allowed.example:%d\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n", w.port, size)
	almost := bytes.Repeat([]byte("x"), size-1)
	stop := peak()
	var all sync.WaitGroup
	for range clients {
		c := w.inside()
		all.Go(func() { // each sends all but one byte, and waits
			c.SetWriteDeadline(time.Now().Add(time.Second))
			io.WriteString(c, head)
			c.Write(almost)
		})
	}
	all.Wait()
	if got := stop(); got > 128<<20 {
		t.Errorf("%d MiB are in use", got>>20)
	}
	w.untouched()
}
