package proxy

import (
	"context"
	"crypto/x509"
	"errors"
	"log"
	"net"
	"net/netip"
	"time"

	"scupper.dev/scupper/capability"
)

// An Authority decides and records. Its methods may be called concurrently; they may
// block for as long as a record takes to be written.
type Authority interface {
	// Authorize decides r and has recorded the decision when it returns.
	Authorize(r *capability.Request) capability.Decision
	// Refuse records a denial that the proxy found itself, before or after Authorize.
	Refuse(r *capability.Request, reason capability.Reason) capability.Decision
	// Spend counts bytes against the limits of an allowing decision as they flow.
	// False means that a limit is used up and the transfer must stop.
	Spend(d capability.Decision, sent, received int64) bool
	// Finish records what happened. It is called once for each allowing decision.
	Finish(d capability.Decision, o capability.Outcome)
}

// Names tells which name an address was leased for. It must not block.
type Names interface {
	Name(addr netip.Addr) (host capability.Host, ok bool)
}

// A Resolver finds the addresses of a name. The host it gets ends in a dot, so that
// no search list applies, unless it is a single label.
type Resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// A Dialer opens connections. The address it gets is always a literal.
type Dialer interface {
	DialContext(ctx context.Context, network, address string) (net.Conn, error)
}

// Config says what a Proxy works with. Authority, Names, Policy and CA are required.
type Config struct {
	Authority Authority
	Names     Names
	Policy    func() *capability.Policy // the policy in force now: which endpoints are granted
	CA        *CA

	Credentials   Credentials         // of grants that bind one; nil: their requests fail
	Redactor      Redactor            // of what comes back under such grants; nil: their requests fail
	Overrides     []Override          // names pointed elsewhere by the operator
	Via           *Via                // nil: connections go straight to where they lead
	UpstreamRoots *x509.CertPool      // nil: the system's
	Resolver      Resolver            // nil: the system's
	Dialer        Dialer              // nil: a plain one
	OwnAddrs      func() []netip.Addr // of this host's interfaces: they count as not public
	OwnListeners  []netip.AddrPort    // scupper's own sockets: never dialled
	Now           func() time.Time    // nil: time.Now
	ErrorLog      *log.Logger         // diagnostics of net/http; nil: none
	Limits        Limits
}

// Limits bound what one client can hold. A zero field means its default.
type Limits struct {
	HeaderBytes int             // of a request; default 64 KiB
	HeaderCount int             // fields of a request; default 256
	URLBytes    int             // of path and query; default 32 KiB
	QueryPairs  int             // of a request; default 256, and no more
	Streams     int             // open at once on one HTTP/2 connection; default 250
	Connections int             // open at once, of all fronts; default 16384. Further ones are refused
	Handshakes  capability.Rate // of TLS; default 1000 in a second
	Handshake   time.Duration   // from accept to the end of the TLS handshake; default 10 s
	Header      time.Duration   // for a request head; default 10 s
	BodyTime    time.Duration   // over which BodyRate has to hold, until there is an answer; default 1 min
	BodyRate    int             // bytes in a second; default 16
	Request     time.Duration   // from the head to the end of the answer; default 0: none
	Idle        time.Duration   // between requests; default 3 min
	Refused     time.Duration   // for a first byte to an address that is not granted, ten times as much to a name; default 30 ms
	Dial        time.Duration   // name resolution and connecting upstream; default 10 s
	Message     int64           // bytes of one WebSocket message; default 16 MiB
	Held        int             // bytes of bodies under inspection, all together; default 256 MiB
	Grace       time.Duration   // for live requests when a front ends; default 250 ms
}

var errConfig = errors.New("a proxy needs Authority, Names, Policy and CA")

// withDefaults is c with every optional field set.
func (c Config) withDefaults() (Config, error) {
	if c.Authority == nil || c.Names == nil || c.Policy == nil || c.CA == nil {
		return c, errConfig
	}
	if c.Resolver == nil {
		c.Resolver = net.DefaultResolver
	}
	if c.Dialer == nil {
		d := &net.Dialer{}
		d.SetMultipathTCP(false)
		c.Dialer = d
	}
	if c.OwnAddrs == nil {
		c.OwnAddrs = func() []netip.Addr { return nil }
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	c.Limits = c.Limits.withDefaults()
	return c, nil
}

func (l Limits) withDefaults() Limits {
	return Limits{
		HeaderBytes: or(l.HeaderBytes, 64<<10),
		HeaderCount: or(l.HeaderCount, 256),
		URLBytes:    or(l.URLBytes, 32<<10),
		QueryPairs:  min(or(l.QueryPairs, capability.MaxParameters), capability.MaxParameters),
		Streams:     or(l.Streams, 250),
		Connections: or(l.Connections, 16384),
		Handshakes:  orRate(l.Handshakes, capability.Rate{Requests: 1000, Per: time.Second}),
		Handshake:   or(l.Handshake, 10*time.Second),
		Header:      or(l.Header, 10*time.Second),
		BodyTime:    or(l.BodyTime, time.Minute),
		BodyRate:    or(l.BodyRate, 16),
		Request:     l.Request,
		Idle:        or(l.Idle, 3*time.Minute),
		Refused:     or(l.Refused, 30*time.Millisecond),
		Dial:        or(l.Dial, 10*time.Second),
		Message:     int64(or(int(l.Message), 16<<20)),
		Held:        or(l.Held, 256<<20),
		Grace:       or(l.Grace, 250*time.Millisecond),
	}
}

func or[T int | time.Duration](v, otherwise T) T {
	if v <= 0 {
		return otherwise
	}
	return v
}

func orRate(r, otherwise capability.Rate) capability.Rate {
	if r == (capability.Rate{}) {
		return otherwise
	}
	return r
}
