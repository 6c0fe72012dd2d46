package netns

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"

	"github.com/mdlayher/netlink"
	"golang.org/x/sys/unix"
)

// From include/uapi/linux/netfilter/nfnetlink_log.h.
const (
	subsysULog    = 4
	messageConfig = 1

	configCommand   = 1
	configMode      = 2
	configThreshold = 5
	configFlags     = 6

	commandBind    = 1
	copyPacket     = 2
	flagSequence   = 1
	attrPayload    = 9
	attrSequence   = 12
	genmsgSize     = 4
	logGroup       = 5
	logSocketBytes = 4 << 20
)

// openPacketLog binds a netlink socket to the log group. It may be handed to another process: the kernel sends to the socket, whoever holds it.
func openPacketLog() (*os.File, error) {
	conn, err := netlink.Dial(unix.NETLINK_NETFILTER, nil)
	if err != nil {
		return nil, unsupported("open netfilter log", err)
	}
	defer conn.Close()
	// The kernel caps what an ordinary user may ask for; a smaller buffer means messages that are counted instead of shown.
	if err := conn.SetReadBuffer(logSocketBytes); err != nil {
		return nil, fmt.Errorf("set buffer of netfilter log: %w", err)
	}
	for _, attrs := range logConfiguration() {
		message := netlink.Message{
			Header: netlink.Header{Type: subsysULog<<8 | messageConfig, Flags: netlink.Request | netlink.Acknowledge},
			Data:   append([]byte{unix.AF_UNSPEC, 0, 0, logGroup}, attrs...),
		}
		if _, err := conn.Execute(message); err != nil {
			return nil, unsupported("bind netfilter log group", err)
		}
	}
	return duplicate(conn)
}

func logConfiguration() [][]byte {
	attribute := func(kind uint16, value ...byte) []byte {
		b := make([]byte, 4, 4+len(value)+3)
		binary.NativeEndian.PutUint16(b[0:], uint16(4+len(value)))
		binary.NativeEndian.PutUint16(b[2:], kind)
		b = append(b, value...)
		return append(b, make([]byte, -len(b)&3)...)
	}
	return [][]byte{
		attribute(configCommand, commandBind),
		attribute(configMode, 0, 0, 0xff, 0xff, copyPacket, 0),
		// One message a packet: a record must not wait for the next packet.
		attribute(configThreshold, 0, 0, 0, 1),
		attribute(configFlags, 0, flagSequence),
	}
}

func duplicate(conn *netlink.Conn) (*os.File, error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return nil, fmt.Errorf("take descriptor of netfilter log: %w", err)
	}
	var fd int
	var failed error
	err = raw.Control(func(original uintptr) { fd, failed = unix.FcntlInt(original, unix.F_DUPFD_CLOEXEC, 0) })
	if err := errors.Join(err, failed); err != nil {
		return nil, fmt.Errorf("copy descriptor of netfilter log: %w", err)
	}
	return os.NewFile(uintptr(fd), "netfilter log"), nil
}
