package policyfile

import (
	"errors"
	"io/fs"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"scupper.dev/scupper/capability"
)

// files is a folder of the files that a policy names.
func files(named map[string]string) Options {
	return Options{Now: testTime, ReadFile: func(path string) ([]byte, error) {
		text, ok := named[path]
		if !ok {
			return nil, fs.ErrNotExist
		}
		return []byte(text), nil
	}}
}

// load parses a policy that has to be right.
func load(t *testing.T, text string, o Options) *File {
	t.Helper()
	file, diags := Parse("policy.hcl", []byte(text), o)
	if err := diags.Err(); err != nil {
		t.Fatal(err)
	}
	return file
}

// request is what an enforcer would make of "METHOD http(s)://host/path?query".
func request(t *testing.T, line string) (*capability.Request, error) {
	t.Helper()
	method, raw, ok := strings.Cut(line, " ")
	u, err := url.Parse(raw)
	if !ok || err != nil {
		t.Fatalf("%q: %v", line, err)
	}
	r := &capability.Request{Time: testTime, Kind: capability.KindHTTP, Scheme: capability.Scheme(u.Scheme), Method: method}
	r.Port = r.Scheme.DefaultPort()
	if u.Port() == "8443" {
		r.Port = 8443
	}
	if r.Host, err = capability.ParseHost(u.Hostname()); err != nil {
		return nil, err
	}
	_, rest, _ := strings.Cut(raw, "://")
	path := rest[strings.IndexByte(rest, '/'):]
	path, query, _ := strings.Cut(path, "?")
	if r.Path, err = capability.ParsePath(path); err != nil {
		return nil, err
	}
	r.Query, err = capability.ParseQuery(query)
	return r, err
}

// decide is the target that goes upstream, or the reason of the denial.
func decide(t *testing.T, p *capability.Policy, line string, with ...func(*capability.Request)) string {
	t.Helper()
	r, err := request(t, line)
	if err != nil {
		return "malformed"
	}
	for _, w := range with {
		w(r)
	}
	d := p.Decide(r)
	if d.Allowed() {
		return d.Target(r)
	}
	return string(d.Reason)
}

const npmPolicy = `
version = 1
use "npm" { registry = "https://npm.example.com" }
`

func TestNPMInstall(t *testing.T) {
	p := load(t, npmPolicy, Options{}).Policy
	for line, want := range map[string]string{
		"GET https://npm.example.com/left-pad":                                "/left-pad",
		"HEAD https://npm.example.com/left-pad":                               "/left-pad",
		"GET https://npm.example.com/JSONStream":                              "/JSONStream",
		"GET https://npm.example.com/@scope%2fname":                           "/@scope%2Fname",
		"GET https://npm.example.com/@scope%2Fname":                           "/@scope%2Fname",
		"GET https://npm.example.com/%40scope%2fname":                         "/@scope%2Fname",
		"GET https://npm.example.com/@scope/name":                             "/@scope/name",
		"GET https://npm.example.com/left-pad/-/left-pad-1.3.0.tgz":           "/left-pad/-/left-pad-1.3.0.tgz",
		"GET https://npm.example.com/left-pad/-/left-pad-1.3.0-rc.1.tgz":      "/left-pad/-/left-pad-1.3.0-rc.1.tgz",
		"GET https://npm.example.com/@scope/name/-/name-1.0.0.tgz":            "/@scope/name/-/name-1.0.0.tgz",
		"GET https://npm.example.com/@scope%2fname/-/name-1.0.0.tgz":          "/@scope%2fname/-/name-1.0.0.tgz",
		"GET https://npm.example.com/@scope%2Fname/-/name-1.0.0.tgz":          "/@scope%2fname/-/name-1.0.0.tgz",
		"HEAD https://npm.example.com/@scope/name/-/name-10.20.30-beta.2.tgz": "/@scope/name/-/name-10.20.30-beta.2.tgz",
	} {
		if got := decide(t, p, line); got != want {
			t.Errorf("%s: got %q, want %q", line, got, want)
		}
	}
}

// TestNPMNeighbours asks for everything else that the clients know how to ask of the
// same registry.
func TestNPMNeighbours(t *testing.T) {
	p := load(t, npmPolicy, Options{}).Policy
	if got := decide(t, p, "GET https://npm.example.com/pkg"); got != "/pkg" {
		t.Fatalf("control: %s", got)
	}
	token := func(r *capability.Request) { r.Header = map[string][]string{"Authorization": {"Bearer npm_x"}} }
	body := func(r *capability.Request) {
		r.Body = capability.Body{Present: true, Type: "application/json", Length: 2}
	}
	for _, c := range []struct {
		name, line string
		want       capability.Reason
		with       []func(*capability.Request)
	}{
		{"EXF-03 publish with its own token", "PUT https://npm.example.com/pkg", capability.MethodNotGranted, with(token, body)},
		{"EXF-03 publish scoped", "PUT https://npm.example.com/@s%2fpkg", capability.MethodNotGranted, with(token, body)},
		{"EXF-03 a token on a read", "GET https://npm.example.com/pkg", capability.ForeignCredential, with(token)},
		{"a body on a read", "GET https://npm.example.com/pkg", capability.BodyNotGranted, with(body)},
		{"unpublish reads for writing", "GET https://npm.example.com/pkg?write=true", capability.QueryNotGranted, nil},
		{"unpublish revision", "PUT https://npm.example.com/pkg/-rev/1-abc", capability.PathNotGranted, with(body)},
		{"unpublish all", "DELETE https://npm.example.com/pkg/-rev/1-abc", capability.PathNotGranted, nil},
		{"unpublish file", "DELETE https://npm.example.com/pkg/-/pkg-1.0.0.tgz/-rev/1-abc", capability.PathNotGranted, nil},
		{"delete file", "DELETE https://npm.example.com/pkg/-/pkg-1.0.0.tgz", capability.MethodNotGranted, nil},
		{"dist-tag ls", "GET https://npm.example.com/-/package/pkg/dist-tags", capability.PathNotGranted, nil},
		{"dist-tag add", "PUT https://npm.example.com/-/package/pkg/dist-tags/latest", capability.PathNotGranted, with(body)},
		{"dist-tag rm", "DELETE https://npm.example.com/-/package/@s%2fpkg/dist-tags/beta", capability.PathNotGranted, nil},
		{"owner add reads the user", "GET https://npm.example.com/-/user/org.couchdb.user:mallory", capability.PathNotGranted, nil},
		{"owner add writes", "PUT https://npm.example.com/@s%2fpkg/-rev/1-abc", capability.PathNotGranted, with(body)},
		{"login web", "POST https://npm.example.com/-/v1/login", capability.PathNotGranted, with(body)},
		{"login couch", "PUT https://npm.example.com/-/user/org.couchdb.user:mallory", capability.PathNotGranted, with(body)},
		{"logout", "DELETE https://npm.example.com/-/user/token/npm_x", capability.PathNotGranted, nil},
		{"token list", "GET https://npm.example.com/-/npm/v1/tokens", capability.PathNotGranted, nil},
		{"token create", "POST https://npm.example.com/-/npm/v1/tokens", capability.PathNotGranted, with(body)},
		{"token revoke", "DELETE https://npm.example.com/-/npm/v1/tokens/token/abc", capability.PathNotGranted, nil},
		{"profile get", "GET https://npm.example.com/-/npm/v1/user", capability.PathNotGranted, nil},
		{"profile set", "POST https://npm.example.com/-/npm/v1/user", capability.PathNotGranted, with(body)},
		{"whoami", "GET https://npm.example.com/-/whoami", capability.PathNotGranted, nil},
		{"search", "GET https://npm.example.com/-/v1/search?text=secret&size=20", capability.PathNotGranted, nil},
		{"org", "GET https://npm.example.com/-/org/acme/user", capability.PathNotGranted, nil},
		{"team", "GET https://npm.example.com/-/team/acme/dev/user?format=cli", capability.PathNotGranted, nil},
		{"access", "POST https://npm.example.com/-/package/pkg/access", capability.PathNotGranted, with(body)},
		{"trust", "GET https://npm.example.com/-/package/pkg/trust", capability.PathNotGranted, nil},
		{"stage", "GET https://npm.example.com/-/stage?page=0&perPage=10", capability.PathNotGranted, nil},
		{"ping", "GET https://npm.example.com/-/ping", capability.PathNotGranted, nil},
		{"the folder of functions", "GET https://npm.example.com/-", capability.PathNotGranted, nil},
		{"the folder of functions, slash", "GET https://npm.example.com/-/", capability.PathNotGranted, nil},
		{"EXF-11 audit bulk", "POST https://npm.example.com/-/npm/v1/security/advisories/bulk", capability.PathNotGranted, with(body)},
		{"EXF-11 audit quick", "POST https://npm.example.com/-/npm/v1/security/audits/quick", capability.PathNotGranted, with(body)},
		{"EXF-11 audit", "POST https://npm.example.com/-/npm/v1/security/audits", capability.PathNotGranted, with(body)},
		{"EXF-11 post at a packument", "POST https://npm.example.com/pkg", capability.MethodNotGranted, with(body)},
		{"keys", "GET https://npm.example.com/-/npm/v1/keys", capability.PathNotGranted, nil},
		{"corepack", "GET https://npm.example.com/pnpm/9.0.0", capability.PathNotGranted, nil},
		{"tarball of another package", "GET https://npm.example.com/pkg/-/other-1.0.0.tgz", capability.PathNotGranted, nil},
		{"tarball of no version", "GET https://npm.example.com/pkg/-/pkg-latest.tgz", capability.PathNotGranted, nil},
		{"all packages", "GET https://npm.example.com/-/all", capability.PathNotGranted, nil},
		{"root", "GET https://npm.example.com/", capability.PathNotGranted, nil},
		{"packument with a slash behind", "GET https://npm.example.com/pkg/", capability.PathNotGranted, nil},
		{"name of a dash", "GET https://npm.example.com/-%2fwhoami", capability.PathNotGranted, nil},
		{"scope of a dash", "GET https://npm.example.com/@-%2fwhoami", capability.PathNotGranted, nil},
		{"encoded slash without a scope", "GET https://npm.example.com/pkg%2f-rev", capability.PathNotGranted, nil},
		{"twice encoded slash", "GET https://npm.example.com/@s%252fpkg", capability.PathNotGranted, nil},
		{"raw scope of a dash", "GET https://npm.example.com/@-/ping", capability.PathNotGranted, nil},
		{"raw name of a dash", "GET https://npm.example.com/@s/-rev", capability.PathNotGranted, nil},
		{"delete a package", "DELETE https://npm.example.com/pkg", capability.MethodNotGranted, nil},
		{"delete a scoped package", "DELETE https://npm.example.com/@s/pkg", capability.MethodNotGranted, nil},
		{"options", "OPTIONS https://npm.example.com/pkg", capability.MethodNotGranted, nil},
		{"another name for GET", "get https://npm.example.com/pkg", capability.MethodNotGranted, nil},
		{"cleartext", "GET http://npm.example.com/pkg", capability.PortNotGranted, nil},
		{"another port", "GET https://npm.example.com:8443/pkg", capability.PortNotGranted, nil},
		{"another host", "GET https://evil.example.com/pkg", capability.NoGrant, nil},
		{"override", "GET https://npm.example.com/pkg", capability.MethodOverride, with(func(r *capability.Request) {
			r.Header = map[string][]string{"X-Http-Method-Override": {"PUT"}}
		})},
		{"free Accept", "GET https://npm.example.com/pkg", capability.HeaderNotGranted, with(func(r *capability.Request) {
			r.Header = map[string][]string{"Accept": {"text/c2VjcmV0"}}
		})},
		{"free Range", "GET https://npm.example.com/pkg", capability.HeaderNotGranted, with(func(r *capability.Request) {
			r.Header = map[string][]string{"Range": {"bytes=1-2,3-4,5-6"}}
		})},
		{"one-time password", "GET https://npm.example.com/pkg", capability.ForeignCredential, with(func(r *capability.Request) {
			r.Header = map[string][]string{"Npm-Otp": {"123456"}}
		})},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := decide(t, p, c.line, c.with...); got != string(c.want) {
				t.Errorf("%s: got %q, want %q", c.line, got, c.want)
			}
		})
	}
	for _, line := range []string{
		"GET https://npm.example.com/pkg/../-/whoami", "GET https://npm.example.com/pkg/%2e%2e/-/whoami", "GET https://npm.example.com//-/whoami",
		"GET https://npm.example.com/@s%2f..%2f-%2fwhoami", "GET https://npm.example.com/pkg%00", `GET https://npm.example.com/pkg%5c..`,
	} {
		if got := decide(t, p, line); got != "malformed" {
			t.Errorf("%s: got %q, want malformed", line, got)
		}
	}
}

func with(w ...func(*capability.Request)) []func(*capability.Request) { return w }

// TestNPMHeaders: what reaches the registry beside the path is constant or one of few.
func TestNPMHeaders(t *testing.T) {
	p := load(t, npmPolicy, Options{}).Policy
	r, err := request(t, "GET https://npm.example.com/pkg")
	if err != nil {
		t.Fatal(err)
	}
	r.Header = map[string][]string{
		"Accept": {"application/json"}, "Accept-Encoding": {"gzip"}, "User-Agent": {"npm/11 secret"}, "Range": {"bytes=0-99"},
		"Pacote-Pkg-Id": {"secret"}, "Npm-Command": {"ci"}, "If-None-Match": {`"secret"`}, "Referer": {"secret"},
	}
	got, stripped := p.Decide(r).Header(r)
	want := map[string][]string{"Accept": {"application/json"}, "Accept-Encoding": {"gzip"}, "User-Agent": {"npm (scupper)"}, "Range": {"bytes=0-99"}}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("got -, want +:\n%s", diff)
	}
	if stripped != 4 {
		t.Errorf("stripped %d, want 4", stripped)
	}
}

func TestNPMRegistryElsewhere(t *testing.T) {
	for _, c := range []struct{ registry, request, want, environment string }{
		{"https://repo.example.com/repository/npm/", "GET https://repo.example.com/repository/npm/@s%2fp", "/repository/npm/@s%2Fp", "https://repo.example.com/repository/npm/"},
		{"https://repo.example.com/repository/npm", "GET https://repo.example.com/p", "path_not_granted", "https://repo.example.com/repository/npm/"},
		{"https://repo.example.com/repository/npm", "GET https://repo.example.com/repository/npm/-/ping", "path_not_granted", "https://repo.example.com/repository/npm/"},
		{"https://npm.example.com:8443", "GET https://npm.example.com:8443/p", "/p", "https://npm.example.com:8443/"},
		{"https://NPM.example.com.:443/", "GET https://npm.example.com/p", "/p", "https://npm.example.com/"},
		{"http://npm.example.com", "GET http://npm.example.com/p", "/p", "http://npm.example.com/"},
		{"http://[2001:db8::1]", "GET http://[2001:db8::1]/p", "/p", "http://[2001:db8::1]/"},
	} {
		file := load(t, `version = 1`+"\n"+`use "npm" { registry = "`+c.registry+`" }`, Options{})
		if got := decide(t, file.Policy, c.request); got != c.want {
			t.Errorf("%s under %s: got %q, want %q", c.request, c.registry, got, c.want)
		}
		if got := variable(file.Environment, "npm_config_registry"); got != c.environment {
			t.Errorf("npm_config_registry: got %q, want %q", got, c.environment)
		}
	}
}

func variable(list []Variable, name string) string {
	for _, v := range list {
		if v.Name == name {
			return v.Value
		}
	}
	return ""
}

const lock = `{
  "lockfileVersion": 3,
  "packages": {
    "": {"name": "app", "version": "1.0.0"},
    "packages/own": {"name": "own", "version": "1.0.0"},
    "node_modules/own": {"resolved": "packages/own", "link": true},
    "node_modules/left-pad": {"version": "1.3.0", "resolved": "https://registry.example.net/left-pad/-/left-pad-1.3.0.tgz"},
    "node_modules/a/node_modules/left-pad": {"version": "1.2.0", "resolved": "https://registry.example.net/left-pad/-/left-pad-1.2.0.tgz"},
    "node_modules/@s/n": {"version": "2.0.0-rc.1", "resolved": "https://npm.example.com/@s/n/-/n-2.0.0-rc.1.tgz"},
    "node_modules/alias": {"name": "real", "version": "4.0.0"},
    "node_modules/left-pad/node_modules/inner": {"version": "1.0.0", "inBundle": true},
    "node_modules/gitdep": {"version": "1.0.0", "resolved": "git+ssh://git@example.com/a/b.git#0123"},
    "node_modules/stray": {"version": "1.0.0", "resolved": "https://evil.test/stray/-/stray-1.0.0.tgz"},
    "node_modules/../../x": {"version": "1.0.0"},
    "node_modules/odd": {"version": "1.0.0/../../-/whoami"}
  }
}`

func TestNPMLockfile(t *testing.T) {
	file, diags := Parse("dir/policy.hcl", []byte(`version = 1
use "npm" {
  registry = "https://npm.example.com"
  lockfile = "package-lock.json"
}`), files(map[string]string{"dir/package-lock.json": lock}))
	if diags.HasErrors() || diags.Count(Warning) != 1 {
		t.Fatalf("got %v, want one warning", diags)
	}
	for _, name := range []string{"gitdep", "stray", "../../x", "odd"} {
		if !strings.Contains(diags[0].Detail, name) {
			t.Errorf("the warning does not name %s: %s", name, diags[0].Detail)
		}
	}
	if diff := cmp.Diff(file.Files, []string{"dir/package-lock.json"}); diff != "" {
		t.Errorf("files: got -, want +:\n%s", diff)
	}
	for line, want := range map[string]string{
		"/left-pad": "/left-pad", "/left-pad/-/left-pad-1.3.0.tgz": "/left-pad/-/left-pad-1.3.0.tgz", "/left-pad/-/left-pad-1.2.0.tgz": "/left-pad/-/left-pad-1.2.0.tgz",
		"/@s%2fn": "/@s%2Fn", "/@s/n": "/@s/n", "/@s/n/-/n-2.0.0-rc.1.tgz": "/@s/n/-/n-2.0.0-rc.1.tgz", "/@s%2fn/-/n-2.0.0-rc.1.tgz": "/@s%2fn/-/n-2.0.0-rc.1.tgz",
		"/real": "/real", "/real/-/real-4.0.0.tgz": "/real/-/real-4.0.0.tgz",
		"/left-pad/-/left-pad-1.1.0.tgz": "path_not_granted", "/alias": "path_not_granted", "/own": "path_not_granted", "/app": "path_not_granted",
		"/inner": "path_not_granted", "/gitdep": "path_not_granted", "/stray": "path_not_granted", "/other": "path_not_granted", "/-/whoami": "path_not_granted",
	} {
		if got := decide(t, file.Policy, "GET https://npm.example.com"+line); got != want {
			t.Errorf("%s: got %q, want %q", line, got, want)
		}
	}
}

func TestNPMLockfileUnreadable(t *testing.T) {
	policy := []byte("version = 1\nuse \"npm\" {\n  registry = \"https://npm.example.com\"\n  lockfile = \"package-lock.json\"\n}")
	for name, o := range map[string]Options{
		"absent":    files(nil),
		"no reader": {},
		"error":     {ReadFile: func(string) ([]byte, error) { return nil, errors.New("disk on fire") }},
		"not JSON":  files(map[string]string{"package-lock.json": "<html>"}),
		"version 1": files(map[string]string{"package-lock.json": `{"lockfileVersion": 1, "dependencies": {}}`}),
	} {
		file, diags := Parse("policy.hcl", policy, o)
		if !diags.HasErrors() || len(file.Policy.Grants()) != 0 {
			t.Errorf("%s: got %v and %d grants, want an error and none", name, diags, len(file.Policy.Grants()))
		}
	}
}

// TestLockfileIsOutsideTheHash: an install that changes the lockfile does not ask the
// operator again, and an empty lockfile grants nothing.
func TestLockfileIsOutsideTheHash(t *testing.T) {
	policy := "version = 1\nuse \"npm\" {\n  registry = \"https://npm.example.com\"\n  lockfile = \"package-lock.json\"\n}"
	one := load(t, policy, files(map[string]string{"package-lock.json": lock}))
	none := load(t, policy, files(map[string]string{"package-lock.json": `{"lockfileVersion": 3, "packages": {}}`}))
	if one.Hash != none.Hash {
		t.Error("the hash depends on the lockfile")
	}
	if got := decide(t, none.Policy, "GET https://npm.example.com/left-pad"); got != "path_not_granted" {
		t.Errorf("an empty lockfile: got %q", got)
	}
}

// TestPrintedPresetIsTheSame: what `policy presets show` prints is what `use` grants.
func TestPrintedPresetIsTheSame(t *testing.T) {
	for _, use := range []string{
		`use "npm" { registry = "https://npm.example.com" }`,
		"use \"npm\" {\n registry = \"http://repo.example.com:8081/r/npm\"\n as = \"mirror\"\n networks = [\"10.0.0.0/8\"]\n expires = \"2027-01-31\"\n limits {\n requests = 9\n rate = \"10/s\"\n upload = \"1MiB\"\n }\n}",
	} {
		file := load(t, "version = 1\n"+use, Options{})
		text := Print(file.Policy.Grants())
		again := load(t, "version = 1\n"+string(text), Options{})
		if diff := cmp.Diff(string(Print(again.Policy.Grants())), string(text)); diff != "" {
			t.Errorf("got -, want +:\n%s", diff)
		}
		formatted, _ := Format("x.hcl", text)
		if diff := cmp.Diff(string(formatted), string(text)); diff != "" {
			t.Errorf("formatting is not idempotent:\n%s", diff)
		}
	}
}
