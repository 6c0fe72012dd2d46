package dnsfilter

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"github.com/miekg/dns"
)

const (
	udpReaders = 4
	maxMessage = 1<<16 - 1
)

// ServeUDP answers the datagrams that arrive at conn, each from the address that it
// was sent to, for which conn has to report destinations (IP_PKTINFO,
// IPV6_RECVPKTINFO). It closes conn when ctx ends, and returns nil then.
func (f *Filter) ServeUDP(ctx context.Context, conn *net.UDPConn) error {
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	errs := make([]error, udpReaders)
	var readers sync.WaitGroup
	for i := range errs {
		readers.Go(func() {
			errs[i] = f.readDatagrams(conn)
			conn.Close()
		})
	}
	readers.Wait()
	if ctx.Err() != nil {
		return nil
	}
	return fmt.Errorf("serve DNS over UDP: %w", errors.Join(errs...))
}

func (f *Filter) readDatagrams(conn *net.UDPConn) error {
	buffer := make([]byte, maxMessage)
	for {
		n, session, err := dns.ReadFromSessionUDP(conn, buffer)
		if errors.Is(err, net.ErrClosed) {
			return nil
		}
		if err != nil {
			return err
		}
		if reply := f.answer(buffer[:n]); reply != nil {
			// A question to a broadcast address cannot be answered from there
			// (EINVAL); whoever asks so gets nothing.
			_, _ = dns.WriteToSessionUDP(conn, reply, session)
		}
	}
}

// ServeTCP answers the messages on the connections that l accepts, in order. It closes
// l and all connections when ctx ends, and returns nil then.
func (f *Filter) ServeTCP(ctx context.Context, l net.Listener) error {
	defer l.Close()
	stop := context.AfterFunc(ctx, func() { l.Close() })
	defer stop()
	var open sync.WaitGroup
	defer open.Wait()
	slots := make(chan struct{}, f.maxConnections)
	for {
		conn, err := l.Accept()
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return fmt.Errorf("serve DNS over TCP: %w", err)
		}
		select {
		case slots <- struct{}{}:
			open.Go(func() {
				f.serveConn(ctx, conn)
				<-slots
			})
		default:
			f.refuseOver("dns_connections")
			conn.Close()
		}
	}
}

func (f *Filter) serveConn(ctx context.Context, conn net.Conn) {
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	for range f.maxMessages {
		if conn.SetDeadline(time.Now().Add(f.idle)) != nil {
			return
		}
		m, err := readMessage(conn)
		if err != nil {
			return
		}
		reply := f.answer(m)
		if reply == nil {
			return
		}
		if _, err := conn.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(reply))), reply...)); err != nil {
			return
		}
	}
}

// readMessage reads one message with its length in front (RFC 1035 section 4.2.2).
func readMessage(r io.Reader) ([]byte, error) {
	var length [2]byte
	if _, err := io.ReadFull(r, length[:]); err != nil {
		return nil, err
	}
	m := make([]byte, binary.BigEndian.Uint16(length[:]))
	_, err := io.ReadFull(r, m)
	return m, err
}
