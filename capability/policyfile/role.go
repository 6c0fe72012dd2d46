package policyfile

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"scupper.dev/scupper/capability"
)

func (p *parser) role(b *hcl.Block) {
	name, at := p.label(b)
	for _, r := range p.file.Roles {
		if r.Name == name {
			p.fail(at, fmt.Sprintf("two roles are named %q", name), "the first is at "+r.Position.String())
		}
	}
	content := p.content(b.Body, roleBlock)
	r := capability.Role{Name: name, Position: p.position(b.DefRange.Start)}
	if a := content.Attributes["grants"]; a != nil {
		r.Grants = p.roleGrants(a.Expr)
	}
	if a := content.Attributes["tools"]; a != nil {
		r.Tools = p.roleTools(a.Expr)
	}
	if a := content.Attributes["writes"]; a != nil {
		p.file.Writes[name] = p.protectedNames(a.Expr, `writes = [".github/workflows"]`)
	}
	p.file.Roles = append(p.file.Roles, r)
}

func (p *parser) roleTools(e hcl.Expression) []string {
	var tools []string
	items, _ := p.list(e, `tools = ["read", "bash"]`)
	for _, i := range items {
		v, ok := p.word(i)
		if !ok {
			continue
		}
		if known := BuiltIn(); !slices.Contains(known, v) {
			p.fail(i.Range(), fmt.Sprintf("no tool is named %q", v), "the tools are "+strings.Join(known, ", ")+suggest(v, known...))
			continue
		}
		tools = append(tools, v)
	}
	return tools
}

func (p *parser) roleGrants(e hcl.Expression) []string {
	var grants []string
	items, _ := p.list(e, `grants = ["read-issues", "npm"]`)
	for _, i := range items {
		v, ok := p.word(i)
		if !ok {
			continue
		}
		if _, known := p.names[v]; !known {
			p.fail(i.Range(), fmt.Sprintf("no grant is named %q", v), "a role names grants of this file, and presets by their name"+suggest(v, slices.Sorted(maps.Keys(p.names))...))
			continue
		}
		grants = append(append(grants, v), p.parts[v]...)
	}
	return grants
}
