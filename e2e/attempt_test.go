package e2e

import (
	"encoding/json"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"scupper.dev/scupper/replay"
)

// attempt is what came of running one client: what it saw, what the far side
// received, and what the log says.
type attempt struct {
	t      testing.TB
	client client
	took   time.Duration

	exit           int
	stdout, stderr string
	status         int    // 0 if the client got no answer
	version        string // "1.1", "2"
	body           string

	received    []replay.Exchange
	queries     []replay.Query
	connections []replay.Connection
	packets     []replay.Packet

	audit  string // where the log is
	log    auditLog
	looked map[string]bool
}

// The three things that a test of an attack must look at.
const (
	clientView = "the client's view"
	farSide    = "the far side"
	theLog     = "the log"
)

func (a *attempt) unseen() []string {
	return slices.DeleteFunc([]string{clientView, farSide, theLog}, func(s string) bool { return a.looked[s] })
}

// String is the command.
func (a *attempt) String() string { return strings.Join(a.client.argv, " ") }

// parse takes the last line of an HTTP client apart.
func (a *attempt) parse() {
	out := strings.TrimSuffix(a.stdout, "\n")
	cut := strings.LastIndexByte(out, '\n')
	if !a.client.http || cut < 0 {
		return
	}
	status, version, _ := strings.Cut(out[cut+1:], " ")
	a.body, a.version = strings.TrimSuffix(out[:cut], "\n"), version
	a.status, _ = strconv.Atoi(status)
}

func (a *attempt) collect(inet *replay.Internet) {
	packets, err := inet.Packets()
	if err != nil {
		a.t.Fatal(err)
	}
	a.packets, a.received, a.queries, a.connections = packets, inet.Received(), inet.Queries(), inet.Connections()
}

func (a *attempt) errorf(format string, args ...any) {
	a.t.Helper()
	a.t.Errorf("%s: %s\nexit %d\nstdout: %s\nstderr: %s\nlog: %s", a, fmt.Sprintf(format, args...), a.exit, a.stdout, a.stderr, a.log)
}

// wantExit looks at the client's exit code.
func (a *attempt) wantExit(code int) *attempt {
	a.t.Helper()
	a.looked[clientView] = true
	if a.exit != code {
		a.errorf("exit code %d, want %d", a.exit, code)
	}
	return a
}

// wantFailure looks for any exit code but 0.
func (a *attempt) wantFailure() *attempt {
	a.t.Helper()
	a.looked[clientView] = true
	if a.exit == 0 {
		a.errorf("the command succeeded")
	}
	return a
}

// wantStdout looks for a text in what the client printed.
func (a *attempt) wantStdout(text string) *attempt {
	a.t.Helper()
	a.looked[clientView] = true
	if !strings.Contains(a.stdout, text) {
		a.errorf("%q is not in standard output", text)
	}
	return a
}

// wantStderr looks for a text in what the client and scupper said.
func (a *attempt) wantStderr(text string) *attempt {
	a.t.Helper()
	if !strings.Contains(a.stderr, text) {
		a.errorf("%q is not in standard error", text)
	}
	return a
}

// wantStatus looks at the HTTP status that the client got.
func (a *attempt) wantStatus(status int) *attempt {
	a.t.Helper()
	a.looked[clientView] = true
	if a.status != status {
		a.errorf("status %d, want %d", a.status, status)
	}
	return a
}

// wantVersion looks at the HTTP version that the client spoke: "1.1" or "2".
func (a *attempt) wantVersion(version string) *attempt {
	a.t.Helper()
	if a.version != version {
		a.errorf("HTTP version %q, want %q", a.version, version)
	}
	return a
}

// farSide looks for exactly these requests at the far side, each written as
// "GET https://host/target", in any order, and for no name, packet or connection
// that they do not explain.
func (a *attempt) farSide(want ...string) *attempt {
	a.t.Helper()
	a.looked[farSide] = true
	got, hosts := []string{}, map[string]bool{}
	for _, e := range a.received {
		scheme := "http"
		if e.TLS {
			scheme = "https"
		}
		got = append(got, fmt.Sprintf("%s %s://%s%s", e.Method, scheme, e.Host, e.URI))
		hosts[hostOf(e.Host)] = true
	}
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(append([]string{}, want...), got); diff != "" {
		a.errorf("the far side received other requests (-want +got):\n%s", diff)
	}
	for _, q := range a.queries {
		if !hosts[q.Name] {
			a.errorf("the far side was asked for %s %s", q.Name, q.Type)
		}
	}
	a.wantExplained()
	return a
}

func hostOf(authority string) string {
	if host, _, err := net.SplitHostPort(authority); err == nil {
		return host
	}
	return authority
}

// wantExplained allows TCP and questions to port 53; QUIC, ICMP and the rest have no
// place in an exchange.
func (a *attempt) wantExplained() {
	a.t.Helper()
	to := map[string]bool{}
	for _, e := range a.received {
		to[e.Destination.String()] = true
	}
	for _, p := range a.packets {
		if p.Destination.Port() != 53 && !to[p.Destination.String()] {
			a.errorf("a %s packet to %s reached the far side", p.Protocol, p.Destination)
		}
	}
}

// farSideNoRequest looks for no request at the far side; it may have been asked for
// the hosts, and connections to them may have been opened: a bad certificate is only
// seen then.
func (a *attempt) farSideNoRequest(hosts ...string) *attempt {
	a.t.Helper()
	a.looked[farSide] = true
	for _, e := range a.received {
		a.errorf("the far side received %s %s%s", e.Method, e.Host, e.URI)
	}
	for _, q := range a.queries {
		if !slices.Contains(hosts, q.Name) {
			a.errorf("the far side was asked for %s %s", q.Name, q.Type)
		}
	}
	return a
}

// farSideNames looks for nothing at the far side but questions for the hosts.
func (a *attempt) farSideNames(hosts ...string) *attempt {
	a.t.Helper()
	a.farSideNoRequest(hosts...)
	for _, p := range a.packets {
		if p.Destination.Port() != 53 {
			a.errorf("a %s packet to %s reached the far side", p.Protocol, p.Destination)
		}
	}
	for _, c := range a.connections { // the packets do not show those to loopback
		if c.Destination.Port() != 53 {
			a.errorf("the far side accepted a connection to %s", c.Destination)
		}
	}
	return a
}

// farSideNothing looks for nothing at all at the far side: no request, no name, no
// connection, no packet.
func (a *attempt) farSideNothing() *attempt {
	a.t.Helper()
	a.looked[farSide] = true
	for _, e := range a.received {
		a.errorf("the far side received %s %s%s", e.Method, e.Host, e.URI)
	}
	for _, q := range a.queries {
		a.errorf("the far side was asked for %s %s", q.Name, q.Type)
	}
	for _, c := range a.connections {
		a.errorf("the far side accepted a connection to %s", c.Destination)
	}
	for _, p := range a.packets {
		a.errorf("a %s packet to %s reached the far side", p.Protocol, p.Destination)
	}
	return a
}

// wantReason looks for exactly one denial in the log, with this reason. Equal ones
// that were only counted belong to it. If the client got a problem document, its
// reason must be the same.
func (a *attempt) wantReason(reason string) *attempt {
	a.t.Helper()
	a.looked[theLog] = true
	denials := a.log.denials()
	if len(denials) != 1 || denials[0].Reason != reason {
		a.errorf("%d denials in the log, want one for %q:\n%s", len(denials), reason, denials)
		return a
	}
	if a.status >= 400 && a.status < 500 {
		a.wantProblem(denials[0])
	}
	return a
}

// wantReasons looks for exactly these denials in the log, in any order, each written
// as "kind reason host", the host empty where the record has none.
func (a *attempt) wantReasons(want ...string) *attempt {
	a.t.Helper()
	a.looked[theLog] = true
	got := []string{}
	for _, d := range a.log.denials() {
		got = append(got, strings.TrimSpace(d.Kind+" "+d.Reason+" "+d.Host))
	}
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(append([]string{}, want...), got); diff != "" {
		a.errorf("other denials in the log (-want +got):\n%s", diff)
	}
	return a
}

func (a *attempt) wantProblem(denial record) {
	a.t.Helper()
	var p struct{ Type, Reason, ID string }
	if err := json.Unmarshal([]byte(a.body), &p); err != nil {
		a.errorf("the body is no problem document: %v", err)
		return
	}
	if p.Type == "" || p.Reason != denial.Reason || p.ID != denial.ID {
		a.errorf("problem document of type %q, reason %q and decision %q, want reason %q and decision %q", p.Type, p.Reason, p.ID, denial.Reason, denial.ID)
	}
}

// wantAllowed looks for n allowed HTTP requests in the log, each with one outcome, and
// no denial.
func (a *attempt) wantAllowed(n int) *attempt {
	a.t.Helper()
	a.looked[theLog] = true
	allowed := a.log.allowed("http")
	if len(allowed) != n || len(a.log.denials()) != 0 {
		a.errorf("%d allowed and %d denied in the log, want %d and 0", len(allowed), len(a.log.denials()), n)
	}
	for _, d := range allowed {
		if got := a.log.outcomes(d.ID); len(got) != 1 {
			a.errorf("decision %s has %d outcomes, want 1", d.ID, len(got))
		}
	}
	return a
}

// refused looks at the three things at once: the client got this status with a
// problem document, the far side nothing, the log one record with this reason.
func (a *attempt) refused(status int, reason string) *attempt {
	a.t.Helper()
	return a.wantStatus(status).wantReason(reason).farSideNothing()
}

// within looks at how long the whole run took.
func (a *attempt) within(limit time.Duration) *attempt {
	a.t.Helper()
	if a.took > limit {
		a.errorf("took %v, want at most %v", a.took, limit)
	}
	return a
}
