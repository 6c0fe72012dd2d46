package proxy

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"scupper.dev/scupper/capability"
)

// tunnel opens a CONNECT tunnel to the granted host.
func (w *world) tunnel() net.Conn {
	w.t.Helper()
	c := w.dial(w.explicit)
	if status, _ := w.say(c, "CONNECT HOST HTTP/1.1\r\nHost: HOST\r\n\r\n"); status != 200 {
		w.t.Fatalf("CONNECT: got status %d, want 200", status)
	}
	return c
}

func TestTunnel(t *testing.T) {
	t.Run("control", func(t *testing.T) {
		w := newWorld(t, nil)
		c := tls.Client(w.tunnel(), &tls.Config{RootCAs: w.roots, ServerName: "allowed.example"})
		if status, body := w.say(c, "GET /public/a HTTP/1.1\r\nHost: HOST\r\n\r\n"); status != 200 {
			t.Errorf("got %d %s", status, body)
		}
		c.Close()
		w.finished(2)
	})
	t.Run("ClientHello behind the CONNECT in one write", func(t *testing.T) {
		w := newWorld(t, nil)
		c := w.dial(w.explicit)
		early := &glued{Conn: c, first: []byte(strings.ReplaceAll("CONNECT HOST HTTP/1.1\r\nHost: HOST\r\n\r\n", "HOST", fmt.Sprintf("allowed.example:%d", w.port)))}
		tc := tls.Client(early, &tls.Config{RootCAs: w.roots, ServerName: "allowed.example"})
		if status, body := w.say(tc, "GET /public/a HTTP/1.1\r\nHost: HOST\r\n\r\n"); status != 200 {
			t.Errorf("got %d %s", status, body)
		}
	})
	t.Run("TLS-08 CONNECT inside", func(t *testing.T) {
		w := newWorld(t, nil)
		c := tls.Client(w.tunnel(), &tls.Config{RootCAs: w.roots, ServerName: "allowed.example"})
		status, _ := w.say(c, "CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example:443\r\n\r\n")
		if status != 403 {
			t.Errorf("got status %d, want 403", status)
		}
		w.refused(capability.ProtocolNotGranted)
	})
	t.Run("TLS-08 CONNECT of the granted host inside", func(t *testing.T) {
		w := newWorld(t, nil)
		c := tls.Client(w.tunnel(), &tls.Config{RootCAs: w.roots, ServerName: "allowed.example"})
		if status, _ := w.say(c, "CONNECT HOST HTTP/1.1\r\nHost: HOST\r\n\r\n"); status != 403 {
			t.Errorf("got status %d, want 403", status)
		}
		w.refused(capability.ProtocolNotGranted)
	})
	t.Run("TLS-04 bytes that are not TLS", func(t *testing.T) {
		w := newWorld(t, nil)
		c := w.tunnel()
		fmt.Fprint(c, "\x00\x01\x02 not tls\r\n")
		ended(t, c)
		w.refused(capability.NotTLS)
	})
	t.Run("TLS-04 ssh banner", func(t *testing.T) {
		w := newWorld(t, nil)
		c := w.tunnel()
		fmt.Fprint(c, "SSH-2.0-OpenSSH_9.2\r\n\r\n")
		ended(t, c)
		w.refused(capability.NotTLS)
	})
	t.Run("TLS-04 cleartext HTTP", func(t *testing.T) {
		w := newWorld(t, nil)
		status, body := w.say(w.tunnel(), "GET /public/a HTTP/1.1\r\nHost: HOST\r\n\r\n")
		if status != 400 || !strings.Contains(body, `"not_tls"`) {
			t.Errorf("got %d %s", status, body)
		}
		w.refused(capability.NotTLS)
	})
}

// finished waits until n allowing decisions have an outcome.
func (w *world) finished(n int) []record {
	w.t.Helper()
	return w.outcomes(n, func(record) bool { return true })
}

func (w *world) outcomes(n int, keep func(record) bool) []record {
	w.t.Helper()
	deadline := time.After(3 * time.Second)
	for {
		var out []record
		for _, r := range w.log.all() {
			if r.Decision.Allowed() && r.Outcome != nil && keep(r) {
				out = append(out, r)
			}
		}
		if len(out) >= n {
			return out
		}
		select {
		case <-w.log.changed:
		case <-deadline:
			w.t.Fatalf("got %d outcomes, want %d: %+v", len(out), n, w.log.all())
		}
	}
}

// glued sends what is to come first together with the first write, and then reads the
// answer to it away.
type glued struct {
	net.Conn
	first []byte
	read  bool
}

func (g *glued) Write(b []byte) (int, error) {
	first := g.first
	g.first = nil
	n, err := g.Conn.Write(append(first, b...))
	return max(0, n-len(first)), err
}

func (g *glued) Read(b []byte) (int, error) {
	if !g.read {
		g.read = true
		if _, err := io.ReadFull(g.Conn, make([]byte, len(established))); err != nil {
			return 0, err
		}
	}
	return g.Conn.Read(b)
}

// ended wants the far end to close c soon.
func ended(t *testing.T, c net.Conn) {
	t.Helper()
	c.SetReadDeadline(time.Now().Add(10 * time.Second))
	if _, err := io.Copy(io.Discard, c); errors.Is(err, errTimeout(err)) {
		t.Errorf("the connection was not ended: %v", err)
	}
}

func errTimeout(err error) error {
	var ne net.Error
	if errors.As(err, &ne) && ne.Timeout() {
		return err
	}
	return errors.New("none")
}

func TestHandshake(t *testing.T) {
	rows := []struct {
		name   string
		conf   *tls.Config
		reason capability.Reason
	}{
		{"TLS-01 another SNI", &tls.Config{ServerName: "other.example"}, capability.AuthorityMismatch},
		{"TLS-03 no SNI", &tls.Config{InsecureSkipVerify: true}, capability.AuthorityMismatch},
		{"TLS-09 unknown ALPN", &tls.Config{ServerName: "allowed.example", NextProtos: []string{"grpc-exp"}}, capability.TLSFailed},
		{"old version", &tls.Config{ServerName: "allowed.example", MaxVersion: tls.VersionTLS11, MinVersion: tls.VersionTLS10}, capability.TLSFailed},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			w := newWorld(t, nil)
			w.control()
			begun := time.Now()
			if _, err := w.dialTLS(row.conf); err == nil {
				t.Error("the handshake completed")
			}
			if took := time.Since(begun); took > time.Second {
				t.Errorf("refusing took %v", took)
			}
			w.refused(row.reason)
		})
		t.Run(row.name+" in a tunnel", func(t *testing.T) {
			w := newWorld(t, nil)
			conf := row.conf.Clone()
			conf.RootCAs = w.roots
			if err := tls.Client(w.tunnel(), conf).Handshake(); err == nil {
				t.Error("the handshake completed")
			}
			w.refused(row.reason)
			w.finished(1)
		})
	}
	t.Run("TLS-03 no SNI to a granted literal", func(t *testing.T) {
		w := newWorld(t, func(w *world) []*capability.Grant {
			return []*capability.Grant{w.grant(unleased, allow(t, "GET", "/a"))}
		}, func(w *world) {
			w.config.Overrides = []Override{{unleased, w.port, w.tls.addr}}
			w.config.UpstreamRoots = nil
		})
		c, err := w.dialTLSTo(unleased, unleased)
		if err != nil {
			t.Fatal(err)
		}
		if san := c.ConnectionState().PeerCertificates[0]; len(san.IPAddresses) != 1 || san.IPAddresses[0].String() != unleased || len(san.DNSNames) != 0 {
			t.Errorf("got SANs %v %v", san.IPAddresses, san.DNSNames)
		}
	})
	t.Run("nothing sent", func(t *testing.T) {
		w := newWorld(t, nil, configured(func(c *Config) { c.Limits.Handshake = 50 * time.Millisecond }))
		ended(t, w.dial(fmt.Sprintf("%s:%d", good, w.port)))
		w.refused(capability.TLSFailed)
	})
	t.Run("nothing sent to an endpoint without a grant", func(t *testing.T) {
		w := newWorld(t, nil)
		begun := time.Now()
		ended(t, w.dial(fmt.Sprintf("%s:%d", unleased, w.port)))
		if took := time.Since(begun); took > 500*time.Millisecond {
			t.Errorf("refusing took %v", took)
		}
		w.refused(capability.AddressNotGranted)
	})
	t.Run("TLS on a cleartext endpoint", func(t *testing.T) {
		w := newWorld(t, nil)
		if _, err := tls.Dial("tcp", fmt.Sprintf("%s:%d", good, w.cleart), &tls.Config{RootCAs: w.roots, ServerName: "allowed.example"}); err == nil {
			t.Error("the handshake completed")
		}
		w.refused(capability.ProtocolNotGranted)
	})
	t.Run("TLS-04 cleartext on a TLS endpoint", func(t *testing.T) {
		w := newWorld(t, nil)
		status, body := w.say(w.dial(fmt.Sprintf("%s:%d", good, w.port)), "GET /public/a HTTP/1.1\r\nHost: HOST\r\n\r\n")
		if status != 400 || !strings.Contains(body, "not_tls") {
			t.Errorf("got %d %s", status, body)
		}
		w.refused(capability.NotTLS)
	})
}

func TestResumption(t *testing.T) {
	t.Run("TLS-01 another SNI on a resumed session", func(t *testing.T) {
		w := newWorld(t, func(w *world) []*capability.Grant {
			return append(standard(w), w.grant("other.example", allow(t, "GET", "/public/{rest...}")))
		})
		cache := &oneSession{}
		visit := func(addr, name string) (*tls.Conn, error) {
			c, err := tls.Dial("tcp", fmt.Sprintf("%s:%d", addr, w.port), &tls.Config{InsecureSkipVerify: true, ServerName: name, ClientSessionCache: cache})
			if err == nil {
				w.say(c, "GET /public/a HTTP/1.1\r\nHost: "+name+fmt.Sprintf(":%d", w.port)+"\r\n\r\n")
			}
			return c, err
		}
		if _, err := visit(good, "allowed.example"); err != nil {
			t.Fatal(err)
		}
		c, err := visit(good, "allowed.example")
		if err != nil || !c.ConnectionState().DidResume {
			t.Fatalf("control: the session was not resumed: %v", err)
		}
		w.forget()
		if _, err := visit(good, "other.example"); err == nil {
			t.Error("a session was resumed under another name than the connection's")
		}
		w.refused(capability.AuthorityMismatch)
	})
}

// oneSession offers the last session whatever the name.
type oneSession struct{ last *tls.ClientSessionState }

func (o *oneSession) Get(string) (*tls.ClientSessionState, bool) { return o.last, o.last != nil }
func (o *oneSession) Put(_ string, s *tls.ClientSessionState) {
	if s != nil {
		o.last = s
	}
}

func TestFronting(t *testing.T) {
	rows := []struct {
		name, send string
		status     int
		reason     capability.Reason
	}{
		{"TLS-02 Host of another tenant", "GET /public/a HTTP/1.1\r\nHost: other.example\r\n\r\n", 421, capability.AuthorityMismatch},
		{"TLS-02 Host of another tenant at the same port", "GET /public/a HTTP/1.1\r\nHost: OTHER\r\n\r\n", 421, capability.AuthorityMismatch},
		{"TLS-02 Host with another port", "GET /public/a HTTP/1.1\r\nHost: allowed.example:1\r\n\r\n", 421, capability.AuthorityMismatch},
		{"HP-10 absolute form of another host", "GET https://other.example/public/a HTTP/1.1\r\nHost: HOST\r\n\r\n", 421, capability.AuthorityMismatch},
		{"HP-10 absolute form, Host of another", "GET https://HOST/public/a HTTP/1.1\r\nHost: other.example\r\n\r\n", 421, capability.AuthorityMismatch},
		{"HP-10 both of another", "GET https://OTHER/public/a HTTP/1.1\r\nHost: OTHER\r\n\r\n", 421, capability.AuthorityMismatch},
		{"HP-11 two Hosts", "GET /public/a HTTP/1.1\r\nHost: HOST\r\nHost: other.example\r\n\r\n", 400, capability.MalformedRequest},
		{"HP-11 two Hosts, reversed", "GET /public/a HTTP/1.1\r\nHost: other.example\r\nHost: HOST\r\n\r\n", 400, capability.MalformedRequest},
		{"HP-22 bytes in Host", "GET /public/a HTTP/1.1\r\nHost: HOST/x\r\n\r\n", 400, capability.MalformedHost},
		{"HOST-15 userinfo in Host", "GET /public/a HTTP/1.1\r\nHost: HOST@other.example\r\n\r\n", 400, capability.MalformedHost},
	}
	each(t, secured(), func(t *testing.T, by option) {
		for _, row := range rows {
			t.Run(row.name, func(t *testing.T) {
				w := newWorld(t, nil, by)
				w.control()
				if status, _ := w.say(w.inside(), row.send); status != row.status {
					t.Errorf("got status %d, want %d", status, row.status)
				}
				w.refused(row.reason)
			})
		}
	})
	t.Run("HP-10 absolute form that agrees", func(t *testing.T) {
		w := newWorld(t, nil)
		if status, _ := w.say(w.inside(), "GET https://HOST/public/a HTTP/1.1\r\nHost: HOST\r\n\r\n"); status != 200 {
			t.Errorf("got status %d, want 200", status)
		}
	})
	t.Run("HP-10 on the explicit front", func(t *testing.T) {
		w := newWorld(t, nil)
		if status, _ := w.say(w.dial(w.explicit), "GET http://CLEAR/public/a HTTP/1.1\r\nHost: CLEAR\r\n\r\n"); status != 200 {
			t.Fatalf("control: got status %d", status)
		}
		w.forget()
		if status, _ := w.say(w.dial(w.explicit), "GET http://CLEAR/public/a HTTP/1.1\r\nHost: other.example\r\n\r\n"); status != 421 {
			t.Errorf("got status %d, want 421", status)
		}
		w.refused(capability.AuthorityMismatch)
	})
	t.Run("TLS-02 :authority of another tenant", func(t *testing.T) {
		w := newWorld(t, nil)
		w.control()
		status, _ := h2Authority(w, fmt.Sprintf("other.example:%d", w.port))
		if status != 421 {
			t.Errorf("got status %d, want 421", status)
		}
		w.refused(capability.AuthorityMismatch)
	})
}

func TestCA(t *testing.T) {
	ca, err := NewCA(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(ca.CertPEM())
	leaf, err := ca.leaf("allowed.example")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := leaf.Leaf.Verify(x509.VerifyOptions{Roots: pool, DNSName: "allowed.example"}); err != nil {
		t.Error(err)
	}
	if got := leaf.Leaf.DNSNames; len(got) != 1 || got[0] != "allowed.example" {
		t.Errorf("SANs: %v", got)
	}
	if len(leaf.Leaf.AuthorityKeyId) == 0 || leaf.Leaf.IsCA {
		t.Errorf("the leaf lacks an authority key id, or is a CA: %+v", leaf.Leaf)
	}
	if again, _ := ca.leaf("allowed.example"); again != leaf {
		t.Error("the leaf was issued twice")
	}
	t.Run("TLS-05 no CA, no proxy", func(t *testing.T) {
		if _, err := New(Config{}); err == nil {
			t.Error("a proxy was made without a CA")
		}
	})
	t.Run("the cache is bounded", func(t *testing.T) {
		c := newLeaves(2)
		for _, h := range []capability.Host{"a.test", "b.test", "a.test", "c.test"} {
			if c.get(h) == nil {
				c.put(h, &tls.Certificate{})
			}
		}
		if c.get("b.test") != nil || c.get("a.test") == nil || c.get("c.test") == nil || c.order.Len() != 2 {
			t.Error("the leaf used last was not kept")
		}
	})
}
