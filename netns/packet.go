package netns

import (
	"encoding/binary"
	"net/netip"
	"time"

	"golang.org/x/sys/unix"
)

// Packet is one packet that nobody serves, or a number of them that were lost before they could be read.
type Packet struct {
	Time time.Time
	// Proto is the number of the transport protocol (IANA protocol numbers); 0 if the packet could not be parsed or is a counted one.
	Proto uint8
	// Src and Dst have port 0 where the protocol has no ports.
	Src, Dst netip.AddrPort
	// Length is the size of the whole packet in bytes, with the IP header.
	Length int
	// Head is the beginning of what follows the transport header, as far as it was logged.
	Head []byte
	// Lost is not 0 in a counted packet, which stands for so many (at least so many, at the end of a log) and has no other field but Time.
	Lost uint32
}

// fragmentOffset is the part of an IPv4 header (RFC 791) that is not 0 where the transport header was in an earlier fragment.
const fragmentOffset = 0x1fff

// parsePacket reads the headers of an IP packet that may be cut short. Extension headers of IPv6 are not followed: such a packet has the protocol
// number of the first of them and no ports.
func parsePacket(b []byte) Packet {
	if len(b) >= 20 && b[0]>>4 == 4 {
		src, dst := netip.AddrFrom4([4]byte(b[12:16])), netip.AddrFrom4([4]byte(b[16:20]))
		header := int(b[0]&15) * 4
		if binary.BigEndian.Uint16(b[6:])&fragmentOffset != 0 {
			return Packet{Proto: b[9], Src: netip.AddrPortFrom(src, 0), Dst: netip.AddrPortFrom(dst, 0), Length: int(binary.BigEndian.Uint16(b[2:])),
				Head: b[min(header, len(b)):]}
		}
		return parseTransport(b[9], src, dst, int(binary.BigEndian.Uint16(b[2:])), b[min(header, len(b)):])
	}
	if len(b) >= 40 && b[0]>>4 == 6 {
		src, dst := netip.AddrFrom16([16]byte(b[8:24])), netip.AddrFrom16([16]byte(b[24:40]))
		return parseTransport(b[6], src, dst, 40+int(binary.BigEndian.Uint16(b[4:])), b[40:])
	}
	return Packet{Length: len(b)}
}

func parseTransport(proto uint8, src, dst netip.Addr, length int, rest []byte) Packet {
	p := Packet{Proto: proto, Length: length}
	var sport, dport uint16
	if (proto == unix.IPPROTO_TCP || proto == unix.IPPROTO_UDP) && len(rest) >= 8 {
		sport, dport = binary.BigEndian.Uint16(rest), binary.BigEndian.Uint16(rest[2:])
	}
	p.Src, p.Dst = netip.AddrPortFrom(src, sport), netip.AddrPortFrom(dst, dport)
	header := 8
	if proto == unix.IPPROTO_TCP && len(rest) >= 20 {
		header = int(rest[12]>>4) * 4
	}
	p.Head = rest[min(header, len(rest)):]
	return p
}
