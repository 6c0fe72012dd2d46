package retrial

import (
	"cmp"
	"fmt"
	"reflect"
	"strings"

	"scupper.dev/scupper/audit"
	"scupper.dev/scupper/capability"
	"scupper.dev/scupper/capability/policyfile"
)

// Config says which log meets which policy.
type Config struct {
	Dir     string // of the runs' logs, verified before
	Policy  *policyfile.File
	Version string // of scupper; what presets grant is known for this one only
}

// Trial judges logs. It is not for concurrent use.
type Trial struct {
	config Config
	issues string
	values values
	roles  map[string]*court
	report Report
	groups map[string]*Group
}

// New makes a Trial.
func New(c Config) *Trial {
	return &Trial{config: c, issues: issuesOf(c.Policy.Policy), values: make(values), roles: make(map[string]*court), groups: make(map[string]*Group)}
}

// issuesOf is what the answers under p hand out, in one text.
func issuesOf(p *capability.Policy) string {
	var b strings.Builder
	for _, g := range p.Grants() {
		for _, a := range g.Allows {
			if a.Issues != nil {
				rule := *a.Issues
				rule.Position = capability.Position{}
				fmt.Fprintf(&b, "%s:%d %v %s %+v\n", g.Host, g.Port, a.Methods, a.Path, rule)
			}
		}
	}
	return b.String()
}

// court is the new policy as a role has it, by host.
type court struct {
	policy *capability.Policy
	exact  map[capability.Host][]*capability.Grant
	under  map[capability.Host][]*capability.Grant
}

// court: a role that the new policy does not have is granted nothing.
func (t *Trial) court(role string) *court {
	if c := t.roles[role]; c != nil {
		return c
	}
	p, err := t.config.Policy.Policy.ForRole(role)
	if err != nil {
		p = new(capability.Policy)
		t.note("the new policy has no role %q: what it asked for is denied", role)
	}
	c := &court{policy: p, exact: make(map[capability.Host][]*capability.Grant), under: make(map[capability.Host][]*capability.Grant)}
	for _, g := range p.Grants() {
		index := c.exact
		if g.Host.Wildcard {
			index = c.under
		}
		index[g.Host.Name] = append(index[g.Host.Name], g)
	}
	t.roles[role] = c
	return c
}

// judge is what the new policy says of r, limits left out.
func (t *Trial) judge(r *request, role string) finding {
	kind := capability.Kind(r.Kind)
	switch {
	case kind == capability.KindTool:
		return t.tool(r)
	case outside(r):
		return denied(r.reasonThen)
	case kind == capability.KindPacket:
		return t.packet(r)
	}
	c := t.court(role)
	if kind != capability.KindHTTP {
		return c.decided(r)
	}
	return t.http(r, c)
}

// outside reports whether r was refused for its form or for the state of the run, which
// no policy would have changed.
func outside(r *request) bool {
	if r.permitted {
		return false
	}
	switch reason := r.reasonThen; reason {
	case capability.AuthorityMismatch, capability.TooSlow, capability.CredentialUnavailable, capability.MetadataAddress,
		capability.OwnListener, capability.AuditUnavailable, capability.RecordBudget, capability.RunEnded, capability.MethodOverride:
		return true
	case capability.LimitExceeded:
		return !ofGrant(r.Limit)
	default:
		return reason.Malformed()
	}
}

func ofGrant(limit string) bool {
	switch limit {
	case "requests", "upload", "download", "misses", "rate", "names":
		return true
	}
	return false
}

// packet: a TCP port that the new policy uses would have been a connection.
func (t *Trial) packet(r *request) finding {
	p := t.config.Policy.Policy
	d := p.Decide(&capability.Request{Kind: capability.KindPacket, Protocol: r.Protocol})
	if r.Protocol != "tcp" {
		return denied(d.Reason)
	}
	for _, port := range p.Ports() {
		if port == r.Port {
			return depends(nil, NameBehind)
		}
	}
	return denied(d.Reason)
}

// decided is for names and connections, of which everything is on record.
func (c *court) decided(r *request) finding {
	d := c.policy.Decide(r.plain())
	if !d.Allowed() {
		return finding{reason: d.Reason, grant: d.Grant}
	}
	if !r.permitted && r.reasonThen == capability.ProtocolNotGranted {
		scheme, _ := c.policy.Endpoint(capability.Host(r.Host), r.Port)
		if was, ok := r.scheme(); ok && was == scheme {
			return finding{reason: r.reasonThen, grant: d.Grant}
		}
		return depends(d.Grant, Missing("what was spoken on the connection"))
	}
	return allowed(d.Grant, nil)
}

// scheme is how the old policy spoke to the port.
func (r *request) scheme() (capability.Scheme, bool) {
	if r.under == nil {
		return "", false
	}
	return r.under.file.Policy.Endpoint(capability.Host(r.Host), r.Port)
}

// http looks for the allow blocks whose host, port and path fit, as a decision does.
func (t *Trial) http(r *request, c *court) finding {
	d := c.policy.Decide(r.plain()) // exact as far as the path
	f := finding{reason: d.Reason, grant: d.Grant, allow: d.Allow}
	if f.reason == capability.Granted {
		f.reason = capability.PathNotGranted
	}
	host := capability.Host(r.Host)
	_, parent, _ := strings.Cut(r.Host, ".")
	for _, grants := range [...][]*capability.Grant{c.exact[host], c.under[capability.Host(parent)]} {
		for _, g := range grants {
			if g.Port != r.Port || !g.Host.Match(host) {
				continue
			}
			if g.Scheme != capability.Scheme(r.Scheme) {
				f.reason, f.rank = cmp.Or(reasonOf(f), capability.ProtocolNotGranted), max(f.rank, 1)
				return t.settled(r, f)
			}
			if f = t.grant(r, g, f); f.answer == yes {
				return t.settled(r, f)
			}
		}
	}
	return t.settled(r, f)
}

func reasonOf(f finding) capability.Reason {
	if f.rank > 0 {
		return f.reason
	}
	return capability.Undecided
}

func (t *Trial) grant(r *request, g *capability.Grant, f finding) finding {
	if r.cut {
		return f.or(depends(g, WholePath))
	}
	if r.Path == "" && (r.Method == "CONNECT" || r.Method == "TRACE") {
		return f
	}
	if r.Path == "" {
		return f.or(depends(g, Missing("the path")))
	}
	for _, a := range g.Allows {
		if !r.keyed && !a.Path.Match(r.path) {
			continue
		}
		if f = f.or(t.leaf(r, g, a)); f.answer == yes {
			return f
		}
	}
	return f
}

// settled: an upgrade to anything but a WebSocket is refused under every policy, and has
// the reason of a port with another scheme.
func (t *Trial) settled(r *request, f finding) finding {
	if f.answer == no || r.permitted || r.reasonThen != capability.ProtocolNotGranted || r.Upgrade {
		return f
	}
	if was, ok := r.scheme(); ok && was != capability.Scheme(r.Scheme) {
		return f
	}
	return finding{reason: capability.ProtocolNotGranted, grant: f.grant}
}

// tool judges a call by role and registry. What its arguments had to fit, and whether it
// was approved, is the same where the policies tune the tool in the same way.
func (t *Trial) tool(r *request) finding {
	if r.Tool == nil || r.reasonThen == capability.CallerUnknown {
		return denied(r.reasonThen)
	}
	ask := r.plain()
	ask.Tool = capability.ToolCall{Name: r.Tool.Name, Role: r.Tool.Role}
	d := t.config.Policy.Policy.Decide(ask)
	if !d.Allowed() {
		return denied(d.Reason)
	}
	same := r.under != nil && reflect.DeepEqual(toolOf(r.under.file, r.Tool.Name), toolOf(t.config.Policy, r.Tool.Name))
	switch listed := r.reasonThen == capability.ToolNotGranted || r.reasonThen == capability.ToolDisabled || r.reasonThen == capability.ToolUnknown; {
	case r.permitted && same:
		return allowed(nil, nil)
	case !r.permitted && !listed && same:
		return denied(r.reasonThen)
	}
	return depends(nil, Arguments)
}

// toolOf is what a policy says of a tool, wherever it says it.
func toolOf(f *policyfile.File, name string) any {
	for _, tool := range f.Tools {
		if tool.Name == name {
			tool.Position = capability.Position{}
			tool.Input = nil // its text is compared
			return tool
		}
	}
	return nil
}

func (t *Trial) note(format string, args ...any) {
	t.report.Notes = append(t.report.Notes, audit.Printable(fmt.Sprintf(format, args...)))
}
