package policyfile

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"scupper.dev/scupper/capability"
)

var issuesBlock = shape{attributes: []string{"fields", "cookies", "links", "headers", "to"}}

const issuesExample = `issues { fields = ["token"] }, or cookies = ["session"], or links = ["href"]`

// issues reads what the answers to an allow block hand out.
func (s *source) issues(content *hcl.BodyContent) *capability.IssueRule {
	s.once(content.Blocks, "issues")
	b := firstOf(content.Blocks, "issues")
	if b == nil {
		return nil
	}
	inner := s.content(b.Body, issuesBlock)
	rule := &capability.IssueRule{Position: s.position(b.DefRange.Start)}
	for name, to := range map[string]*[]string{"fields": &rule.Fields, "cookies": &rule.Cookies, "links": &rule.Links, "headers": &rule.Headers} {
		if a := inner.Attributes[name]; a != nil {
			*to = s.issueNames(a.Expr)
		}
	}
	if a := inner.Attributes["to"]; a != nil {
		rule.To = s.issueHosts(a.Expr)
	}
	switch {
	case len(rule.Fields)+len(rule.Cookies)+len(rule.Links) == 0:
		s.fail(b.DefRange, "the issues block hands out nothing", "write "+issuesExample)
	case len(rule.Headers) > 0 && len(rule.Links) == 0:
		s.fail(b.DefRange, "headers without links", `headers stand beside a link, as in git-lfs: write links = ["href"]`)
	}
	return rule
}

func (s *source) issueNames(e hcl.Expression) (out []string) {
	items, _ := s.list(e, `["token", "access_token"]`)
	for _, i := range items {
		v, ok := s.word(i)
		switch {
		case !ok:
		case !made(v, 64, "._-"):
			s.fail(i.Range(), fmt.Sprintf("%q is not a name", v), "letters, digits, '-', '_' and '.'")
		default:
			out = append(out, v)
		}
	}
	return out
}

func (s *source) issueHosts(e hcl.Expression) (out []capability.Host) {
	items, _ := s.list(e, `to = ["registry.example.com"]`)
	for _, i := range items {
		h, ok := s.host(i)
		if ok && h.Wildcard {
			s.fail(i.Range(), "credentials are handed out for a wildcard", "whoever gets such a name could use them: name the host")
		} else if ok {
			out = append(out, h.Name)
		}
	}
	return out
}

// checkIssued finds grants that take what nobody hands out, and the other way round. Of
// a file with mistakes nobody knows.
func (p *parser) checkIssued() {
	if p.diags.HasErrors() {
		return
	}
	for _, taker := range p.grants {
		if taker.Credential.Mode == capability.HandedOut && !p.handedOutFor(taker.Host) {
			p.fail(taker.host, fmt.Sprintf("no answer hands out a credential for %s", taker.Host), fmt.Sprintf("an allow block of this file has to say so: issues { fields = [\"token\"] to = [%q] }, each attribute on its own line", taker.Host.Name))
		}
	}
	for _, g := range p.grants {
		for _, a := range g.Allows {
			if a.Issues != nil && !p.taken(a.Issues, g.Host) {
				p.fail(g.name, fmt.Sprintf("what grant %q hands out is of no use", g.Name), fmt.Sprintf("no grant for the hosts of the issues block at line %d says credential = issued", a.Issues.Position.Line))
			}
		}
	}
}

func (p *parser) handedOutFor(host capability.HostPattern) bool {
	return slices.ContainsFunc(p.grants, func(g declared) bool {
		return slices.ContainsFunc(g.Allows, func(a *capability.Allow) bool { return a.Issues != nil && leads(a.Issues, g.Host, host) })
	})
}

func (p *parser) taken(rule *capability.IssueRule, from capability.HostPattern) bool {
	return slices.ContainsFunc(p.grants, func(g declared) bool {
		return g.Credential.Mode == capability.HandedOut && leads(rule, from, g.Host)
	})
}

// leads reports whether what a host of one pattern hands out may be of use at one of
// another. Cookies stay where they were set.
func leads(rule *capability.IssueRule, from, to capability.HostPattern) bool {
	home := from == to
	if len(rule.To) == 0 {
		return home
	}
	return home && len(rule.Cookies) > 0 || slices.ContainsFunc(rule.To, to.Match)
}

func printIssues(b *bytes.Buffer, r *capability.IssueRule) {
	if r == nil {
		return
	}
	b.WriteString("issues {\n")
	to := make([]string, len(r.To))
	for i, h := range r.To {
		to[i] = string(h)
	}
	for _, l := range []struct {
		name  string
		items []string
	}{{"fields", r.Fields}, {"cookies", r.Cookies}, {"links", r.Links}, {"headers", r.Headers}, {"to", to}} {
		quoted := make([]string, len(l.items))
		for i, item := range l.items {
			quoted[i] = capability.Quote(item)
		}
		if len(quoted) > 0 {
			fmt.Fprintf(b, "%s = [%s]\n", l.name, strings.Join(quoted, ", "))
		}
	}
	b.WriteString("}\n")
}
