package netns

import (
	"errors"
	"fmt"
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// Send hands the sockets to the process at the other end of a SOCK_SEQPACKET socket and closes this process's copies.
func (m *Made) Send(fd int) error {
	kinds := make([]byte, 0, len(m.files))
	fds := make([]int, 0, len(m.files))
	for _, f := range m.files {
		kinds = append(kinds, byte(f.kind))
		fds = append(fds, int(f.file.Fd()))
	}
	if err := unix.Sendmsg(fd, kinds, unix.UnixRights(fds...), nil, 0); err != nil {
		return errors.Join(fmt.Errorf("send sockets: %w", err), m.Close())
	}
	return m.Close()
}

// Sockets are the ends of a namespace that its supervisor serves. The owner closes them; the namespace lives while one of them is open.
type Sockets struct {
	// TCP accepts connections to a configured port of any address; LocalAddr of a connection is where the client wanted to go.
	TCP []net.Listener
	// Explicit accepts connections to Gateway4 and Gateway6, port ExplicitPort.
	Explicit []net.Listener
	// DNSTCP accepts connections to port 53 of any address.
	DNSTCP []net.Listener
	// DNSUDP receives datagrams to port 53 of any address. Answer with the source of the packet information (IP_PKTINFO), as miekg/dns does.
	DNSUDP []*net.UDPConn
	// Packets tells what nobody serves.
	Packets *PacketLog
}

// Parse makes Sockets of the message that Send sent, as recvmsg(2) returned it: its bytes, its control message and its flags. The descriptors in it
// are closed or belong to the result.
func Parse(kinds, oob []byte, flags int) (Sockets, error) {
	fds, err := rights(oob)
	files := make([]*os.File, 0, len(fds))
	for _, fd := range fds {
		files = append(files, os.NewFile(uintptr(fd), "netns"))
	}
	defer closeAll(files)
	if err != nil {
		return Sockets{}, err
	}
	if flags&unix.MSG_CTRUNC != 0 || len(files) != len(kinds) || len(files) == 0 {
		return Sockets{}, fmt.Errorf("receive sockets: %d kinds with %d descriptors", len(kinds), len(files))
	}
	var s Sockets
	for i, f := range files {
		if err := s.add(kind(kinds[i]), f); err != nil {
			return Sockets{}, errors.Join(err, s.Close())
		}
	}
	return s, nil
}

func rights(oob []byte) ([]int, error) {
	messages, err := unix.ParseSocketControlMessage(oob)
	if err != nil {
		return nil, fmt.Errorf("parse control message: %w", err)
	}
	var fds []int
	for i := range messages {
		got, err := unix.ParseUnixRights(&messages[i])
		if err != nil {
			return fds, fmt.Errorf("parse rights: %w", err)
		}
		fds = append(fds, got...)
	}
	return fds, nil
}

// add makes a copy of f that the runtime polls; the caller closes f.
func (s *Sockets) add(k kind, f *os.File) error {
	if k == kindPackets {
		log, err := newPacketLog(f)
		s.Packets = log
		return err
	}
	if k == kindDNSUDP {
		c, err := net.FilePacketConn(f)
		if err != nil {
			return fmt.Errorf("take datagram socket: %w", err)
		}
		s.DNSUDP = append(s.DNSUDP, c.(*net.UDPConn))
		return nil
	}
	l, err := net.FileListener(f)
	if err != nil {
		return fmt.Errorf("take listener: %w", err)
	}
	switch k {
	case kindTCP:
		s.TCP = append(s.TCP, l)
	case kindExplicit:
		s.Explicit = append(s.Explicit, l)
	case kindDNSTCP:
		s.DNSTCP = append(s.DNSTCP, l)
	default:
		return errors.Join(fmt.Errorf("receive sockets: unknown kind %d", k), l.Close())
	}
	return nil
}

// Close closes every socket; sockets that were closed before are no error.
func (s *Sockets) Close() error {
	var errs []error
	for _, ls := range [][]net.Listener{s.TCP, s.Explicit, s.DNSTCP} {
		for _, l := range ls {
			errs = append(errs, l.Close())
		}
	}
	for _, c := range s.DNSUDP {
		errs = append(errs, c.Close())
	}
	if s.Packets != nil {
		errs = append(errs, s.Packets.Close())
	}
	var kept []error
	for _, err := range errs {
		if err != nil && !errors.Is(err, net.ErrClosed) && !errors.Is(err, os.ErrClosed) {
			kept = append(kept, err)
		}
	}
	return errors.Join(kept...)
}

func closeAll(files []*os.File) {
	for _, f := range files {
		f.Close()
	}
}
