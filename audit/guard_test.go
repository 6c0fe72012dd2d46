package audit

import (
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"scupper.dev/scupper/capability"
)

const policyText = `grant "api" {
  host = "api.example.com"
  allow { path = "/repos/{repo}" }
}
`

func template(t testing.TB, text string) *capability.Template {
	t.Helper()
	p, err := capability.ParseTemplate(text, nil)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// grants is a policy with one GET at api.example.com and one below a wildcard.
func grants(t testing.TB, limits capability.Limits) *capability.Policy {
	t.Helper()
	at := func(line int) capability.Position {
		return capability.Position{File: "policy.hcl", Line: line, Column: 3}
	}
	allow := func() []*capability.Allow {
		return []*capability.Allow{{
			Position: at(3), Methods: []string{"GET"}, Path: template(t, "/repos/{repo}"),
			Query: capability.QueryRule{Parameters: []capability.ParameterRule{
				{Name: "state", Value: capability.OneOf("open", "closed")}, {Name: "q", Value: capability.Slug()},
			}},
		}}
	}
	anonymous := capability.Credential{Mode: capability.Anonymous}
	p, err := capability.Compile([]*capability.Grant{
		{Name: "api", Position: at(1), Host: capability.HostPattern{Name: "api.example.com"}, Port: 443, Scheme: capability.HTTPS, Credential: anonymous, Limits: limits, Allows: allow()},
		{Name: "cdn", Position: at(1), Host: capability.HostPattern{Name: "cdn.example.com", Wildcard: true}, Port: 443, Scheme: capability.HTTPS, Credential: anonymous, Limits: limits, Allows: allow()},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func ask(t testing.TB, method, host, target string) *capability.Request {
	t.Helper()
	rawPath, rawQuery, _ := strings.Cut(target, "?")
	path, err := capability.ParsePath(rawPath)
	if err != nil {
		t.Fatal(err)
	}
	query, err := capability.ParseQuery(rawQuery)
	if err != nil {
		t.Fatal(err)
	}
	return &capability.Request{
		Kind: capability.KindHTTP, Host: capability.Host(host), Port: 443, Scheme: capability.HTTPS,
		Method: method, Path: path, Query: query, Front: capability.Transparent, Protocol: "HTTP/1.1",
	}
}

func lookUp(host string) *capability.Request {
	return &capability.Request{Kind: capability.KindName, Host: capability.Host(host), Protocol: "A"}
}

// newGuard starts a run in a folder of its own that the test's end closes.
func newGuard(t testing.TB, change func(*Config)) *Guard {
	t.Helper()
	c := Config{
		Dir: t.TempDir(), Policy: grants(t, capability.Limits{}), PolicyText: []byte(policyText), PolicyPath: "policy.hcl",
		Command: []string{"npm", "ci"}, Version: "test", FlushEvery: time.Hour,
	}
	if change != nil {
		change(&c)
	}
	g, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.Close(0) })
	return g
}

// records reads the log of g and checks what holds of every log: one sequence without
// gaps, time that does not go back.
func records(t testing.TB, g *Guard) []*Record {
	t.Helper()
	var out []*Record
	for r, err := range Records(g.config.Dir, g.run) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, r)
		if r.Seq != int64(len(out)) || len(out) > 1 && r.Mono < out[len(out)-2].Mono {
			t.Fatalf("record %d has sequence %d and mono %d", len(out), r.Seq, r.Mono)
		}
	}
	return out
}

func events(records []*Record, e Event) []*Record {
	var out []*Record
	for _, r := range records {
		if r.Event == e {
			out = append(out, r)
		}
	}
	return out
}

func TestAuthorize(t *testing.T) {
	g := newGuard(t, nil)
	d := g.Authorize(ask(t, "GET", "api.example.com", "/repos/%61pp?state=open&q=topsecret"))
	if !d.Allowed() || d.ID != g.Run()+"-2" {
		t.Fatalf("got %s %s, ID %q", d.Verdict(), d.Reason, d.ID)
	}
	on := events(records(t, g), Decided)
	if len(on) != 1 || on[0].ID != d.ID || on[0].Verdict != "allow" || on[0].Path != "/repos/app" || on[0].Grant != "api" || on[0].Position != "policy.hcl:3:3" {
		t.Fatalf("got %+v", on)
	}
	if q := on[0].Query; q[0] != (Parameter{"state", "open", 4}) || q[1] != (Parameter{"q", "…", 9}) {
		t.Errorf("query is %v", q)
	}
	g.Finish(d, capability.Outcome{Status: 200, Sent: 10, Received: 20, Upstream: netip.MustParseAddrPort("203.0.113.1:443")})
	deny := g.Authorize(ask(t, "PUT", "api.example.com", "/repos/app"))
	if deny.Allowed() || deny.Reason != capability.MethodNotGranted || deny.ID == "" {
		t.Errorf("got %s %s", deny.Verdict(), deny.Reason)
	}
	if err := g.Close(3); err != nil {
		t.Fatal(err)
	}
	all := records(t, g)
	last := all[len(all)-1]
	if last.Event != RunEnded || last.Summary.Requests != 2 || last.Summary.Refused != 1 || last.Summary.Sent != 10 || last.Summary.Exit != 3 {
		t.Errorf("last record is %+v %+v", last, last.Summary)
	}
	if d := g.Authorize(ask(t, "GET", "api.example.com", "/repos/app")); d.Allowed() || d.Reason != capability.RunEnded {
		t.Errorf("after the end: %s %s", d.Verdict(), d.Reason)
	}
}

func TestZeroPolicyDenies(t *testing.T) {
	g := newGuard(t, func(c *Config) { c.Policy = nil })
	if d := g.Authorize(ask(t, "GET", "api.example.com", "/repos/app")); d.Allowed() || d.Reason != capability.NoGrant {
		t.Errorf("got %s %s", d.Verdict(), d.Reason)
	}
}

func TestModes(t *testing.T) {
	g := newGuard(t, nil)
	for path, want := range map[string]os.FileMode{".": 0o700, "000001.jsonl": 0o600} {
		info, err := os.Stat(filepath.Join(g.config.Dir, g.run, path))
		if err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v %v, want %o", path, info.Mode(), err, want)
		}
	}
}

func TestRepeats(t *testing.T) {
	g := newGuard(t, nil)
	first := g.Authorize(ask(t, "GET", "other.example.com", "/x"))
	for range 4 {
		if d := g.Authorize(ask(t, "GET", "other.example.com", "/x")); d.ID != first.ID || d.Allowed() {
			t.Fatalf("got %q, want %q", d.ID, first.ID)
		}
	}
	g.Authorize(ask(t, "POST", "other.example.com", "/x"))
	for range 3 {
		if d := g.Authorize(lookUp("api.example.com")); !d.Allowed() {
			t.Fatal(d.Reason)
		}
	}
	for range 3 {
		if d := g.Authorize(ask(t, "GET", "api.example.com", "/repos/app")); !d.Allowed() {
			t.Fatal(d.Reason)
		}
	}
	g.Close(0)
	all := records(t, g)
	if n := len(events(all, Decided)); n != 6 {
		t.Errorf("%d decisions on record, want 2 denials, 1 name, 3 requests", n)
	}
	repeated := events(all, Repeated)
	if len(repeated) != 2 || repeated[0].Decision != first.ID || repeated[0].Count != 4 || repeated[1].Count != 2 {
		t.Errorf("repeated: %+v", repeated)
	}
	f, err := Find(g.config.Dir, first.ID)
	if err != nil || f.Times != 5 {
		t.Errorf("found %+v, %v", f, err)
	}
	if s := g.Summary(); s.Refused != 6 || s.Causes[0].Count != 5 || s.Causes[0].ID != first.ID {
		t.Errorf("summary: %+v", s)
	}
}

func TestPackets(t *testing.T) {
	g := newGuard(t, nil)
	to := netip.MustParseAddrPort("203.0.113.9:25")
	for range 10 {
		g.Packet("tcp", to, 1)
	}
	for port := range uint16(200) {
		g.Packet("udp", netip.AddrPortFrom(to.Addr(), 1000+port), 1)
	}
	g.Packet("", netip.AddrPort{}, 7)
	g.Close(0)
	all := records(t, g)
	if n := len(events(all, Decided)); n > maxPackets+2 || n < maxPackets {
		t.Errorf("%d records of packets", n)
	}
	if s := g.Summary(); s.Refused != 217 {
		t.Errorf("%d refused, want 217", s.Refused)
	}
	var sum int64
	for _, r := range all {
		switch r.Event {
		case Decided:
			sum++
		case Repeated:
			sum += r.Count
		}
	}
	if sum != 217 {
		t.Errorf("the log accounts for %d packets, want 217", sum)
	}
}

func TestBudget(t *testing.T) {
	g := newGuard(t, func(c *Config) { c.Budget = 10 })
	allowed := 0
	for range 20 {
		d := g.Authorize(ask(t, "GET", "api.example.com", "/repos/app"))
		if d.Allowed() {
			allowed++
		} else if d.Reason != capability.RecordBudget {
			t.Fatal(d.Reason)
		}
	}
	if allowed != 9 {
		t.Errorf("%d allowed, want 9 after the first record", allowed)
	}
	select {
	case <-g.Done():
	default:
		t.Error("the run does not end")
	}
	g.Close(0)
	all := records(t, g)
	if len(events(all, BudgetSpent)) != 1 || all[len(all)-1].Reason != string(capability.RecordBudget) {
		t.Errorf("last records: %+v", all[len(all)-2:])
	}
}

// AUD-08
func TestConcurrent(t *testing.T) {
	g := newGuard(t, func(c *Config) { c.FlushEvery = 5 * time.Millisecond })
	ids := make(chan string, 64*20)
	var wg sync.WaitGroup
	for range 64 {
		wg.Go(func() {
			for range 20 {
				d := g.Authorize(ask(t, "GET", "api.example.com", "/repos/app"))
				g.Finish(d, capability.Outcome{Status: 200})
				g.Authorize(ask(t, "GET", "no.example.com", "/"))
				ids <- d.ID
			}
		})
	}
	wg.Wait()
	close(ids)
	g.Close(0)
	seen := make(map[string]bool)
	for id := range ids {
		if id == "" || seen[id] {
			t.Fatalf("ID %q twice", id)
		}
		seen[id] = true
	}
	all := records(t, g)
	if n := len(events(all, Decided)); n != 64*20+1 {
		t.Errorf("%d decisions", n)
	}
	if n := len(events(all, Ended)); n != 64*20 {
		t.Errorf("%d outcomes", n)
	}
}
