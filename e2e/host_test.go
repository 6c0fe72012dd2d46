package e2e

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"scupper.dev/scupper/replay"
)

// bothSchemes grants GET of /public/{name} at api.example.com over TLS and, for what
// clients cannot be made to send in TLS, in clear at plain.example.com.
const bothSchemes = publicAPI + `
grant "plain" {
  reason     = "test"
  owner      = "test"
  host       = "plain.example.com"
  scheme     = "http"
  credential = anonymous
  allow {
    methods = ["GET"]
    path    = "/public/{name}"
  }
}
`

// explicitly are the arguments that send curl through the other front.
func explicitly(args ...string) []string {
	return append([]string{"-x", "http://100.64.0.1:3128"}, args...)
}

// fronts are the ways to make a request with curl.
var fronts = []struct {
	name string
	args []string
}{
	{"transparent h2", nil},
	{"transparent h1", []string{"--http1.1"}},
	{"explicit h2", explicitly()},
	{"explicit h1", explicitly("--http1.1")},
}

// TestHostSpellings has spellings of a granted host mean the same everywhere.
func TestHostSpellings(t *testing.T) {
	w := newWorld(t, ordinaryUser(t))
	spell := func(t *testing.T, host string) {
		for _, f := range fronts {
			with := func(args ...string) client { return curl(append(append([]string{}, f.args...), args...)...) }
			t.Run(f.name, func(t *testing.T) {
				w.control(with("https://" + host + "/public/a")).wantStatus(200).farSide("GET https://api.example.com/public/a")
				w.attack(with("https://"+host+"/private")).refused(403, "path_not_granted").wantDenials("http path_not_granted GET api.example.com /private")
			})
		}
		t.Run("in clear", func(t *testing.T) {
			plain := strings.Replace(strings.ToLower(host), "api", "PLAIN", 1)
			w.control(curl("http://" + plain + "/public/a")).wantStatus(200).farSide("GET http://plain.example.com/public/a")
			w.attack(curl(explicitly("http://"+plain+"/private")...)).refused(403, "path_not_granted")
		})
	}
	w.policy(bothSchemes)
	t.Run("HOST-01 trailing dot", func(t *testing.T) { spell(t, "api.example.com.") })
	t.Run("HOST-02 mixed case", func(t *testing.T) { spell(t, "API.Example.cOm") })
	t.Run("HOST-02 among 150 hosts", func(t *testing.T) {
		var policy strings.Builder
		policy.WriteString(bothSchemes)
		for i := range 150 {
			policy.WriteString(strings.NewReplacer("version = 1\n", "", `"public"`, fmt.Sprintf(`"g%d"`, i), "api.example.com", fmt.Sprintf("h%d.example.com", i)).Replace(publicAPI))
		}
		w.policy(policy.String())
		w.control(curl("https://API.EXAMPLE.com/public/a")).wantStatus(200).farSide("GET https://api.example.com/public/a")
		w.control(curl("https://H149.example.com./public/a")).wantStatus(200).farSide("GET https://h149.example.com/public/a")
		w.attack(curl("https://H150.example.com/public/a")).wantExit(6).wantDenials("name no_grant h150.example.com").farSideNothing()
	})
}

// TestOtherHosts tries hosts that only look like a granted one.
func TestOtherHosts(t *testing.T) {
	w := newWorld(t, ordinaryUser(t))
	w.policy(bothSchemes)
	for _, tc := range []struct{ name, host string }{
		{"HOST-05 suffix without a label boundary", "evilapi.example.com"},
		{"HOST-05 granted name as parent", "evil.api.example.com"},
		{"HOST-06 prefix", "api.example.com.attacker.test"},
		{"HOST-06 prefix without a boundary", "api.example.community"},
		{"HOST-05 parent of a granted name", "example.com"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w.control(curl("https://api.example.com/public/a")).wantStatus(200).farSide("GET https://api.example.com/public/a")
			url := "https://" + tc.host + "/public/a"
			w.attack(curl(url)).wantExit(6).wantDenials("name no_grant " + tc.host).farSideNothing()
			w.attack(curl(explicitly(url)...)).wantExit(56).wantDenials("connect no_grant " + tc.host + ":443").farSideNothing()
			w.attack(curl(explicitly("http://"+tc.host+"/public/a")...)).refused(403, "no_grant")
			// At a granted connection, the other name in SNI or in Host is a contradiction.
			w.attack(w.probe(fmt.Sprintf(`
host = %q
attempt("SNI", lambda: tls("api.example.com", get(host, "/public/a"), sni=host))
attempt("SNI in a tunnel", lambda: tls("api.example.com", get(host, "/public/a"), sni=host, tunnel=True))
attempt("Host", lambda: tls("api.example.com", get(host, "/public/a")))
attempt("Host in a tunnel", lambda: tls("api.example.com", get(host, "/public/a"), tunnel=True))
attempt("Host in clear", lambda: plain("plain.example.com", get(host, "/public/a")))
attempt("absolute form", lambda: explicit(get(host, "http://plain.example.com/public/a")))
`, tc.host))).wantTries("SNI: TLSV1_UNRECOGNIZED_NAME", "SNI in a tunnel: TLSV1_UNRECOGNIZED_NAME", "Host: 421 authority_mismatch", "Host in a tunnel: 421 authority_mismatch",
				"Host in clear: 421 authority_mismatch", "absolute form: 421 authority_mismatch").
				wantReasons("connect authority_mismatch api.example.com", "http authority_mismatch", "http authority_mismatch api.example.com", "http authority_mismatch plain.example.com").
				farSideNothing()
			// curl writes the header as :authority.
			w.attack(curl("-H", "Host: "+tc.host, "https://api.example.com/public/a")).refused(421, "authority_mismatch")
		})
	}
}

// TestHostForms tries hosts that two parsers could read differently, at each place
// where a host stands.
func TestHostForms(t *testing.T) {
	w := newWorld(t, ordinaryUser(t))
	w.policy(bothSchemes)
	for _, tc := range []struct{ name, host string }{
		{"HOST-03 name in brackets", `[api.example.com]`},
		{"HOST-03 address in brackets", `[203.0.113.9]`},
		{"HOST-04 NUL", `evil.example.net\0.api.example.com`},
		{"HOST-04 NUL after", `api.example.com\0.evil.example.net`},
		{"HOST-04 encoded NUL", `api.example.com%00.evil.example.net`},
		{"HOST-04 space", `api.example.com .evil.example.net`},
		{"HOST-04 non-ASCII", `\xc3\xa4pi.example.com`},
		{"HOST-08 octal", `0177.0.0.1`},
		{"HOST-08 hexadecimal", `0x7f000001`},
		{"HOST-08 hexadecimal parts", `0x7f.0.0.0x1`},
		{"HOST-08 decimal", `2130706433`},
		{"HOST-08 short", `127.1`},
		{"HOST-11 zone", `[::1%25eth0]`},
		{"HOST-11 zone unescaped", `[fe80::1%eth0]`},
		{"HOST-11 zone with an allowed suffix", `[fe80::1%25.api.example.com]`},
		{"HOST-15 userinfo", `api.example.com@attacker.test`},
		{"HOST-15 userinfo of another", `attacker.test@api.example.com`},
		{"HOST-15 userinfo and password", `user:secret@api.example.com`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			a := w.attack(w.probe(fmt.Sprintf(`
host = b"%s"
attempt("control", lambda: tls("api.example.com", get("api.example.com", "/public/a")))
attempt("CONNECT", lambda: explicit(b"CONNECT %%s:443 HTTP/1.1\r\nHost: %%s:443\r\n\r\n" %% (host, host)))
attempt("absolute form", lambda: explicit(get(host, b"http://" + host + b"/public/a")))
attempt("absolute form, plain Host", lambda: explicit(get("plain.example.com", b"http://" + host + b"/public/a")))
attempt("Host", lambda: plain("plain.example.com", get(host, "/public/a")))
attempt("Host in TLS", lambda: tls("api.example.com", get(host, "/public/a")))
attempt("absolute form in TLS", lambda: tls("api.example.com", get("api.example.com", b"https://" + host + b"/public/a")))
attempt("Host in a tunnel", lambda: tls("api.example.com", get(host, "/public/a"), tunnel=True))
`, tc.host))).farSide("GET https://api.example.com/public/a")
			a.looked[clientView], a.looked[theLog] = true, true
			tries := a.tries()
			if len(tries) != 8 || tries[0].Came != "200" {
				a.errorf("the control did not work")
			}
			for _, try := range tries[1:] {
				if !strings.HasPrefix(try.Came, "400 malformed_") {
					a.errorf("%s: %s, want 400 and a malformed reason", try.What, try.Came)
				}
			}
			for _, d := range a.log.denials() {
				if !strings.HasPrefix(d.Reason, "malformed_") {
					a.errorf("the log says %s", d.denial())
				}
			}
			if strings.Contains(tc.host, `\`) {
				return // not to be written on a command line
			}
			// curl writes the header as :authority.
			w.attack(curl("-H", "Host: "+tc.host, "https://api.example.com/public/a")).refused(400, "malformed_host")
		})
	}
}

// TestHostAddresses tries addresses where names are granted.
func TestHostAddresses(t *testing.T) {
	w := newWorld(t, ordinaryUser(t))
	w.policy(bothSchemes)
	granted := w.inet.Addr("api.example.com").String()
	const other, metadata = "address_not_granted", "metadata_address"
	for _, tc := range []struct{ name, literal, host, reason string }{
		{"HOST-07 mapped loopback", "[::ffff:127.0.0.1]", "127.0.0.1", other},
		{"HOST-07 mapped metadata", "[::ffff:169.254.169.254]", "169.254.169.254", metadata},
		{"HOST-07 mapped in hexadecimal", "[::ffff:a9fe:a9fe]", "169.254.169.254", metadata},
		{"HOST-09 what a granted name resolves to", granted, granted, other},
		{"HOST-12 metadata", "169.254.169.254", "169.254.169.254", metadata},
		{"HOST-12 metadata v6", "[fd00:ec2::254]", "fd00:ec2::254", metadata},
		{"HOST-12 metadata of others", "100.100.100.200", "100.100.100.200", metadata},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w.attack(w.probe(fmt.Sprintf(`
host = b"%s"
attempt("control", lambda: tls("api.example.com", get("api.example.com", "/public/a")))
attempt("CONNECT", lambda: explicit(b"CONNECT %%s:443 HTTP/1.1\r\nHost: %%s:443\r\n\r\n" %% (host, host)), 3)
attempt("absolute form", lambda: explicit(get(host, b"http://" + host + b"/public/a")), 3)
`, tc.literal))).wantTries("control: 200", "CONNECT: 403 "+tc.reason, "absolute form: 403 "+tc.reason).
				wantDenials("connect "+tc.reason+" "+endpoint(tc.host, 443), "http "+tc.reason+" GET "+tc.host+" /public/a").
				farSide("GET https://api.example.com/public/a")
			if tc.host == "127.0.0.1" {
				return // the sandbox's own loopback
			}
			w.attack(w.probe(fmt.Sprintf(`
attempt("silent", lambda: tcp(%[1]q, 443), 3)
attempt("TLS", lambda: tls(%[1]q, get(%[1]q), sni="api.example.com"), 3)
attempt("HTTP", lambda: plain(%[1]q, get("plain.example.com", "/public/a")))
attempt("its own Host", lambda: plain(%[1]q, get(%[2]q, "/public/a")))
`, tc.host, strings.ReplaceAll(tc.literal, "::ffff:a9fe:a9fe", "::ffff:169.254.169.254")))).
				wantTries("silent: closed", "TLS: TLSV1_UNRECOGNIZED_NAME", "HTTP: 421 authority_mismatch", "its own Host: 403 "+tc.reason).
				wantDenials("connect "+tc.reason+" "+endpoint(tc.host, 443), "http authority_mismatch GET "+tc.host, "http "+tc.reason+" GET "+tc.host+" /public/a").
				farSideNothing()
		})
	}
}

// onEveryPort grants 8443 at another host, so that the port leads to the proxy.
const onEveryPort = bothSchemes + `
grant "other port" {
  reason     = "test"
  owner      = "test"
  host       = "other.example.com"
  port       = 8443
  credential = anonymous
  allow {
    methods = ["GET"]
    path    = "/public/{name}"
  }
}
`

func TestHostPorts(t *testing.T) {
	t.Run("HOST-10 ports that no grant uses", func(t *testing.T) {
		w := newWorld(t, ordinaryUser(t))
		w.policy(bothSchemes)
		w.attack(w.probe(`
name = socket.gethostbyname("api.example.com")
for port in 9999, 5432, 8080:
    attempt("%d" % port, lambda: tcp(name, port), 3)
    attempt("CONNECT %d" % port, lambda: explicit(b"CONNECT api.example.com:%d HTTP/1.1\r\nHost: api.example.com:%d\r\n\r\n" % (port, port)), 3)
attempt("absolute form", lambda: explicit(get("plain.example.com:8080", "http://plain.example.com:8080/public/a")))
`)).wantTries("9999: Connection refused", "CONNECT 9999: 403 port_not_granted", "5432: Connection refused", "CONNECT 5432: 403 port_not_granted",
			"8080: Connection refused", "CONNECT 8080: 403 port_not_granted", "absolute form: 403 port_not_granted").
			wantDenials("packet port_not_granted tcp 198.18.0.1:9999", "packet port_not_granted tcp 198.18.0.1:5432", "packet port_not_granted tcp 198.18.0.1:8080",
				"connect port_not_granted api.example.com:9999", "connect port_not_granted api.example.com:5432", "connect port_not_granted api.example.com:8080",
				"http port_not_granted GET plain.example.com /public/a").
			eachWithin(atOnce).farSideNothing()
	})
	t.Run("HOST-10 a port of another grant", func(t *testing.T) {
		w := newWorldWith(t, ordinaryUser(t), replay.Config{TLSPorts: []uint16{8443}})
		w.policy(strings.Replace(onEveryPort, "other port", "other-port", 1))
		w.control(curl("https://other.example.com:8443/public/a")).wantStatus(200).farSide("GET https://other.example.com:8443/public/a")
		w.attack(curl("https://api.example.com:8443/public/a")).wantExit(35).wantDenials("connect port_not_granted api.example.com:8443").farSideNothing()
		w.attack(curl("https://other.example.com/public/a")).wantExit(35).wantDenials("connect port_not_granted other.example.com:443").farSideNothing()
		w.attack(curl(explicitly("https://api.example.com:8443/public/a")...)).wantExit(56).wantDenials("connect port_not_granted api.example.com:8443").farSideNothing()
		// http on the port for TLS, and TLS on the port for http.
		w.attack(curl("http://api.example.com/public/a")).refused(403, "port_not_granted")
		w.attack(curl("http://api.example.com:443/public/a")).refused(400, "not_tls")
		w.attack(curl("https://plain.example.com:80/public/a")).wantExit(35).wantDenials("connect protocol_not_granted plain.example.com:80").farSideNothing()
	})
}

// metadataServices are those that clouds answer at.
var metadataServices = []string{"169.254.169.254", "169.254.170.2", "100.100.100.200", "168.63.129.16", "192.0.0.192", "fd00:ec2::254", "fd20:ce::254", "::ffff:169.254.169.254", "64:ff9b::a9fe:a9fe"}

func TestMetadata(t *testing.T) {
	wide := strings.Replace(publicAPI, "credential", "networks   = [\"169.254.0.0/16\", \"100.64.0.0/10\", \"10.0.0.0/8\", \"168.63.129.0/24\", \"192.0.0.0/24\", \"fc00::/7\", \"64:ff9b::/96\"]\n  credential", 1)
	t.Run("HOST-12 a granted name resolves there", func(t *testing.T) {
		w := newWorld(t, ordinaryUser(t))
		w.policy(strings.Replace(wide, "api.example.com", "*.wild.example.com", 1))
		w.inet.Resolve("private.wild.example.com", replay.At(netip.MustParseAddr("10.0.0.1")))
		script := `attempt("private", lambda: tls("private.wild.example.com", get("private.wild.example.com", "/public/a")))` + "\n"
		tries, denials, names := []string{"private: 200"}, []string(nil), []string(nil)
		for i, a := range metadataServices {
			name := fmt.Sprintf("meta%d.wild.example.com", i)
			w.inet.Resolve(name, replay.At(netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr(a)))
			script += fmt.Sprintf("attempt(%q, lambda: tls(%q, get(%q, '/public/a')))\n", a, name, name)
			tries, denials, names = append(tries, a+": 403 metadata_address"), append(denials, "http metadata_address GET "+name+" /public/a"), append(names, name)
		}
		a := w.attack(w.probe(script)).wantTries(tries...).wantDenials(denials...)
		a.looked[farSide] = true
		if len(a.received) != 1 || a.received[0].Destination.Addr().String() != "10.0.0.1" {
			a.errorf("the far side received %d requests, want that to 10.0.0.1", len(a.received))
		}
		for _, p := range a.packets {
			if p.Destination.Port() != 53 && p.Destination.Addr().String() != "10.0.0.1" {
				a.errorf("a %s packet to %s reached the far side", p.Protocol, p.Destination)
			}
		}
	})
	t.Run("HOST-12 granted as a literal", func(t *testing.T) {
		w := newWorld(t, ordinaryUser(t))
		w.policy(strings.Replace(wide, "api.example.com", "169.254.169.254", 1))
		a := w.attack(curl("-k", "https://169.254.169.254/public/a")).wantExit(2).wantStderr("a cloud metadata address is never reachable").farSideNothing()
		a.looked[theLog] = true
		if len(a.log) != 0 {
			a.errorf("the policy was used")
		}
	})
	t.Run("HOST-12 on a port that no grant uses", func(t *testing.T) {
		w := newWorld(t, ordinaryUser(t))
		w.policy(wide)
		w.attack(w.probe(`
attempt("80", lambda: tcp("169.254.169.254", 80, b"GET / HTTP/1.1\r\n"), 3)
attempt("v6", lambda: tcp("fd00:ec2::254", 80, b"GET / HTTP/1.1\r\n"), 3)
`)).wantTries("80: Connection refused", "v6: Connection refused").eachWithin(atOnce).
			wantDenials("packet metadata_address tcp 169.254.169.254:80", "packet metadata_address tcp [fd00:ec2::254]:80").farSideNothing()
	})
	for _, address := range []string{"169.254.169.254", "[fd00:ec2::254]"} {
		t.Run("HOST-12 by --resolve to "+address, func(t *testing.T) {
			w := newWorld(t, ordinaryUser(t))
			w.policy(wide)
			w.flags = []string{"--resolve", "api.example.com:443:10.0.0.1"}
			a := w.control(curl("https://api.example.com/public/a")).wantStatus(200).wantAllowed(1)
			if len(a.received) != 1 || a.received[0].Destination.String() != "10.0.0.1:443" {
				a.errorf("the override was not followed")
			}
			w.flags = []string{"--resolve", "api.example.com:443:" + address}
			w.attack(curl("https://api.example.com/public/a")).refused(403, "metadata_address")
			w.attack(curl(explicitly("https://api.example.com/public/a")...)).refused(403, "metadata_address")
		})
	}
}

// TestNothingGranted has policies that grant nothing.
func TestNothingGranted(t *testing.T) {
	const url = "https://api.example.com/public/a"
	for _, u := range users(t) {
		t.Run("HOST-13 empty, "+u.name, func(t *testing.T) {
			w := newWorld(t, u)
			w.policy(publicAPI)
			w.control(curl(url)).wantStatus(200)
			w.policy("version = 1\n")
			w.attack(curl(url)).wantExit(6).wantDenials("name no_grant api.example.com").farSideNothing()
			w.attack(curl(explicitly(url)...)).wantExit(56).wantDenials("connect no_grant api.example.com:443").farSideNothing()
			w.attack(w.probe(`
attempt("443", lambda: tcp("198.51.100.9", 443), 3)
attempt("80", lambda: tcp("198.51.100.9", 80), 3)
`)).wantTries("443: Connection refused", "80: Connection refused").
				wantDenials("packet port_not_granted tcp 198.51.100.9:443", "packet port_not_granted tcp 198.51.100.9:80").farSideNothing()
		})
	}
	for name, text := range map[string]string{
		"a broken grant":     publicAPI + "grant \"more\" {\n  host = \n}\n",
		"a wrong word":       strings.Replace(publicAPI, "methods", "methodes", 1),
		"no version":         strings.Replace(publicAPI, "version = 1", "", 1),
		"an empty file":      "",
		"a newer version":    strings.Replace(publicAPI, "version = 1", "version = 2", 1),
		"bytes":              "\x00\xff\xfe",
		"a missing mode":     strings.Replace(publicAPI, "credential = anonymous", "", 1),
		"an unknown network": strings.Replace(publicAPI, "credential", "networks = [\"everything\"]\n  credential", 1),
	} {
		t.Run("HOST-13 broken: "+name, func(t *testing.T) {
			w := newWorld(t, ordinaryUser(t))
			w.policy(text)
			a := w.attack(shell("echo ran")).wantExit(2).wantStderr("policy.hcl:").farSideNothing()
			a.looked[theLog] = true
			if strings.Contains(a.stdout, "ran") || len(a.log) != 0 {
				a.errorf("the command ran under a broken policy")
			}
		})
	}
}

// TestPrivateNames has an operator trust a name that resolves privately.
func TestPrivateNames(t *testing.T) {
	w := newWorld(t, ordinaryUser(t))
	w.policy(strings.Replace(bothSchemes, "credential", "networks   = [\"10.0.0.0/8\"]\n  credential", 1))
	w.inet.Resolve("api.example.com", replay.At(netip.MustParseAddr("10.1.2.3")))
	w.inet.Resolve("plain.example.com", replay.At(netip.MustParseAddr("10.1.2.3")))
	t.Run("HOST-14 the exception is the name's", func(t *testing.T) {
		const url = "https://api.example.com/public/a"
		w.control(curl(url)).wantStatus(200).farSide("GET " + url)
		w.attack(curl("-k", "https://10.1.2.3/public/a")).wantExit(35).wantDenials("connect address_not_granted 10.1.2.3:443").farSideNothing()
		w.attack(curl(explicitly("-k", "https://10.1.2.3/public/a")...)).wantExit(56).wantDenials("connect address_not_granted 10.1.2.3:443").farSideNothing()
		w.attack(curl(explicitly("http://10.1.2.3/public/a")...)).refused(403, "address_not_granted")
		w.attack(curl(explicitly("http://[::ffff:10.1.2.3]/public/a")...)).refused(403, "address_not_granted")
		w.attack(curl("--resolve", "api.example.com:443:10.1.2.3", url)).wantExit(35).wantDenials("connect address_not_granted 10.1.2.3:443").farSideNothing()
		// The other grant's name leads to the same address and has no such exception.
		w.attack(curl("http://plain.example.com/public/a")).wantStatus(403).wantReason("network_not_granted").farSideNames("plain.example.com")
	})
}
