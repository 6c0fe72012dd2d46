package difference

import (
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"strings"
	"testing"
	"time"

	"scupper.dev/scupper/capability"
	"scupper.dev/scupper/capability/policyfile"
	"scupper.dev/scupper/payload"
)

// maker makes small policies that have much in common, and requests near to them.
type maker struct {
	*rand.Rand
	t *testing.T
}

func pick[T any](m *maker, from ...T) T { return from[m.IntN(len(from))] }

// seldom is true one time in n.
func (m *maker) seldom(n int) bool { return m.IntN(n) == 0 }

func (m *maker) regex(expr string) capability.Pattern {
	p, err := capability.Regexp(expr)
	if err != nil {
		m.t.Fatal(err)
	}
	return p
}

func (m *maker) pattern() capability.Pattern {
	named := func(name string) capability.Pattern {
		p, ok := capability.Named(name)
		if !ok {
			m.t.Fatal(name)
		}
		return p
	}
	return pick(m,
		capability.Slug(), named("int"), named("bool"), named("semver"), named("npm_name"), named("go_module"),
		capability.Literal("a"), capability.OneOf("a", "b"), capability.OneOf("b", "c", "a"), capability.OneOf("1", "true"),
		m.regex("[a-c]"), m.regex("a|b|c"), m.regex("[a-z]{1,3}"), m.regex("[a-z]{1,2}"), m.regex("(?i)A"), m.regex("[0-9]+"), m.regex(`\d{1,2}`),
		m.regex(".*"), m.regex("[^/]*"), m.regex("(?s)a.*"), m.regex("a-?b?"),
	)
}

var pathTexts = []string{
	"/", "/a", "/a/", "/a/b", "/{x}", "/{x}/", "/{x}/b", "/a/{y}", "/{x}/{y}", "/{x...}", "/a/{x...}", "/{x...}/b", "/a{x}", "/{x}-{y}", "/a/{x}-{y}.tgz", "/{x...}@{y}", "/{x}/-/{x}-{y}.tgz", "/{x}/{x}",
}

func (m *maker) path() *capability.Template {
	text := pick(m, pathTexts...)
	where := make(map[string]capability.Pattern)
	for _, name := range []string{"x", "y"} {
		if strings.Contains(text, "{"+name) && !m.seldom(3) {
			where[name] = m.pattern()
		}
	}
	t, err := capability.ParseTemplate(text, where)
	if err != nil {
		m.t.Fatal(err)
	}
	return t
}

func (m *maker) query() (q capability.QueryRule) {
	if m.seldom(8) {
		return capability.QueryRule{Any: true}
	}
	for _, name := range []string{"p", "q"} {
		if m.seldom(3) {
			q.Parameters = append(q.Parameters, capability.ParameterRule{Name: name, Value: m.pattern(), Required: m.seldom(3)})
		}
	}
	return q
}

func (m *maker) headers() (out []capability.HeaderRule) {
	for _, name := range []string{"X-A", "Accept", "User-Agent"} {
		if m.seldom(6) {
			out = append(out, capability.HeaderRule{Name: name, Value: m.pattern()})
		}
	}
	return out
}

func (m *maker) body() *capability.BodyRule {
	b := &capability.BodyRule{Type: pick(m, "application/json", "text/plain", "application/x-www-form-urlencoded"), Max: pick[int64](m, 10, 100)}
	switch {
	case m.seldom(3):
	case b.Type == "application/json":
		b.Inspector = payload.JSON{}
	case b.Type != "text/plain":
		b.Inspector = &payload.Form{Rule: m.query()}
	}
	if b.Inspector != nil && m.seldom(2) {
		b.Coding = "gzip"
	}
	return b
}

func (m *maker) allow() *capability.Allow {
	a := &capability.Allow{Path: m.path(), Query: m.query(), Headers: m.headers(), Position: capability.Position{File: "p.hcl", Line: 1 + m.IntN(90)}}
	for _, method := range []string{"GET", "HEAD", "POST", "DELETE"} {
		if m.seldom(2) {
			a.Methods = append(a.Methods, method)
		}
	}
	if len(a.Methods) == 0 {
		a.Methods = []string{"GET"}
	}
	if m.seldom(2) {
		a.Body = m.body()
	}
	a.WebSocket = len(a.Methods) == 1 && a.Methods[0] == "GET" && m.seldom(3)
	if m.seldom(10) {
		a.Issues = &capability.IssueRule{Fields: []string{pick(m, "token", "key")}}
	}
	return a
}

func (m *maker) credential() capability.Credential {
	c := capability.Credential{Mode: capability.Anonymous, Strip: m.seldom(8)}
	switch m.IntN(8) {
	case 0:
		c.Mode, c.Name = capability.Bound, pick(m, "one", "two")
		c.Place = place1
		if c.Name == "two" {
			c.Place = place2
		}
	case 1:
		c.Mode, c.Pin = capability.Pinned, sha256.Sum256([]byte(pick(m, "x", "y")))
	case 2:
		c.Mode = capability.HandedOut
	}
	return c
}

var (
	place1 = capability.Place{In: capability.InHeader, Name: "Authorization", Before: "Bearer "}
	place2 = capability.Place{In: capability.InQuery, Name: "api_key"}
	days   = []time.Time{{}, time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2028, 1, 1, 0, 0, 0, 0, time.UTC)}
)

func (m *maker) grant(name string) *capability.Grant {
	g := &capability.Grant{
		Name: name, Position: capability.Position{File: "p.hcl", Line: 1 + m.IntN(90)}, Expires: pick(m, days[0], days[0], days[1], days[2]),
		Host: pick(m, capability.HostPattern{Name: "a.example.com"}, capability.HostPattern{Name: "a.example.com"}, capability.HostPattern{Name: "b.example.com"}, capability.HostPattern{Name: "example.com", Wildcard: true}),
		Port: pick[uint16](m, 443, 443, 443, 8443), Scheme: capability.HTTPS, Credential: m.credential(),
	}
	if m.seldom(6) {
		g.Networks = []netip.Prefix{netip.MustParsePrefix(pick(m, "10.0.0.0/8", "10.1.0.0/16", "fc00::/7"))}
	}
	if g.Port == 8443 && g.Credential.Mode == capability.Anonymous && m.seldom(2) {
		g.Scheme = capability.HTTP
	}
	if m.seldom(3) {
		g.Limits.Requests = pick[int64](m, 10, 20)
	}
	for range 1 + m.IntN(3) {
		g.Allows = append(g.Allows, m.allow())
	}
	return g
}

func (m *maker) grants() (out []*capability.Grant) {
	for i := range m.IntN(4) {
		out = append(out, m.grant(fmt.Sprintf("g%d", i)))
	}
	return out
}

// changed is grants with some edits.
func (m *maker) changed(grants []*capability.Grant) (out []*capability.Grant) {
	for _, g := range grants {
		if m.seldom(10) {
			continue
		}
		own := *g
		own.Allows = nil
		for _, a := range g.Allows {
			if !m.seldom(8) {
				own.Allows = append(own.Allows, m.edited(a))
			}
		}
		if len(own.Allows) == 0 || m.seldom(6) {
			own.Allows = append(own.Allows, m.allow())
		}
		other := m.grant(g.Name)
		switch m.IntN(12) {
		case 0:
			own.Host = other.Host
		case 1:
			own.Expires = other.Expires
		case 2:
			own.Credential = other.Credential
			own.Scheme = capability.HTTPS
		case 3:
			own.Limits = other.Limits
		case 4:
			own.Networks = other.Networks
		case 5:
			own.Name += "-renamed"
		}
		out = append(out, &own)
	}
	if m.seldom(4) {
		out = append(out, m.grant("added"))
	}
	m.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}

func (m *maker) edited(a *capability.Allow) *capability.Allow {
	own, other := *a, m.allow()
	switch m.IntN(10) {
	case 0:
		own.Path = other.Path
	case 1:
		own.Query = other.Query
	case 2:
		own.Headers = other.Headers
	case 3:
		own.Body = other.Body
	case 4:
		own.Methods, own.WebSocket = other.Methods, false
	case 5:
		own.WebSocket, own.Methods = true, []string{"GET"}
	case 6:
		own.Issues = other.Issues
	}
	return &own
}

// file is a policy of grants; it is nil where they contradict each other.
func (m *maker) file(grants []*capability.Grant) *policyfile.File {
	p, err := capability.Compile(grants, nil)
	if err != nil {
		return nil
	}
	return &policyfile.File{Name: "p.hcl", Policy: p, Credentials: []policyfile.Credential{
		{Name: "one", Env: "ONE", Place: place1}, {Name: "two", Env: "TWO", Place: place2},
	}}
}

// request is one near to the allow blocks of some policy.
func (m *maker) request(files ...*policyfile.File) *capability.Request {
	var g *capability.Grant
	for _, f := range files {
		if grants := f.Policy.Grants(); len(grants) > 0 && (g == nil || m.seldom(2)) {
			g = pick(m, grants...)
		}
	}
	if g == nil {
		g = m.grant("g")
	}
	a := pick(m, g.Allows...)
	r := &capability.Request{
		Kind: capability.KindHTTP, Time: pick(m, days[1].Add(-time.Hour), days[1], days[2].Add(-1), days[2]),
		Host: pick[capability.Host](m, "a.example.com", "b.example.com", "c.example.com", "x.a.example.com"), Port: g.Port, Scheme: g.Scheme,
		Method: pick(m, a.Methods...), Header: make(map[string][]string), Issued: handedOut{},
	}
	if !g.Host.Wildcard && !m.seldom(10) {
		r.Host = g.Host.Name
	}
	if m.seldom(8) {
		r.Method = pick(m, "GET", "HEAD", "POST", "DELETE")
	}
	r.WebSocket = a.WebSocket && m.seldom(2)
	path, err := capability.ParsePath(m.instance(a.Path))
	if err != nil {
		path, _ = capability.ParsePath("/a")
	}
	r.Path = path
	m.fillRequest(r, g, a)
	return r
}

// instance is the template with values that may fit.
func (m *maker) instance(t *capability.Template) string {
	text := t.String()
	if m.seldom(10) {
		text = pick(m, pathTexts...)
	}
	for _, name := range []string{"x", "y"} {
		v := m.value()
		text = strings.ReplaceAll(strings.ReplaceAll(text, "{"+name+"}", v), "{"+name+"...}", pick(m, v, "a/b", "a", v+"/"+m.value(), "a.b/c"))
	}
	return text
}

func (m *maker) value() string {
	return pick(m, "a", "a", "b", "c", "d", "A", "ab", "abc", "abcd", "1", "12", "123", "01", "true", "1.2.3", "%40a%2fb", "x.y", "x.y%2fz", "a-b", "a-", "~", "%C3%A9", "%20")
}

func (m *maker) plain() string {
	return strings.NewReplacer("%40", "@", "%2f", "/", "%C3%A9", "é", "%20", " ").Replace(m.value())
}

func (m *maker) fillRequest(r *capability.Request, g *capability.Grant, a *capability.Allow) {
	for _, p := range a.Query.Parameters {
		if p.Required || m.seldom(2) {
			r.Query = append(r.Query, capability.Parameter{Name: p.Name, Value: m.plain()})
		}
	}
	if m.seldom(8) || a.Query.Any && m.seldom(2) {
		r.Query = append(r.Query, capability.Parameter{Name: pick(m, "p", "q", "z"), Value: m.plain()})
	}
	for _, h := range a.Headers {
		if m.seldom(2) {
			r.Header[h.Name] = []string{m.plain()}
		}
	}
	if m.seldom(8) {
		r.Header[pick(m, "X-A", "Accept", "X-B")] = []string{m.plain()}
	}
	if a.Body != nil && !m.seldom(5) {
		r.Body = capability.Body{Present: true, Type: a.Body.Type, Length: pick[int64](m, 0, 10, 11, 100, 101, -1)}
		if a.Body.Coding != "" && m.seldom(2) {
			r.Body.Encoding = a.Body.Coding
		}
	}
	switch {
	case m.seldom(12):
		r.Header["X-Api-Key"] = []string{"of-somebody-else"}
	case g.Credential.Mode == capability.Bound && m.seldom(2), m.seldom(15):
		secret := pick(m, secretOne, secretTwo)
		if g.Credential.Name == "two" {
			secret = secretTwo
		}
		p := probe{request: r}
		p.place(map[string]capability.Place{secretOne: place1, secretTwo: place2}[secret], placeholderExample(secret))
	case g.Credential.Mode == capability.HandedOut && m.seldom(2):
		r.Header["Authorization"] = []string{"Bearer " + issuedExample}
	case g.Credential.Mode == capability.Pinned && m.seldom(2):
		r.Header["Authorization"] = []string{"Bearer " + pinnedExample(fmt.Sprintf("%x", g.Credential.Pin))}
	}
}

var (
	secretOne = identity(&policyfile.File{}, policyfile.Credential{Env: "ONE", Place: place1})
	secretTwo = identity(&policyfile.File{}, policyfile.Credential{Env: "TWO", Place: place2})
)
