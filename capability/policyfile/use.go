package policyfile

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"scupper.dev/scupper/capability"
	"scupper.dev/scupper/capability/presets"
)

// use expands a preset into an ordinary grant, which stands at the use block; its
// allow blocks stand in the preset's own file.
func (p *parser) use(b *hcl.Block) {
	preset, ok := p.preset(b.Labels[0], b.LabelRanges[0])
	if !ok {
		return
	}
	name, at := b.Labels[0], b.LabelRanges[0]
	content := p.content(b.Body, preset.useBlock())
	if a := content.Attributes["as"]; a != nil {
		at = a.Expr.Range()
		name, ok = p.word(a.Expr)
		if ok {
			p.checkName(name, at)
		}
	}
	p.claim(name, at)
	args := p.arguments(preset, content, b)
	if _, given := args.urls[preset.at]; !given {
		return
	}
	allows := preset.allows(args)
	for _, place := range preset.places() {
		base, given := args.urls[place]
		if !given || place != preset.at && allows[place] == nil {
			continue
		}
		d := preset.declare(name, at, base)
		d.Position = p.position(b.DefRange.Start)
		if place != preset.at {
			d.Name += "." + place
			p.claim(d.Name, at)
			p.parts[name] = append(p.parts[name], d.Name)
		}
		p.overrides(d.Grant, content)
		switch {
		case place == preset.at && content.Attributes["credential"] != nil:
			d.Credential = p.credential(content, b, d.Scheme) // never for the other hosts
		case place == preset.at && preset.keyed:
			p.warn(b.DefRange, "no credential", fmt.Sprintf("the service refuses requests without one: declare it, and write credential = credential.%s", preset.name))
		}
		p.checkReachable(d.Host, d.Networks, d.host)
		d.Allows = under(base.prefix, allows[place], args.only(preset.only))
		p.checkCredential(d.Grant, at)
		p.grants = append(p.grants, d)
	}
	p.environ(preset.environ(args), name, b.DefRange)
}

// declare makes the grant for one host of the preset.
func (p *preset) declare(name string, at hcl.Range, b base) declared {
	return declared{name: at, host: b.at, Grant: &capability.Grant{
		Name: name, Why: p.title() + ": " + p.summary, Owner: p.title(),
		Host: capability.HostPattern{Name: b.host}, Port: b.port, Scheme: b.scheme,
		Credential: capability.Credential{Mode: capability.Anonymous},
	}}
}

// overrides reads what a policy may say about a preset's grant.
func (p *parser) overrides(g *capability.Grant, content *hcl.BodyContent) {
	if a := content.Attributes["reason"]; a != nil {
		g.Why, _ = p.str(a.Expr)
	}
	if a := content.Attributes["owner"]; a != nil {
		g.Owner, _ = p.str(a.Expr)
	}
	if a := content.Attributes["expires"]; a != nil {
		g.Expires = p.expires(a.Expr, p.options.Now)
	}
	g.Networks = p.grantNetworks(content)
	p.limits(g, content)
}

// environ adds variables of a preset. Where two presets set one differently, the
// first stays; what the policy itself sets stays without a remark.
func (p *parser) environ(variables []Variable, grant string, at hcl.Range) {
	var lost []string
	for _, v := range variables {
		v.Grant = grant
		i := slices.IndexFunc(p.file.Environment, func(o Variable) bool { return o.Name == v.Name })
		if i < 0 {
			p.file.Environment = append(p.file.Environment, v)
			continue
		}
		if o := p.file.Environment[i]; o.Value != v.Value && o.Grant != "" {
			lost = append(lost, v.Name)
		}
	}
	if len(lost) > 0 {
		p.warn(at, "another preset has set variables of this one already", fmt.Sprintf("%s keep the first value: write environment = { %s = %q } to choose", strings.Join(lost, ", "), lost[0], "..."))
	}
}

// preset reads an embedded preset. Mistakes in it would be shown as the policy's own.
func (p *parser) preset(name string, at hcl.Range) (*preset, bool) {
	text, ok := presets.Text(name)
	if !ok {
		names := presets.Names()
		p.fail(at, fmt.Sprintf("no preset %q", name), "the presets are "+strings.Join(names, ", ")+suggest(name, names...))
		return nil, false
	}
	return readPreset(name, text, p.diags)
}
