package replay

import (
	"bytes"
	"testing"
)

// FuzzParsePacket: whatever a sandbox managed to send, reading it does not panic, and
// a payload is a tail of the packet.
func FuzzParsePacket(f *testing.F) {
	f.Fuzz(func(t *testing.T, packet []byte) {
		p, ok := parsePacket(packet)
		if ok && p.Destination.Addr().IsLoopback() {
			t.Errorf("a packet to %s counts", p.Destination)
		}
		if !bytes.HasSuffix(packet, p.Payload) {
			t.Errorf("payload %x is no tail of %x", p.Payload, packet)
		}
	})
}

func TestParsePacket(t *testing.T) {
	udp4 := []byte("\x45\x00\x00\x1d\x00\x00\x00\x00\x40\x11\x00\x00\xc0\x00\x02\x01\xcb\x00\x71\x09\x30\x39\x01\xbb\x00\x09\x00\x00x")
	p, ok := parsePacket(udp4)
	if !ok || p.Protocol != "udp" || p.Source.String() != "192.0.2.1:12345" || p.Destination.String() != "203.0.113.9:443" || string(p.Payload) != "x" {
		t.Errorf("got %+v, %t", p, ok)
	}
	for n := range 20 {
		if p, ok := parsePacket(udp4[:n]); ok {
			t.Errorf("%d bytes of a packet: got %+v", n, p)
		}
	}
}
