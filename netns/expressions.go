package netns

import (
	"github.com/google/nftables/binaryutil"
	"github.com/google/nftables/expr"
	"golang.org/x/sys/unix"
)

// family is what differs between IPv4 and IPv6 in a rule.
type family struct {
	nfproto     byte
	destination uint32 // offset of the destination address in the network header
	gateway     []byte
	sandbox     []byte
	loopback    []byte // 127.0.0.0/8 is one byte long, ::1 sixteen
	icmp        byte
	unreachable byte // RFC 792 type 3, RFC 4443 type 1
}

func (r *ruleset) families() []family {
	v4 := family{nfproto: unix.NFPROTO_IPV4, destination: 16, gateway: Gateway4().AsSlice(), sandbox: Sandbox4().AsSlice(),
		loopback: []byte{127}, icmp: unix.IPPROTO_ICMP, unreachable: 3}
	if !r.ipv6 {
		return []family{v4}
	}
	v6 := family{nfproto: unix.NFPROTO_IPV6, destination: 24, gateway: Gateway6().AsSlice(), sandbox: Sandbox6().AsSlice(),
		loopback: []byte{15: 1}, icmp: unix.IPPROTO_ICMPV6, unreachable: 1}
	return []family{v4, v6}
}

func (f family) only() []expr.Any {
	return []expr.Any{&expr.Meta{Key: expr.MetaKeyNFPROTO, Register: 1}, equal([]byte{f.nfproto})}
}

// to matches packets whose destination begins with the given bytes.
func (f family) to(prefix []byte) []expr.Any {
	load := &expr.Payload{DestRegister: 1, Base: expr.PayloadBaseNetworkHeader, Offset: f.destination, Len: uint32(len(prefix))}
	return []expr.Any{load, equal(prefix)}
}

func l4(proto byte) []expr.Any {
	return []expr.Any{&expr.Meta{Key: expr.MetaKeyL4PROTO, Register: 1}, equal([]byte{proto})}
}

func destinationPort(port uint16) []expr.Any {
	return []expr.Any{transport(2, 2), equal(binaryutil.BigEndian.PutUint16(port))}
}

// transport loads a part of the transport header. A fragment that has none matches no rule with it.
func transport(offset, length uint32) expr.Any {
	return &expr.Payload{DestRegister: 1, Base: expr.PayloadBaseTransportHeader, Offset: offset, Len: length}
}

func equal(value []byte) expr.Any { return &expr.Cmp{Op: expr.CmpOpEq, Register: 1, Data: value} }

func immediate(register uint32, value []byte) expr.Any {
	return &expr.Immediate{Register: register, Data: value}
}

// tproxy diverts to the port in register 2 and, unless addressRegister is 0, to the address there.
func tproxy(f family, addressRegister uint32) expr.Any {
	return &expr.TProxy{Family: f.nfproto, TableFamily: f.nfproto, RegAddr: addressRegister, RegPort: 2}
}

func log() []expr.Any {
	return []expr.Any{&expr.Log{Key: 1<<unix.NFTA_LOG_GROUP | 1<<unix.NFTA_LOG_SNAPLEN, Group: logGroup, Snaplen: packetBytes}}
}

func accept() []expr.Any { return []expr.Any{&expr.Verdict{Kind: expr.VerdictAccept}} }
