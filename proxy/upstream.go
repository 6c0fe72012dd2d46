package proxy

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"scupper.dev/scupper/capability"
)

// pools are the connections upstream of one Proxy. Grants that may reach different
// networks do not share connections, or one would ride on what another may dial. Those
// with different credentials do not either: an origin may take a connection for the
// identity that it has seen there first.
type pools struct {
	cfg    Config
	public *http.Transport // for anonymous grants without a networks clause
	tls    *tls.Config

	mu     sync.Mutex
	others map[poolKey]*http.Transport
}

// poolKey is what connections of one pool have in common.
type poolKey struct {
	networks string
	mode     capability.CredentialMode
	name     string
	pin      [sha256.Size]byte
}

func newPools(cfg Config) *pools {
	ps := &pools{cfg: cfg, others: make(map[poolKey]*http.Transport)}
	ps.tls = &tls.Config{RootCAs: cfg.UpstreamRoots, MinVersion: tls.VersionTLS12}
	ps.public = ps.transport(nil)
	return ps
}

// of is the pool for the connections that g may use.
func (ps *pools) of(g *capability.Grant) *http.Transport {
	if g == nil || len(g.Networks) == 0 && g.Credential.Mode == capability.Anonymous {
		return ps.public
	}
	key := poolKey{mode: g.Credential.Mode, name: g.Credential.Name, pin: g.Credential.Pin}
	if len(g.Networks) > 0 {
		key.networks = fmt.Sprint(g.Networks)
	}
	ps.mu.Lock()
	defer ps.mu.Unlock()
	t, ok := ps.others[key]
	if !ok {
		t = ps.transport(slices.Clone(g.Networks))
		ps.others[key] = t
	}
	return t
}

// transport verifies certificates always, adds nothing to requests and dials only what
// was checked.
func (ps *pools) transport(networks []netip.Prefix) *http.Transport {
	dial := &dialer{Config: ps.cfg, networks: networks}
	return &http.Transport{
		DialContext:            dial.dial,
		TLSClientConfig:        ps.tls.Clone(),
		TLSHandshakeTimeout:    ps.cfg.Limits.Handshake,
		DisableCompression:     true,
		ForceAttemptHTTP2:      true,
		MaxIdleConnsPerHost:    256, // net/http's two cost seven times the CPU under load
		IdleConnTimeout:        90 * time.Second,
		WriteBufferSize:        chunk,
		ReadBufferSize:         16 << 10,
		MaxResponseHeaderBytes: 1 << 20,
		HTTP2:                  &http.HTTP2Config{SendPingTimeout: 30 * time.Second, PingTimeout: 15 * time.Second},
	}
}

func (ps *pools) close() {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	ps.public.CloseIdleConnections()
	for _, t := range ps.others {
		t.CloseIdleConnections()
	}
}

// dialer opens connections for grants that share their networks.
type dialer struct {
	Config
	networks []netip.Prefix
}

// dial resolves address once, checks everything it resolved to, and dials the checked
// literals in turn.
func (d *dialer) dial(ctx context.Context, network, address string) (net.Conn, error) {
	to, err := parseAuthority(address, 0)
	if err != nil {
		return nil, fmt.Errorf("dial %q: %w", address, err)
	}
	ctx, cancel := context.WithTimeout(ctx, d.Limits.Dial)
	defer cancel()
	if d.Via != nil {
		return d.dialVia(ctx, network, to)
	}
	addrs, err := d.resolve(ctx, to)
	if err != nil {
		return nil, err
	}
	conn, err := d.dialFirst(ctx, network, addrs)
	if err != nil {
		return nil, &failure{kind: errUpstreamUnreachable, cause: err}
	}
	return conn, nil
}

// dialFirst is the connection to the first of addrs that answers.
func (d *dialer) dialFirst(ctx context.Context, network string, addrs []netip.AddrPort) (net.Conn, error) {
	var errs []error
	for i, a := range addrs {
		conn, err := d.dialOne(ctx, network, a, len(addrs)-i)
		if err == nil {
			return conn, nil
		}
		errs = append(errs, err)
	}
	return nil, errors.Join(errs...)
}

// dialOne gives an address its share of the time that is left.
func (d *dialer) dialOne(ctx context.Context, network string, to netip.AddrPort, left int) (net.Conn, error) {
	if deadline, ok := ctx.Deadline(); ok && left > 1 {
		share, cancel := context.WithTimeout(ctx, time.Until(deadline)/time.Duration(left))
		defer cancel()
		ctx = share
	}
	return d.Dialer.DialContext(ctx, network, to.String())
}

// everywhere is the networks clause of the operator's word.
var everywhere = []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0"), netip.MustParsePrefix("::/0")}

// resolve finds the addresses to dial.
func (d *dialer) resolve(ctx context.Context, to authority) ([]netip.AddrPort, error) {
	if o, ok := d.override(to); ok {
		return d.checked([]netip.Addr{o.Addr()}, o.Port(), everywhere, nil)
	}
	addrs, err := d.lookup(ctx, to.host)
	if err != nil {
		return nil, err
	}
	return d.checked(addrs, to.port, d.networks, d.OwnAddrs())
}

// checked is addrs with their port. One that is refused refuses all: a name that
// answers with public and private addresses is not one to be chosen from.
func (d *dialer) checked(addrs []netip.Addr, port uint16, networks []netip.Prefix, own []netip.Addr) ([]netip.AddrPort, error) {
	out := make([]netip.AddrPort, 0, len(addrs))
	for _, a := range addrs {
		if reason := capability.CheckAddress(a, networks, own); reason != capability.Granted {
			return nil, denied(reason)
		}
		out = append(out, netip.AddrPortFrom(a.Unmap(), port))
	}
	for _, a := range out {
		if err := d.checkOwn(a); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (d *dialer) lookup(ctx context.Context, h capability.Host) ([]netip.Addr, error) {
	if literal, ok := h.Addr(); ok {
		return []netip.Addr{literal}, nil
	}
	name := string(h)
	if strings.IndexByte(name, '.') >= 0 {
		name += "."
	}
	addrs, err := d.Resolver.LookupNetIP(ctx, "ip", name)
	if err == nil && len(addrs) == 0 {
		err = errors.New("no addresses")
	}
	if err != nil {
		return nil, &failure{kind: errUpstreamName, cause: err}
	}
	return addrs, nil
}

// checkOwn refuses scupper's own sockets, also where they listen on all addresses.
func (d *dialer) checkOwn(to netip.AddrPort) error {
	for _, own := range d.OwnListeners {
		if own.Port() != to.Port() {
			continue
		}
		onAll := own.Addr().IsUnspecified() && (to.Addr().IsLoopback() || slices.Contains(d.OwnAddrs(), to.Addr()))
		if onAll || own.Addr().Unmap() == to.Addr() || to.Addr().IsUnspecified() {
			return denied(capability.OwnListener)
		}
	}
	return nil
}
