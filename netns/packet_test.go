package netns

import (
	"bytes"
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

func TestParsePacket(t *testing.T) {
	udp4 := []byte{0x45, 0, 0, 29, 0, 0, 0, 0, 64, 17, 0, 0, 100, 64, 0, 2, 198, 51, 100, 7, 0x80, 0, 0x11, 0x5c, 0, 9, 0, 0, 'x'}
	fragment := append([]byte{}, udp4...)
	fragment[7] = 1
	cases := map[string]struct {
		packet []byte
		want   Packet
	}{
		"udp": {udp4, Packet{Proto: unix.IPPROTO_UDP, Src: netip.MustParseAddrPort("100.64.0.2:32768"), Dst: netip.MustParseAddrPort("198.51.100.7:4444"),
			Length: 29, Head: []byte("x")}},
		"later fragment has no ports": {fragment, Packet{Proto: unix.IPPROTO_UDP, Src: netip.MustParseAddrPort("100.64.0.2:0"),
			Dst: netip.MustParseAddrPort("198.51.100.7:0"), Length: 29, Head: udp4[20:]}},
		"cut short": {udp4[:10], Packet{Length: 10}},
		"empty":     {nil, Packet{}},
	}
	same := cmp.Comparer(func(a, b netip.AddrPort) bool { return a == b })
	for name, c := range cases {
		if diff := cmp.Diff(parsePacket(c.packet), c.want, same); diff != "" {
			t.Errorf("%s (-got +want):\n%s", name, diff)
		}
	}
}

// FuzzParsePacket: never panics, and what it calls the head is an end of the packet.
func FuzzParsePacket(f *testing.F) {
	f.Fuzz(func(t *testing.T, b []byte) {
		if p := parsePacket(b); !bytes.HasSuffix(b, p.Head) {
			t.Errorf("head %x is no end of %x", p.Head, b)
		}
	})
}

// FuzzTakeDatagram: whatever arrives, the log never panics and never goes backwards in silence.
func FuzzTakeDatagram(f *testing.F) {
	f.Fuzz(func(t *testing.T, b []byte) {
		l := &PacketLog{}
		l.take(b)
		for _, p := range l.queue {
			if p.Lost != 0 && p.Length != 0 {
				t.Errorf("a counted packet has a length: %v", p)
			}
		}
	})
}
