package audit

import (
	"net/netip"
	"sync"
	"sync/atomic"

	"scupper.dev/scupper/capability"
)

// shareOfCall is the part of a run's records that one call may write: a tenth. A command
// that fills the log ends with its call, and the run goes on.
const shareOfCall = 10

// A Call is the guard as the sandbox of one tool call meets it. Requests are judged by
// the grants of the role that called, and each record has the ID of the call. The limits
// of the grants are the run's. Its methods are safe for concurrent use.
type Call struct {
	guard *Guard
	id    string
	role  string
	left  atomic.Int64 // records
	spent sync.Once
	over  chan struct{}
	cache atomic.Pointer[ofRole]
}

// ofRole is what a role has of a policy.
type ofRole struct {
	whole *inForce
	own   *inForce
}

// Call is the guard for the sandbox of the tool call with that ID, made by role; the
// empty role has all grants. A role that the policy in force does not have is granted
// nothing.
func (g *Guard) Call(id, role string) *Call {
	c := &Call{guard: g, id: id, role: role, over: make(chan struct{})}
	c.left.Store(max(1, g.config.Budget/shareOfCall))
	return c
}

// inForce is the policy that the call is judged by now.
func (c *Call) inForce() *inForce {
	whole := c.guard.policy.Load()
	if known := c.cache.Load(); known != nil && known.whole == whole {
		return known.own
	}
	p, err := whole.ForRole(c.role)
	if err != nil {
		p = new(capability.Policy)
	}
	own := &inForce{Policy: p, hash: whole.hash}
	c.cache.Store(&ofRole{whole, own})
	return own
}

// Policy is what the role has of the policy in force now.
func (c *Call) Policy() *capability.Policy { return c.inForce().Policy }

// Authorize is as that of the Guard.
func (c *Call) Authorize(r *capability.Request) capability.Decision {
	return c.guard.authorize(asker{c.inForce(), c}, r)
}

// Refuse is as that of the Guard.
func (c *Call) Refuse(r *capability.Request, reason capability.Reason) capability.Decision {
	return c.guard.refuse(asker{c.inForce(), c}, r, reason)
}

// Packet is as that of the Guard.
func (c *Call) Packet(protocol string, to netip.AddrPort, n int64) capability.Decision {
	return c.guard.packet(asker{c.inForce(), c}, protocol, to, n)
}

// Spend is as that of the Guard.
func (c *Call) Spend(d capability.Decision, sent, received int64) bool {
	return c.guard.Spend(d, sent, received)
}

// Finish is as that of the Guard.
func (c *Call) Finish(d capability.Decision, o capability.Outcome) { c.guard.finish(d, o, c.id) }

// Reached records that the command of the call came up against a limit of its sandbox.
func (c *Call) Reached(r Reached) error {
	return c.guard.log.append(&Record{Event: LimitReached, Call: c.id, Limit: r.Limit, Says: r.Says})
}

// Done is closed when the call has written its share of the records and must end.
func (c *Call) Done() <-chan struct{} { return c.over }

// take counts one record; false: there is none left for this call.
func (c *Call) take() bool {
	if c == nil || c.left.Add(-1) >= 0 {
		return true
	}
	c.spent.Do(func() {
		_ = c.guard.log.append(&Record{Event: BudgetSpent, Call: c.id, Reason: string(capability.RecordBudget)})
		close(c.over)
	})
	return false
}

// asker is who asks the guard and by which policy that is judged.
type asker struct {
	policy *inForce
	call   *Call // nil: the command of the run itself
}

func (a asker) judge(r *capability.Request) judged {
	return judged{asker: a, r: r, d: a.policy.Decide(r)}
}

// callID is empty for the command of the run itself.
func (a asker) callID() string {
	if a.call == nil {
		return ""
	}
	return a.call.id
}
