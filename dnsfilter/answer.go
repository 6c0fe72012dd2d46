package dnsfilter

import (
	"encoding/binary"
	"net"
	"net/netip"
	"strings"

	"github.com/miekg/dns"

	"scupper.dev/scupper/capability"
)

const (
	ttl         = 60   // seconds; leases hold for the run, but clients ask again after a reload
	negativeTTL = 10   // seconds
	ednsSize    = 1232 // bytes of UDP payload; our answers are never longer
)

// answer judges one message and returns the message to send back, or nil for none.
func (f *Filter) answer(m []byte) []byte {
	if limit := f.over(); limit != "" {
		f.refuseOver(limit)
		if len(m) < headerSize {
			return nil
		}
		return header12(binary.BigEndian.Uint16(m), dns.RcodeServerFailure)
	}
	q, bad := identify(m)
	if bad != nil {
		f.authority.Refuse(bad.request, bad.reason)
		return refuse(m, bad)
	}
	if reply := f.local(q); reply != nil {
		return reply
	}
	if !f.authority.Authorize(q.request).Allowed() {
		return nxdomain(q)
	}
	lease, ok := f.leases.Lease(q.request.Host)
	if !ok {
		f.authority.Refuse(q.request, capability.LimitExceeded)
		return nxdomain(q)
	}
	return f.addresses(q, lease)
}

// refuseOver records what is over a limit. Nothing of it is on record, so that all of
// them are equal for the log.
func (f *Filter) refuseOver(limit string) {
	f.authority.Refuse(&capability.Request{Kind: capability.KindName, Limit: limit}, capability.LimitExceeded)
}

// over counts a message, and names the limit that it exceeds.
func (f *Filter) over() string {
	switch {
	case !f.rate.Take(f.now()):
		return "question_rate"
	case f.left.Add(-1) < 0:
		return "questions"
	}
	return ""
}

// local answers what is about the sandbox itself: localhost (RFC 6761 section 6.3), the names of
// loopback and of leased addresses.
func (f *Filter) local(q *question) []byte {
	host := string(q.request.Host)
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return f.addresses(q, Lease{V4: netip.AddrFrom4([4]byte{127, 0, 0, 1}), V6: netip.IPv6Loopback()})
	}
	asked := q.message.Question[0]
	if asked.Qtype != dns.TypePTR {
		return nil
	}
	addr, ok := reverse(host)
	if !ok {
		return nil
	}
	name, ok := f.leases.Name(addr)
	if addr.IsLoopback() {
		name, ok = "localhost", true
	}
	if !ok {
		return nil
	}
	return pack(q.message, dns.RcodeSuccess, &dns.PTR{Hdr: header(asked), Ptr: string(name) + "."})
}

// addresses answers the types that a lease has an address for; others exist without
// data, so that no record of the origin is ever passed on.
func (f *Filter) addresses(q *question, l Lease) []byte {
	asked := q.message.Question[0]
	switch {
	case asked.Qtype == dns.TypeA:
		return pack(q.message, dns.RcodeSuccess, &dns.A{Hdr: header(asked), A: net.IP(l.V4.AsSlice())})
	case asked.Qtype == dns.TypeAAAA && f.ipv6:
		return pack(q.message, dns.RcodeSuccess, &dns.AAAA{Hdr: header(asked), AAAA: net.IP(l.V6.AsSlice())})
	}
	return pack(q.message, dns.RcodeSuccess)
}

func header(q dns.Question) dns.RR_Header {
	return dns.RR_Header{Name: q.Name, Rrtype: q.Qtype, Class: dns.ClassINET, Ttl: ttl}
}

// pack writes the reply to a parsed question. Without records it carries the SOA that
// lets clients cache the absence (RFC 2308 section 3), owned by the root, under which
// every name is.
func pack(asked *dns.Msg, rcode int, records ...dns.RR) []byte {
	reply := new(dns.Msg)
	reply.SetRcode(asked, rcode)
	reply.RecursionAvailable = true
	reply.Compress = true
	reply.Answer = records
	if len(records) == 0 {
		reply.Ns = []dns.RR{&dns.SOA{
			Hdr: dns.RR_Header{Name: ".", Rrtype: dns.TypeSOA, Class: dns.ClassINET, Ttl: negativeTTL},
			Ns:  "scupper.invalid.", Mbox: "scupper.invalid.", Serial: 1, Refresh: 3600, Retry: 600, Expire: 86400, Minttl: negativeTTL,
		}}
	}
	if asked.IsEdns0() != nil {
		reply.SetEdns0(ednsSize, false)
	}
	b, err := reply.Pack()
	if err != nil {
		// Only a name that cannot be written again gets here.
		return header12(asked.Id, dns.RcodeServerFailure)
	}
	return b
}
