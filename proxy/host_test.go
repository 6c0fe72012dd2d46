package proxy

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"

	"scupper.dev/scupper/capability"
)

// control shows that what is granted works, so that a refusal means something.
func (w *world) control() {
	w.t.Helper()
	if status, _, _ := w.get(w.client(false), w.url("/public/control")); status != 200 {
		w.t.Fatalf("control: got status %d, want 200", status)
	}
	w.forget()
}

// forget clears what the far side and the log hold.
func (w *world) forget() {
	for _, o := range []*origin{w.tls, w.plain} {
		o.mu.Lock()
		o.seen, o.before = nil, o.dials.Load()
		o.mu.Unlock()
	}
	w.asked.forget()
	w.log.mu.Lock()
	w.log.records = nil
	w.log.mu.Unlock()
}

func TestHostThroughExplicitFront(t *testing.T) {
	rows := []struct {
		name   string
		send   string // HOST and CLEAR stand for the granted authorities
		status int
		reason capability.Reason
	}{
		{"HOST-01 trailing dot, ungranted", "CONNECT evil.example.:443 HTTP/1.1\r\nHost: evil.example.:443\r\n\r\n", 403, capability.NoGrant},
		{"HOST-02 mixed case, ungranted", "CONNECT EVIL.example:443 HTTP/1.1\r\nHost: evil.example:443\r\n\r\n", 403, capability.NoGrant},
		{"HOST-03 name in brackets", "GET http://[allowed.example]/ HTTP/1.1\r\nHost: allowed.example\r\n\r\n", 400, capability.MalformedHost},
		{"HOST-04 NUL", "CONNECT evil.example\x00.allowed.example:443 HTTP/1.1\r\nHost: x\r\n\r\n", 400, capability.MalformedHost},
		{"HOST-04 encoded NUL", "GET http://evil.example%00.allowed.example/ HTTP/1.1\r\nHost: x\r\n\r\n", 400, capability.MalformedHost},
		{"HOST-05 suffix", "CONNECT notallowed.example:443 HTTP/1.1\r\nHost: notallowed.example:443\r\n\r\n", 403, capability.NoGrant},
		{"HOST-06 prefix", "CONNECT allowed.example.attacker.test:443 HTTP/1.1\r\nHost: allowed.example.attacker.test:443\r\n\r\n", 403, capability.NoGrant},
		{"HOST-07 mapped", "CONNECT [::ffff:127.0.0.1]:443 HTTP/1.1\r\nHost: [::ffff:127.0.0.1]:443\r\n\r\n", 403, capability.AddressNotGranted},
		{"HOST-07 mapped metadata", "CONNECT [::ffff:169.254.169.254]:80 HTTP/1.1\r\nHost: [::ffff:169.254.169.254]:80\r\n\r\n", 403, capability.MetadataAddress},
		{"HOST-08 octal", "CONNECT 0177.0.0.1:443 HTTP/1.1\r\nHost: 0177.0.0.1:443\r\n\r\n", 400, capability.MalformedHost},
		{"HOST-08 hexadecimal", "CONNECT 0x7f000001:443 HTTP/1.1\r\nHost: 0x7f000001:443\r\n\r\n", 400, capability.MalformedHost},
		{"HOST-08 decimal", "CONNECT 2130706433:443 HTTP/1.1\r\nHost: 2130706433:443\r\n\r\n", 400, capability.MalformedHost},
		{"HOST-09 bare address", "CONNECT 203.0.113.9:443 HTTP/1.1\r\nHost: 203.0.113.9:443\r\n\r\n", 403, capability.AddressNotGranted},
		{"HOST-10 port", "CONNECT allowed.example:9999 HTTP/1.1\r\nHost: allowed.example:9999\r\n\r\n", 403, capability.PortNotGranted},
		{"HOST-11 zone", "GET http://[::1%25eth0]/ HTTP/1.1\r\nHost: [::1%25eth0]\r\n\r\n", 400, capability.MalformedHost},
		{"HOST-11 zone with suffix", "GET http://[fe80::1%25.allowed.example]/ HTTP/1.1\r\nHost: x\r\n\r\n", 400, capability.MalformedHost},
		{"HOST-15 userinfo", "GET http://allowed.example@attacker.test/ HTTP/1.1\r\nHost: attacker.test\r\n\r\n", 400, capability.MalformedHost},
		{"HOST-15 userinfo in CONNECT", "CONNECT user@HOST HTTP/1.1\r\nHost: HOST\r\n\r\n", 400, capability.MalformedHost},
		{"NET-10 mail", "CONNECT allowed.example:25 HTTP/1.1\r\nHost: allowed.example:25\r\n\r\n", 403, capability.PortNotGranted},
		{"NET-10 ssh", "CONNECT allowed.example:22 HTTP/1.1\r\nHost: allowed.example:22\r\n\r\n", 403, capability.PortNotGranted},
		{"NET-10 redis", "CONNECT allowed.example:6379 HTTP/1.1\r\nHost: allowed.example:6379\r\n\r\n", 403, capability.PortNotGranted},
		{"CONNECT without a port", "CONNECT allowed.example HTTP/1.1\r\nHost: allowed.example\r\n\r\n", 400, capability.MalformedHost},
		{"PATH-14 post on a read grant", "POST http://CLEAR/public/a HTTP/1.1\r\nHost: CLEAR\r\nContent-Length: 0\r\n\r\n", 403, capability.MethodNotGranted},
		{"PATH-14 ungranted host", "GET http://evil.example/ HTTP/1.1\r\nHost: evil.example\r\n\r\n", 403, capability.NoGrant},
		{"origin form", "GET /public/a HTTP/1.1\r\nHost: HOST\r\n\r\n", 400, capability.MalformedRequest},
		{"https in cleartext", "GET https://HOST/public/a HTTP/1.1\r\nHost: HOST\r\n\r\n", 403, capability.ProtocolNotGranted},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			w := newWorld(t, nil, configured(func(c *Config) { c.Resolver = noResolver{t} }))
			w.control()
			c := w.dial(w.explicit)
			if status, _ := w.say(c, row.send); status != row.status {
				t.Errorf("got status %d, want %d", status, row.status)
			}
			w.refused(row.reason)
		})
	}
}

// noResolver fails the test when anything is looked up.
type noResolver struct{ t testing.TB }

func (r noResolver) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	r.t.Errorf("%q was looked up", host)
	return nil, fmt.Errorf("no such host")
}

func TestHostSpellings(t *testing.T) {
	w := newWorld(t, nil)
	for _, row := range []struct{ name, host string }{
		{"HOST-01 trailing dot", "allowed.example.:%d"}, {"HOST-02 mixed case", "ALLOWED.Example:%d"},
	} {
		t.Run(row.name, func(t *testing.T) {
			w.forget()
			host := fmt.Sprintf(row.host, w.port)
			if status, _ := w.say(w.inside(), "GET /public/a HTTP/1.1\r\nHost: "+host+"\r\n\r\n"); status != 200 {
				t.Errorf("got status %d, want 200", status)
			}
			if got, want := w.tls.requests()[0].Host, fmt.Sprintf("allowed.example:%d", w.port); got != want {
				t.Errorf("Host upstream: got %q, want %q", got, want)
			}
			c := w.dial(w.explicit)
			if status, _ := w.say(c, "CONNECT "+host+" HTTP/1.1\r\nHost: "+host+"\r\n\r\n"); status != 200 {
				t.Errorf("CONNECT: got status %d, want 200", status)
			}
		})
	}
}

func TestHostEmptyPolicy(t *testing.T) {
	none := func(*world) []*capability.Grant { return nil }
	t.Run("HOST-13 explicit", func(t *testing.T) {
		w := newWorld(t, none)
		if status, _ := w.say(w.dial(w.explicit), "CONNECT HOST HTTP/1.1\r\nHost: HOST\r\n\r\n"); status != 403 {
			t.Errorf("got status %d, want 403", status)
		}
		w.refused(capability.NoGrant)
	})
	t.Run("HOST-13 transparent", func(t *testing.T) {
		w := newWorld(t, none)
		if _, err := w.client(false).Get(w.url("/public/a")); err == nil || !strings.Contains(err.Error(), "unrecognized name") {
			t.Errorf("got error %v, want an unrecognized_name alert", err)
		}
		w.refused(capability.NoGrant)
	})
	t.Run("HOST-13 transparent cleartext says why", func(t *testing.T) {
		w := newWorld(t, none)
		status, body, _ := w.get(w.client(false), w.clearURL("/public/a"))
		if status != 403 || !strings.Contains(body, `"no_grant"`) {
			t.Errorf("got %d %s", status, body)
		}
		w.refused(capability.NoGrant)
	})
}

// TestAddressWithoutLease: HOST-09 and HOST-14 on the transparent front.
func TestAddressWithoutLease(t *testing.T) {
	t.Run("HOST-09 cleartext", func(t *testing.T) {
		w := newWorld(t, nil)
		w.control()
		status, _, _ := w.get(w.client(false), fmt.Sprintf("http://%s:%d/public/a", unleased, w.cleart))
		if status != 403 {
			t.Errorf("got status %d, want 403", status)
		}
		w.refused(capability.AddressNotGranted)
	})
	t.Run("HOST-09 TLS with the granted SNI", func(t *testing.T) {
		w := newWorld(t, nil)
		w.control()
		if _, err := w.dialTLSTo(unleased, "allowed.example"); err == nil {
			t.Error("the handshake completed")
		}
		w.refused(capability.AddressNotGranted)
	})
	t.Run("HOST-14 the exception belongs to the name", func(t *testing.T) {
		w := newWorld(t, nil) // allowed.example is pointed at 127.0.0.1 by the operator
		w.control()
		target := fmt.Sprintf("127.0.0.1:%d", w.tls.addr.Port())
		if status, _ := w.say(w.dial(w.explicit), "CONNECT "+target+" HTTP/1.1\r\nHost: "+target+"\r\n\r\n"); status != 403 {
			t.Errorf("got status %d, want 403", status)
		}
		w.refused(capability.AddressNotGranted)
	})
}

// answers is a resolver that gives another answer each time.
type answers struct {
	next atomic.Int64
	list [][]string
}

func (a *answers) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	i := min(int(a.next.Add(1)), len(a.list)) - 1
	var out []netip.Addr
	for _, s := range a.list[i] {
		out = append(out, netip.MustParseAddr(s))
	}
	return out, nil
}

// dialRecorder notes what is dialled and leads public addresses to the test's origin.
type dialRecorder struct {
	lead map[string]string
	mu   chan []string
}

func newDialRecorder(lead map[string]string) *dialRecorder {
	d := &dialRecorder{lead: lead, mu: make(chan []string, 1)}
	d.mu <- nil
	return d
}

func (d *dialRecorder) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	d.mu <- append(<-d.mu, address)
	host, _, _ := net.SplitHostPort(address)
	to, ok := d.lead[host]
	if !ok {
		return nil, &net.OpError{Op: "dial", Err: fmt.Errorf("%s is outside the test", address)}
	}
	return new(net.Dialer).DialContext(ctx, network, to)
}

func (d *dialRecorder) dialled() []string {
	got := <-d.mu
	d.mu <- got
	return got
}

func TestAddressCheck(t *testing.T) {
	rows := []struct {
		name   string
		answer []string
		reason capability.Reason
	}{
		{"DNS-07 loopback", []string{"127.0.0.1"}, capability.NetworkNotGranted},
		{"DNS-07 one of several is private", []string{"203.0.113.7", "10.0.0.1"}, capability.NetworkNotGranted},
		{"HOST-07 mapped", []string{"::ffff:127.0.0.1"}, capability.NetworkNotGranted},
		{"HOST-12 metadata", []string{"169.254.169.254"}, capability.MetadataAddress},
		{"HOST-12 metadata inside NAT64", []string{"64:ff9b::a9fe:a9fe"}, capability.MetadataAddress},
		{"own address", []string{"198.51.100.77"}, capability.NetworkNotGranted},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			var dials *dialRecorder
			var names *answers
			w := newWorld(t, nil, func(w *world) {
				dials = newDialRecorder(map[string]string{"203.0.113.7": w.tls.addr.String()})
				names = &answers{list: [][]string{{"203.0.113.7"}, row.answer}}
				w.config.Overrides, w.config.Dialer, w.config.Resolver = nil, dials, names
				w.config.OwnAddrs = func() []netip.Addr { return []netip.Addr{netip.MustParseAddr("198.51.100.77")} }
			})
			w.control()
			w.proxy.pools.close() // the next request has to dial again
			before := len(dials.dialled())
			status, body, _ := w.get(w.client(false), w.url("/public/a"))
			if status != 403 || !strings.Contains(body, string(row.reason)) {
				t.Errorf("got %d %s", status, body)
			}
			w.refused(row.reason)
			if got := dials.dialled()[before:]; len(got) > 0 {
				t.Errorf("dialled %v", got)
			}
		})
	}
}

func TestRebinding(t *testing.T) {
	t.Run("DNS-07 the checked literal is the one dialled", func(t *testing.T) {
		var dials *dialRecorder
		var names *answers
		w := newWorld(t, nil, func(w *world) {
			dials = newDialRecorder(map[string]string{"203.0.113.7": w.tls.addr.String()})
			names = &answers{list: [][]string{{"203.0.113.7"}, {"127.0.0.1"}}}
			w.config.Overrides, w.config.Dialer, w.config.Resolver = nil, dials, names
		})
		w.control()
		if got, want := dials.dialled(), fmt.Sprintf("203.0.113.7:%d", w.port); len(got) != 1 || got[0] != want {
			t.Errorf("dialled %v, want one %s", got, want)
		}
		if names.next.Load() != 1 {
			t.Errorf("looked up %d times, want once", names.next.Load())
		}
	})
	t.Run("grants with other networks share no connection", func(t *testing.T) {
		w := newWorld(t, func(w *world) []*capability.Grant {
			inner := w.grant("allowed.example", allow(t, "GET", "/public/{rest...}"))
			inner.Networks = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
			outer := w.grant("allowed.example", allow(t, "GET", "/other/{rest...}"))
			outer.Name = "outer"
			return []*capability.Grant{inner, outer}
		}, func(w *world) {
			dials := newDialRecorder(map[string]string{"127.0.0.1": w.tls.addr.String()})
			w.config.Overrides, w.config.Dialer = nil, dials
			w.config.Resolver = &answers{list: [][]string{{"127.0.0.1"}}}
		})
		w.control()
		if status, _, _ := w.get(w.client(false), w.url("/other/a")); status != 403 {
			t.Errorf("got status %d, want 403", status)
		}
		w.refused(capability.NetworkNotGranted)
	})
}

func TestOwnListener(t *testing.T) {
	w := newWorld(t, nil, func(w *world) { w.config.OwnListeners = []netip.AddrPort{w.plain.addr} })
	w.control()
	if status, _, _ := w.get(w.client(false), w.clearURL("/public/a")); status != 403 {
		t.Errorf("got status %d, want 403", status)
	}
	w.refused(capability.OwnListener)
}

func TestOverrideNeverReachesMetadata(t *testing.T) {
	t.Run("HOST-12 override", func(t *testing.T) {
		w := newWorld(t, nil, func(w *world) {
			w.config.Overrides[2].To = netip.MustParseAddrPort("169.254.169.254:80")
		})
		w.control()
		if status, _, _ := w.get(w.client(false), w.clearURL("/public/a")); status != 403 {
			t.Errorf("got status %d, want 403", status)
		}
		w.refused(capability.MetadataAddress)
	})
}

func TestParseOverride(t *testing.T) {
	for in, want := range map[string]string{
		"example.com:443:127.0.0.1":       "{example.com 443 127.0.0.1:443}",
		"EXAMPLE.com.:443:127.0.0.1:8443": "{example.com 443 127.0.0.1:8443}",
		"example.com:443:[2001:db8::1]:1": "{example.com 443 [2001:db8::1]:1}",
		"example.com:443:[2001:db8::1]":   "{example.com 443 [2001:db8::1]:443}",
		"[2001:db8::2]:80:198.51.100.1":   "{2001:db8::2 80 198.51.100.1:80}",
	} {
		if got, err := ParseOverride(in); err != nil || fmt.Sprint(got) != want {
			t.Errorf("ParseOverride(%q): got %v, %v, want %s", in, got, err, want)
		}
	}
	for _, in := range []string{"", "example.com", "example.com:443", "example.com:0:127.0.0.1", "*.example.com:443:127.0.0.1", "example.com:443:name", "example.com:443:2001:db8::1", "example.com:443:127.0.0.1:"} {
		if got, err := ParseOverride(in); err == nil {
			t.Errorf("ParseOverride(%q): got %v, want an error", in, got)
		}
	}
}
