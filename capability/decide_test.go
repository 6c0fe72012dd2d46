package capability

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"
)

// when is the time of all requests here.
var when = time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)

func pattern(t testing.TB, name string) Pattern {
	t.Helper()
	p, ok := Named(name)
	if !ok {
		t.Fatalf("no pattern %q", name)
	}
	return p
}

func template(t testing.TB, text string, where ...any) *Template {
	t.Helper()
	patterns := make(map[string]Pattern)
	for i := 0; i < len(where); i += 2 {
		switch p := where[i+1].(type) {
		case Pattern:
			patterns[where[i].(string)] = p
		case string:
			patterns[where[i].(string)] = pattern(t, p)
		}
	}
	tm, err := ParseTemplate(text, patterns)
	if err != nil {
		t.Fatal(err)
	}
	return tm
}

func grant(name, host string, allows ...*Allow) *Grant {
	h, wild := strings.CutPrefix(host, "*.")
	return &Grant{Name: name, Host: HostPattern{Name: Host(h), Wildcard: wild}, Port: 443, Scheme: HTTPS, Credential: Credential{Mode: Anonymous}, Allows: allows}
}

func get(tm *Template) *Allow { return &Allow{Methods: []string{"GET"}, Path: tm} }

func compile(t testing.TB, grants ...*Grant) *Policy {
	t.Helper()
	p, err := Compile(grants, nil)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// ask makes a request of "METHOD URL".
func ask(t testing.TB, method, url string, headers ...string) *Request {
	t.Helper()
	scheme, rest, _ := strings.Cut(url, "://")
	authority, target, _ := strings.Cut(rest, "/")
	rawPath, rawQuery, _ := strings.Cut("/"+target, "?")
	r := &Request{Time: when, Kind: KindHTTP, Scheme: Scheme(scheme), Port: Scheme(scheme).DefaultPort(), Method: method, Header: map[string][]string{}}
	if host, port, ok := strings.Cut(authority, ":"); ok {
		authority = host
		fmt.Sscan(port, &r.Port)
	}
	r.Host = Host(authority)
	r.Path, _ = ParsePath(rawPath)
	q, err := ParseQuery(rawQuery)
	if err != nil {
		t.Fatal(err)
	}
	r.Query = q
	for i := 0; i < len(headers); i += 2 {
		r.Header[headers[i]] = append(r.Header[headers[i]], headers[i+1])
	}
	return r
}

func TestZeroValuesDeny(t *testing.T) {
	var d Decision
	if d.Allowed() || d.Verdict() != "deny" {
		t.Error("the zero Decision allows")
	}
	for _, kind := range []Kind{KindName, KindConnect, KindHTTP, KindPacket, ""} {
		r := ask(t, "GET", "https://api.example.com/")
		r.Kind = kind
		if d := new(Policy).Decide(r); d.Allowed() {
			t.Errorf("HOST-13 the zero Policy allows a %q", kind)
		}
		p := compile(t, grant("g", "api.example.com", get(template(t, "/"))))
		if d := p.Decide(&Request{Kind: kind}); d.Allowed() {
			t.Errorf("an empty request of kind %q is allowed", kind)
		}
	}
}

func TestDecide(t *testing.T) {
	issues := &Allow{
		Methods: []string{"GET"},
		Path:    template(t, "/repos/{owner}/{repo}/issues", "owner", Literal("acme")),
		Query: QueryRule{Parameters: []ParameterRule{
			{Name: "state", Value: OneOf("open", "closed")},
			{Name: "page", Value: pattern(t, "int")},
			{Name: "repo", Value: Literal("mine"), Required: false},
		}},
	}
	comment := &Allow{Methods: []string{"POST"}, Path: template(t, "/repos/acme/{repo}/comments"), Body: &BodyRule{Type: "application/json", Max: 100}}
	expired := grant("old", "old.example.com", get(template(t, "/")))
	expired.Expires = when
	wild := grant("wild", "*.cdn.example.com", get(template(t, "/f/{name}")))
	plain := grant("plain", "plain.example.com", get(template(t, "/x")))
	plain.Port, plain.Scheme = 8080, HTTP
	literal := grant("literal", "203.0.113.9", get(template(t, "/x")))
	p := compile(t,
		grant("issues", "api.example.com", issues, comment),
		grant("public", "www.example.com", get(template(t, "/public/{rest...}")), get(template(t, "/repos/org/app")), get(template(t, "/Admin")), get(template(t, "/dir/"))),
		grant("inner", "mod.example.com", get(template(t, "/{mod...}/@v/{version}.info", "mod", "go_module", "version", "go_version"))),
		expired, wild, plain, literal,
	)
	for _, c := range []struct {
		name   string
		req    *Request
		reason Reason
		target string
	}{
		{"control", ask(t, "GET", "https://api.example.com/repos/acme/app/issues?page=2&state=open"), Granted, "/repos/acme/app/issues?state=open&page=2"},
		{"encoded spelling is rendered", ask(t, "GET", "https://api.example.com/rep%6fs/acme/%61pp/issues"), Granted, "/repos/acme/app/issues"},
		{"other owner", ask(t, "GET", "https://api.example.com/repos/evil/app/issues"), PathNotGranted, ""},
		{"other method", ask(t, "DELETE", "https://api.example.com/repos/acme/app/issues"), MethodNotGranted, ""},
		{"method in lower case", ask(t, "get", "https://api.example.com/repos/acme/app/issues"), MethodNotGranted, ""},
		{"HEAD is a method of its own", ask(t, "HEAD", "https://api.example.com/repos/acme/app/issues"), MethodNotGranted, ""},
		{"undeclared parameter", ask(t, "GET", "https://api.example.com/repos/acme/app/issues?x=1"), QueryNotGranted, ""},
		{"value outside the pattern", ask(t, "GET", "https://api.example.com/repos/acme/app/issues?page=x"), QueryNotGranted, ""},
		{"PATH-12 twice", ask(t, "GET", "https://api.example.com/repos/acme/app/issues?repo=mine&repo=other"), QueryNotGranted, ""},
		{"PATH-12 twice the same", ask(t, "GET", "https://api.example.com/repos/acme/app/issues?repo=mine&repo=mine"), QueryNotGranted, ""},
		{"PATH-12 encoded name", ask(t, "GET", "https://api.example.com/repos/acme/app/issues?repo=mine&%72epo=other"), QueryNotGranted, ""},
		{"PATH-10 override header", ask(t, "GET", "https://api.example.com/repos/acme/app/issues", "X-Http-Method-Override", "DELETE"), MethodOverride, ""},
		{"PATH-10 override parameter", ask(t, "GET", "https://api.example.com/repos/acme/app/issues?_method=DELETE"), MethodOverride, ""},
		{"PATH-10 override parameter in PHP", ask(t, "GET", "https://api.example.com/repos/acme/app/issues?.Method=DELETE"), MethodOverride, ""},
		{"authorization", ask(t, "GET", "https://api.example.com/repos/acme/app/issues", "Authorization", "Bearer x"), ForeignCredential, ""},
		{"cookie", ask(t, "GET", "https://api.example.com/repos/acme/app/issues", "Cookie", "a=b"), ForeignCredential, ""},
		{"api key", ask(t, "GET", "https://api.example.com/repos/acme/app/issues", "X-Api-Key", "b"), ForeignCredential, ""},
		{"no host", ask(t, "GET", "https://evil.example.net/"), NoGrant, ""},
		{"HOST-10 other port", ask(t, "GET", "https://api.example.com:9999/repos/acme/app/issues"), PortNotGranted, ""},
		{"PATH-14 cleartext", ask(t, "GET", "http://api.example.com/repos/acme/app/issues"), PortNotGranted, ""},
		{"cleartext on the TLS port", ask(t, "GET", "http://api.example.com:443/repos/acme/app/issues"), ProtocolNotGranted, ""},
		{"HOST-09 address", ask(t, "GET", "https://203.0.113.10/x"), AddressNotGranted, ""},
		{"HOST-12 metadata", ask(t, "GET", "https://169.254.169.254/x"), MetadataAddress, ""},
		{"HOST-12 metadata of another cloud", ask(t, "GET", "https://100.100.100.200/x"), MetadataAddress, ""},
		{"HOST-09 granted literal", ask(t, "GET", "https://203.0.113.9/x"), Granted, "/x"},
		{"expired", ask(t, "GET", "https://old.example.com/"), GrantExpired, ""},
		{"wildcard", ask(t, "GET", "https://a.cdn.example.com/f/x"), Granted, "/f/x"},
		{"wildcard, deeper", ask(t, "GET", "https://a.b.cdn.example.com/f/x"), NoGrant, ""},
		{"cleartext grant", ask(t, "GET", "http://plain.example.com:8080/x"), Granted, "/x"},
		{"rest", ask(t, "GET", "https://www.example.com/public/a/b"), Granted, "/public/a/b"},
		{"rest is not empty", ask(t, "GET", "https://www.example.com/public/"), PathNotGranted, ""},
		{"PATH-03 encoded slash in rest", ask(t, "GET", "https://www.example.com/public/a%2fb"), PathNotGranted, ""},
		{"PATH-03 encoded slash in place of one", ask(t, "GET", "https://www.example.com/public%2fa"), PathNotGranted, ""},
		{"PATH-06 parameters", ask(t, "GET", "https://www.example.com/public/a;x=1"), PathNotGranted, ""},
		{"PATH-07 double encoding", ask(t, "GET", "https://www.example.com/public/%252e%252e/secret"), PathNotGranted, ""},
		{"PATH-09 beyond a segment", ask(t, "GET", "https://www.example.com/repos/org/app-private"), PathNotGranted, ""},
		{"PATH-09 below", ask(t, "GET", "https://www.example.com/repos/org/app/x"), PathNotGranted, ""},
		{"PATH-13 case", ask(t, "GET", "https://www.example.com/admin"), PathNotGranted, ""},
		{"PATH-13 case, escaped", ask(t, "GET", "https://www.example.com/%61dmin"), PathNotGranted, ""},
		{"PATH-13 same case, escaped", ask(t, "GET", "https://www.example.com/%41dmin"), Granted, "/Admin"},
		{"trailing slash", ask(t, "GET", "https://www.example.com/repos/org/app/"), PathNotGranted, ""},
		{"trailing slash granted", ask(t, "GET", "https://www.example.com/dir/"), Granted, "/dir/"},
		{"trailing slash missing", ask(t, "GET", "https://www.example.com/dir"), PathNotGranted, ""},
		{"malformed path", ask(t, "GET", "https://www.example.com/public/../x"), MalformedPath, ""},
		{"several segments", ask(t, "GET", "https://mod.example.com/github.com/%21burnt%21sushi/toml/@v/v1.2.3.info"), Granted, "/github.com/!burnt!sushi/toml/@v/v1.2.3.info"},
		{"several segments, another file", ask(t, "GET", "https://mod.example.com/github.com/a/b/@v/v1.2.3.zip"), PathNotGranted, ""},
		{"body on GET", body(ask(t, "GET", "https://www.example.com/repos/org/app"), "application/json", 3), BodyNotGranted, ""},
		{"body", body(ask(t, "POST", "https://api.example.com/repos/acme/app/comments"), "application/json", 100), Granted, "/repos/acme/app/comments"},
		{"body over the cap", body(ask(t, "POST", "https://api.example.com/repos/acme/app/comments"), "application/json", 101), BodyTooLarge, ""},
		{"body of another type", body(ask(t, "POST", "https://api.example.com/repos/acme/app/comments"), "text/plain", 3), BodyNotGranted, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := p.Decide(c.req)
			if d.Reason != c.reason || d.Allowed() != (c.reason == Granted) || d.Target(c.req) != c.target {
				t.Errorf("got %s %s %q, want %s %q", d.Verdict(), d.Reason, d.Target(c.req), c.reason, c.target)
			}
			if e := p.Explain(c.req, d); !d.Allowed() && e.Mismatch == "" {
				t.Error("no explanation")
			}
		})
	}
}

func body(r *Request, mediaType string, length int64) *Request {
	r.Body = Body{Present: true, Type: mediaType, Length: length}
	return r
}

func TestDecideName(t *testing.T) {
	old := grant("old", "old.example.com", get(template(t, "/")))
	old.Expires = when.Add(-time.Second)
	p := compile(t, grant("a", "api.example.com", get(template(t, "/"))), grant("w", "*.cdn.example.com", get(template(t, "/"))), old)
	for _, c := range []struct {
		host Host
		want Reason
	}{
		{"api.example.com", Granted},
		{"x.cdn.example.com", Granted},
		{"cdn.example.com", NoGrant},
		{"evil.example.net", NoGrant},
		{"old.example.com", GrantExpired},
		{"", AddressNotGranted},
	} {
		if d := p.Decide(&Request{Time: when, Kind: KindName, Host: c.host}); d.Reason != c.want || d.Allowed() != (c.want == Granted) {
			t.Errorf("%s: got %s, want %s", c.host, d.Reason, c.want)
		}
	}
}

func TestDecidePackets(t *testing.T) {
	for _, c := range []struct {
		protocol, address string
		want              Reason
	}{
		{"tcp", "203.0.113.9", PortNotGranted},
		{"udp", "203.0.113.9", ProtocolNotGranted},
		{"tcp", "169.254.169.254", MetadataAddress},
		{"udp", "fd00:ec2::254", MetadataAddress},
	} {
		r := &Request{Time: when, Kind: KindPacket, Protocol: c.protocol, Address: netip.MustParseAddr(c.address), Port: 80}
		if d := new(Policy).Decide(r); d.Reason != c.want || d.Allowed() {
			t.Errorf("%s to %s: got %s, want %s", c.protocol, c.address, d.Reason, c.want)
		}
	}
	if d := new(Policy).Decide(&Request{Kind: KindPacket}); d.Reason != ProtocolNotGranted {
		t.Errorf("packets of which nothing is known: got %s", d.Reason)
	}
}

func TestCompileRefuses(t *testing.T) {
	plain := grant("b", "api.example.com", get(template(t, "/")))
	plain.Scheme = HTTP
	a := grant("a", "api.example.com", get(template(t, "/")))
	for name, grants := range map[string][]*Grant{"two schemes": {a, plain}, "two names": {a, a}} {
		if _, err := Compile(grants, nil); err == nil {
			t.Errorf("%s: compiled", name)
		}
	}
	if _, err := Compile(nil, []Role{{Name: "r", Grants: []string{"x"}}}); err == nil {
		t.Error("a role with an unknown grant: compiled")
	}
	p, err := Compile([]*Grant{a}, []Role{{Name: "none"}})
	if err != nil {
		t.Fatal(err)
	}
	none, err := p.ForRole("none")
	if err != nil || none.Decide(ask(t, "GET", "https://api.example.com/")).Allowed() {
		t.Errorf("an empty role allows: %v", err)
	}
	if _, err := p.ForRole("missing"); err == nil {
		t.Error("an unknown role is all roles")
	}
}

func TestTemplateMistakes(t *testing.T) {
	for _, text := range []string{"", "x", "/a//b", "/{a", "/a}", "/{a}{b}", "/{1}", "/{}", "/x{a...}", "/{a}-{b...}", "/a/../b", "/a%zz", "/{a b}"} {
		if tm, err := ParseTemplate(text, nil); err == nil && text != "/a/../b" {
			t.Errorf("%q compiles to %v", text, tm)
		}
	}
	if _, err := ParseTemplate("/{a}", map[string]Pattern{"b": Slug()}); err == nil {
		t.Error("where for an unknown variable")
	}
}

func TestHeader(t *testing.T) {
	a := get(template(t, "/"))
	a.Headers = []HeaderRule{{"X-Version", Literal("7")}, {"X-Page", pattern(t, "int")}}
	p := compile(t, grant("g", "api.example.com", a))
	r := ask(t, "GET", "https://api.example.com/", "Accept", "text/html", "X-Evil", "secret", "User-Agent", "leak", "X-Version", "8", "X-Page", "3", "Connection", "close", "Referer", "x")
	d := p.Decide(r)
	h, stripped := d.Header(r)
	want := map[string]string{"Accept": "text/html", "User-Agent": UserAgent, "X-Version": "7", "X-Page": "3"}
	if len(h) != len(want) || stripped != 2 {
		t.Errorf("got %v, %d stripped", h, stripped)
	}
	for k, v := range want {
		if len(h[k]) != 1 || h[k][0] != v {
			t.Errorf("%s: got %q, want %q", k, h[k], v)
		}
	}
	r.Header["X-Page"] = []string{"x"}
	if d := p.Decide(r); d.Reason != HeaderNotGranted {
		t.Errorf("EXF-08 a listed header outside its pattern: %s", d.Reason)
	}
	r = ask(t, "GET", "https://api.example.com/", "Accept", "text/html\tx", "Accept-Encoding", "gzip, secret")
	if h, n := p.Decide(r).Header(r); n != 2 || len(h) != 2 {
		t.Errorf("EXF-08 values outside the grammar pass: %v", h)
	}
}

// grants makes n grants of distinct paths on each of n/10 hosts.
func many(t testing.TB, n int) *Policy {
	grants := make([]*Grant, n)
	for i := range grants {
		grants[i] = grant(fmt.Sprintf("g%d", i), fmt.Sprintf("h%d.example.com", i/10), get(template(t, fmt.Sprintf("/repos/r%d/{issue}/x", i), "issue", "int")))
	}
	return compile(t, grants...)
}

func TestDecideDoesNotAllocate(t *testing.T) {
	p := many(t, 1000)
	r := ask(t, "GET", "https://h42.example.com/repos/r425/17/x", "Accept", "*/*")
	if d := p.Decide(r); !d.Allowed() {
		t.Fatalf("control: %s", d.Reason)
	}
	if n := testing.AllocsPerRun(1000, func() { p.Decide(r) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkDecide(b *testing.B) {
	for _, n := range []int{10, 1000, 100000} {
		p := many(b, n)
		r := ask(b, "GET", "https://h0.example.com/repos/r5/17/x", "Accept", "*/*")
		b.Run(fmt.Sprintf("allow/%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				p.Decide(r)
			}
		})
	}
}

func FuzzRender(f *testing.F) {
	npm := get(template(f, "/{name}", "name", "npm_name"))
	tarball := get(template(f, "/{base}/-/{base}-{version}.tgz", "base", "npm_base", "version", "semver"))
	rest := get(template(f, "/public/{rest...}"))
	yarn := get(template(f, "/@{scope}%2f{base}/-/{base}-{version}.tgz", "scope", "npm_scope", "base", "npm_base", "version", "semver"))
	lookup := get(template(f, "/lookup/{mod...}@{version}", "mod", "go_module", "version", "go_version"))
	tail := get(template(f, "/tail/{a...}-{b}@{c}", "b", OneOf("x", "x/y")))
	p := compile(f, grant("npm", "npm.example.com", npm, tarball, rest, yarn, lookup, tail))
	f.Fuzz(func(t *testing.T, s string) {
		path, err := ParsePath(s)
		if err != nil {
			return
		}
		r := &Request{Time: when, Kind: KindHTTP, Host: "npm.example.com", Port: 443, Scheme: HTTPS, Method: "GET", Path: path}
		d := p.Decide(r)
		sent := d.Target(r)
		if d.Allowed() != (sent != "") {
			t.Fatalf("%q: %s but sent as %q", s, d.Verdict(), sent)
		}
		if sent == "" {
			return
		}
		if strings.ContainsAny(sent, "\\;?#") || strings.Contains(sent, "//") {
			t.Errorf("%q is sent as %q", s, sent)
		}
		again, err := ParsePath(sent)
		if err != nil {
			t.Fatalf("%q is sent as %q, which does not parse", s, sent)
		}
		r.Path = again
		if d2 := p.Decide(r); !d2.Allowed() || d2.Target(r) != sent {
			t.Errorf("%q is sent as %q, which is judged %s and sent as %q", s, sent, d2.Reason, d2.Target(r))
		}
	})
}
