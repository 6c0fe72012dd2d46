package differential

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"scupper.dev/scupper/capability"
	"scupper.dev/scupper/capability/policyfile"
	"scupper.dev/scupper/proxy"
)

const (
	granted      = "api.example.com"
	other        = "other.example.com"
	explicitPort = "3128"
)

// policyText grants a few functions of two hosts, each over both schemes.
const policyText = `
grant "SCHEME-api" {
  reason     = "differential test"
  owner      = "test"
  host       = "api.example.com"
  scheme     = "SCHEME"
  credential = anonymous
  allow {
    methods = ["GET", "HEAD", "DELETE"]
    path    = "/public/{rest...}"
  }
  allow {
    methods = ["POST"]
    path    = "/notes"
    body {
      type = "application/octet-stream"
      max  = "8KiB"
    }
  }
  allow {
    methods = ["POST"]
    path    = "/json"
    body {
      type = "application/json"
      max  = "8KiB"
    }
  }
  allow {
    methods = ["GET"]
    path    = "/search"
    query   = { q = regex(".{0,64}"), page = int, sort = one_of("up", "down") }
  }
  allow {
    methods = ["GET"]
    path    = "/items/{id}"
    where   = { id = int }
  }
  allow {
    methods = ["PUT"]
    path    = "/items/{id}/{name}"
    where   = { id = int, name = regex("[^/]{1,64}") }
    body {
      type = "text/plain"
      max  = "16KiB"
    }
  }
  allow {
    methods = ["GET"]
    path    = "/files/{name}"
    where   = { name = regex("[^/]{1,200}") }
  }
}

grant "SCHEME-other" {
  reason     = "differential test"
  owner      = "test"
  host       = "other.example.com"
  scheme     = "SCHEME"
  credential = anonymous
  allow {
    methods = ["GET"]
    path    = "/elsewhere/{name}"
  }
}
`

// enforcer is what stands between the client and the origins.
type enforcer interface {
	ServeTransparent(context.Context, net.Listener) error
	ServeExplicit(context.Context, net.Listener) error
}

// world is one client, one enforcer with its own log, and one origin. Nothing else
// uses its addresses, so that what arrives can be told apart.
type world struct {
	player
	patience time.Duration
	origin   *origin
	witness  *witness
	dir      string
	addr     netip.Addr // where the client connects to, leased for granted
	peer     netip.Addr // where the origin sees the enforcer
	stop     context.CancelFunc
	served   []chan error
	tally    tally
	granted  []grant // of the last sample
	failed   []grant // that broke off and have no entry yet
}

// laboratory is what all worlds share.
type laboratory struct {
	patience time.Duration // for an entry after its request was answered
	dir      string
	policy   *capability.Policy
	roots    *x509.CertPool // of the origins
	worlds   atomic.Uint32
	make     func(proxy.Config) (enforcer, error)
}

func scupper(c proxy.Config) (enforcer, error) { return proxy.New(c) }

// policyFile grants the functions over both schemes.
func policyFile() string {
	over := func(scheme string) string { return strings.ReplaceAll(policyText, "SCHEME", scheme) }
	return "version = 1\n" + over("http") + over("https")
}

func newPolicy() (*capability.Policy, error) {
	file, diags := policyfile.Parse("policy.hcl", []byte(policyFile()), policyfile.Options{})
	if diags.HasErrors() {
		return nil, diags.Err()
	}
	return file.Policy, nil
}

// new starts a world in front of o.
func (l *laboratory) new(o *origin) (*world, error) {
	n := l.worlds.Add(1)
	w := &world{
		patience: l.patience, origin: o, dir: fmt.Sprintf("%s/%d", l.dir, n),
		addr: netip.AddrFrom4([4]byte{198, 18, byte(n >> 8), byte(n)}), peer: netip.AddrFrom4([4]byte{127, 2, byte(n >> 8), byte(n)}),
	}
	var err error
	if w.witness, err = newWitness(w.dir, l.policy); err != nil {
		return nil, err
	}
	ca, err := proxy.NewCA(time.Now())
	if err != nil {
		return nil, errors.Join(err, w.close())
	}
	e, err := l.make(w.config(ca, l))
	if err != nil {
		return nil, errors.Join(err, w.close())
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(ca.CertPEM())
	w.host, w.client, w.client2 = w.addr.String(), clientTLS(roots, "http/1.1"), clientTLS(roots, "h2")
	return w, w.start(e)
}

func (w *world) config(ca *proxy.CA, l *laboratory) proxy.Config {
	var overrides []proxy.Override
	for _, host := range []capability.Host{granted, other} {
		overrides = append(overrides, proxy.Override{Host: host, Port: 80, To: w.origin.plain}, proxy.Override{Host: host, Port: 443, To: w.origin.secure})
	}
	return proxy.Config{
		Authority: w.witness, Names: w, CA: ca, Policy: func() *capability.Policy { return l.policy },
		Overrides: overrides, UpstreamRoots: l.roots,
		Dialer: &net.Dialer{LocalAddr: net.TCPAddrFromAddrPort(netip.AddrPortFrom(w.peer, 0))},
		Limits: proxy.Limits{Grace: 2 * time.Second},
	}
}

// Name is the one lease.
func (w *world) Name(a netip.Addr) (capability.Host, bool) { return granted, a == w.addr }

// clientTLS trusts roots, or what the environment says where there are none.
func clientTLS(roots *x509.CertPool, protocol string) *tls.Config {
	return &tls.Config{
		ServerName: granted, RootCAs: roots, NextProtos: []string{protocol}, ClientSessionCache: tls.NewLRUClientSessionCache(4),
		CurvePreferences: []tls.CurveID{tls.X25519}, // post-quantum key shares cost much of the time there is
	}
}

func (w *world) start(e enforcer) error {
	ctx, cancel := context.WithCancel(context.Background())
	w.stop = cancel
	for port, serve := range map[string]func(context.Context, net.Listener) error{
		"80": e.ServeTransparent, "443": e.ServeTransparent, explicitPort: e.ServeExplicit,
	} {
		ln, err := net.Listen("tcp", net.JoinHostPort(w.addr.String(), port))
		if err != nil {
			return errors.Join(err, w.close())
		}
		done := make(chan error, 1)
		go func() { done <- serve(ctx, counted{ln, &w.conns}) }()
		w.served = append(w.served, done)
	}
	return nil
}

// close ends the enforcer, compares the log's own counts with what was asked of the
// guard, and removes the log.
func (w *world) close() error {
	if w.stop != nil {
		w.stop()
	}
	var errs []error
	for _, done := range w.served {
		errs = append(errs, <-done)
	}
	last, err := w.witness.close()
	w.tally.add(last)
	errs = append(errs, err)
	if w.tally.denied != w.witness.denials {
		errs = append(errs, fmt.Errorf("the log counts %d denials, the guard was asked for %d", w.tally.denied, w.witness.denials))
	}
	return errors.Join(append(errs, os.RemoveAll(w.dir))...)
}
