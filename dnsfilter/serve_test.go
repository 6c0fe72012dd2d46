package dnsfilter

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"

	"github.com/miekg/dns"
	"golang.org/x/net/ipv4"
)

// serve runs f on loopback over UDP and TCP until the test ends.
func serve(t *testing.T, f *Filter) (udp, tcp string) {
	t.Helper()
	conn, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	if err := ipv4.NewPacketConn(conn).SetControlMessage(ipv4.FlagDst, true); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 2)
	go func() { ended <- f.ServeUDP(ctx, conn) }()
	go func() { ended <- f.ServeTCP(ctx, l) }()
	t.Cleanup(func() {
		cancel()
		for range 2 {
			select {
			case err := <-ended:
				if err != nil {
					t.Error(err)
				}
			case <-time.After(5 * time.Second):
				t.Error("a server does not end")
			}
		}
	})
	return conn.LocalAddr().String(), l.Addr().String()
}

func TestClients(t *testing.T) {
	f, j := newFilter(t, nil)
	udp, tcp := serve(t, f)
	for network, address := range map[string]string{"DNS-02 udp": udp, "DNS-03 tcp": tcp} {
		t.Run(network, func(t *testing.T) {
			c := &dns.Client{Net: network[len(network)-3:], Timeout: 5 * time.Second}
			for name, want := range map[string]string{"api.example.com.": "198.18.0.1", "secret.attacker.test.": "NXDOMAIN"} {
				j.take()
				m := new(dns.Msg)
				m.SetQuestion(name, dns.TypeA)
				reply, _, err := c.Exchange(m, address)
				if err != nil || text(reply) != want {
					t.Errorf("%s: got %v %v, want %s", name, reply, err, want)
				}
				if on := j.take(); len(on) != 1 {
					t.Errorf("records %+v", on)
				}
			}
		})
	}
	t.Run("USE-28 Go resolver", func(t *testing.T) {
		r := &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
			var d net.Dialer
			return d.DialContext(ctx, "udp", udp)
		}}
		addrs, err := r.LookupNetIP(context.Background(), "ip", "api.example.com")
		if err != nil || len(addrs) != 2 {
			t.Errorf("got %v %v", addrs, err)
		}
		started := time.Now()
		_, err = r.LookupNetIP(context.Background(), "ip", "attacker.test")
		if e, ok := err.(*net.DNSError); !ok || !e.IsNotFound {
			t.Errorf("got %v, want not found", err)
		}
		if took := time.Since(started); took > time.Second {
			t.Errorf("the denial took %s", took)
		}
	})
}

// The reply to a question comes from where the question went: the second loopback
// address stands for an arbitrary resolver.
func TestReplySource(t *testing.T) {
	f, _ := newFilter(t, nil)
	conn, err := net.ListenUDP("udp4", nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := ipv4.NewPacketConn(conn).SetControlMessage(ipv4.FlagDst|ipv4.FlagInterface, true); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- f.ServeUDP(ctx, conn) }()
	defer func() { cancel(); <-ended }()
	port := conn.LocalAddr().(*net.UDPAddr).Port
	// A connected socket takes datagrams from its peer only.
	client, err := net.DialUDP("udp4", nil, &net.UDPAddr{IP: net.IPv4(127, 8, 8, 8), Port: port})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	client.SetDeadline(time.Now().Add(5 * time.Second))
	if _, err := client.Write(query(t, "api.example.com.", dns.TypeA)); err != nil {
		t.Fatal(err)
	}
	buffer := make([]byte, 512)
	n, err := client.Read(buffer)
	if err != nil {
		t.Fatal(err)
	}
	if got := text(parse(t, buffer[:n])); got != "198.18.0.1" {
		t.Errorf("got %s", got)
	}
}

// DNS-04
func TestPipelined(t *testing.T) {
	f, j := newFilter(t, func(c *Config) { c.MaxMessages = 4 })
	_, tcp := serve(t, f)
	conn, err := net.Dial("tcp", tcp)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(5 * time.Second))
	var all []byte
	names := []string{"api.example.com.", "secret.attacker.test.", "a.cdn.example.com.", "b.attacker.test.", "beyond.the.cap.test."}
	for _, name := range names {
		q := query(t, name, dns.TypeA)
		all = append(binary.BigEndian.AppendUint16(all, uint16(len(q))), q...)
	}
	if _, err := conn.Write(all); err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"198.18.0.1", "NXDOMAIN", "198.18.0.2", "NXDOMAIN"} {
		b, err := readMessage(conn)
		if err != nil {
			t.Fatal(err)
		}
		if m := parse(t, b); text(m) != want || m.Question[0].Name != names[i] {
			t.Errorf("%s: got %s, want %s", names[i], text(m), want)
		}
	}
	if b, err := readMessage(conn); err == nil {
		t.Errorf("beyond the cap: %x", b)
	}
	if on := j.take(); len(on) != 4 || on[0].allowed != true || on[1].allowed != false {
		t.Errorf("records %+v", on)
	}
}

func TestIdleConnectionIsClosed(t *testing.T) {
	f, _ := newFilter(t, func(c *Config) { c.IdleTimeout, c.MaxConnections = 50*time.Millisecond, 1 })
	_, tcp := serve(t, f)
	for _, start := range []string{"", "\x00", "\x00\x20half"} {
		conn, err := net.Dial("tcp", tcp)
		if err != nil {
			t.Fatal(err)
		}
		conn.SetDeadline(time.Now().Add(5 * time.Second))
		io.WriteString(conn, start)
		if _, err := conn.Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("after %q the connection stays open: %v", start, err)
		}
		conn.Close()
	}
}
