package netns

import (
	"errors"
	"fmt"
	"net/netip"
	"os"

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
		errs = append(errs, m.open(kindTCP, netip.AddrPortFrom(a, transparentPort)))
		errs = append(errs, m.open(kindExplicit, netip.AddrPortFrom(a, ExplicitPort)))
	}
	for _, a := range anyAddr {
		errs = append(errs, m.open(kindDNSTCP, netip.AddrPortFrom(a, dnsPort)))
		errs = append(errs, m.open(kindDNSUDP, netip.AddrPortFrom(a, dnsPort)))
	}
	log, err := openPacketLog()
	if err == nil {
		m.files = append(m.files, namedFile{kindPackets, log})
	}
	return errors.Join(append(errs, err)...)
}

// backlog is the length of the queue of connections that have not been accepted; the kernel caps it (net.core.somaxconn).
const backlog = 4096

// open makes one socket. Go's own listeners would do it with twice the calls, and as MPTCP sockets, which hide the original destination.
func (m *Made) open(k kind, at netip.AddrPort) error {
	family, network := unix.AF_INET, unix.SOCK_STREAM
	if at.Addr().Is6() {
		family = unix.AF_INET6
	}
	if k == kindDNSUDP {
		network = unix.SOCK_DGRAM
	}
	fd, err := unix.Socket(family, network|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("open socket for %s: %w", at, err)
	}
	m.files = append(m.files, namedFile{k, os.NewFile(uintptr(fd), at.String())})
	for _, o := range options(family, network) {
		if err := unix.SetsockoptInt(fd, o[0], o[1], 1); err != nil {
			return unsupported(fmt.Sprintf("set option %d/%d of socket for %s", o[0], o[1], at), err)
		}
	}
	if err := unix.Bind(fd, address(at)); err != nil {
		return fmt.Errorf("bind socket to %s: %w", at, err)
	}
	if network == unix.SOCK_DGRAM {
		return nil
	}
	if err := unix.Listen(fd, backlog); err != nil {
		return fmt.Errorf("listen on %s: %w", at, err)
	}
	return nil
}

// options make a socket accept what tproxy diverts to it and answer from any address (ip(7) IP_TRANSPARENT, ipv6(7) IPV6_FREEBIND), and tell with each
// datagram where it was sent.
func options(family, network int) [][2]int {
	if family == unix.AF_INET {
		all := [][2]int{{unix.SOL_IP, unix.IP_TRANSPARENT}}
		if network == unix.SOCK_DGRAM {
			all = append(all, [2]int{unix.SOL_IP, unix.IP_PKTINFO})
		}
		return all
	}
	all := [][2]int{{unix.SOL_IPV6, unix.IPV6_V6ONLY}, {unix.SOL_IPV6, unix.IPV6_TRANSPARENT}, {unix.SOL_IPV6, unix.IPV6_FREEBIND}}
	if network == unix.SOCK_DGRAM {
		all = append(all, [2]int{unix.SOL_IPV6, unix.IPV6_RECVPKTINFO})
	}
	return all
}

func address(at netip.AddrPort) unix.Sockaddr {
	if at.Addr().Is4() {
		return &unix.SockaddrInet4{Port: int(at.Port()), Addr: at.Addr().As4()}
	}
	return &unix.SockaddrInet6{Port: int(at.Port()), Addr: at.Addr().As16()}
}
