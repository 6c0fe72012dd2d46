package capability

import (
	"fmt"
	"maps"
	"slices"
)

// Policy is a set of grants, compiled for deciding. It does not change. The zero
// Policy denies everything.
type Policy struct {
	grants []*Grant
	roles  map[string]Role
	tools  map[string]Tool // the registry
	exact  map[Host]*endpoints
	under  map[Host]*endpoints // wildcards, by the name after "*."

	placeholders []string // of the run's credentials
	spelt        []string // those, and what base64 makes of them
}

// endpoints are the granted ports of one host.
type endpoints struct {
	ports []endpoint
	first *Grant // that names the host
	until *Grant // that names it longest
}

type endpoint struct {
	port   uint16
	scheme Scheme
	grant  *Grant
	root   node
}

// Role is a named set of grants and tools.
type Role struct {
	Name     string
	Position Position
	Grants   []string
	Tools    []string
}

// Compile makes a Policy of grants and roles. It fails on what cannot be enforced
// whatever the syntax it came from: an endpoint with two schemes, two grants of one
// name, a role that names a grant which does not exist.
func Compile(grants []*Grant, roles []Role) (*Policy, error) {
	p := &Policy{
		grants: slices.Clone(grants),
		roles:  make(map[string]Role),
		exact:  make(map[Host]*endpoints),
		under:  make(map[Host]*endpoints),
	}
	names := make(map[string]bool)
	for _, g := range grants {
		if names[g.Name] {
			return nil, fmt.Errorf("%s: two grants are named %q", g.Position, g.Name)
		}
		names[g.Name] = true
		if err := p.add(g); err != nil {
			return nil, err
		}
	}
	for _, r := range roles {
		for _, name := range r.Grants {
			if !names[name] {
				return nil, fmt.Errorf("%s: role %q names grant %q, which does not exist", r.Position, r.Name, name)
			}
		}
		p.roles[r.Name] = r
	}
	return p, nil
}

func (p *Policy) add(g *Grant) error {
	index := p.exact
	if g.Host.Wildcard {
		index = p.under
	}
	h := index[g.Host.Name]
	if h == nil {
		h = &endpoints{first: g, until: g}
		index[g.Host.Name] = h
	}
	if !h.until.Expires.IsZero() && (g.Expires.IsZero() || g.Expires.After(h.until.Expires)) {
		h.until = g
	}
	if g.Scheme == HTTP && g.Credential.Mode != Anonymous {
		return fmt.Errorf("%s: grant %q sends a credential in clear", g.Position, g.Name)
	}
	e := h.at(g.Port)
	if e == nil {
		h.ports = append(h.ports, endpoint{port: g.Port, scheme: g.Scheme, grant: g})
		e = &h.ports[len(h.ports)-1]
	}
	if e.scheme != g.Scheme {
		return fmt.Errorf("%s: grant %q speaks %s to %s:%d, grant %q speaks %s", g.Position, g.Name, g.Scheme, g.Host, g.Port, e.grant.Name, e.scheme)
	}
	for _, a := range g.Allows {
		e.root.add(a.Path, leaf{g, a})
	}
	return nil
}

func (h *endpoints) at(port uint16) *endpoint {
	for i := range h.ports {
		if h.ports[i].port == port {
			return &h.ports[i]
		}
	}
	return nil
}

// ForRole is the policy of one role, and has that one only. The empty name means all grants.
func (p *Policy) ForRole(name string) (*Policy, error) {
	if name == "" {
		return p, nil
	}
	wanted, ok := p.roles[name]
	if !ok {
		return nil, fmt.Errorf("the policy has no role %q; it has %v", name, slices.Sorted(maps.Keys(p.roles)))
	}
	var grants []*Grant
	for _, g := range p.grants {
		if slices.Contains(wanted.Grants, g.Name) {
			grants = append(grants, g)
		}
	}
	of, err := Compile(grants, nil)
	if err != nil {
		return nil, err
	}
	of.placeholders, of.spelt, of.tools = p.placeholders, p.spelt, p.tools
	of.roles[name] = wanted
	return of, nil
}

// WithPlaceholders is p for one run, in which the sandbox has these placeholders, by
// the names of their credentials.
func (p *Policy) WithPlaceholders(placeholders map[string]string) (*Policy, error) {
	grants := make([]*Grant, len(p.grants))
	for i, g := range p.grants {
		own := *g
		if own.Credential.Mode == Bound {
			own.Credential.placeholder = placeholders[own.Credential.Name]
		}
		grants[i] = &own
	}
	run, err := Compile(grants, nil)
	if err != nil {
		return nil, err
	}
	run.roles, run.tools = p.roles, p.tools
	for _, text := range placeholders {
		if text != "" {
			run.placeholders = append(run.placeholders, text)
			run.spelt = append(append(run.spelt, text), inBase64(text)...)
		}
	}
	slices.Sort(run.placeholders)
	return run, nil
}

// Placeholders lists those that the run has.
func (p *Policy) Placeholders() []string { return slices.Clone(p.placeholders) }

// Grants lists the grants in the order of the policy.
func (p *Policy) Grants() []*Grant { return slices.Clone(p.grants) }

// Ports lists the ports of all grants, in ascending order.
func (p *Policy) Ports() []uint16 {
	seen := make(map[uint16]bool)
	for _, g := range p.grants {
		seen[g.Port] = true
	}
	return slices.Sorted(maps.Keys(seen))
}

// Endpoint reports how a granted port of h is spoken to; ok is false when no grant
// covers it. It says nothing about any request.
func (p *Policy) Endpoint(h Host, port uint16) (scheme Scheme, ok bool) {
	exact, under := p.lookup(h)
	for _, hosts := range [...]*endpoints{exact, under} {
		if hosts == nil {
			continue
		}
		if e := hosts.at(port); e != nil {
			return e.scheme, true
		}
	}
	return "", false
}

func (p *Policy) lookup(h Host) (exact, under *endpoints) {
	exact = p.exact[h]
	if len(p.under) > 0 {
		if up, ok := h.parent(); ok {
			under = p.under[up]
		}
	}
	return exact, under
}
