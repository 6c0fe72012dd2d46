package replay

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/miekg/dns"
	"golang.org/x/sys/unix"
)

// Answer is what DNS says to one question. The zero Answer is NODATA.
type Answer struct {
	Addrs     []netip.Addr  // those of the question's family are sent
	RCode     int           // RFC 1035 section 4.1.1, for example 3 for NXDOMAIN
	Malformed bool          // send bytes that are no DNS message
	Delay     time.Duration // before answering
}

// NXDomain is the answer for a name that does not exist.
func NXDomain() Answer { return Answer{RCode: dns.RcodeNameError} }

// At answers with the given addresses, private ones included.
func At(addrs ...netip.Addr) Answer { return Answer{Addrs: addrs} }

// canonicalName is lower case without the final dot.
func canonicalName(name string) string { return strings.ToLower(strings.TrimSuffix(name, ".")) }

type names struct {
	ledger *ledger

	mu         sync.Mutex
	numbers    map[string]int
	configured map[string][]Answer
	asked      map[string]int // by name and type: how often since configured
}

func newNames(l *ledger) *names {
	return &names{ledger: l, numbers: map[string]int{}, configured: map[string][]Answer{}, asked: map[string]int{}}
}

// number gives each name one number in order of first use.
func (n *names) number(name string) int {
	n.mu.Lock()
	defer n.mu.Unlock()
	if _, ok := n.numbers[name]; !ok {
		n.numbers[name] = len(n.numbers)
	}
	return n.numbers[name]
}

// addr4 walks the two documentation networks of RFC 5737 and starts again
// after 508 names.
func (n *names) addr4(name string) netip.Addr {
	i := n.number(name) % 508
	if i < 254 {
		return netip.AddrFrom4([4]byte{203, 0, 113, byte(i + 1)})
	}
	return netip.AddrFrom4([4]byte{198, 51, 100, byte(i - 254 + 1)})
}

// addr6 counts in 2001:db8:2::/64 (RFC 3849).
func (n *names) addr6(name string) netip.Addr {
	i := n.number(name) + 1
	return netip.AddrFrom16([16]byte{0x20, 0x01, 0x0d, 0xb8, 0, 2, 13: byte(i >> 16), 14: byte(i >> 8), 15: byte(i)})
}

func (n *names) configure(name string, answers []Answer) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(answers) == 0 {
		delete(n.configured, name)
		return
	}
	n.configured[name] = answers
	delete(n.asked, name+" A")
	delete(n.asked, name+" AAAA")
}

func (n *names) answer(name, qtype string) Answer {
	n.mu.Lock()
	answers, ok := n.configured[name]
	turn := n.asked[name+" "+qtype]
	n.asked[name+" "+qtype]++
	n.mu.Unlock()
	if !ok {
		return At(n.addr4(name), n.addr6(name))
	}
	return answers[min(turn, len(answers)-1)]
}

// ServeDNS answers one message; it is the dns.Handler of both transports.
func (n *names) ServeDNS(w dns.ResponseWriter, m *dns.Msg) {
	reply := new(dns.Msg)
	reply.SetReply(m)
	reply.Authoritative = true
	var answer Answer
	for _, q := range m.Question {
		name, qtype := canonicalName(q.Name), dns.TypeToString[q.Qtype]
		n.ledger.query(Query{time.Now(), w.LocalAddr().Network(), w.LocalAddr().String(), name, qtype})
		answer = n.answer(name, qtype)
		reply.Rcode = answer.RCode
		reply.Answer = append(reply.Answer, records(q, answer.Addrs)...)
	}
	time.Sleep(answer.Delay)
	if answer.Malformed {
		w.Write(malformed(m.Id))
		return
	}
	w.WriteMsg(reply)
}

// malformed has a good header that announces records, and then a name whose
// compression pointer points at itself.
func malformed(id uint16) []byte {
	return []byte{byte(id >> 8), byte(id), 0x81, 0x80, 0, 1, 0, 9, 0, 0, 0, 0, 0xc0, 0x0c, 0, 1, 0, 1}
}

func records(q dns.Question, addrs []netip.Addr) []dns.RR {
	var out []dns.RR
	hdr := dns.RR_Header{Name: q.Name, Rrtype: q.Qtype, Class: dns.ClassINET}
	for _, a := range addrs {
		switch {
		case q.Qtype == dns.TypeA && a.Is4():
			out = append(out, &dns.A{Hdr: hdr, A: a.AsSlice()})
		case q.Qtype == dns.TypeAAAA && a.Is6():
			out = append(out, &dns.AAAA{Hdr: hdr, AAAA: a.AsSlice()})
		}
	}
	return out
}

func (in *Internet) serveDNS() error {
	networks := []string{"udp4"}
	if hasIPv6() {
		networks = append(networks, "udp6")
	}
	for _, network := range networks {
		conn, err := dnsSocket(network)
		if err != nil {
			return err
		}
		in.serveDNSOn(&dns.Server{PacketConn: conn, Handler: in.names})
	}
	l, err := tcpListener(53)
	if err != nil {
		return err
	}
	in.serveDNSOn(&dns.Server{Listener: in.counted(l), Handler: in.names})
	return nil
}

// dnsSocket may send from any address: for IPv6 that needs IPV6_FREEBIND, see
// ip(7) and net/ipv6/datagram.c.
func dnsSocket(network string) (net.PacketConn, error) {
	lc := net.ListenConfig{Control: func(_, _ string, c syscall.RawConn) error {
		var err error
		c.Control(func(fd uintptr) { err = unix.SetsockoptInt(int(fd), unix.SOL_IPV6, unix.IPV6_FREEBIND, 1) })
		if network == "udp4" {
			return nil
		}
		return err
	}}
	conn, err := lc.ListenPacket(context.Background(), network, ":53")
	if err != nil {
		return nil, fmt.Errorf("listen on %s port 53 of the pretend Internet: %w", network, err)
	}
	return conn, nil
}

func (in *Internet) serveDNSOn(s *dns.Server) {
	started := make(chan struct{})
	s.NotifyStartedFunc = func() { close(started) }
	in.serving.Go(func() { s.ActivateAndServe() })
	<-started
	in.closers = append(in.closers, closer(s.Shutdown))
}

type closer func() error

// Close calls the function.
func (c closer) Close() error { return c() }
