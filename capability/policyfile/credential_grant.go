package policyfile

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"scupper.dev/scupper/capability"
	"scupper.dev/scupper/payload"
)

// credential reads which credential the requests of a grant carry.
func (p *parser) credential(content *hcl.BodyContent, b *hcl.Block, scheme capability.Scheme) (c capability.Credential) {
	a := content.Attributes["credential"]
	if a == nil {
		p.fail(b.DefRange, "the grant states no credential", "write credential = anonymous: a request that carries a credential is refused")
		return c
	}
	c = p.credentialExpr(a.Expr)
	if c.Mode != "" && c.Mode != capability.Anonymous && scheme == capability.HTTP {
		p.clear(a.Expr.Range())
	}
	if f := content.Attributes["foreign"]; f != nil {
		c.Strip = p.foreign(f)
	}
	return c
}

func (p *parser) clear(at hcl.Range) {
	p.fail(at, "a credential on a cleartext scheme", `everyone on the way could read it: take scheme = "http" out, or write credential = anonymous`)
}

func (p *parser) credentialExpr(e hcl.Expression) (c capability.Credential) {
	if name, args, ok := call(e); ok && name == "pinned" {
		return p.pinned(e, args)
	}
	t, diags := hcl.AbsTraversalForExpr(bare(e))
	if !diags.HasErrors() {
		switch root := t.RootName(); {
		case len(t) == 1 && root == string(capability.Anonymous):
			return capability.Credential{Mode: capability.Anonymous}
		case len(t) == 1 && root == string(capability.HandedOut):
			return capability.Credential{Mode: capability.HandedOut}
		case len(t) == 2 && root == "credential":
			if step, ok := t[1].(hcl.TraverseAttr); ok {
				return p.boundTo(step.Name, e.Range())
			}
		}
	}
	report := p.conceal // who misreads the language writes the secret there
	if hcl.ExprAsKeyword(bare(e)) != "" {
		report = p.fail
	}
	report(e.Range(), "not a credential", `write credential = anonymous, credential.NAME, issued, or pinned("sha256:...")`)
	return c
}

const pinnedDetail = `write pinned("sha256:...") with the 64 hexadecimal digits that printf %s "$TOKEN" | sha256sum prints`

// pinned reads the hash of the credential that the sandbox brings.
func (p *parser) pinned(e hcl.Expression, args []hclsyntax.Expression) (c capability.Credential) {
	if len(args) != 1 {
		p.fail(e.Range(), "pinned takes one hash", pinnedDetail)
		return c
	}
	v, ok := p.str(args[0])
	if !ok {
		return c
	}
	digits, found := strings.CutPrefix(v, "sha256:")
	sum, err := hex.DecodeString(digits)
	if !found || err != nil || len(sum) != len(c.Pin) {
		p.conceal(args[0].Range(), "not a hash", pinnedDetail)
		return c
	}
	c.Mode = capability.Pinned
	copy(c.Pin[:], sum)
	return c
}

// foreign reads what becomes of credentials that the grant does not bind.
func (p *parser) foreign(a *hcl.Attribute) bool {
	switch hcl.ExprAsKeyword(bare(a.Expr)) {
	case "strip":
		return true
	case "refuse":
	default:
		p.fail(a.Expr.Range(), "not a way to treat a foreign credential", "write foreign = strip, without quotes; without it the request is refused")
	}
	return false
}

// checkCredential finds allow blocks that name the place of the grant's own credential.
func (p *parser) checkCredential(g *capability.Grant, at hcl.Range) {
	if g.Credential.Mode != capability.Bound {
		return
	}
	place := g.Credential.Place
	for _, a := range g.Allows {
		if slices.ContainsFunc(a.Headers, func(h capability.HeaderRule) bool { return h.Name == place.Header() }) ||
			place.In == capability.InQuery && slices.ContainsFunc(a.Query.Parameters, func(q capability.ParameterRule) bool { return strings.EqualFold(q.Name, place.Name) }) {
			p.fail(at, fmt.Sprintf("the allow block at line %d declares the %s", a.Position.Line, place), "it is the place of the grant's credential, which scupper writes: take it out")
		}
	}
}

// reviewCredentials remarks on what reviewers of credentials look for.
func (p *parser) reviewCredentials() {
	for _, c := range p.file.Credentials {
		d := p.credentials[c.Name]
		if !d.used {
			p.warn(d.at, fmt.Sprintf("no grant binds the credential %q", c.Name), "it is not read, and the sandbox gets no placeholder: take it out")
			continue
		}
		p.reviewCredential(d)
	}
}

func (p *parser) reviewCredential(d *declaredCredential) {
	var owners, hosts []string
	for _, g := range p.grants {
		if g.Credential.Name != d.Name {
			continue
		}
		owners, hosts = append(owners, g.Owner), append(hosts, g.Host.String())
		if g.Host.Wildcard {
			p.warn(g.host, fmt.Sprintf("the credential %q goes to every name under a wildcard", d.Name), "whoever gets such a name gets the secret: name the host")
		}
		for _, a := range g.Allows {
			if a.Body != nil && !hasSchema(a.Body) {
				p.warn(g.name, fmt.Sprintf("grant %q sends the credential %q with a body that has no schema", g.Name, d.Name), fmt.Sprintf("the body at line %d can carry data and other credentials: write schema = file(\"....json\")", a.Position.Line))
			}
		}
	}
	if owners = distinct(owners); len(owners) > 1 {
		p.warn(d.at, fmt.Sprintf("the credential %q is shared by the owners %s", d.Name, strings.Join(owners, ", ")), "when one of them leaves, it has to be changed for all: give each its own")
	}
	if hosts = distinct(hosts); len(hosts) > 1 {
		p.warn(d.at, fmt.Sprintf("the credential %q goes to the hosts %s", d.Name, strings.Join(hosts, ", ")), "each of them can use it at the others: give each its own")
	}
	if d.Env != "" && p.brokered(hosts) {
		p.warn(d.at, fmt.Sprintf("the credential %q comes from a variable and does not expire", d.Name), "another credential for the host comes from a command: let that hand this one out too")
	}
}

// brokered reports whether a command hands out a credential for one of the hosts.
func (p *parser) brokered(hosts []string) bool {
	return slices.ContainsFunc(p.grants, func(g declared) bool {
		c := p.credentials[g.Credential.Name]
		return c != nil && len(c.Exec) > 0 && slices.Contains(hosts, g.Host.String())
	})
}

func hasSchema(b *capability.BodyRule) bool {
	j, isJSON := b.Inspector.(payload.JSON)
	return b.Inspector != nil && (!isJSON || j.Schema != nil)
}

func distinct(s []string) []string {
	slices.Sort(s)
	return slices.Compact(s)
}
