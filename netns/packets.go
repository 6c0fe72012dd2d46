package netns

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"time"

	"github.com/mdlayher/netlink"
	"golang.org/x/sys/unix"
)

// PacketLog reads what the namespace's rules log: first SYNs that were reset, datagrams, and packets of other protocols.
type PacketLog struct {
	file     *os.File
	buffer   []byte
	queue    []Packet
	next     uint32 // the sequence number that comes next if nothing is lost
	overrun  bool   // the kernel said that it dropped something, and no gap has shown how much
	stopping atomic.Bool
}

func newPacketLog(f *os.File) (*PacketLog, error) {
	fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("copy descriptor of packet log: %w", err)
	}
	if err := unix.SetNonblock(fd, true); err != nil {
		return nil, errors.Join(fmt.Errorf("make packet log non-blocking: %w", err), unix.Close(fd))
	}
	return &PacketLog{file: os.NewFile(uintptr(fd), "packet log"), buffer: make([]byte, 1<<16)}, nil
}

// Next returns the next packet, or a Packet whose Lost says how many could not be kept. It blocks; after Stop it returns what is still queued and then
// io.EOF. It is for one goroutine. A nil PacketLog has no packets.
func (l *PacketLog) Next() (Packet, error) {
	if l == nil {
		return Packet{}, io.EOF
	}
	for len(l.queue) == 0 {
		n, err := l.read()
		switch {
		case errors.Is(err, unix.ENOBUFS):
			l.overrun = true
		case errors.Is(err, io.EOF) && l.overrun:
			l.overrun = false
			return Packet{Time: time.Now(), Lost: 1}, nil
		case err != nil:
			return Packet{}, err
		default:
			l.take(l.buffer[:n])
		}
	}
	p := l.queue[0]
	l.queue = l.queue[1:]
	return p, nil
}

func (l *PacketLog) read() (int, error) {
	if !l.stopping.Load() {
		n, err := l.file.Read(l.buffer)
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			return n, unwrapPath(err)
		}
	}
	return l.readQueued()
}

// readQueued reads without waiting; io.EOF means that nothing is left.
func (l *PacketLog) readQueued() (n int, err error) {
	raw, err := l.file.SyscallConn()
	if err != nil {
		return 0, fmt.Errorf("read packet log: %w", err)
	}
	var failed error
	err = raw.Control(func(fd uintptr) { n, _, failed = unix.Recvfrom(int(fd), l.buffer, unix.MSG_DONTWAIT) })
	if errors.Is(failed, unix.EAGAIN) {
		return 0, io.EOF
	}
	return n, errors.Join(err, failed)
}

func unwrapPath(err error) error {
	if err == nil || errors.Is(err, unix.ENOBUFS) {
		return err
	}
	return fmt.Errorf("read packet log: %w", err)
}

// Stop makes Next end once the packets that have arrived are read.
func (l *PacketLog) Stop() error {
	if l == nil {
		return nil
	}
	l.stopping.Store(true)
	return l.file.SetReadDeadline(time.Now())
}

// Close closes the socket; a blocked Next returns os.ErrClosed.
func (l *PacketLog) Close() error { return l.file.Close() }

// take adds the packets of one datagram to the queue, and a counted one before each gap in the sequence.
func (l *PacketLog) take(datagram []byte) {
	now := time.Now()
	for len(datagram) >= unix.NLMSG_HDRLEN {
		length := int(binary.NativeEndian.Uint32(datagram))
		if length < unix.NLMSG_HDRLEN || length > len(datagram) {
			return
		}
		if length > unix.NLMSG_HDRLEN+genmsgSize && binary.NativeEndian.Uint16(datagram[4:]) == subsysULog<<8 {
			l.takeMessage(now, datagram[unix.NLMSG_HDRLEN+genmsgSize:length])
		}
		datagram = datagram[min(len(datagram), (length+3)&^3):]
	}
}

func (l *PacketLog) takeMessage(now time.Time, attributes []byte) {
	ad, err := netlink.NewAttributeDecoder(attributes)
	if err != nil {
		return
	}
	ad.ByteOrder = binary.BigEndian
	var sequence uint32
	var payload []byte
	for ad.Next() {
		switch ad.Type() {
		case attrPayload:
			payload = ad.Bytes()
		case attrSequence:
			sequence = ad.Uint32()
		}
	}
	if lost := sequence - l.next; lost != 0 {
		l.queue = append(l.queue, Packet{Time: now, Lost: lost})
		l.overrun = false
	}
	l.next = sequence + 1
	p := parsePacket(payload)
	p.Time = now
	l.queue = append(l.queue, p)
}
