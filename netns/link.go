package netns

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"os"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// setupLinks raises lo, gives it the addresses and makes every address local (AnyIP). It reports whether IPv6 is there.
func setupLinks() (ipv6 bool, err error) {
	handle, err := netlink.NewHandle(unix.NETLINK_ROUTE)
	if err != nil {
		return false, fmt.Errorf("open netlink: %w", err)
	}
	defer handle.Close()
	lo, err := handle.LinkByName("lo")
	if err != nil {
		return false, fmt.Errorf("find lo: %w", err)
	}
	if err := handle.LinkSetUp(lo); err != nil {
		return false, fmt.Errorf("raise lo: %w", err)
	}
	if err := addFamily(handle, lo, Sandbox4(), Gateway4(), "0.0.0.0/0"); err != nil {
		return false, err
	}
	if !enableIPv6() {
		return false, nil
	}
	if err := addFamily(handle, lo, Sandbox6(), Gateway6(), "::/0"); err != nil {
		return false, err
	}
	return true, nil
}

func addFamily(handle *netlink.Handle, lo netlink.Link, sandbox, gateway netip.Addr, all string) error {
	for _, a := range []netip.Addr{sandbox, gateway} {
		addr := &netlink.Addr{IPNet: &net.IPNet{IP: a.AsSlice(), Mask: net.CIDRMask(a.BitLen(), a.BitLen())}}
		if a.Is6() {
			addr.Flags = unix.IFA_F_NODAD
		}
		if err := handle.AddrAdd(lo, addr); err != nil {
			return fmt.Errorf("add address %s to lo: %w", a, err)
		}
	}
	_, dst, err := net.ParseCIDR(all)
	if err != nil {
		return fmt.Errorf("parse route %q: %w", all, err)
	}
	// Table local: the source address check of the kernel (fib_validate_source) looks only there, and replies get lost with any other table.
	// Src: without it a client's source equals its destination, and TCP can connect to itself.
	route := &netlink.Route{LinkIndex: lo.Attrs().Index, Dst: dst, Src: sandbox.AsSlice(), Table: unix.RT_TABLE_LOCAL,
		Type: unix.RTN_LOCAL, Scope: netlink.SCOPE_HOST}
	if err := handle.RouteAdd(route); err != nil {
		return fmt.Errorf("add local route %q: %w", all, err)
	}
	return nil
}

// enableIPv6 undoes disable_ipv6, which containers set, and reports whether IPv6 is on.
func enableIPv6() bool {
	on := true
	for _, name := range []string{"all", "lo"} {
		path := "/proc/sys/net/ipv6/conf/" + name + "/disable_ipv6"
		now, err := os.ReadFile(path)
		if err != nil {
			return false
		}
		if now[0] != '0' {
			on = os.WriteFile(path, []byte("0"), 0) == nil && on
		}
	}
	return on
}

// silenceEcho keeps the kernel from answering pings for the whole Internet. The rules drop them too; a read-only /proc/sys is therefore no error.
func silenceEcho(ipv6 bool) error {
	paths := []string{"/proc/sys/net/ipv4/icmp_echo_ignore_all"}
	if ipv6 {
		paths = append(paths, "/proc/sys/net/ipv6/icmp/echo_ignore_all")
	}
	for _, path := range paths {
		err := os.WriteFile(path, []byte("1"), 0)
		if err != nil && !errors.Is(err, unix.EROFS) && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission) {
			return fmt.Errorf("write %q: %w", path, err)
		}
	}
	return nil
}
