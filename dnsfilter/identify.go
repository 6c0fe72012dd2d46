package dnsfilter

import (
	"cmp"
	"strconv"

	"github.com/miekg/dns"

	"scupper.dev/scupper/capability"
)

const (
	headerSize = 12  // RFC 1035 section 4.1.1
	maxExcerpt = 256 // bytes of a message or name that go on record
)

// question is one message that asks one plain question.
type question struct {
	message *dns.Msg
	request *capability.Request
}

// fault is why a message is no such question.
type fault struct {
	reason  capability.Reason
	request *capability.Request // for the record
	rcode   int                 // to answer with
	silent  bool                // there is nobody to answer
}

// identify reads a message. What it cannot read in one way only is a fault.
func identify(m []byte) (*question, *fault) {
	msg := new(dns.Msg)
	switch {
	case len(m) < headerSize || m[2]&0x80 != 0:
		return nil, malformed(m, dns.RcodeFormatError, true)
	case m[2]>>3&15 != dns.OpcodeQuery:
		return nil, malformed(m, dns.RcodeNotImplemented, false)
	case !counts(m) || msg.Unpack(m) != nil || !plain(msg):
		return nil, malformed(m, dns.RcodeFormatError, false)
	}
	asked := msg.Question[0]
	r := &capability.Request{Kind: capability.KindName, Protocol: typeName(asked.Qtype)}
	if asked.Qclass != dns.ClassINET {
		r.Excerpt = excerpt(asked.Name)
		return nil, &fault{reason: capability.MalformedName, request: r, rcode: dns.RcodeNotImplemented}
	}
	host, err := capability.ParseHost(asked.Name)
	if _, literal := host.Addr(); err != nil || literal {
		r.Excerpt = excerpt(asked.Name)
		return nil, &fault{reason: capability.MalformedHost, request: r, rcode: dns.RcodeNameError}
	}
	r.Host = host
	return &question{msg, r}, nil
}

// counts wants one question, no answer or authority, and at most one additional
// record, before anything is parsed.
func counts(m []byte) bool {
	return [6]byte(m[4:10]) == [6]byte{0, 1} && m[10] == 0 && m[11] <= 1
}

// plain wants the question to be there, and the additional record to be EDNS
// (RFC 6891).
func plain(msg *dns.Msg) bool {
	if len(msg.Question) != 1 {
		return false
	}
	return len(msg.Extra) == 0 || msg.IsEdns0() != nil
}

func malformed(m []byte, rcode int, silent bool) *fault {
	r := &capability.Request{Kind: capability.KindName, Excerpt: string(m[:min(len(m), maxExcerpt)])}
	return &fault{reason: capability.MalformedName, request: r, rcode: rcode, silent: silent}
}

func excerpt(name string) string { return name[:min(len(name), maxExcerpt)] }

func typeName(t uint16) string {
	return cmp.Or(dns.TypeToString[t], "TYPE"+strconv.Itoa(int(t)))
}
