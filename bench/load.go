package main

import (
	"bufio"
	"crypto/tls"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// Lines that the load generator prints where its measurement begins and ends, so
// that whoever started it can look at processor times then. The score follows.
const (
	lineBegin = "begin"
	lineEnd   = "end"
)

// score is what the load generator saw.
type score struct {
	Requests int64         `json:"requests"`
	Bytes    int64         `json:"bytes"`
	Took     time.Duration `json:"took"`
	Median   time.Duration `json:"median"` // of one request
	P99      time.Duration `json:"p99"`
	Errors   int64         `json:"errors"`
	First    string        `json:"first,omitempty"` // of the errors
}

// load is one client.
type load struct {
	mode           string
	proxy, dial    string
	connections    int
	warm, measured time.Duration
	most           int64
	bytes          int64
	tls            *tls.Config
	out            io.Writer
	failures       failures
}

// failures counts errors and keeps the first.
type failures struct {
	count atomic.Int64
	once  sync.Once
	first error
}

func (f *failures) add(err error) {
	f.once.Do(func() { f.first = err })
	f.count.Add(1)
}

func loadMain(args []string) error {
	l := &load{out: os.Stdout}
	flags := flag.NewFlagSet("load", flag.ContinueOnError)
	flags.StringVar(&l.mode, "mode", "get", "get, h2, down or up")
	flags.StringVar(&l.proxy, "proxy", "", "a proxy that takes CONNECT")
	flags.StringVar(&l.dial, "dial", "", "an address to connect to instead of the origin's")
	flags.IntVar(&l.connections, "c", 1, "connections, or streams with h2")
	flags.DurationVar(&l.warm, "warm", time.Second, "before the measurement")
	flags.DurationVar(&l.measured, "for", time.Second, "how long to measure")
	flags.Int64Var(&l.most, "most", 10_000_000, "requests at most, the first ones included")
	flags.Int64Var(&l.bytes, "bytes", 1<<20, "of a large body")
	trust := flags.String("roots", "", "whom to trust, PEM; the default is the system's")
	if err := flags.Parse(args); err != nil {
		return err
	}
	pool, err := roots(*trust)
	if err != nil {
		return err
	}
	l.tls = &tls.Config{RootCAs: pool, ServerName: originName}
	s, err := l.run()
	if err != nil {
		return err
	}
	if s.Errors = l.failures.count.Load(); s.Errors > 0 {
		s.First = l.failures.first.Error()
	}
	return json.NewEncoder(l.out).Encode(s)
}

func (l *load) run() (score, error) {
	switch l.mode {
	case "get":
		return l.get()
	case "h2":
		return l.streams()
	case "down", "up":
		return l.bulk()
	}
	return score{}, fmt.Errorf("mode %q is not known", l.mode)
}

func (l *load) mark(line string) { fmt.Fprintln(l.out, line) }

// connect is a TLS connection to the origin, through whatever is between.
func (l *load) connect(protocol string) (*tls.Conn, error) {
	conn, err := net.DialTimeout("tcp", first(l.dial, l.proxy, originURL), 10*time.Second)
	if err != nil {
		return nil, err
	}
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	if l.proxy != "" {
		if err := openTunnel(conn); err != nil {
			return nil, errors.Join(err, conn.Close())
		}
	}
	config := l.tls.Clone()
	config.NextProtos = []string{protocol}
	secure := tls.Client(conn, config)
	if err := secure.Handshake(); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return secure, nil
}

func first(choices ...string) string {
	for _, c := range choices {
		if c != "" {
			return c
		}
	}
	return ""
}

func openTunnel(conn net.Conn) error {
	if _, err := fmt.Fprintf(conn, "CONNECT %s HTTP/1.1\r\nHost: %[1]s\r\n\r\n", originURL); err != nil {
		return err
	}
	// Nothing follows the answer before the client speaks, so that nothing is lost
	// in the reader's buffer.
	resp, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: http.MethodConnect})
	if err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("CONNECT: %s", resp.Status)
	}
	return nil
}
