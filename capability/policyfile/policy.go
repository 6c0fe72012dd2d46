package policyfile

import (
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net/netip"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"scupper.dev/scupper/capability"
)

// parser reads one policy.
type parser struct {
	source
	options Options
	file    *File
	hash    hasher
	grants  []declared
	names   map[string]hcl.Range // every grant's, also of those with mistakes
}

// declared is a grant and where its parts stand.
type declared struct {
	*capability.Grant
	name, host hcl.Range
}

func (p *parser) policy(body *hclsyntax.Body) {
	p.names = make(map[string]hcl.Range)
	content := p.content(body, topLevel)
	p.version(content)
	if a := content.Attributes["environment"]; a != nil {
		p.file.Environment = p.environment(a.Expr)
	}
	for _, b := range content.Blocks {
		switch b.Type {
		case "grant":
			p.grant(b)
		case "use":
			p.use(b)
		case "upstream":
			p.upstream(b)
		case "credential", "tool":
			p.later(b.DefRange, b.Type)
		}
	}
	p.once(content.Blocks, "upstream")
	for _, b := range content.Blocks {
		if b.Type == "role" {
			p.role(b)
		}
	}
	if a := content.Attributes["best_effort"]; a != nil {
		p.file.BestEffort, _ = p.boolean(a.Expr)
		if p.file.BestEffort {
			p.warn(a.NameRange, "best_effort runs without the controls that cannot be applied", "each is reported in the first record of the run")
		}
	}
	p.checkSchemes()
}

// later reports a part of the language that this version cannot enforce yet.
func (s *source) later(at hcl.Range, what string) {
	s.fail(at, what+" is not in this version", "what cannot be enforced is not accepted: take it out, or use a version of scupper that has it")
}

func (p *parser) version(content *hcl.BodyContent) {
	a := content.Attributes["version"]
	understood := fmt.Sprintf("write version = %d at the top: it is what this scupper understands", Version)
	if a == nil {
		p.fail(hcl.Range{Filename: p.name, Start: hcl.InitialPos, End: hcl.InitialPos}, "the policy has no version", understood)
		return
	}
	if v, ok := p.integer(a.Expr, 1<<31); ok && v != Version {
		p.fail(a.Expr.Range(), fmt.Sprintf("policy version %d", v), understood)
	}
}

// once reports every block of a type after the first.
func (s *source) once(blocks hcl.Blocks, types ...string) {
	for _, t := range types {
		var first *hcl.Block
		for _, b := range blocks {
			if b.Type != t {
				continue
			}
			if first != nil {
				s.fail(b.DefRange, "a second "+t+" block", "the first is at "+s.place(first.DefRange)+": write one")
				continue
			}
			first = b
		}
	}
}

func (p *parser) upstream(b *hcl.Block) {
	content := p.content(b.Body, upstreamBlock)
	if a := content.Attributes["resolver"]; a != nil {
		if v, ok := p.word(a.Expr); ok {
			addr, err := netip.ParseAddrPort(v)
			if err != nil {
				p.fail(a.Expr.Range(), fmt.Sprintf("%q is not an address and a port", v), `write resolver = "203.0.113.53:53"; a name would have to be resolved first`)
			}
			p.file.Upstream.Resolver = addr.String()
		}
	}
	if a := content.Attributes["ca"]; a != nil {
		p.ca(a.Expr)
	}
}

func (p *parser) ca(e hcl.Expression) {
	text, path, ok := p.namedFile(e)
	if !ok {
		return
	}
	p.hash.add(text)
	if err := checkCertificates(text); err != nil {
		p.fail(e.Range(), fmt.Sprintf("%q holds no usable certificates", path), err.Error())
	}
	p.file.Upstream.ExtraCA = text
}

func checkCertificates(text []byte) error {
	found := false
	for {
		var b *pem.Block
		if b, text = pem.Decode(text); b == nil {
			break
		}
		if b.Type != "CERTIFICATE" {
			return fmt.Errorf("a PEM block of type %q: the file holds certificates only", b.Type)
		}
		if _, err := x509.ParseCertificate(b.Bytes); err != nil {
			return fmt.Errorf("parse certificate: %w", err)
		}
		found = true
	}
	if !found {
		return fmt.Errorf("it is a file of PEM blocks: -----BEGIN CERTIFICATE-----")
	}
	return nil
}

// namedFile reads a file that the policy names.
func (p *parser) namedFile(e hcl.Expression) (text []byte, path string, ok bool) {
	name, ok := p.str(e)
	if !ok {
		return nil, "", false
	}
	path = p.beside(name)
	p.file.Files = append(p.file.Files, path)
	if p.options.ReadFile == nil {
		p.fail(e.Range(), fmt.Sprintf("%q is a file, and none are read here", name), "")
		return nil, path, false
	}
	text, err := p.options.ReadFile(path)
	if err != nil {
		p.fail(e.Range(), fmt.Sprintf("%q cannot be read: %v", name, cause(err)), "paths are relative to the policy's folder; looked for "+path)
		return nil, path, false
	}
	return text, path, true
}

// label reads the name of a block and checks its form.
func (s *source) label(b *hcl.Block) (string, hcl.Range) {
	name, at := b.Labels[0], b.LabelRanges[0]
	s.checkName(name, at)
	return name, at
}

func (s *source) checkName(name string, at hcl.Range) {
	if !isName(name) {
		s.fail(at, fmt.Sprintf("%q is not a name", name), "a name has 1 to 64 of a-z, 0-9, '-', '_' and '.', and begins with a letter or a digit")
	}
}

func (p *parser) role(b *hcl.Block) {
	name, at := p.label(b)
	for _, r := range p.file.Roles {
		if r.Name == name {
			p.fail(at, fmt.Sprintf("two roles are named %q", name), "the first is at "+r.Position.String())
		}
	}
	content := p.content(b.Body, roleBlock)
	r := Role{Role: capability.Role{Name: name, Position: p.position(b.DefRange.Start)}}
	if a := content.Attributes["grants"]; a != nil {
		r.Grants = p.roleGrants(a.Expr)
	}
	if a := content.Attributes["tools"]; a != nil {
		items, _ := p.list(a.Expr, `tools = ["read", "bash"]`)
		for _, i := range items {
			if v, ok := p.word(i); ok {
				r.Tools = append(r.Tools, v)
			}
		}
	}
	p.file.Roles = append(p.file.Roles, r)
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
			p.fail(i.Range(), fmt.Sprintf("no grant is named %q", v), "a role names grants of this file, and presets by their name"+suggest(v, keys(p.names)...))
			continue
		}
		grants = append(grants, v)
	}
	return grants
}

func (s *source) environment(e hcl.Expression) []Variable {
	items, _ := s.object(e, `environment = { CI = "1" }`)
	var out []Variable
	for _, i := range items {
		v, ok := s.str(i.value)
		if !isVariable(i.key) {
			s.fail(i.at, fmt.Sprintf("%q is not the name of a variable", i.key), "letters, digits and underscores")
			continue
		}
		if ok {
			out = append(out, Variable{Name: i.key, Value: v})
		}
	}
	return out
}

// compile makes the policy. What can go wrong there has been found already; if the
// two ever disagree, the file is wrong.
func (p *parser) compile() {
	grants := make([]*capability.Grant, len(p.grants))
	for i, d := range p.grants {
		grants[i] = d.Grant
	}
	roles := make([]capability.Role, len(p.file.Roles))
	for i, r := range p.file.Roles {
		roles[i] = r.Role
	}
	policy, err := capability.Compile(grants, roles)
	if err != nil {
		*p.diags = append(*p.diags, Diagnostic{Severity: Error, Summary: escape(err.Error())})
		return
	}
	p.file.Policy = policy
}

// checkSchemes finds endpoints that two grants speak to differently.
func (p *parser) checkSchemes() {
	type endpoint struct {
		host capability.HostPattern
		port uint16
	}
	first := make(map[endpoint]declared)
	for _, d := range p.grants {
		e := endpoint{d.Host, d.Port}
		f, seen := first[e]
		if !seen {
			first[e] = d
			continue
		}
		if f.Scheme != d.Scheme {
			p.fail(d.host, fmt.Sprintf("%s:%d is spoken to as %s and as %s", d.Host, d.Port, f.Scheme, d.Scheme), fmt.Sprintf("grant %q at %s says %s: one port has one scheme", f.Name, p.place(f.host), f.Scheme))
		}
	}
}

func keys(m map[string]hcl.Range) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	return out
}
