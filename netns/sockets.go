package netns

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// kind says what a handed-over socket is for.
type kind byte

const (
	kindTCP kind = iota + 1
	kindExplicit
	kindDNSTCP
	kindDNSUDP
	kindPackets
)

type namedFile struct {
	kind kind
	file *os.File
}

func (m *Made) openSockets() error {
	gateways := []netip.Addr{Gateway4()}
	anyAddr := []netip.Addr{netip.IPv4Unspecified()}
	if m.ipv6 {
		gateways = append(gateways, Gateway6())
		anyAddr = append(anyAddr, netip.IPv6Unspecified())
	}
	var errs []error
	for _, a := range gateways {
		errs = append(errs, m.listenTCP(kindTCP, netip.AddrPortFrom(a, transparentPort)))
		errs = append(errs, m.listenTCP(kindExplicit, netip.AddrPortFrom(a, ExplicitPort)))
	}
	for _, a := range anyAddr {
		errs = append(errs, m.listenTCP(kindDNSTCP, netip.AddrPortFrom(a, dnsPort)))
		errs = append(errs, m.listenUDP(netip.AddrPortFrom(a, dnsPort)))
	}
	log, err := openPacketLog()
	if err == nil {
		m.files = append(m.files, namedFile{kindPackets, log})
	}
	return errors.Join(append(errs, err)...)
}

func (m *Made) listenTCP(k kind, at netip.AddrPort) error {
	lc := net.ListenConfig{Control: transparent}
	// An MPTCP socket would hide the original destination and escape the rules for TCP.
	lc.SetMultipathTCP(false)
	l, err := lc.Listen(context.Background(), network("tcp", at), at.String())
	if err != nil {
		return fmt.Errorf("listen on TCP %s: %w", at, err)
	}
	return m.keep(k, l)
}

func (m *Made) listenUDP(at netip.AddrPort) error {
	lc := net.ListenConfig{Control: transparent}
	c, err := lc.ListenPacket(context.Background(), network("udp", at), at.String())
	if err != nil {
		return fmt.Errorf("listen on UDP %s: %w", at, err)
	}
	return m.keep(kindDNSUDP, c)
}

// keep stores a copy of the socket's descriptor and closes the original.
func (m *Made) keep(k kind, s any) error {
	type withFile interface {
		File() (*os.File, error)
		Close() error
	}
	f, err := s.(withFile).File()
	if err != nil {
		return fmt.Errorf("take descriptor: %w", err)
	}
	m.files = append(m.files, namedFile{k, f})
	return s.(withFile).Close()
}

func network(proto string, at netip.AddrPort) string {
	if at.Addr().Is4() {
		return proto + "4"
	}
	return proto + "6"
}

// transparent makes a socket accept what tproxy diverts to it and answer from any address (ip(7) IP_TRANSPARENT, ipv6(7) IPV6_FREEBIND), and tell with
// each datagram where it was sent.
func transparent(network, _ string, c syscall.RawConn) error {
	options := [][3]int{{unix.SOL_IP, unix.IP_TRANSPARENT, 1}}
	if network == "udp4" {
		options = append(options, [3]int{unix.SOL_IP, unix.IP_PKTINFO, 1})
	}
	if network == "tcp6" || network == "udp6" {
		options = [][3]int{{unix.SOL_IPV6, unix.IPV6_V6ONLY, 1}, {unix.SOL_IPV6, unix.IPV6_TRANSPARENT, 1}, {unix.SOL_IPV6, unix.IPV6_FREEBIND, 1}}
	}
	if network == "udp6" {
		options = append(options, [3]int{unix.SOL_IPV6, unix.IPV6_RECVPKTINFO, 1})
	}
	var failed error
	err := c.Control(func(fd uintptr) {
		for _, o := range options {
			if err := unix.SetsockoptInt(int(fd), o[0], o[1], o[2]); err != nil {
				failed = unsupported(fmt.Sprintf("set option %d/%d of %s socket", o[0], o[1], network), err)
				return
			}
		}
	})
	return errors.Join(err, failed)
}
