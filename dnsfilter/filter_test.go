package dnsfilter

import (
	"strings"
	"sync"
	"testing"

	"github.com/miekg/dns"

	"scupper.dev/scupper/capability"
)

// judge decides by a policy and remembers what was asked.
type judge struct {
	policy *capability.Policy

	mu      sync.Mutex
	records []verdict
}

type verdict struct {
	host    capability.Host
	excerpt string
	asked   string
	allowed bool
	reason  capability.Reason
}

func (j *judge) Authorize(r *capability.Request) capability.Decision {
	return j.record(r, j.policy.Decide(r))
}

func (j *judge) Refuse(r *capability.Request, reason capability.Reason) capability.Decision {
	return j.record(r, capability.Deny(reason))
}

func (j *judge) record(r *capability.Request, d capability.Decision) capability.Decision {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.records = append(j.records, verdict{r.Host, r.Excerpt, r.Protocol, d.Allowed(), d.Reason})
	return d
}

// take returns the records so far and forgets them.
func (j *judge) take() []verdict {
	j.mu.Lock()
	defer j.mu.Unlock()
	out := j.records
	j.records = nil
	return out
}

// newFilter grants api.example.com and *.cdn.example.com.
func newFilter(t testing.TB, change func(*Config)) (*Filter, *judge) {
	t.Helper()
	grant := func(name string, host capability.HostPattern) *capability.Grant {
		return &capability.Grant{Name: name, Host: host, Port: 443, Scheme: capability.HTTPS}
	}
	policy, err := capability.Compile([]*capability.Grant{
		grant("api", capability.HostPattern{Name: "api.example.com"}),
		grant("cdn", capability.HostPattern{Name: "cdn.example.com", Wildcard: true}),
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	j := &judge{policy: policy}
	c := Config{Authority: j, Leases: NewLeases(0), IPv6: true}
	if change != nil {
		change(&c)
	}
	return New(c), j
}

func query(t testing.TB, name string, qtype uint16) []byte {
	t.Helper()
	m := new(dns.Msg)
	m.Question = []dns.Question{{Name: name, Qtype: qtype, Qclass: dns.ClassINET}}
	m.Id, m.RecursionDesired = 4711, true
	b, err := m.Pack()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func parse(t testing.TB, b []byte) *dns.Msg {
	t.Helper()
	m := new(dns.Msg)
	if err := m.Unpack(b); err != nil {
		t.Fatalf("unpack %x: %v", b, err)
	}
	return m
}

// text is what an answer says: its code, or what its records hold.
func text(m *dns.Msg) string {
	if m.Rcode != dns.RcodeSuccess {
		return dns.RcodeToString[m.Rcode]
	}
	var out []string
	for _, rr := range m.Answer {
		out = append(out, strings.TrimPrefix(rr.String(), rr.Header().String()))
	}
	if len(out) == 0 {
		return "NODATA"
	}
	return strings.Join(out, " ")
}

func TestAnswers(t *testing.T) {
	f, j := newFilter(t, nil)
	for _, c := range []struct {
		name   string
		ask    string
		qtype  uint16
		want   string
		reason capability.Reason // of the one record; "-" for none
	}{
		{"granted", "api.example.com.", dns.TypeA, "198.18.0.1", capability.Granted},
		{"granted, v6", "api.example.com.", dns.TypeAAAA, "fd00:64:198::c612:1", capability.Granted},
		{"mixed case (0x20)", "aPi.ExAmPlE.cOm.", dns.TypeA, "198.18.0.1", capability.Granted},
		{"wildcard", "a.cdn.example.com.", dns.TypeA, "198.18.0.2", capability.Granted},
		{"DNS-01 secret in a label", "c2VjcmV0.attacker.test.", dns.TypeA, "NXDOMAIN", capability.NoGrant},
		{"DNS-01 below a granted name", "c2vjcmv0.api.example.com.", dns.TypeA, "NXDOMAIN", capability.NoGrant},
		{"DNS-01 in bytes that no host has", `s\000cret.attacker.test.`, dns.TypeA, "NXDOMAIN", capability.MalformedHost},
		{"DNS-01 in a service label", "_secret.api.example.com.", dns.TypeSRV, "NXDOMAIN", capability.MalformedHost},
		{"DNS-01 in a reverse name", "9.9.9.203.in-addr.arpa.", dns.TypePTR, "NXDOMAIN", capability.NoGrant},
		{"DNS-08 resolver of another protocol", "dns.resolver.test.", dns.TypeA, "NXDOMAIN", capability.NoGrant},
		{"DNS-09 HTTPS", "api.example.com.", dns.TypeHTTPS, "NODATA", capability.Granted},
		{"DNS-09 SVCB", "api.example.com.", dns.TypeSVCB, "NODATA", capability.Granted},
		{"DNS-09 HTTPS, denied", "attacker.test.", dns.TypeHTTPS, "NXDOMAIN", capability.NoGrant},
		{"TXT", "api.example.com.", dns.TypeTXT, "NODATA", capability.Granted},
		{"MX", "api.example.com.", dns.TypeMX, "NODATA", capability.Granted},
		{"ANY", "api.example.com.", dns.TypeANY, "NODATA", capability.Granted},
		{"AXFR", "api.example.com.", dns.TypeAXFR, "NODATA", capability.Granted},
		{"NULL, denied", "attacker.test.", dns.TypeNULL, "NXDOMAIN", capability.NoGrant},
		{"unknown type", "api.example.com.", 65280, "NODATA", capability.Granted},
		{"search domain", "api.example.com.corp.test.", dns.TypeA, "NXDOMAIN", capability.NoGrant},
		{"single label", "api.", dns.TypeA, "NXDOMAIN", capability.NoGrant},
		{"root", ".", dns.TypeNS, "NXDOMAIN", capability.MalformedHost},
		{"address as a name", "203.0.113.9.", dns.TypeA, "NXDOMAIN", capability.MalformedHost},
		{"dot inside a label", `api\.example.com.`, dns.TypeA, "NXDOMAIN", capability.MalformedHost},
		{"localhost", "localhost.", dns.TypeA, "127.0.0.1", "-"},
		{"localhost, v6", "localhost.", dns.TypeAAAA, "::1", "-"},
		{"below localhost", "app.LOCALHOST.", dns.TypeA, "127.0.0.1", "-"},
		{"localhost, another type", "localhost.", dns.TypeMX, "NODATA", "-"},
		{"name of a lease", "1.0.18.198.in-addr.arpa.", dns.TypePTR, "api.example.com.", "-"},
		{"name of a lease, v6", "1.0.0.0.2.1.6.c.0.0.0.0.0.0.0.0.0.0.0.0.8.9.1.0.4.6.0.0.0.0.d.f.ip6.arpa.", dns.TypePTR, "api.example.com.", "-"},
		{"name of loopback", "1.0.0.127.in-addr.arpa.", dns.TypePTR, "localhost.", "-"},
		{"name of no lease", "9.0.18.198.in-addr.arpa.", dns.TypePTR, "NXDOMAIN", capability.NoGrant},
	} {
		t.Run(c.name, func(t *testing.T) {
			j.take()
			m := parse(t, f.answer(query(t, c.ask, c.qtype)))
			if got := text(m); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
			if m.Id != 4711 || !m.Response || len(m.Question) != 1 || m.Question[0].Name != c.ask {
				t.Errorf("the answer is to %v", m.Question)
			}
			if empty := len(m.Answer) == 0; empty != (len(m.Ns) == 1) {
				t.Errorf("%d answers, authority %v", len(m.Answer), m.Ns)
			}
			on := j.take()
			if c.reason == "-" {
				if len(on) != 0 {
					t.Errorf("records %+v", on)
				}
				return
			}
			if len(on) != 1 || on[0].reason != c.reason || on[0].host == "" && on[0].excerpt == "" {
				t.Errorf("records %+v, want one with reason %s", on, c.reason)
			}
		})
	}
}

// USE-27
func TestWithoutIPv6(t *testing.T) {
	f, _ := newFilter(t, func(c *Config) { c.IPv6 = false })
	if got := text(parse(t, f.answer(query(t, "api.example.com.", dns.TypeAAAA)))); got != "NODATA" {
		t.Errorf("got %s, want NODATA", got)
	}
	if got := text(parse(t, f.answer(query(t, "api.example.com.", dns.TypeA)))); got != "198.18.0.1" {
		t.Errorf("got %s", got)
	}
}

// DNS-06
func TestLeasesRunOut(t *testing.T) {
	f, j := newFilter(t, func(c *Config) { c.Leases = NewLeases(2) })
	for _, name := range []string{"a", "b", "a"} {
		if m := parse(t, f.answer(query(t, name+".cdn.example.com.", dns.TypeA))); len(m.Answer) != 1 {
			t.Fatalf("%s: %s", name, text(m))
		}
	}
	j.take()
	if got := text(parse(t, f.answer(query(t, "c.cdn.example.com.", dns.TypeA)))); got != "NXDOMAIN" {
		t.Errorf("got %s", got)
	}
	if on := j.take(); on[len(on)-1].reason != capability.LimitExceeded {
		t.Errorf("records %+v", on)
	}
}

func TestMalformed(t *testing.T) {
	f, j := newFilter(t, nil)
	good := query(t, "api.example.com.", dns.TypeA)
	change := func(at int, to ...byte) []byte {
		b := append([]byte(nil), good...)
		copy(b[at:], to)
		return b
	}
	second := append(change(5, 2), good[headerSize:]...)
	for _, c := range []struct {
		name string
		m    []byte
		want string // "" for no answer
	}{
		{"empty", nil, ""},
		{"short", good[:11], ""},
		{"a response", change(2, 0x81), ""},
		{"header alone", good[:12], "FORMERR"},
		{"no question", change(5, 0), "FORMERR"},
		{"two questions", second, "FORMERR"},
		{"65535 questions", change(4, 0xff, 0xff), "FORMERR"},
		{"an answer", change(7, 1), "FORMERR"},
		{"an authority", change(9, 1), "FORMERR"},
		{"two additional records", change(11, 2), "FORMERR"},
		{"cut in the name", good[:15], "FORMERR"},
		{"cut in the type", good[:len(good)-3], "FORMERR"},
		{"pointer to itself", change(12, 0xc0, 0x0c), "FORMERR"},
		{"reserved label type", change(12, 0x80), "FORMERR"},
		{"NOTIFY", change(2, 0x20), "NOTIMP"},
		{"UPDATE", change(2, 0x28), "NOTIMP"},
		{"class CHAOS", change(len(good)-2, 0, 3), "NOTIMP"},
		{"class ANY", change(len(good)-2, 0, 255), "NOTIMP"},
	} {
		t.Run(c.name, func(t *testing.T) {
			j.take()
			reply := f.answer(c.m)
			if (reply == nil) != (c.want == "") {
				t.Fatalf("answer %x", reply)
			}
			if reply != nil {
				if m := parse(t, reply); m.Id != 4711 || !m.Response || dns.RcodeToString[m.Rcode] != c.want {
					t.Errorf("got %s, want %s", m, c.want)
				}
			}
			if on := j.take(); len(on) != 1 || on[0].reason != capability.MalformedName || on[0].allowed {
				t.Errorf("records %+v, want one %s", on, capability.MalformedName)
			}
		})
	}
}

func TestEDNS(t *testing.T) {
	f, _ := newFilter(t, nil)
	m := new(dns.Msg)
	m.SetQuestion("api.example.com.", dns.TypeA)
	m.SetEdns0(4096, true)
	m.IsEdns0().Option = append(m.IsEdns0().Option, &dns.EDNS0_COOKIE{Code: dns.EDNS0COOKIE, Cookie: "0011223344556677"})
	b, err := m.Pack()
	if err != nil {
		t.Fatal(err)
	}
	reply := parse(t, f.answer(b))
	if text(reply) != "198.18.0.1" || reply.IsEdns0() == nil || len(reply.IsEdns0().Option) != 0 {
		t.Errorf("got %s", reply)
	}
}

func TestLongestAnswerFitsUDP(t *testing.T) {
	f, _ := newFilter(t, nil)
	label := strings.Repeat("a", 63) + "."
	name := label + label + label + strings.Repeat("b", 61) + "."
	for _, qtype := range []uint16{dns.TypeA, dns.TypeTXT} {
		if n := len(f.answer(query(t, name, qtype))); n > 512 || n == 0 {
			t.Errorf("%d bytes", n)
		}
	}
}
