package audit

import (
	"fmt"
	"net/netip"
	"testing"
	"time"

	"scupper.dev/scupper/capability"
)

// roles is the policy of grants in which the role "reader" has the API and nothing else.
func roles(t *testing.T) *capability.Policy {
	t.Helper()
	p, err := capability.Compile(grants(t, capability.Limits{}).Grants(), []capability.Role{{Name: "reader", Grants: []string{"api"}}})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestCallIsLinked(t *testing.T) {
	g := newGuard(t, func(c *Config) { c.Policy = roles(t) })
	first, second := g.Call("call-1", "reader"), g.Call("call-2", "reader")
	d := first.Authorize(ask(t, "GET", "api.example.com", "/repos/app"))
	if !d.Allowed() {
		t.Fatal(d.Reason)
	}
	first.Finish(d, capability.Outcome{Status: 200})
	if d := first.Authorize(ask(t, "GET", "a.cdn.example.com", "/repos/app")); d.Allowed() {
		t.Error("a grant that the role does not have")
	}
	for _, c := range []*Call{first, second} {
		if d := c.Authorize(lookUp("evil.example")); d.Allowed() {
			t.Error("a name without a grant")
		}
		if d := c.Refuse(lookUp("evil.example"), capability.MalformedName); d.Allowed() {
			t.Error("refused and allowed")
		}
		c.Packet("udp", netip.MustParseAddrPort("192.0.2.1:53"), 1)
		if err := c.Reached(Reached{Limit: "memory", Says: "it is used up", Ended: true}); err != nil {
			t.Error(err)
		}
	}
	if d := g.Authorize(lookUp("evil.example")); d.Allowed() {
		t.Error("a name without a grant")
	}
	count := map[string]int{}
	for _, r := range records(t, g) {
		if r.Event != RunStarted && r.Event != RunEnded {
			count[r.Call]++
		}
	}
	// Equal denials of two calls are two records.
	if want := map[string]int{"call-1": 7, "call-2": 4, "": 1}; fmt.Sprint(count) != fmt.Sprint(want) {
		t.Errorf("records by call: %v, want %v", count, want)
	}
	if limits := g.Summary().Limits; len(limits) > 0 {
		t.Errorf("the limits of a call count as the run's: %v", limits)
	}
}

func TestCallOfUnknownRole(t *testing.T) {
	g := newGuard(t, func(c *Config) { c.Policy = roles(t) })
	get := ask(t, "GET", "api.example.com", "/repos/app")
	c := g.Call("call-1", "writer")
	if d := c.Authorize(get); d.Allowed() || d.Reason == capability.AuditUnavailable {
		t.Errorf("got %s %s", d.Verdict(), d.Reason)
	}
	if n := len(c.Policy().Grants()); n != 0 {
		t.Errorf("%d grants", n)
	}
	reader := g.Call("call-2", "reader")
	if d := reader.Authorize(get); !d.Allowed() {
		t.Fatal(d.Reason)
	}
	// A policy that no longer has the role grants it nothing any more.
	if err := g.Replace(grants(t, capability.Limits{}), nil, ""); err != nil {
		t.Fatal(err)
	}
	if d := reader.Authorize(get); d.Allowed() {
		t.Error("allowed by a policy that is gone")
	}
}

// TestCallBudget lets one call flood the log: it ends, and the run does not.
func TestCallBudget(t *testing.T) {
	g := newGuard(t, func(c *Config) { c.Policy, c.Budget = roles(t), 100 })
	flood, other := g.Call("call-1", ""), g.Call("call-2", "")
	for i := range 50 {
		flood.Authorize(lookUp(fmt.Sprintf("n%d.example", i)))
	}
	select {
	case <-flood.Done():
	case <-time.After(time.Minute):
		t.Fatal("the call goes on")
	}
	if d := flood.Authorize(ask(t, "GET", "api.example.com", "/repos/app")); d.Allowed() || d.Reason != capability.RecordBudget {
		t.Errorf("got %s %s", d.Verdict(), d.Reason)
	}
	if d := other.Authorize(ask(t, "GET", "api.example.com", "/repos/app")); !d.Allowed() {
		t.Error(d.Reason)
	}
	select {
	case <-g.Done():
		t.Error("the run is over")
	case <-other.Done():
		t.Error("the other call is over")
	default:
	}
	all := records(t, g)
	if n := len(events(all, BudgetSpent)); n != 1 {
		t.Errorf("%d records of a spent budget", n)
	}
	if n := len(events(all, Decided)); n != 11 {
		t.Errorf("%d decisions on record, want 11", n)
	}
}
