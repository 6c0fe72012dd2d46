package dnsfilter

import (
	"encoding/binary"

	"github.com/miekg/dns"
)

// nxdomain says that the name does not exist, whatever the type: other codes make
// clients wait and ask again.
func nxdomain(q *question) []byte { return pack(q.message, dns.RcodeNameError) }

// refuse answers a message that is no plain question. Where its question cannot be
// trusted the answer is a header alone.
func refuse(m []byte, bad *fault) []byte {
	if bad.silent {
		return nil
	}
	if bad.rcode == dns.RcodeNameError {
		msg := new(dns.Msg)
		if msg.Unpack(m) == nil {
			return pack(msg, bad.rcode)
		}
	}
	reply := header12(binary.BigEndian.Uint16(m), bad.rcode)
	reply[2] |= m[2] & 0x79 // opcode and RD as asked (RFC 1035 section 4.1.1)
	return reply
}

// header12 is a reply without any section.
func header12(id uint16, rcode int) []byte {
	b := make([]byte, headerSize)
	binary.BigEndian.PutUint16(b, id)
	b[2] = 0x80
	b[3] = 0x80 | byte(rcode&15)
	return b
}
