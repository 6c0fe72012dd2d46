package capability

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// An Explanation tells the operator why a request was denied.
type Explanation struct {
	Nearest  *Grant // the grant that came nearest; nil when none names the host
	Allow    *Allow // its allow block that came nearest; nil when none
	Mismatch string // what did not match, in a sentence of the policy's words
	Smallest string // the smallest grant, in the policy language, that would permit it
}

// Explain finds the grant nearest to r and says what did not match. It looks at every
// grant and is for people, not for the path of a request.
func (p *Policy) Explain(r *Request, d Decision) Explanation {
	if r.Kind == KindTool {
		return explainTool(r, d.Reason)
	}
	e := Explanation{Nearest: d.Grant, Allow: d.Allow}
	if e.Nearest != nil && e.Allow == nil && d.Reason == PathNotGranted {
		e.Nearest, e.Allow = p.nearestPath(r, d.Grant)
	}
	e.Mismatch = e.mismatch(r, d.Reason)
	e.Smallest = smallest(r, d.Reason)
	return e
}

// nearestPath is the allow block whose template shares the longest start with r.
func (p *Policy) nearestPath(r *Request, fallback *Grant) (*Grant, *Allow) {
	grant, allow, best := fallback, (*Allow)(nil), -1
	for _, g := range p.grants {
		if !g.Host.Match(r.Host) || g.Port != r.Port {
			continue
		}
		for _, a := range g.Allows {
			if n := a.Path.shared(r.Path); n > best {
				grant, allow, best = g, a, n
			}
		}
	}
	return grant, allow
}

// shared counts the leading segments of p that the template matches.
func (t *Template) shared(p Path) int {
	var b bindings
	for i := range t.segments {
		if i == p.Len() || t.segments[i].multi || !t.segments[i].match(p.Segment(i), t.variables, &b) {
			return i
		}
	}
	return len(t.segments)
}

func (e *Explanation) mismatch(r *Request, reason Reason) string {
	a := e.Allow
	if !e.complete(reason) {
		return reason.Sentence()
	}
	switch reason {
	case NoGrant:
		return fmt.Sprintf("no grant names the host %s", r.Host)
	case PortNotGranted:
		return fmt.Sprintf("no grant for %s covers port %d", r.Host, r.Port)
	case ProtocolNotGranted:
		if e.Nearest != nil {
			return fmt.Sprintf("grant %q speaks %s on port %d", e.Nearest.Name, e.Nearest.Scheme, e.Nearest.Port)
		}
	case PathNotGranted:
		if a != nil {
			return fmt.Sprintf("path %s does not match %s", r.Path.Shown(), a.Path)
		}
	case MethodNotGranted:
		return fmt.Sprintf("method %s is not in %s", r.Method, strings.Join(a.Methods, ", "))
	case QueryNotGranted:
		return "query: " + a.Query.complaint(r.Query)
	case BodyNotGranted:
		return bodyComplaint(a, r)
	case BodyTooLarge:
		return fmt.Sprintf("the body is over %d bytes", a.Body.Max)
	case ForeignCredential:
		return "the request carries a credential that is not the grant's; " + credentialWords(e.Nearest)
	case PlaceholderMisplaced:
		return "the placeholder of a credential stands where it means nothing; " + credentialWords(e.Nearest)
	case CredentialUnavailable:
		return fmt.Sprintf("the source of credential %q failed", e.Nearest.Credential.Name)
	case GrantExpired:
		return fmt.Sprintf("grant %q expired %s", e.Nearest.Name, e.Nearest.Expires.UTC().Format("2006-01-02 15:04 MST"))
	}
	return reason.Sentence()
}

// complete reports whether e has what the mismatch of reason speaks about: an enforcer
// can refuse for any reason a request that no grant comes near.
func (e *Explanation) complete(reason Reason) bool {
	switch reason {
	case MethodNotGranted, QueryNotGranted, BodyNotGranted:
		return e.Allow != nil
	case BodyTooLarge:
		return e.Allow != nil && e.Allow.Body != nil
	case ForeignCredential, PlaceholderMisplaced, CredentialUnavailable, GrantExpired:
		return e.Nearest != nil
	}
	return true
}

// credentialWords says what g binds.
func credentialWords(g *Grant) string {
	switch c := &g.Credential; c.Mode {
	case Bound:
		return fmt.Sprintf("grant %q binds credential %q in %s", g.Name, c.Name, c.Place)
	case Pinned:
		return fmt.Sprintf("grant %q takes one pinned credential", g.Name)
	case HandedOut:
		return fmt.Sprintf("grant %q takes what this run was handed out for the host", g.Name)
	}
	return fmt.Sprintf("grant %q is %s", g.Name, g.Credential.Mode)
}

func bodyComplaint(a *Allow, r *Request) string {
	switch {
	case a.Body == nil:
		return "the allow block declares no body"
	case !r.Body.Present:
		return "there is no body"
	case r.Body.Encoding != "" && r.Body.Encoding != a.Body.Coding:
		return fmt.Sprintf("the body is coded as %s", r.Body.Encoding)
	case r.Body.Type != a.Body.Type:
		return fmt.Sprintf("the body is %q, granted is %q", r.Body.Type, a.Body.Type)
	}
	return cmp.Or(r.Body.Mismatch, "the body is not one that the grant admits")
}

// complaint names the first parameter that is not granted. It never shows a value.
func (q *QueryRule) complaint(sent Query) string {
	seen := make(map[string]bool)
	for _, p := range sent {
		i := slices.IndexFunc(q.Parameters, func(r ParameterRule) bool { return r.Name == p.Name })
		switch {
		case i < 0:
			return fmt.Sprintf("parameter %q is not declared", p.Shown())
		case seen[p.Name]:
			return fmt.Sprintf("parameter %q occurs more than once", p.Shown())
		case !q.Parameters[i].Value.Match(p.Value):
			return fmt.Sprintf("the value of %q is not %s", p.Name, q.Parameters[i].Value)
		}
		seen[p.Name] = true
	}
	for _, rule := range q.Parameters {
		if rule.Required && !seen[rule.Name] {
			return fmt.Sprintf("parameter %q is missing", rule.Name)
		}
	}
	return "not granted"
}

// smallest writes the narrowest grant that would permit r, or nothing where no grant
// can.
func smallest(r *Request, reason Reason) string {
	switch reason {
	case NoGrant, PortNotGranted, PathNotGranted, MethodNotGranted, QueryNotGranted, BodyNotGranted:
	default:
		return ""
	}
	if r.Body.Mismatch != "" {
		return "" // the type is granted; what is in the body is for the schema to say
	}
	if r.Host == "" || r.Kind == KindName || r.Kind == KindConnect || !r.Path.Valid() {
		return smallestHost(r)
	}
	var b strings.Builder
	writeHost(&b, r)
	fmt.Fprintf(&b, "  allow {\n    methods = [%s]\n    path    = %s\n", Quote(r.Method), Quote(literalTemplate(r.Path)))
	writeQuery(&b, r.Query)
	writeBody(&b, r.Body)
	b.WriteString("  }\n}\n")
	return b.String()
}

func writeBody(b *strings.Builder, body Body) {
	if !body.Present {
		return
	}
	fmt.Fprintf(b, "    body {\n      type = %s\n      max  = \"64KiB\"\n", Quote(body.Type))
	if body.Type == "multipart/form-data" { // which has to name its parts otherwise
		b.WriteString("      inspect = false\n")
	}
	b.WriteString("    }\n")
}

func smallestHost(r *Request) string {
	if r.Host == "" {
		return ""
	}
	var b strings.Builder
	writeHost(&b, r)
	b.WriteString("  allow {\n    methods = [\"GET\"]\n    path    = \"/...\" # the path the client needs\n  }\n}\n")
	return b.String()
}

func writeHost(b *strings.Builder, r *Request) {
	fmt.Fprintf(b, "grant %s {\n  reason     = \"...\"\n  owner      = \"...\"\n  host       = %s\n", Quote("new-"+string(r.Host)), Quote(string(r.Host)))
	if r.Port != 0 && r.Port != 443 {
		fmt.Fprintf(b, "  port       = %d\n", r.Port)
	}
	if r.Scheme == HTTP {
		b.WriteString("  scheme     = \"http\"\n")
	}
	b.WriteString("  credential = anonymous\n")
}

// writeQuery declares each parameter with the narrowest pattern; values are not shown.
func writeQuery(b *strings.Builder, q Query) {
	if len(q) == 0 {
		return
	}
	b.WriteString("    query   = {\n")
	seen := make(map[string]bool)
	for _, p := range q {
		if !seen[p.Name] {
			fmt.Fprintf(b, "      %s = %s\n", Quote(p.Name), class(p.Value))
		}
		seen[p.Name] = true
	}
	b.WriteString("    }\n")
}

func class(value string) string {
	for _, name := range []string{"int", "bool", "semver", "sha256", "uuid"} {
		if named[name](value) {
			return name
		}
	}
	return "slug"
}

// literalTemplate is p as a template without variables; braces stay encoded.
func literalTemplate(p Path) string { return p.Shown() }

// Quote writes s as an HCL string literal: nothing in it is a template, an escape of
// a terminal or the end of the string.
func Quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case (r == '$' || r == '%') && strings.HasPrefix(s[i+1:], "{"):
			b.WriteRune(r)
			b.WriteRune(r)
		case r < ' ' || r >= 0x7f:
			fmt.Fprintf(&b, `\u%04x`, min(r, 0xffff))
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
