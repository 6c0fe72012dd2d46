package replay

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// watch sees on lo what no listener would: packets to closed ports, UDP, ICMP,
// multicast. Its socket filter passes every packet but the later ones of a TCP
// connection (packet(7)).
type watch struct {
	file   *os.File
	ledger *ledger

	mu      sync.Mutex
	waiting map[string]chan struct{}
}

// opening passes packets that are not TCP, or are TCP with SYN and without ACK.
func opening() []bpf.Instruction {
	const syn, ack, flags = 0x02, 0x10, 13
	return []bpf.Instruction{
		bpf.LoadAbsolute{Off: 0, Size: 1},
		bpf.ALUOpConstant{Op: bpf.ALUOpShiftRight, Val: 4},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: 6, SkipTrue: 4},
		bpf.LoadAbsolute{Off: 9, Size: 1},
		bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: unix.IPPROTO_TCP, SkipTrue: 8},
		bpf.LoadMemShift{Off: 0},
		bpf.Jump{Skip: 3},
		bpf.LoadAbsolute{Off: 6, Size: 1},
		bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: unix.IPPROTO_TCP, SkipTrue: 4},
		bpf.LoadConstant{Dst: bpf.RegX, Val: 40},
		bpf.LoadIndirect{Off: flags, Size: 1},
		bpf.ALUOpConstant{Op: bpf.ALUOpAnd, Val: syn | ack},
		bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: syn, SkipTrue: 1},
		bpf.RetConstant{Val: headMax},
		bpf.RetConstant{Val: 0},
	}
}

// startWatch takes a copy of the packet socket that Sealed left. What it still
// holds from an Internet before this one is forgotten.
func (in *Internet) startWatch() error {
	left, ok := sealedSocket()
	if !ok {
		return errors.New("the pretend Internet runs only in a process that replay.Sealed made")
	}
	fd, err := unix.FcntlInt(uintptr(left), unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return fmt.Errorf("copy packet socket: %w", err)
	}
	unix.CloseOnExec(left)
	file := os.NewFile(uintptr(fd), "packet socket on lo")
	in.watch = &watch{file: file, ledger: in.ledger, waiting: map[string]chan struct{}{}}
	in.closers = append(in.closers, file)
	in.serving.Go(in.watch.read)
	if err := in.watch.passMarker(); err != nil {
		return err
	}
	in.watch.lost()
	in.ledger.reset()
	return nil
}

// packetSocket returns a descriptor of a socket that sees what opening passes.
func packetSocket() (int, error) {
	lo, err := net.InterfaceByName("lo")
	if err != nil {
		return 0, err
	}
	// Protocol 0 receives nothing until bind, so the filter is in place first.
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return 0, fmt.Errorf("open packet socket: %w", err)
	}
	if err := armPacketSocket(fd, lo.Index); err != nil {
		unix.Close(fd)
		return 0, err
	}
	return fd, nil
}

func armPacketSocket(fd, index int) error {
	raw, err := bpf.Assemble(opening())
	if err != nil {
		return fmt.Errorf("assemble packet filter: %w", err)
	}
	filter := make([]unix.SockFilter, len(raw))
	for i, r := range raw {
		filter[i] = unix.SockFilter{Code: r.Op, Jt: r.Jt, Jf: r.Jf, K: r.K}
	}
	if err := unix.SetsockoptSockFprog(fd, unix.SOL_SOCKET, unix.SO_ATTACH_FILTER, &unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}); err != nil {
		return fmt.Errorf("attach packet filter: %w", err)
	}
	if err := unix.SetsockoptInt(fd, unix.SOL_PACKET, unix.PACKET_IGNORE_OUTGOING, 1); err != nil {
		return fmt.Errorf("ignore outgoing packets: %w", err)
	}
	// The kernel caps what it grants; lost packets are found in settle.
	unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF, 8<<20)
	all := binary.NativeEndian.Uint16([]byte{0, unix.ETH_P_ALL})
	if err := unix.Bind(fd, &unix.SockaddrLinklayer{Protocol: all, Ifindex: index}); err != nil {
		return fmt.Errorf("bind packet socket: %w", err)
	}
	return nil
}

func (w *watch) read() {
	buf := make([]byte, headMax)
	for {
		n, err := w.file.Read(buf)
		if err != nil {
			return
		}
		p, ok := parsePacket(buf[:n])
		if !w.marker(p) && ok {
			w.ledger.packet(p)
		}
	}
}

const markerText = "pretend Internet, settle "

// settle waits until what was sent before has been read. It fails if the kernel
// had to drop packets.
func (w *watch) settle() error {
	if err := w.passMarker(); err != nil {
		return fmt.Errorf("settle packet watch: %w", err)
	}
	return w.lost()
}

// passMarker sends a packet of its own and waits until it comes by.
func (w *watch) passMarker() error {
	text, seen := markerText+rand.Text(), make(chan struct{})
	w.mu.Lock()
	w.waiting[text] = seen
	w.mu.Unlock()
	if err := sendToSelf(text); err != nil {
		return err
	}
	select {
	case <-seen:
		return nil
	case <-time.After(10 * time.Second):
		return errors.New("the packet sent to it was not seen")
	}
}

// sendToSelf uses a bound socket, so that no ICMP error comes of it.
func sendToSelf(text string) error {
	conn, err := net.ListenUDP("udp4", &net.UDPAddr{IP: ownAddr4.AsSlice()})
	if err != nil {
		return err
	}
	defer conn.Close()
	_, err = conn.WriteTo([]byte(text), conn.LocalAddr())
	return err
}

func (w *watch) lost() error {
	raw, err := w.file.SyscallConn()
	if err != nil {
		return err
	}
	var stats *unix.TpacketStats
	raw.Control(func(fd uintptr) {
		stats, err = unix.GetsockoptTpacketStats(int(fd), unix.SOL_PACKET, unix.PACKET_STATISTICS)
	})
	if err != nil {
		return fmt.Errorf("read statistics of packet watch: %w", err)
	}
	if stats.Drops > 0 {
		return fmt.Errorf("packet watch lost %d packets", stats.Drops)
	}
	return nil
}

func (w *watch) marker(p Packet) bool {
	text := string(p.Payload)
	if !strings.HasPrefix(text, markerText) {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if seen, ok := w.waiting[text]; ok {
		close(seen)
		delete(w.waiting, text)
	}
	return true
}

// parsePacket reads the IP and transport header; a fragment that is not the
// first has no ports. Not of interest are loopback destinations, the test's own
// business, and what is not TCP and goes to lo's own addresses: replies.
func parsePacket(b []byte) (Packet, bool) {
	var src, dst netip.Addr
	var proto byte
	var body []byte
	switch {
	case len(b) >= 20 && b[0]>>4 == 4 && len(b) >= int(b[0]&15)*4:
		src, dst = netip.AddrFrom4([4]byte(b[12:16])), netip.AddrFrom4([4]byte(b[16:20]))
		proto, body = b[9], b[int(b[0]&15)*4:]
	case len(b) >= 40 && b[0]>>4 == 6:
		src, dst = netip.AddrFrom16([16]byte(b[8:24])), netip.AddrFrom16([16]byte(b[24:40]))
		proto, body = b[6], b[40:]
	default:
		return Packet{}, false
	}
	p := Packet{Time: time.Now(), Protocol: protocolName(proto)}
	var sport, dport uint16
	if (proto == unix.IPPROTO_TCP || proto == unix.IPPROTO_UDP) && len(body) >= 8 {
		sport, dport = binary.BigEndian.Uint16(body), binary.BigEndian.Uint16(body[2:])
	}
	icmp := proto == unix.IPPROTO_ICMP || proto == unix.IPPROTO_ICMPV6
	if (proto == unix.IPPROTO_UDP || icmp) && len(body) >= 8 {
		p.Payload = append([]byte(nil), body[8:]...)
	}
	p.Source, p.Destination = netip.AddrPortFrom(src, sport), netip.AddrPortFrom(dst, dport)
	reply := proto != unix.IPPROTO_TCP && (dst == ownAddr4 || dst == ownAddr6)
	return p, !dst.IsLoopback() && !reply
}

func protocolName(p byte) string {
	switch p {
	case unix.IPPROTO_TCP:
		return "tcp"
	case unix.IPPROTO_UDP:
		return "udp"
	case unix.IPPROTO_ICMP:
		return "icmp"
	case unix.IPPROTO_ICMPV6:
		return "icmp6"
	}
	return strconv.Itoa(int(p))
}
