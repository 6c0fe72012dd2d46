package policyfile

import (
	"fmt"
	"math"
	"net/netip"

	"github.com/hashicorp/hcl/v2"

	"scupper.dev/scupper/capability"
)

func (p *parser) grant(b *hcl.Block) {
	name, at := p.label(b)
	p.claim(name, at)
	content := p.content(b.Body, grantBlock)
	d := declared{name: at, host: at, Grant: &capability.Grant{Name: name, Position: p.position(b.DefRange.Start)}}
	d.Scheme = p.scheme(content)
	d.Port = p.port(content, d.Scheme)
	p.grantHost(&d, content, b)
	d.Credential = p.credential(content, b, d.Scheme)
	p.words(d.Grant, content, b)
	p.limits(d.Grant, content)
	p.laterParts(content)
	p.allows(d.Grant, content, b)
	p.checkCredential(d.Grant, at)
	p.grants = append(p.grants, d)
}

// claim takes a name for a grant.
func (p *parser) claim(name string, at hcl.Range) {
	if first, taken := p.names[name]; taken {
		p.fail(at, fmt.Sprintf("two grants are named %q", name), "the first is at "+p.place(first)+": rename one; a preset is renamed with `as`")
		return
	}
	p.names[name] = at
}

func (p *parser) grantHost(d *declared, content *hcl.BodyContent, b *hcl.Block) {
	a := content.Attributes["host"]
	if a == nil {
		p.fail(b.DefRange, "the grant names no host", `write host = "api.example.com"`)
		return
	}
	d.host = a.Expr.Range()
	host, ok := p.host(a.Expr)
	if !ok {
		return
	}
	d.Host = host
	d.Networks = p.grantNetworks(content)
	p.checkReachable(host, d.Networks, d.host)
}

func (s *source) grantNetworks(content *hcl.BodyContent) (n []netip.Prefix) {
	if a := content.Attributes["networks"]; a != nil {
		return s.networks(a.Expr)
	}
	return nil
}

// checkReachable remarks on an address that no request would get to.
func (s *source) checkReachable(host capability.HostPattern, networks []netip.Prefix, at hcl.Range) {
	addr, literal := host.Name.Addr()
	if !literal || capability.CheckAddress(addr, networks, nil) == capability.Granted {
		return
	}
	s.warn(at, "the address is not public", fmt.Sprintf(`it stays unreachable until the grant says networks = ["%s/%d"]`, addr, addr.BitLen()))
}

func (s *source) scheme(content *hcl.BodyContent) capability.Scheme {
	a := content.Attributes["scheme"]
	if a == nil {
		return capability.HTTPS
	}
	v, ok := s.word(a.Expr)
	switch capability.Scheme(v) {
	case capability.HTTPS, capability.HTTP:
		return capability.Scheme(v)
	}
	if ok {
		s.fail(a.Expr.Range(), fmt.Sprintf("%q is not a scheme", v), `write scheme = "https", which is what it is without, or "http"`)
	}
	return capability.HTTPS
}

func (s *source) port(content *hcl.BodyContent, scheme capability.Scheme) uint16 {
	a := content.Attributes["port"]
	if a == nil {
		return scheme.DefaultPort()
	}
	n, ok := s.integer(a.Expr, math.MaxUint16)
	if ok && n == 53 {
		s.fail(a.Expr.Range(), "port 53 is not granted", "scupper answers DNS itself; names are granted by host")
	}
	return uint16(n)
}

// words reads what reviewers read.
func (p *parser) words(g *capability.Grant, content *hcl.BodyContent, b *hcl.Block) {
	if a := content.Attributes["expires"]; a != nil {
		g.Expires = p.expires(a.Expr, p.options.Now)
	}
	if a := content.Attributes["reason"]; a != nil {
		g.Why, _ = p.str(a.Expr)
	}
	if a := content.Attributes["owner"]; a != nil {
		g.Owner, _ = p.str(a.Expr)
	}
	switch {
	case g.Why == "" && g.Owner == "":
		p.warn(b.DefRange, "the grant has no reason and no owner", `say why it exists and who answers for it: reason = "triage bot reads issues", owner = "dev-tools"`)
	case g.Why == "":
		p.warn(b.DefRange, "the grant has no reason", `say why it exists: reason = "triage bot reads issues"`)
	case g.Owner == "":
		p.warn(b.DefRange, "the grant has no owner", `say who answers for it: owner = "dev-tools"`)
	}
}

func (p *parser) laterParts(content *hcl.BodyContent) {
	for _, b := range content.Blocks {
		if b.Type == "derive" {
			p.later(b.DefRange, b.Type)
		}
	}
}

func (p *parser) limits(g *capability.Grant, content *hcl.BodyContent) {
	p.once(content.Blocks, "limits")
	for _, b := range content.Blocks {
		if b.Type != "limits" {
			continue
		}
		limits := p.content(b.Body, limitsBlock)
		p.counts(g, limits)
		p.sizes(g, limits)
		if a := limits.Attributes["rate"]; a != nil {
			g.Limits.Rate, _ = p.rate(a.Expr)
		}
		if a := limits.Attributes["names"]; a != nil && !g.Host.Wildcard && g.Host.Name != "" {
			p.fail(a.NameRange, "names without a wildcard", "a grant for one host has one name: take the limit out")
		}
	}
}

func (p *parser) counts(g *capability.Grant, limits *hcl.BodyContent) {
	for _, l := range []struct {
		name string
		most int64
		to   *int64
	}{{"requests", math.MaxInt64, &g.Limits.Requests}, {"misses", math.MaxInt64, &g.Limits.Misses}, {"names", capability.MaxNames, &g.Limits.Names}} {
		if a := limits.Attributes[l.name]; a != nil {
			*l.to, _ = p.integer(a.Expr, l.most)
		}
	}
}

func (p *parser) sizes(g *capability.Grant, limits *hcl.BodyContent) {
	if a := limits.Attributes["upload"]; a != nil {
		g.Limits.Upload, _ = p.size(a.Expr)
	}
	if a := limits.Attributes["download"]; a != nil {
		g.Limits.Download, _ = p.size(a.Expr)
	}
}
