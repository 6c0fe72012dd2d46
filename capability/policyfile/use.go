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
	base, given := args.urls[preset.at]
	if !given {
		return
	}
	d := declared{name: at, host: base.at, Grant: &capability.Grant{
		Name: name, Position: p.position(b.DefRange.Start),
		Why: preset.title() + ": " + preset.summary, Owner: preset.title(),
		Host: capability.HostPattern{Name: base.host}, Port: base.port, Scheme: base.scheme,
		Credential: capability.Credential{Mode: capability.Anonymous},
	}}
	p.overrides(d.Grant, content)
	p.checkReachable(d.Host, d.Networks, d.host)
	d.Allows = preset.expand(base.prefix, args.only(preset.only))
	p.grants = append(p.grants, d)
	p.environ(preset.environ(args.text), name, b.DefRange)
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

// bound are the arguments that a use block gives.
type bound struct {
	text     map[string]string // as the preset's environment sees them
	urls     map[string]base
	packages map[string][]npmPackage
}

// only is the lockfile's list, nil where none was given: then the templates stand.
func (b bound) only(name string) []npmPackage { return b.packages[name] }

func (p *parser) arguments(preset *preset, content *hcl.BodyContent, b *hcl.Block) bound {
	out := bound{make(map[string]string), make(map[string]base), make(map[string][]npmPackage)}
	for _, a := range preset.arguments {
		attr := content.Attributes[a.Name]
		if attr == nil {
			if a.Required {
				p.fail(b.DefRange, fmt.Sprintf("preset %q needs %s", preset.name, a.Name), fmt.Sprintf("%s: write %s = %q", a.About, a.Name, a.Example))
			}
			continue
		}
		switch a.Type {
		case "url":
			if u, ok := p.base(attr.Expr); ok {
				out.urls[a.Name], out.text[a.Name] = u, u.String()
			}
		case "npm_lockfile":
			out.packages[a.Name] = p.lockfile(attr.Expr, out.urls[preset.at].host)
		}
	}
	return out
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
