package proxy

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"scupper.dev/scupper/capability"
)

// corporate is a proxy that knows CONNECT alone, and notes what it is asked.
type corporate struct {
	addr   netip.AddrPort
	routes map[string]netip.AddrPort // what its own resolver says
	answer string                    // instead of connecting

	mu   sync.Mutex
	seen []string // request line, then the credential
}

const corporateUser = "Basic c2N1cHBlcjpzM2NyM3Q=" // scupper:s3cr3t

func startCorporate(t *testing.T) *corporate {
	t.Helper()
	ln := listen(t, "127.0.0.1:0")
	c := &corporate{addr: netip.MustParseAddrPort(ln.Addr().String()), routes: map[string]netip.AddrPort{}}
	go func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			go c.serve(conn)
		}
	}()
	return c
}

func (c *corporate) serve(conn net.Conn) {
	defer conn.Close()
	br := bufio.NewReader(conn)
	r, err := http.ReadRequest(br)
	if err != nil {
		return
	}
	c.mu.Lock()
	c.seen = append(c.seen, fmt.Sprintf("%s %s %s", r.Method, r.RequestURI, r.Header.Get("Proxy-Authorization")))
	c.mu.Unlock()
	if c.answer != "" {
		io.WriteString(conn, c.answer)
		io.Copy(io.Discard, br)
		return
	}
	to, ok := c.routes[r.RequestURI]
	switch {
	case r.Method != "CONNECT" || r.Header.Get("Proxy-Authorization") != corporateUser:
		io.WriteString(conn, "HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm=\"x\"\r\nContent-Length: 6\r\n\r\nsecret")
		return
	case !ok:
		io.WriteString(conn, "HTTP/1.1 502 Bad Gateway\r\nContent-Length: 6\r\n\r\nsecret")
		return
	}
	far, err := net.Dial("tcp", to.String())
	if err != nil {
		return
	}
	defer far.Close()
	io.WriteString(conn, "HTTP/1.1 200 Connection established\r\n\r\n")
	go io.Copy(far, br)
	io.Copy(conn, far)
}

func (c *corporate) asked() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]string(nil), c.seen...)
}

// through makes a world whose way outside is c, with names that only c can resolve.
func through(t *testing.T, c *corporate, password string) *world {
	t.Helper()
	w := newWorld(t, nil, func(w *world) {
		w.config.Overrides = nil
		w.config.Resolver = &answers{list: [][]string{{}}} // whoever asks it, fails
		var err error
		if w.config.Via, err = NewVia("127.0.0.1", c.addr.Port(), "scupper", password); err != nil {
			t.Fatal(err)
		}
	})
	c.routes[fmt.Sprintf("allowed.example:%d", w.port)] = w.tls.addr
	c.routes[fmt.Sprintf("allowed.example:%d", w.cleart)] = w.plain.addr
	return w
}

func TestVia(t *testing.T) {
	t.Run("TLS end to end, cleartext too, h1 and h2", func(t *testing.T) {
		c := startCorporate(t)
		w := through(t, c, "s3cr3t")
		for _, url := range []string{w.url("/public/a"), w.clearURL("/public/b")} {
			if status, body, _ := w.get(w.client(true), url); status != 200 || !strings.HasPrefix(body, "origin: GET /public/") {
				t.Errorf("%s: got %d %s", url, status, body)
			}
		}
		if got := w.tls.requests(); len(got) != 1 || got[0].Proto != "HTTP/2.0" || len(got[0].Header["Proxy-Authorization"]) > 0 {
			t.Errorf("far side: %+v", got)
		}
		if got := w.plain.requests(); len(got) != 1 || len(got[0].Header["Proxy-Authorization"]) > 0 {
			t.Errorf("far side in clear: %+v", got)
		}
		want := []string{fmt.Sprintf("CONNECT allowed.example:%d %s", w.port, corporateUser), fmt.Sprintf("CONNECT allowed.example:%d %s", w.cleart, corporateUser)}
		if got := c.asked(); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("the proxy was asked %q, want %q", got, want)
		}
	})
	t.Run("what is refused does not reach it", func(t *testing.T) {
		c := startCorporate(t)
		w := through(t, c, "s3cr3t")
		if status, _, _ := w.get(w.client(false), w.url("/private")); status != 403 {
			t.Errorf("got %d", status)
		}
		w.refused(capability.PathNotGranted)
		if got := c.asked(); len(got) > 0 {
			t.Errorf("the proxy was asked %q", got)
		}
	})
	t.Run("the far side's certificate is verified through it", func(t *testing.T) {
		c := startCorporate(t)
		w := through(t, c, "s3cr3t")
		stranger := newFarCA(t).issue(t, time.Now().Add(time.Hour), "allowed.example")
		c.routes[fmt.Sprintf("allowed.example:%d", w.port)] = startOriginWith(t, &stranger).addr
		if status, body, _ := w.get(w.client(false), w.url("/public/a")); status != 502 || !strings.Contains(body, errUpstreamCertificate) {
			t.Errorf("got %d %s", status, body)
		}
	})
}

func TestViaFailures(t *testing.T) {
	rows := []struct {
		name, answer, password, kind string
	}{
		{"wrong password", "", "wrong", errProxyCredential},
		{"it does not find the host", "HTTP/1.1 502 Bad Gateway\r\nContent-Length: 6\r\n\r\nsecret", "s3cr3t", errProxyRefused},
		{"it refuses", "HTTP/1.1 403 Forbidden\r\n\r\n", "s3cr3t", errProxyRefused},
		{"it redirects", "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1/\r\n\r\n", "s3cr3t", errProxyRefused},
		{"not HTTP", "hello\r\n\r\n", "s3cr3t", errProxyUnreachable},
		{"an answer behind the answer", "HTTP/1.1 200 OK\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nsecret", "s3cr3t", errProxyRefused},
		{"a head without end", "HTTP/1.1 200 OK\r\n" + strings.Repeat("X: "+strings.Repeat("x", 1000)+"\r\n", 100), "s3cr3t", errProxyUnreachable},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			c := startCorporate(t)
			c.answer = row.answer
			w := through(t, c, row.password)
			for _, url := range []string{w.url("/public/a"), w.clearURL("/public/a")} {
				status, body, _ := w.get(w.client(false), url)
				if status != 502 || !strings.Contains(body, row.kind) || strings.Contains(body, "secret") || strings.Contains(body, row.password) {
					t.Errorf("%s: got %d %s", url, status, body)
				}
			}
			w.untouched()
			if got := w.finished(2)[0].Outcome.Error; got != row.kind {
				t.Errorf("outcome: %q", got)
			}
		})
	}
	t.Run("down: nothing goes straight to the host", func(t *testing.T) {
		c := startCorporate(t)
		w := through(t, c, "s3cr3t")
		gone := listen(t, "127.0.0.1:0")
		w.proxy.cfg.Via.to.port = portOf(gone) // before the first request
		gone.Close()
		if status, body, _ := w.get(w.client(false), w.url("/public/a")); status != 502 || !strings.Contains(body, errProxyUnreachable) {
			t.Errorf("got %d %s", status, body)
		}
		w.untouched()
	})
	t.Run("silent: it is given up", func(t *testing.T) {
		c := startCorporate(t)
		ln := listen(t, "127.0.0.1:0") // accepts, in the kernel, and says nothing
		w := newWorld(t, nil, func(w *world) {
			w.config.Overrides, w.config.Limits.Dial = nil, 300*time.Millisecond
			w.config.Via, _ = NewVia("127.0.0.1", portOf(ln), "", "")
		})
		begin := time.Now()
		if status, body, _ := w.get(w.client(false), w.url("/public/a")); status != 502 || !strings.Contains(body, errProxyUnreachable) {
			t.Errorf("got %d %s", status, body)
		}
		if took := time.Since(begin); took > 5*time.Second {
			t.Errorf("took %v", took)
		}
		if got := c.asked(); len(got) > 0 {
			t.Errorf("another proxy was asked %q", got)
		}
	})
}

// TestViaChecksAddresses: what needs no resolver is checked as ever.
func TestViaChecksAddresses(t *testing.T) {
	rows := []struct {
		name, host string
		override   string
		networks   string
		reason     capability.Reason
	}{
		{"a private literal", "10.0.0.9", "", "", capability.NetworkNotGranted},
		{"HOST-12 a metadata literal", "169.254.169.254", "", "169.254.0.0/16", capability.MetadataAddress},
		{"HOST-07 the same in IPv6", "64:ff9b::a9fe:a9fe", "", "::/0", capability.MetadataAddress},
		{"HOST-12 an override to metadata", "other.example", "169.254.169.254", "", capability.MetadataAddress},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			c := startCorporate(t)
			w := newWorld(t, func(w *world) []*capability.Grant {
				g := w.clear(row.host, allow(t, "GET", "/public/{rest...}"))
				if row.networks != "" {
					g.Networks = []netip.Prefix{netip.MustParsePrefix(row.networks)}
				}
				return []*capability.Grant{g}
			}, func(w *world) {
				w.config.Overrides = nil
				if row.override != "" {
					w.config.Overrides = []Override{{capability.Host(row.host), w.cleart, netip.MustParseAddrPort(row.override + ":80")}}
				}
				w.config.Via, _ = NewVia("127.0.0.1", c.addr.Port(), "", "")
			})
			status, _ := w.say(w.dial(w.explicit), fmt.Sprintf("GET http://%[1]s/public/a HTTP/1.1\r\nHost: %[1]s\r\n\r\n", hostport(capability.Host(row.host), w.cleart, 0)))
			if status != 403 {
				t.Errorf("got %d", status)
			}
			if got := w.denials(1)[0].Decision.Reason; got != row.reason {
				t.Errorf("got %s, want %s", got, row.reason)
			}
			if got := c.asked(); len(got) > 0 {
				t.Errorf("the proxy was asked %q", got)
			}
		})
	}
	t.Run("an override is asked for as its address", func(t *testing.T) {
		c := startCorporate(t)
		w := newWorld(t, nil, func(w *world) { w.config.Via, _ = NewVia("127.0.0.1", c.addr.Port(), "scupper", "s3cr3t") })
		c.routes[w.tls.addr.String()] = w.tls.addr
		if status, body, _ := w.get(w.client(false), w.url("/public/a")); status != 200 {
			t.Errorf("got %d %s", status, body)
		}
		if got := c.asked(); len(got) != 1 || !strings.HasPrefix(got[0], "CONNECT "+w.tls.addr.String()+" ") {
			t.Errorf("the proxy was asked %q", got)
		}
	})
	t.Run("the proxy is not scupper itself", func(t *testing.T) {
		c := startCorporate(t)
		w := through(t, c, "s3cr3t")
		w.proxy.pools.public.CloseIdleConnections()
		d := &dialer{Config: w.proxy.cfg}
		d.OwnListeners = []netip.AddrPort{c.addr}
		if _, err := d.dial(t.Context(), "tcp", "allowed.example:443"); err == nil || !strings.Contains(err.Error(), string(capability.OwnListener)) {
			t.Errorf("got %v", err)
		}
	})
}

func TestViaHidesItsCredential(t *testing.T) {
	v, err := NewVia("proxy.example.com", 3128, "scupper", "s3cr3t")
	if err != nil {
		t.Fatal(err)
	}
	for _, format := range []string{"%v", "%+v", "%#v", "%s", "%q"} {
		if got := fmt.Sprintf(format, v) + fmt.Sprintf(format, Config{Via: v}); strings.Contains(got, "s3cr3t") || strings.Contains(got, "c2N1") {
			t.Errorf("CRED-17 %s shows it: %s", format, got)
		}
	}
	for _, pair := range [][2]string{{"a:b", "s3cr3t"}, {"a", "s3cr3t\r\nX: y"}, {"a\n", "s3cr3t"}} {
		if _, err := NewVia("proxy.example.com", 3128, pair[0], pair[1]); err == nil || strings.Contains(err.Error(), "s3cr3t") {
			t.Errorf("%q: got %v", pair, err)
		}
	}
	if _, err := NewVia("", 3128, "", ""); err == nil {
		t.Error("a proxy without a host")
	}
}
