package audit

import (
	"cmp"
	"errors"
	"net/netip"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"scupper.dev/scupper/capability"
)

// Config says what runs and where its log goes. The zero value of a limit means the
// default in its comment.
type Config struct {
	Dir   string // of all runs' logs; made when absent
	State string // the installation's folder, with its key; empty: the log is not signed

	Policy      *capability.Policy // nil denies everything
	PolicyText  []byte             // kept beside the log, so that decisions can be explained later
	PolicyPath  string
	PolicyFiles map[string]string // SHA-256, in hexadecimal, of the files that it names, by path
	Role        string
	Command     []string // recorded as given
	Controls    any      // which controls are in force; anything that encodes as JSON
	Overrides   []string
	Version     string // of scupper
	User        string // default: the numeric user ID

	Budget           int64         // records of a run; default 200,000. The closing ones come on top.
	WriteTimeout     time.Duration // after which a write counts as hung; default 2 s
	UnavailableAfter time.Duration // without a log, after which the run must end; default 30 s
	FlushEvery       time.Duration // between counted records; default 1 s
	SealEvery        time.Duration // between signed heads; default 1 s
	SegmentSize      int64         // bytes after which a segment is followed by the next; default 16 MiB
	Durability       Durability    // default Commit

	Anchors     []Anchor      // where signed heads are left; they need State
	AnchorEvery time.Duration // default 60 s
	Now         func() time.Time

	// Fingerprint is that of the newest secret of a credential; nil: there are none.
	Fingerprint func(credential string) string

	// Key of the fingerprints of foreign credentials; nil: one of the run's own, so that
	// those of two runs cannot be compared.
	Key []byte
}

func (c *Config) setDefaults() {
	if c.Policy == nil {
		c.Policy = new(capability.Policy)
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	c.User = cmp.Or(c.User, strconv.Itoa(os.Getuid()))
	c.Budget = cmp.Or(c.Budget, 200_000)
	c.WriteTimeout = cmp.Or(c.WriteTimeout, 2*time.Second)
	c.UnavailableAfter = cmp.Or(c.UnavailableAfter, 30*time.Second)
	c.FlushEvery = cmp.Or(c.FlushEvery, time.Second)
	c.SealEvery = cmp.Or(c.SealEvery, time.Second)
	c.SegmentSize = cmp.Or(c.SegmentSize, segmentSize)
	c.Durability = cmp.Or(c.Durability, Commit)
	c.AnchorEvery = cmp.Or(c.AnchorEvery, time.Minute)
	if c.Key == nil {
		c.Key = newKey()
	}
}

// Guard decides requests and records what it decided. Its methods are safe for
// concurrent use and block at most for Config.WriteTimeout.
type Guard struct {
	config  Config
	run     string
	policy  atomic.Pointer[inForce]
	several atomic.Bool // more than one policy has been in force
	log     *log
	ledger  *ledger
	repeats *repeats
	totals  *totals
	key     []byte   // of fingerprints
	sealer  *sealer  // nil: the log is not signed
	spoken  sync.Map // credentials and fingerprints that are on record
	anchors *anchors // nil: there are none

	done      chan struct{}
	ending    sync.Once
	overspent sync.Once
	cause     atomic.Value // capability.Reason
	halt      sync.Once
	stop      chan struct{}
	stopped   chan struct{}
	anchored  chan struct{} // no further head is left but the last
}

// New starts a run: it makes the run's directory and log, keeps the policy text, and
// writes the first record. The caller calls Close.
func New(c Config) (*Guard, error) {
	c.setDefaults()
	key, err := c.key()
	if err != nil {
		return nil, err
	}
	run, err := makeRun(c.Dir, c.Now())
	if err != nil {
		return nil, err
	}
	digest := digestOf(c.PolicyText)
	if err := keepPolicy(c.Dir, run, digest, c.PolicyText); err != nil {
		return nil, err
	}
	seal, err := newSealer(c, key, run) // before there is anything to seal
	if err != nil {
		return nil, err
	}
	f, err := createSegment(c.Dir, run, firstSegment)
	if err != nil {
		return nil, errors.Join(err, seal.leave())
	}
	return start(c, run, digest, f, seal)
}

func start(c Config, run, hash string, f file, seal *sealer) (*Guard, error) {
	g := &Guard{
		config: c, run: run, sealer: seal,
		log: newLog(logConfig{run: run, now: c.Now, timeout: c.WriteTimeout, durability: c.Durability, limit: c.SegmentSize, create: func(n int) (file, error) {
			return createSegment(c.Dir, run, n)
		}}, f),
		ledger: newLedger(), repeats: newRepeats(), totals: newTotals(), key: c.Key,
		done: make(chan struct{}), stop: make(chan struct{}), stopped: make(chan struct{}), anchored: make(chan struct{}),
	}
	g.policy.Store(&inForce{Policy: c.Policy, hash: hash})
	err := g.log.append(&Record{Event: RunStarted, Run: &Start{
		ID: run, Scupper: c.Version, Policy: c.PolicyPath, PolicyHash: hash, PolicyFiles: c.PolicyFiles, Role: c.Role, Command: c.Command,
		Controls: c.Controls, Overrides: c.Overrides, User: c.User, PID: os.Getpid(),
		Key: seal.public(), Durability: string(c.Durability),
	}})
	if err != nil {
		return nil, errors.Join(err, g.log.close(nil, nil), seal.leave())
	}
	seal.start(g.log, c.SealEvery)
	if err := g.openAnchors(); err != nil {
		return nil, errors.Join(err, g.log.close(&Record{Event: RunEnded, Reason: string(capability.AuditUnavailable)}, seal.last()))
	}
	go g.tend()
	go g.tendAnchors()
	return g, nil
}

// Run is the ID of the run.
func (g *Guard) Run() string { return g.run }

// Ready says whether the log can be signed. New does not wait for that; until it is
// known nothing is allowed, and without it nothing is.
func (g *Guard) Ready() error { return g.sealer.fit() }

// Done is closed when the run must end: its record budget is spent, or the log has
// been unavailable for too long. Cause says which.
func (g *Guard) Done() <-chan struct{} { return g.done }

// Cause is why the run must end: RecordBudget, AuditUnavailable, RunEnded after
// Close, or Undecided while it need not.
func (g *Guard) Cause() capability.Reason {
	reason, _ := g.cause.Load().(capability.Reason)
	return reason
}

func (g *Guard) end(reason capability.Reason) {
	g.ending.Do(func() {
		g.cause.Store(reason)
		close(g.done)
	})
}

// tend flushes counts and watches over the log until Close.
func (g *Guard) tend() {
	defer close(g.stopped)
	tick := time.NewTicker(g.config.FlushEvery)
	defer tick.Stop()
	for {
		select {
		case <-g.stop:
			return
		case <-tick.C:
		}
		g.log.probe()
		if max(g.log.unavailable(), g.anchors.absent()) > g.config.UnavailableAfter {
			g.end(capability.AuditUnavailable)
		}
		if !g.spent() {
			g.repeats.flush(g.log.append)
		}
	}
}

func (g *Guard) spent() bool { return g.log.written.Load() >= g.config.Budget }

// Authorize decides r by the policy and the limits of the grant, records the decision
// and answers it. A request without a time is judged now.
func (g *Guard) Authorize(r *capability.Request) capability.Decision {
	return g.authorize(asker{policy: g.policy.Load()}, r)
}

func (g *Guard) authorize(by asker, r *capability.Request) capability.Decision {
	now := g.config.Now()
	r = timed(r, now)
	j := by.judge(r)
	if !j.d.Allowed() {
		return g.once(j, 1)
	}
	if r.Kind == capability.KindTool {
		d, _ := g.record(j)
		return d
	}
	if j.limit = g.ledger.take(r, j.d.Grant, now); j.limit != "" {
		j.d = j.d.Refused(capability.LimitExceeded)
		return g.once(j, 1)
	}
	if r.Kind == capability.KindName {
		return g.once(j, 1)
	}
	d, _ := g.record(j)
	if !d.Allowed() {
		g.ledger.giveBack(r, d.Grant)
	}
	return d
}

// timed is r with a time: without one, no grant would ever have expired.
func timed(r *capability.Request, now time.Time) *capability.Request {
	if !r.Time.IsZero() {
		return r
	}
	q := *r
	q.Time = now
	return &q
}

// Refuse records and answers the denial of r for a reason that an enforcer found. The
// grant that would have covered r stays named.
func (g *Guard) Refuse(r *capability.Request, reason capability.Reason) capability.Decision {
	return g.refuse(asker{policy: g.policy.Load()}, r, reason)
}

func (g *Guard) refuse(by asker, r *capability.Request, reason capability.Reason) capability.Decision {
	r = timed(r, g.config.Now())
	if reason.Malformed() {
		return g.once(judged{asker: by, r: r, d: capability.Deny(reason)}, 1)
	}
	return g.once(judged{asker: by, r: r, d: by.policy.Decide(r).Refused(reason)}, 1)
}

// Packet records n packets of a protocol that no enforcer speaks. Above a number of
// different ones a second, the rest is counted in one record. The zero AddrPort
// stands for packets of which nothing is known.
func (g *Guard) Packet(protocol string, to netip.AddrPort, n int64) capability.Decision {
	return g.packet(asker{policy: g.policy.Load()}, protocol, to, n)
}

func (g *Guard) packet(by asker, protocol string, to netip.AddrPort, n int64) capability.Decision {
	j := by.judge(packet(protocol, to))
	if !g.repeats.admitPacket(likenessOf(j)) {
		j.r = packet(protocol, netip.AddrPort{})
	}
	j.r.Time = g.config.Now()
	return g.once(j, n)
}

// Spend counts bytes that are about to pass under d. It is false when they must not
// pass, because they would go over a limit of the grant.
func (g *Guard) Spend(d capability.Decision, sent, received int64) bool {
	return d.Allowed() && d.Grant != nil && g.ledger.spend(d.Grant, sent, received)
}

// Finish records what happened after an allowing decision. It ignores others.
func (g *Guard) Finish(d capability.Decision, o capability.Outcome) { g.finish(d, o, "") }

func (g *Guard) finish(d capability.Decision, o capability.Outcome, call string) {
	if !d.Allowed() || d.ID == "" || d.Grant == nil {
		return
	}
	if o.Status == 404 || o.Status == 410 {
		g.ledger.miss(d.Grant)
	}
	g.totals.finished(d, o)
	g.used(d, o)
	rec := &Record{
		Event: Ended, Decision: d.ID, Call: call, Grant: d.Grant.Name, Status: o.Status, Sent: o.Sent, Received: o.Received,
		Stripped: o.Stripped, Digest: capped(o.Digest, maxWord), Placeholder: o.Placeholder, Took: o.Duration.Nanoseconds(), Error: capped(o.Error, maxSentence), Close: capped(o.Close, maxWord),
	}
	if o.Upstream.IsValid() {
		rec.Upstream = o.Upstream.String()
	}
	// An outcome that cannot be written is counted by the log as lost.
	_ = g.log.append(rec)
}

// Summary is what the run has done so far.
func (g *Guard) Summary() Summary {
	s := g.totals.summary(g.run, g.log.written.Load(), time.Duration(g.log.since()))
	s.Head, s.Unanchored = g.sealer.newest(), g.anchors.failures()
	return s
}

// Close ends the run: it writes the counts that are due and the last record, with
// the child's exit code. Everything asked afterwards is denied. It may be called once.
func (g *Guard) Close(exit int) error {
	g.end(capability.RunEnded)
	g.halt.Do(func() { close(g.stop) })
	<-g.stopped
	g.log.probe()
	g.repeats.flush(g.log.append)
	s := g.Summary()
	s.Exit = exit
	s.Head = ""
	err := g.log.close(&Record{Event: RunEnded, Reason: string(g.Cause()), Limit: s.endedBy(), Summary: &s}, g.sealer.last())
	return errors.Join(err, g.closeAnchors())
}
