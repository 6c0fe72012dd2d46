package attempt

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// recordTypes are the types of RFC 1035, 3596 and 9460 that scenarios name.
func recordTypes() map[string]uint16 {
	return map[string]uint16{
		"A": 1, "NS": 2, "CNAME": 5, "NULL": 10, "PTR": 12, "MX": 15, "TXT": 16, "AAAA": 28, "SRV": 33, "SVCB": 64, "HTTPS": 65, "ANY": 255,
	}
}

// KnowsType reports whether a question can ask for records of the type.
func KnowsType(name string) bool { return recordTypes()[name] != 0 }

// do asks the question.
func (d DNS) do(ctx context.Context) Outcome {
	message, err := d.Message()
	if err != nil {
		return failed(err)
	}
	network, server := d.Network, d.server()
	if network == "" {
		network = "udp"
	}
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, network, server)
	if err != nil {
		return failed(err)
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(4 * quiet))
	if network == "tcp" {
		message = append(binary.BigEndian.AppendUint16(nil, uint16(len(message))), message...)
	}
	if _, err := conn.Write(message); err != nil {
		return failed(err)
	}
	buf := make([]byte, 4096)
	n, err := conn.Read(buf)
	answer := buf[:n]
	if network == "tcp" && n >= 2 {
		answer = answer[2:]
	}
	if err != nil || len(answer) < 12 {
		return failed(fmt.Errorf("no answer: %w", cmpError(err)))
	}
	return Outcome{Status: int(answer[3] & 15), Output: fmt.Sprintf("%d answers", binary.BigEndian.Uint16(answer[6:]))}
}

func cmpError(err error) error {
	if err == nil {
		return io.ErrUnexpectedEOF
	}
	return err
}

// server is where the question goes; by default where a resolver of the system would send it.
func (d DNS) server() string {
	server := d.Server
	if server == "" {
		server = configuredServer()
	}
	if _, _, err := net.SplitHostPort(server); err == nil {
		return server
	}
	return net.JoinHostPort(server, "53")
}

func configuredServer() string {
	text, _ := os.ReadFile("/etc/resolv.conf")
	for line := range strings.Lines(string(text)) {
		if fields := strings.Fields(line); len(fields) > 1 && fields[0] == "nameserver" {
			return fields[1]
		}
	}
	return "127.0.0.1"
}

// Message is the question of RFC 1035 section 4.
func (d DNS) Message() ([]byte, error) {
	m := []byte{0x5c, 0x0b, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0}
	for label := range strings.SplitSeq(strings.TrimSuffix(d.Name, "."), ".") {
		if label == "" || len(label) > 63 {
			return nil, fmt.Errorf("label %q of a name has %d bytes", label, len(label))
		}
		m = append(append(m, byte(len(label))), label...)
	}
	kind := recordTypes()["A"]
	if d.Type != "" {
		kind = recordTypes()[d.Type]
	}
	m = binary.BigEndian.AppendUint16(append(m, 0), kind)
	return binary.BigEndian.AppendUint16(m, 1), nil
}

// udp sends one datagram and waits a moment for an answer.
func (s Send) udp(ctx context.Context) Outcome {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "udp", s.To)
	if err != nil {
		return failed(err)
	}
	defer conn.Close()
	if _, err := conn.Write(s.Bytes); err != nil {
		return failed(err)
	}
	conn.SetReadDeadline(time.Now().Add(quiet / 2))
	buf := make([]byte, 4096)
	n, err := conn.Read(buf)
	if err != nil {
		return failed(err)
	}
	return Outcome{Output: clip(buf[:n])}
}

// icmp sends one echo request with the bytes in it, as ping does.
func (s Send) icmp(context.Context) Outcome {
	ip, err := net.ResolveIPAddr("ip4", s.To)
	if err != nil {
		return failed(err)
	}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, unix.IPPROTO_ICMP)
	if err != nil {
		fd, err = unix.Socket(unix.AF_INET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.IPPROTO_ICMP)
	}
	if err != nil {
		return failed(fmt.Errorf("open ICMP socket: %w", err))
	}
	defer unix.Close(fd)
	message := echoRequest(s.Bytes)
	if err := unix.Sendto(fd, message, 0, &unix.SockaddrInet4{Addr: [4]byte(ip.IP.To4())}); err != nil {
		return failed(fmt.Errorf("send echo request: %w", err))
	}
	return Outcome{}
}

// echoRequest is the message of RFC 792 with its checksum.
func echoRequest(payload []byte) []byte {
	m := append([]byte{8, 0, 0, 0, 0x5c, 0x0b, 0, 1}, payload...)
	var sum uint32
	for i := 0; i < len(m); i += 2 {
		word := uint32(m[i]) << 8
		if i+1 < len(m) {
			word |= uint32(m[i+1])
		}
		sum += word
	}
	for sum > 0xffff {
		sum = sum>>16 + sum&0xffff
	}
	binary.BigEndian.PutUint16(m[2:], ^uint16(sum))
	return m
}

// do runs the command to its end. What it leaves running keeps nobody waiting.
func (r Run) do(ctx context.Context) Outcome {
	cmd := exec.CommandContext(ctx, r.Command[0], r.Command[1:]...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = &out, &out, time.Second
	err := cmd.Run()
	outcome := Outcome{Output: clip(out.Bytes())}
	var ended *exec.ExitError
	switch {
	case errors.As(err, &ended):
		outcome.Exit = ended.ExitCode()
	case err != nil:
		outcome.Exit, outcome.Error = 127, err.Error()
	}
	return outcome
}
