package sandbox

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"

	"scupper.dev/scupper/audit"
	"scupper.dev/scupper/capability"
	"scupper.dev/scupper/credential"
	"scupper.dev/scupper/credential/redact"
	"scupper.dev/scupper/dnsfilter"
	"scupper.dev/scupper/netns"
	"scupper.dev/scupper/proxy"
)

// Config says what one run is.
type Config struct {
	Cage  CageConfig   // the sandbox; ports and trust are filled in by Run
	Audit audit.Config // the policy and the log; controls are filled in by Run

	Resolve       []string         // HOST:PORT:ADDR[:PORT]: names pointed elsewhere by the operator
	UpstreamRoots *x509.CertPool   // nil: the system's
	Resolver      proxy.Resolver   // nil: the system's
	Signals       <-chan os.Signal // for the command; may be nil
	Limits        ConnectionLimits // of connections; zero fields are defaults
	Questions     int64            // to DNS; 0: its default
	QuestionRate  capability.Rate  // likewise
	Credentials   *credential.Set  // that the policy's grants bind; nil: none

	// Watch looks for new policies until ctx ends; nil: the first one stays. An error ends
	// the run.
	Watch func(ctx context.Context, policies *Policies) error

	via *proxy.Via // the proxy that leads outside; nil: none
}

// ConnectionLimits bound what the clients of a run may hold. A zero field is its default.
type ConnectionLimits = proxy.Limits

// Result is what became of a run.
type Result struct {
	Exit    int // the command's exit code, 128 + N if signal N ended it
	Summary audit.Summary
}

// Causes for which a run ends before its command does.
var (
	errRecordBudget = errors.New("the run has spent its audit records")
	errAuditGone    = errors.New("the audit log has been unavailable for too long")
)

// Run builds a sandbox, serves its network under the policy, runs the command and
// destroys everything. It returns when nothing of the run is left but its log. If any
// enforcer ends, the sandbox ends. An error means that the command did not run, or
// that the run was ended before the command was done.
func Run(ctx context.Context, config Config) (result Result, err error) {
	overrides, err := parseOverrides(config.Resolve)
	if err != nil {
		return result, err
	}
	config.Cage.Ports = ports(config.Audit.Policy)

	cage, err := begin(config.Cage)
	if err != nil {
		return result, err
	}
	defer func() { err = errors.Join(err, cage.Close()) }()

	ca, err := proxy.NewCA(time.Now())
	if err != nil {
		return result, fmt.Errorf("make the run's authority: %w", err)
	}
	if err := cage.tell(string(ca.CertPEM())); err != nil {
		return result, err
	}
	addresses := addressCheck(config.via)
	config.Audit.Controls, config.Audit.Overrides = append(cage.Controls(), addresses), config.Resolve
	guard, err := audit.New(config.Audit)
	if err != nil {
		return result, &Error{Code: ExitSandbox, Doing: "open the audit log", Err: err, Hint: "nothing runs without a log: " + hintLog}
	}
	exit := ExitSandbox
	defer func() {
		err = errors.Join(err, closeLog(guard, exit))
		if !cage.started {
			return
		}
		result.Summary = guard.Summary()
		result.Summary.Exit = exit
		if !addresses.InForce {
			result.Summary.NotInForce = []string{addresses.Name + ": " + addresses.Detail}
		}
	}()

	if err := cage.harden(); err != nil {
		return result, err
	}
	if err := cage.connect(ctx); err != nil {
		return result, err
	}
	sockets := cage.Sockets()
	enforcers, err := newEnforcers(config, overrides, ca, guard, len(sockets.TCP) > 1)
	if err != nil {
		return result, err
	}
	serving, stop := context.WithCancel(ctx)
	defer stop()
	group, serving := errgroup.WithContext(serving)
	enforcers.serve(serving, group, sockets)
	if config.Watch != nil {
		group.Go(func() error { return config.Watch(serving, &Policies{guard, enforcers.proxy, config.Credentials}) })
	}

	if err := cage.Start(); err != nil {
		return result, err
	}
	exit, err = await(serving, cage, guard, config)
	result.Exit = exit
	errs := []error{err, cage.Stop()}
	stop()
	errs = append(errs, group.Wait())
	<-cage.Ended()
	for _, r := range cage.Reached() {
		errs = append(errs, guard.Reached(r))
	}
	return result, errors.Join(errs...)
}

// closeLog ends the log. A run whose end is not on record has failed, whatever its command says.
func closeLog(guard *audit.Guard, exit int) error {
	if err := guard.Close(exit); err != nil {
		return &Error{Code: ExitSandbox, Doing: "end the audit log", Err: err, Hint: hintLog}
	}
	return nil
}

func parseOverrides(texts []string) ([]proxy.Override, error) {
	var overrides []proxy.Override
	for _, text := range texts {
		o, err := proxy.ParseOverride(text)
		if err != nil {
			return nil, usage("as curl has it: --resolve api.example.com:443:192.0.2.7:8443", "%v", err)
		}
		overrides = append(overrides, o)
	}
	return overrides, nil
}

// ports are the TCP ports that the policy grants.
func ports(policy *capability.Policy) []uint16 {
	if policy == nil {
		return nil
	}
	return policy.Ports()
}

func endCause(reason capability.Reason) error {
	if reason == capability.RecordBudget {
		return &Error{Code: ExitSandbox, Doing: "run", Err: errRecordBudget, Hint: "scupper explain last shows what filled the log"}
	}
	return &Error{Code: ExitSandbox, Doing: "run", Err: errAuditGone, Hint: hintLog}
}

// enforcers are what the sandbox's network leads to.
type enforcers struct {
	guard *audit.Guard
	proxy *proxy.Proxy
	dns   *dnsfilter.Filter
}

// newEnforcers makes them for one run. Where the namespace has no IPv6, names have no
// IPv6 addresses either.
func newEnforcers(config Config, overrides []proxy.Override, ca *proxy.CA, guard *audit.Guard, ipv6 bool) (*enforcers, error) {
	leases := dnsfilter.NewLeases(0)
	p, err := proxy.New(proxy.Config{
		Credentials: config.Credentials, Redactor: redactor(config.Credentials), Authority: guard, Names: leases, Policy: guard.Policy, CA: ca,
		Overrides: overrides, Via: config.via, UpstreamRoots: config.UpstreamRoots, Resolver: config.Resolver, OwnAddrs: interfaceAddrs, Limits: config.Limits,
	})
	if err != nil {
		return nil, err
	}
	dns := dnsfilter.New(dnsfilter.Config{Authority: guard, Leases: leases, IPv6: ipv6, Questions: config.Questions, QuestionRate: config.QuestionRate})
	return &enforcers{guard: guard, proxy: p, dns: dns}, nil
}

// redactor hides the secrets that the run has.
func redactor(set *credential.Set) proxy.Redactor {
	if set == nil {
		return nil
	}
	return redact.New(set.Secrets)
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
			e.guard.Packet("", netip.AddrPort{}, int64(p.Lost))
			continue
		}
		e.guard.Packet(protocolName(p.Proto), p.Dst, 1)
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
