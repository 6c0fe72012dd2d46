package policyfile

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"scupper.dev/scupper/capability"
)

// parser reads one policy.
type parser struct {
	source
	options     Options
	file        *File
	hash        hasher
	grants      []declared
	credentials map[string]*declaredCredential
	names       map[string]hcl.Range // every grant's, also of those with mistakes
	parts       map[string][]string  // of a preset on several hosts: its further grants, by the name of the first
}

// declared is a grant and where its parts stand.
type declared struct {
	*capability.Grant
	name, host hcl.Range
}

func (p *parser) policy(body *hclsyntax.Body) {
	p.credentials = make(map[string]*declaredCredential)
	p.names, p.parts = make(map[string]hcl.Range), make(map[string][]string)
	p.file.Writes = make(map[string][]string)
	content := p.content(body, topLevel)
	p.version(content)
	if a := content.Attributes["environment"]; a != nil {
		p.file.Environment = p.environment(a.Expr)
	}
	if a := content.Attributes["protected"]; a != nil {
		p.file.Protected = p.protectedNames(a.Expr, `protected = ["deploy", ".env"]`)
	}
	for _, b := range content.Blocks {
		if b.Type == "credential" {
			p.credentialBlock(b)
		}
	}
	var callers hcl.Blocks
	for _, b := range content.Blocks {
		switch b.Type {
		case "grant":
			p.grant(b)
		case "use":
			p.use(b)
		case "upstream":
			p.upstream(b)
		case "sandbox":
			p.sandbox(b)
		case "connections":
			p.connections(b)
		case "audit":
			p.audit(b)
		case "tool":
			p.tool(b)
		case "caller":
			callers = append(callers, b)
		case "inspect":
			p.file.Inspect = p.inspect(b)
		}
	}
	p.once(content.Blocks, "upstream", "sandbox", "connections", "audit", "inspect")
	for _, b := range content.Blocks {
		if b.Type == "role" {
			p.role(b)
		}
	}
	p.callers(callers)
	if a := content.Attributes["best_effort"]; a != nil {
		p.file.BestEffort, _ = p.boolean(a.Expr)
		if p.file.BestEffort {
			p.warn(a.NameRange, "best_effort runs without the controls that cannot be applied", "each is reported in the first record of the run")
		}
	}
	p.checkSchemes()
	p.checkIssued()
	p.reviewCredentials()
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
	copy(roles, p.file.Roles)
	policy, err := capability.Compile(grants, roles)
	if err != nil {
		*p.diags = append(*p.diags, Diagnostic{Severity: Error, Summary: escape(err.Error())})
		return
	}
	p.file.Tools = p.registry()
	p.file.Policy = policy.WithTools(judgedTools(p.file.Tools))
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
