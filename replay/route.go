package replay

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"

	"github.com/mdlayher/netlink"
	"golang.org/x/sys/unix"
)

// The addresses on lo: the source of what clients here send. No name has them.
var (
	ownAddr4 = netip.AddrFrom4([4]byte{192, 0, 2, 1})
	ownAddr6 = netip.AddrFrom16([16]byte{0x20, 0x01, 0x0d, 0xb8, 0, 1, 15: 1})
)

// everyAddressLocal brings lo up and routes 0.0.0.0/0 and ::/0 to it, so that
// the kernel delivers every address to this namespace (AnyIP). The routes stand
// in table local, because the kernel's source check looks only there, and name
// a source address, because a client would otherwise take its destination's and
// could connect to itself.
func everyAddressLocal() error {
	// Containers often switch IPv6 off; where that cannot be undone the next
	// step says so.
	for _, dir := range []string{"all", "lo"} {
		os.WriteFile("/proc/sys/net/ipv6/conf/"+dir+"/disable_ipv6", []byte("0"), 0)
	}
	// Port 53 and the like must not need a capability. Where this cannot be
	// written, listening says so.
	os.WriteFile("/proc/sys/net/ipv4/ip_unprivileged_port_start", []byte("0"), 0)
	// Where this cannot be written, only root can ping here.
	os.WriteFile("/proc/sys/net/ipv4/ping_group_range", fmt.Appendf(nil, "%d %d", os.Getegid(), os.Getegid()), 0)
	lo, err := net.InterfaceByName("lo")
	if err != nil {
		return fmt.Errorf("find lo: %w", err)
	}
	conn, err := netlink.Dial(unix.NETLINK_ROUTE, nil)
	if err != nil {
		return fmt.Errorf("open route socket: %w", err)
	}
	defer conn.Close()
	if err := linkUp(conn, lo.Index); err != nil {
		return fmt.Errorf("bring lo up: %w", err)
	}
	for _, own := range []netip.Addr{ownAddr4, ownAddr6} {
		if own.Is6() && !hasIPv6() {
			continue
		}
		if err := addAddress(conn, lo.Index, own); err != nil {
			return fmt.Errorf("add %s to lo: %w", own, err)
		}
		if err := routeAll(conn, lo.Index, own); err != nil {
			return fmt.Errorf("route every address like %s to lo: %w", own, err)
		}
	}
	return nil
}

// hasIPv6 is false where the kernel was started without it.
func hasIPv6() bool {
	_, err := os.Stat("/proc/net/if_inet6")
	return err == nil
}

// linkUp sends RTM_NEWLINK with struct ifinfomsg (rtnetlink(7)).
func linkUp(conn *netlink.Conn, index int) error {
	msg := make([]byte, unix.SizeofIfInfomsg)
	binary.NativeEndian.PutUint32(msg[4:], uint32(index))
	binary.NativeEndian.PutUint32(msg[8:], unix.IFF_UP)
	binary.NativeEndian.PutUint32(msg[12:], unix.IFF_UP)
	return send(conn, unix.RTM_NEWLINK, 0, msg, netlink.NewAttributeEncoder())
}

// addAddress sends RTM_NEWADDR with struct ifaddrmsg. Duplicate address
// detection is off: it would make an IPv6 address unusable for a second.
func addAddress(conn *netlink.Conn, index int, addr netip.Addr) error {
	msg := make([]byte, unix.SizeofIfAddrmsg)
	msg[0], msg[1], msg[2] = family(addr), uint8(addr.BitLen()), unix.IFA_F_NODAD
	binary.NativeEndian.PutUint32(msg[4:], uint32(index))
	attrs := netlink.NewAttributeEncoder()
	attrs.Bytes(unix.IFA_LOCAL, addr.AsSlice())
	attrs.Bytes(unix.IFA_ADDRESS, addr.AsSlice())
	return send(conn, unix.RTM_NEWADDR, netlink.Create|netlink.Excl, msg, attrs)
}

// routeAll sends RTM_NEWROUTE with struct rtmsg for the whole address family.
func routeAll(conn *netlink.Conn, index int, source netip.Addr) error {
	msg := make([]byte, unix.SizeofRtMsg)
	msg[0] = family(source)
	msg[4], msg[5], msg[6], msg[7] = unix.RT_TABLE_LOCAL, unix.RTPROT_STATIC, unix.RT_SCOPE_HOST, unix.RTN_LOCAL
	attrs := netlink.NewAttributeEncoder()
	attrs.Uint32(unix.RTA_OIF, uint32(index))
	attrs.Bytes(unix.RTA_PREFSRC, source.AsSlice())
	return send(conn, unix.RTM_NEWROUTE, netlink.Create|netlink.Excl, msg, attrs)
}

func send(conn *netlink.Conn, kind netlink.HeaderType, flags netlink.HeaderFlags, msg []byte, attrs *netlink.AttributeEncoder) error {
	tail, err := attrs.Encode()
	if err != nil {
		return err
	}
	_, err = conn.Execute(netlink.Message{
		Header: netlink.Header{Type: kind, Flags: netlink.Request | netlink.Acknowledge | flags},
		Data:   append(msg, tail...),
	})
	if errors.Is(err, unix.EEXIST) {
		return nil
	}
	return err
}

func family(addr netip.Addr) uint8 {
	if addr.Is4() {
		return unix.AF_INET
	}
	return unix.AF_INET6
}
