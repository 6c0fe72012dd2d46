// Package replay plays the world outside: a pretend Internet that answers every
// name, address and port from inside a network namespace without exit, and
// remembers everything it received.
//
//	code, err := replay.Sealed(ctx, func() int {
//		inet, err := replay.Start(replay.Config{})
//		if err != nil {
//			return 1
//		}
//		defer inet.Close()
//		inet.Handle("api.example.com", handler)
//		run(inet.CA())               // a client, a proxy, a whole sandbox
//		return len(inet.Received())  // what reached the far side
//	})
//
// Guarantees: no packet leaves the machine, because the namespace has only lo.
// Names get public-looking addresses (203.0.113.0/24, 198.51.100.0/24,
// 2001:db8:2::/64) that are no interface address. A request is on record before
// its handler runs; a connection, a DNS question and any packet that opens
// something (TCP SYN, every UDP and ICMP packet) is on record even where no
// sink listens.
//
// Non-guarantees: it is a test origin, not a faithful one. Certificates come
// from a CA of its own, DNS has no delegation, and nothing limits what a client
// can make it hold in memory.
package replay

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"sync"
)

// Config says where the pretend Internet listens beyond TLS on 443, plain HTTP
// on 80 and DNS on 53. The zero value works.
type Config struct {
	// TLSPorts are further ports that speak TLS (HTTP/2 and HTTP/1.1).
	TLSPorts []uint16
	// HTTPPorts are further ports that speak plain HTTP/1.1.
	HTTPPorts []uint16
	// RawPorts accept TCP, record what comes and answer nothing.
	RawPorts []uint16
	// Whole keeps every byte of bodies and connections, inside TLS too, in BodyHead
	// and Head; otherwise these hold the first 4096. It is for clients that may send
	// what is no HTTP at all.
	Whole bool
	// Log, if set, gets one JSON line per record (see Event).
	Log io.Writer
}

// Internet is a running pretend Internet. Its methods may be called from any
// goroutine.
type Internet struct {
	whole     bool
	ledger    *ledger
	names     *names
	authority *authority
	hosts     *hosts
	watch     *watch
	closers   []io.Closer
	serving   sync.WaitGroup
}

// Start listens in the network namespace of this process, which must have no
// interface but lo and must have been made by Sealed. The caller closes the
// Internet.
func Start(cfg Config) (*Internet, error) {
	if err := onlyLoopback(); err != nil {
		return nil, err
	}
	authority, err := newAuthority()
	if err != nil {
		return nil, err
	}
	in := &Internet{whole: cfg.Whole, ledger: &ledger{log: cfg.Log, keep: keep(cfg.Whole)}, authority: authority, hosts: newHosts()}
	in.names = newNames(in.ledger)
	if err := in.listen(cfg); err != nil {
		in.Close()
		return nil, err
	}
	return in, nil
}

func (in *Internet) listen(cfg Config) error {
	if err := in.startWatch(); err != nil {
		return err
	}
	if err := in.serveDNS(); err != nil {
		return err
	}
	for _, port := range append([]uint16{443}, cfg.TLSPorts...) {
		if err := in.serveHTTP(port, true); err != nil {
			return err
		}
	}
	for _, port := range append([]uint16{80}, cfg.HTTPPorts...) {
		if err := in.serveHTTP(port, false); err != nil {
			return err
		}
	}
	for _, port := range cfg.RawPorts {
		if err := in.serveRaw(port); err != nil {
			return err
		}
	}
	return nil
}

// keep is how much of a body or of a connection is held.
func keep(whole bool) int {
	if whole {
		return wholeMax
	}
	return headMax
}

// Close ends every listener and connection and waits for their goroutines.
func (in *Internet) Close() error {
	for i := len(in.closers) - 1; i >= 0; i-- {
		in.closers[i].Close()
	}
	in.serving.Wait()
	return nil
}

// CA returns the PEM certificate of the authority that signs every leaf.
func (in *Internet) CA() []byte { return in.authority.pem }

// Addr returns the IPv4 address that a name has from its first use on.
func (in *Internet) Addr(name string) netip.Addr { return in.names.addr4(canonicalName(name)) }

// Addr6 returns the IPv6 address that a name has from its first use on.
func (in *Internet) Addr6(name string) netip.Addr { return in.names.addr6(canonicalName(name)) }

// Resolve makes DNS answer name with the given answers, one for each question
// of a type (A, AAAA) in order; the last one repeats. No answers at all restores
// the name's own address.
func (in *Internet) Resolve(name string, answers ...Answer) {
	in.names.configure(canonicalName(name), answers)
}

// Handle serves requests for host, on every port, with h; "*.example.com" is every
// name below example.com that has no handler of its own. A nil handler restores the
// echo.
func (in *Internet) Handle(host string, h http.Handler) { in.hosts.set(host, h) }

// Forward serves requests for host by a real server, for example a registry on
// loopback, and still records each. The server sees the host's own name.
func (in *Internet) Forward(host string, target *url.URL) { in.hosts.set(host, forward(target)) }

// Present makes host show a bad certificate. The zero Fault restores a good one.
func (in *Internet) Present(host string, f Fault) { in.authority.present(canonicalName(host), f) }

// Received returns the HTTP requests so far, in order of arrival.
func (in *Internet) Received() []Exchange { return in.ledger.received() }

// Queries returns the DNS questions so far, in order of arrival.
func (in *Internet) Queries() []Query { return in.ledger.asked() }

// Connections returns the accepted TCP connections so far.
func (in *Internet) Connections() []Connection { return in.ledger.accepted() }

// Packets returns the packets so far that opened something: TCP SYNs, UDP and
// ICMP to any address outside 127.0.0.0/8 and ::1. It waits until every packet
// sent before the call has been looked at.
func (in *Internet) Packets() ([]Packet, error) {
	if err := in.watch.settle(); err != nil {
		return nil, err
	}
	return in.ledger.seen(), nil
}

// Reset forgets every record; names, handlers and certificates stay.
func (in *Internet) Reset() error {
	if err := in.watch.settle(); err != nil {
		return err
	}
	in.ledger.reset()
	return nil
}

// Serve runs a pretend Internet until ctx ends, for tests written in shell: it
// writes dir/ca.pem, appends an Event line per record to dir/received.jsonl and
// calls ready once it listens.
func Serve(ctx context.Context, cfg Config, dir string, ready func(*Internet)) error {
	path := filepath.Join(dir, "received.jsonl")
	log, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("open record of the pretend Internet %q: %w", path, err)
	}
	defer log.Close()
	cfg.Log = log
	in, err := Start(cfg)
	if err != nil {
		return err
	}
	defer in.Close()
	caPath := filepath.Join(dir, "ca.pem")
	if err := os.WriteFile(caPath, in.CA(), 0o644); err != nil {
		return fmt.Errorf("write CA of the pretend Internet %q: %w", caPath, err)
	}
	ready(in)
	<-ctx.Done()
	return nil
}

// tcpListener listens on every address of a port. Multipath TCP is off because
// it hides the original destination from some socket options.
func tcpListener(port uint16) (net.Listener, error) {
	var lc net.ListenConfig
	lc.SetMultipathTCP(false)
	l, err := lc.Listen(context.Background(), "tcp", fmt.Sprintf(":%d", port))
	if err != nil {
		return nil, fmt.Errorf("listen on TCP port %d of the pretend Internet: %w", port, err)
	}
	return l, nil
}
