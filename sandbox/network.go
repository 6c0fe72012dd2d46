package sandbox

import (
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"os"
	"strconv"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"

	"scupper.dev/scupper/audit"
	"scupper.dev/scupper/capability"
	"scupper.dev/scupper/dnsfilter"
	"scupper.dev/scupper/netns"
	"scupper.dev/scupper/proxy"
)

// authority decides and records for one sandbox: the guard of its run, or what a call
// has of its gateway's guard.
type authority interface {
	proxy.Authority
	Policy() *capability.Policy
	Packet(protocol string, to netip.AddrPort, n int64) capability.Decision
	Reached(audit.Reached) error
}

// network is what a sandbox's network leads to, before there is one.
type network struct {
	egress    Egress
	overrides []proxy.Override
	ca        *proxy.CA
	guard     *audit.Guard
	authority authority       // the guard itself, or its part for a call
	over      <-chan struct{} // closed when the call must end; nil for a run
	signals   <-chan os.Signal

	watch func(ctx context.Context, p *proxy.Proxy) error // beside the command; may be nil
	serve func(ctx context.Context) error                 // likewise
}

// run serves the network of a cage, runs its command and ends what is left of it. An
// error means that the command did not run, or was ended before it was done.
func (n network) run(ctx context.Context, cage *Cage) (exit int, err error) {
	if err := cage.connect(ctx); err != nil {
		return ExitSandbox, err
	}
	sockets := cage.Sockets()
	enforcers, err := n.newEnforcers(len(sockets.TCP) > 1)
	if err != nil {
		return ExitSandbox, err
	}
	serving, stop := context.WithCancel(ctx)
	defer stop()
	group, serving := errgroup.WithContext(serving)
	enforcers.serve(serving, group, sockets)
	if n.watch != nil {
		group.Go(func() error { return n.watch(serving, enforcers.proxy) })
	}
	if n.serve != nil {
		group.Go(func() error { return n.serve(serving) })
	}
	if err := cage.Start(); err != nil {
		stop()
		return ExitSandbox, errors.Join(err, group.Wait())
	}
	exit, err = n.await(serving, cage)
	errs := []error{err, cage.Stop()}
	stop()
	errs = append(errs, group.Wait())
	<-cage.Ended()
	for _, r := range cage.Reached() {
		errs = append(errs, n.authority.Reached(r))
	}
	return exit, errors.Join(errs...)
}

// enforcers are what the sandbox's network leads to.
type enforcers struct {
	authority authority
	proxy     *proxy.Proxy
	dns       *dnsfilter.Filter
}

// newEnforcers makes them for one sandbox. Where the namespace has no IPv6, names have no
// IPv6 addresses either.
func (n network) newEnforcers(ipv6 bool) (*enforcers, error) {
	leases, e := dnsfilter.NewLeases(0), n.egress
	p, err := proxy.New(proxy.Config{
		Credentials: e.Credentials, Redactor: redactor(e.Credentials), Authority: n.authority, Names: leases, Policy: n.authority.Policy, CA: n.ca,
		Overrides: n.overrides, Via: e.via, UpstreamRoots: e.UpstreamRoots, Resolver: e.Resolver, OwnAddrs: interfaceAddrs, Limits: e.Limits,
	})
	if err != nil {
		return nil, err
	}
	dns := dnsfilter.New(dnsfilter.Config{Authority: n.authority, Leases: leases, IPv6: ipv6, Questions: e.Questions, QuestionRate: e.QuestionRate})
	return &enforcers{authority: n.authority, proxy: p, dns: dns}, nil
}

// serve starts one goroutine for each socket of the sandbox. All end with ctx; the
// first that ends with an error ends ctx.
func (e *enforcers) serve(ctx context.Context, group *errgroup.Group, sockets netns.Sockets) {
	for _, l := range sockets.TCP {
		group.Go(func() error { return e.proxy.ServeTransparent(ctx, l) })
	}
	for _, l := range sockets.Explicit {
		group.Go(func() error { return e.proxy.ServeExplicit(ctx, l) })
	}
	for _, l := range sockets.DNSTCP {
		group.Go(func() error { return e.dns.ServeTCP(ctx, l) })
	}
	for _, c := range sockets.DNSUDP {
		group.Go(func() error { return e.dns.ServeUDP(ctx, c) })
	}
	group.Go(func() error { return e.watch(ctx, sockets.Packets) })
}

// watch records what no enforcer serves. It ends once everything that arrived before
// ctx ended is on record.
func (e *enforcers) watch(ctx context.Context, packets *netns.PacketLog) error {
	stopped := context.AfterFunc(ctx, func() { packets.Stop() })
	defer stopped()
	for {
		p, err := packets.Next()
		if err != nil {
			return packetLogEnd(err)
		}
		if p.Lost > 0 {
			e.authority.Packet("", netip.AddrPort{}, int64(p.Lost))
			continue
		}
		e.authority.Packet(protocolName(p.Proto), p.Dst, 1)
	}
}

// packetLogEnd tells the end that Stop or Close brings from a failure.
func packetLogEnd(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, os.ErrClosed) {
		return nil
	}
	return err
}

// protocolName is the name of a transport protocol (IANA protocol numbers), or its
// number.
func protocolName(number uint8) string {
	switch number {
	case unix.IPPROTO_TCP:
		return "tcp"
	case unix.IPPROTO_UDP:
		return "udp"
	case unix.IPPROTO_ICMP, unix.IPPROTO_ICMPV6:
		return "icmp"
	}
	return strconv.Itoa(int(number))
}

// interfaceAddrs are this host's own addresses. They are read anew at each dial,
// because interfaces come and go.
func interfaceAddrs() []netip.Addr {
	addrs, err := net.InterfaceAddrs()
	if err != nil {
		return nil
	}
	own := make([]netip.Addr, 0, len(addrs))
	for _, a := range addrs {
		if p, err := netip.ParsePrefix(a.String()); err == nil {
			own = append(own, p.Addr().Unmap())
		}
	}
	return own
}
