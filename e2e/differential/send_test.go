package differential

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// quiet is how long nothing may come before the client takes it that nothing will.
const quiet = 80 * time.Millisecond

// player is a client.
type player struct {
	host            string // name or address of what is granted
	client, client2 *tls.Config
	conns           pending // that were opened; whoever serves them takes them off
}

// send plays s and returns when scupper has closed the connection or has nothing more
// to say. What came back is for people: the far side and the log are what counts.
func (p *player) send(s sample) ([]byte, error) {
	conn, err := p.open(s.way)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	if s.way.http2() {
		return sendFrames(conn, s)
	}
	// A last request, refused for certain, makes an end where the stream is in order.
	text := s.raw() + last(s.way)
	go func() {
		_, _ = io.WriteString(conn, text) // scupper may close before it has all
	}()
	return drain(conn), nil
}

func last(by way) string {
	target := "/end"
	if by == absolute {
		target = "http://" + granted + target
	}
	return "GET " + target + " HTTP/1.1\r\nHost: " + granted + "\r\nConnection: close\r\n\r\n"
}

// drain reads until the end, or until nothing comes any more.
func drain(conn net.Conn) []byte {
	var all bytes.Buffer
	buf := make([]byte, 16<<10)
	for {
		conn.SetReadDeadline(time.Now().Add(quiet))
		n, err := conn.Read(buf)
		all.Write(buf[:n])
		if err != nil {
			return all.Bytes()
		}
	}
}

// open makes the connection that the requests of a sample go over.
func (p *player) open(by way) (net.Conn, error) {
	port := "80"
	if by.tls() {
		port = "443"
	}
	to := net.JoinHostPort(p.host, port)
	if by.explicit() {
		to = net.JoinHostPort(p.host, explicitPort)
	}
	conn, err := net.Dial("tcp", to)
	if err != nil {
		return nil, err
	}
	p.conns.add(1)
	if by.explicit() && by != absolute {
		if err := connect(conn, net.JoinHostPort(granted, port)); err != nil {
			conn.Close()
			return nil, err
		}
	}
	if !by.tls() {
		return conn, nil
	}
	conf := p.client
	if by.http2() {
		conf = p.client2
	}
	return tls.Client(conn, conf), nil
}

func connect(conn net.Conn, to string) error {
	const want = "HTTP/1.1 200 Connection established\r\n\r\n"
	if _, err := fmt.Fprintf(conn, "CONNECT %s HTTP/1.1\r\nHost: %s\r\n\r\n", to, to); err != nil {
		return err
	}
	conn.SetReadDeadline(time.Now().Add(10 * time.Second))
	got := make([]byte, len(want))
	if _, err := io.ReadFull(conn, got); err != nil || string(got) != want {
		return fmt.Errorf("CONNECT was answered %q: %v", got, err)
	}
	return nil
}

// sendFrames plays the streams of s.
func sendFrames(conn net.Conn, s sample) ([]byte, error) {
	var out bytes.Buffer
	out.WriteString(http2.ClientPreface)
	f := http2.NewFramer(&out, nil)
	f.AllowIllegalWrites = true
	if err := f.WriteSettings(); err != nil {
		return nil, err
	}
	streams := streamsOf(s.parts)
	for i, parts := range streams {
		if err := writeStream(f, uint32(2*i+1), parts); err != nil {
			return nil, err
		}
	}
	go func() {
		_, _ = conn.Write(out.Bytes()) // scupper may close before it has all
	}()
	return readFrames(conn, len(streams)), nil
}

func streamsOf(parts []string) [][]string {
	var out [][]string
	for _, p := range parts {
		switch {
		case p == "S":
			out = append(out, nil)
		case len(out) > 0 && p != "":
			out[len(out)-1] = append(out[len(out)-1], p)
		}
	}
	return out
}

// writeStream writes HEADERS, DATA and trailing HEADERS; the last ends the stream.
func writeStream(f *http2.Framer, id uint32, parts []string) error {
	var fields, trailers []string
	var data []string
	for _, p := range parts {
		switch p[0] {
		case 'H':
			fields = append(fields, p[1:])
		case 'T':
			trailers = append(trailers, p[1:])
		case 'D':
			data = append(data, p[1:])
		}
	}
	if err := writeHeaders(f, id, fields, len(data)+len(trailers) == 0); err != nil {
		return err
	}
	for i, d := range data {
		for d := []byte(d); ; d = d[16384:] {
			more := len(d) > 16384
			if err := f.WriteData(id, !more && i == len(data)-1 && len(trailers) == 0, d[:min(len(d), 16384)]); err != nil {
				return err
			}
			if !more {
				break
			}
		}
	}
	if len(trailers) == 0 {
		return nil
	}
	return writeHeaders(f, id, trailers, true)
}

func writeHeaders(f *http2.Framer, id uint32, fields []string, end bool) error {
	var block bytes.Buffer
	enc := hpack.NewEncoder(&block)
	enc.SetMaxDynamicTableSize(0) // so that streams can be left out
	for _, field := range fields {
		name, value, _ := strings.Cut(field, "\x00")
		if err := enc.WriteField(hpack.HeaderField{Name: name, Value: value}); err != nil {
			return err
		}
	}
	b := block.Bytes()
	first := b[:min(len(b), 16384)]
	rest := b[len(first):]
	if err := f.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: first, EndStream: end, EndHeaders: len(rest) == 0}); err != nil {
		return err
	}
	for len(rest) > 0 {
		n := min(len(rest), 16384)
		if err := f.WriteContinuation(id, n == len(rest), rest[:n]); err != nil {
			return err
		}
		rest = rest[n:]
	}
	return nil
}

// readFrames reads until every stream has ended, the connection has, or nothing comes.
func readFrames(conn net.Conn, streams int) []byte {
	var all bytes.Buffer
	from := http2.NewFramer(io.Discard, &patient{conn: conn, all: &all})
	for ended := map[uint32]bool{}; len(ended) < streams; {
		frame, err := from.ReadFrame()
		if err != nil {
			break
		}
		_, reset := frame.(*http2.RSTStreamFrame)
		id := frame.Header().StreamID
		ends := frame.Header().Flags.Has(http2.FlagDataEndStream) && (frame.Header().Type == http2.FrameData || frame.Header().Type == http2.FrameHeaders)
		if id != 0 && (reset || ends) {
			ended[id] = true
		}
	}
	return all.Bytes()
}

// patient is a reader that waits no longer than quiet.
type patient struct {
	conn net.Conn
	all  *bytes.Buffer
}

func (p *patient) Read(b []byte) (int, error) {
	p.conn.SetReadDeadline(time.Now().Add(quiet))
	n, err := p.conn.Read(b)
	p.all.Write(b[:n])
	return n, err
}
