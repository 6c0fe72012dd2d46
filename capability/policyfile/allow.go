package policyfile

import (
	"fmt"
	"net/textproto"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"scupper.dev/scupper/capability"
	"scupper.dev/scupper/payload"
)

func (s *source) allows(g *capability.Grant, content *hcl.BodyContent, b *hcl.Block) {
	found := false
	var earlier []reviewed
	for _, inner := range content.Blocks {
		switch inner.Type {
		case "allow":
			found = true
			if a, ok := s.allow(inner); ok {
				r := review(a)
				s.checkDead(earlier, r, inner.DefRange)
				earlier = append(earlier, r)
				g.Allows = append(g.Allows, a)
			}
		case "git":
			found = true
			g.Allows = append(g.Allows, s.git(inner)...)
		}
	}
	if !found {
		s.fail(b.DefRange, "the grant allows nothing", `write an allow block: allow { methods = ["GET"] path = "/v1/items" }, each attribute on its own line`)
	}
}

// allow reads one allow block; ok is false where it has a mistake.
func (s *source) allow(b *hcl.Block) (*capability.Allow, bool) {
	before := s.diags.Count(Error)
	content := s.content(b.Body, allowBlock)
	a := &capability.Allow{Position: s.position(b.DefRange.Start)}
	a.Methods = s.methods(content, b)
	a.Path = s.path(content, b)
	a.WebSocket = s.webSocket(content, a.Methods)
	a.Query = s.query(content)
	a.Headers = s.headers(content)
	a.Body = s.body(content, a.Methods, b)
	a.Issues = s.issues(content)
	s.checkResolver(a, b)
	return a, s.diags.Count(Error) == before
}

// methods are the ones of RFC 9110 section 9.3 and RFC 5789 that can be granted.
var methods = []string{"GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"}

func (s *source) methods(content *hcl.BodyContent, b *hcl.Block) []string {
	a := content.Attributes["methods"]
	if a == nil {
		s.fail(b.DefRange, "the allow block names no methods", `write methods = ["GET"]`)
		return nil
	}
	var out []string
	items, _ := s.list(a.Expr, `methods = ["GET", "HEAD"]`)
	for _, i := range items {
		m, ok := s.word(i)
		switch upper := strings.ToUpper(m); {
		case !ok:
		case upper == "TRACE" || upper == "CONNECT":
			s.fail(i.Range(), upper+" is never granted", "it lets a request be read as something else: take it out")
		case slices.Contains(methods, m) && slices.Contains(out, m):
			s.fail(i.Range(), fmt.Sprintf("%q is given twice", m), "each method stands once")
		case slices.Contains(methods, m):
			out = append(out, m)
		case slices.Contains(methods, upper):
			s.fail(i.Range(), fmt.Sprintf("method %q is not in upper case", m), fmt.Sprintf("methods are case-sensitive: write %q", upper))
		default:
			s.fail(i.Range(), fmt.Sprintf("no method %q", m), "the methods are "+strings.Join(methods, ", ")+suggest(m, methods...))
		}
	}
	return out
}

func (s *source) path(content *hcl.BodyContent, b *hcl.Block) *capability.Template {
	a := content.Attributes["path"]
	if a == nil {
		s.fail(b.DefRange, "the allow block names no path", `write path = "/v1/items/{id}"`)
		return nil
	}
	text, ok := s.word(a.Expr)
	where := s.where(content, text)
	if !ok {
		return nil
	}
	at := a.Expr.Range()
	if i := strings.IndexAny(text, "?#"); i >= 0 {
		s.fail(at, "the path holds a query or a fragment", fmt.Sprintf("write path = %q, and the parameters in query = { name = pattern }", text[:i]))
		return nil
	}
	if !strings.HasPrefix(text, "/") {
		s.fail(at, "the path does not begin with a slash", fmt.Sprintf("write path = %q", "/"+text))
		return nil
	}
	t, err := capability.ParseTemplate(text, where)
	if err != nil {
		s.fail(at, "not a path template", err.Error())
		return nil
	}
	if _, err := capability.ParsePath(mapVariables(text, func(string) string { return "v" })); err != nil {
		s.fail(at, "no request has such a path", err.Error())
		return nil
	}
	if names := variables(text); len(names) == 1 && text == "/{"+names[0]+"...}" {
		s.warn(at, "the path is every path of the host", "name the functions that are needed, as in /v1/items/{id}")
	}
	return t
}

// where reads the patterns of the variables in path.
func (s *source) where(content *hcl.BodyContent, path string) map[string]capability.Pattern {
	a := content.Attributes["where"]
	if a == nil {
		return nil
	}
	names := variables(path)
	where := make(map[string]capability.Pattern)
	items, _ := s.object(a.Expr, "where = { id = int }")
	for _, i := range items {
		p, ok := s.pattern(i.value)
		switch {
		case !slices.Contains(names, i.key):
			s.fail(i.at, fmt.Sprintf("the path has no variable {%s}", i.key), whereDetail(path, names)+suggest(i.key, names...))
		case ok:
			where[i.key] = p
		}
	}
	return where
}

func whereDetail(path string, names []string) string {
	if len(names) == 0 {
		return fmt.Sprintf("%q has no variables: they are written {name}", path)
	}
	return "its variables are " + strings.Join(names, ", ")
}

func (s *source) query(content *hcl.BodyContent) capability.QueryRule {
	a := content.Attributes["query"]
	if a == nil {
		return capability.QueryRule{}
	}
	if hcl.ExprAsKeyword(bare(a.Expr)) == "any" {
		s.warn(a.Expr.Range(), "query = any is unbounded", "each request can carry 16 KiB of anything: declare the parameters, as in query = { page = int }")
		return capability.QueryRule{Any: true}
	}
	return s.parameters(a.Expr, `query = { page = int, state = "open" }, or query = any`)
}

func (s *source) parameters(e hcl.Expression, example string) (rule capability.QueryRule) {
	items, _ := s.object(e, example)
	for _, i := range items {
		if p, ok := s.parameter(i); ok {
			rule.Parameters = append(rule.Parameters, p)
		}
	}
	return rule
}

func (s *source) parameter(i item) (capability.ParameterRule, bool) {
	rule := capability.ParameterRule{Name: i.key}
	if payload.Reserved(i.key) {
		s.reserved(i)
		return rule, false
	}
	e := i.value
	if name, args, ok := call(e); ok && name == "required" {
		if len(args) != 1 {
			s.fail(e.Range(), "required takes one pattern", "write required(int)")
			return rule, false
		}
		rule.Required, e = true, args[0]
	}
	p, ok := s.pattern(e)
	if len(p.Values()) == 1 {
		rule.Required = true
	}
	rule.Value = p
	if ok && judgedForeign(capability.Request{Query: capability.Query{{Name: i.key, Value: "x"}}}) {
		s.fail(i.at, fmt.Sprintf("credentials ride in the parameter %q", i.key), "an anonymous request that carries it is refused: take it out")
		return rule, false
	}
	return rule, ok
}

func (s *source) reserved(i item) {
	s.fail(i.at, fmt.Sprintf("%q is never granted", i.key), "origins act on it as on another method or charset: take it out, and grant the method itself")
}

func (s *source) headers(content *hcl.BodyContent) []capability.HeaderRule {
	a := content.Attributes["headers"]
	if a == nil {
		return nil
	}
	var out []capability.HeaderRule
	seen := make(map[string]bool)
	items, _ := s.object(a.Expr, `headers = { "X-Request-Class" = one_of("a", "b") }`)
	for _, i := range items {
		p, ok := s.pattern(i.value)
		name := textproto.CanonicalMIMEHeaderKey(i.key)
		if summary, detail := headerTrouble(i.key, name); summary != "" {
			s.fail(i.at, summary, detail)
			continue
		}
		if seen[name] {
			s.fail(i.at, fmt.Sprintf("%q is given twice", name), "header names are not case-sensitive: each stands once")
			continue
		}
		seen[name] = true
		if ok {
			out = append(out, capability.HeaderRule{Name: name, Value: p})
		}
	}
	return out
}

// reservedHeaders are written by scupper or belong to one connection.
var reservedHeaders = map[string]string{
	"Host": "it is the grant's host", "Content-Length": "framing is written anew", "Transfer-Encoding": "framing is written anew",
	"Connection": "it belongs to one connection", "Keep-Alive": "it belongs to one connection", "Proxy-Connection": "it belongs to one connection",
	"Te": "it belongs to one connection", "Trailer": "framing is written anew", "Upgrade": "upgrades are not granted by header", "Expect": "it belongs to one connection",
	"Content-Type": "it is the type of the body block", "Content-Encoding": "bodies are sent as they are inspected, without a coding",
	"If-None-Match": "validators pass when this run has received them", "If-Modified-Since": "validators pass when this run has received them",
	"If-Range": "validators pass when this run has received them", "Forwarded": "where a request comes from is not told", "Via": "where a request comes from is not told",
}

func headerTrouble(written, name string) (summary, detail string) {
	if !isHeader(written) {
		return fmt.Sprintf("%q is not a header name", written), "letters, digits and hyphens"
	}
	if why, reserved := reservedHeaders[name]; reserved {
		return fmt.Sprintf("the header %q is not granted", name), why + ": take it out"
	}
	if judgedForeign(capability.Request{Header: map[string][]string{name: {"x"}}}) {
		return fmt.Sprintf("the header %q is not granted", name), "it carries a credential or asks for another method: take it out; credentials are the grant's `credential`"
	}
	return "", ""
}
