package policyfile

import (
	"bytes"
	"maps"
	"slices"
	"testing"

	"scupper.dev/scupper/capability"
	"scupper.dev/scupper/capability/presets"
)

// neighbour is a request that a preset must leave out.
type neighbour struct {
	name, line string
	want       capability.Reason
	with       []func(*capability.Request)
}

// targets wants each request to be granted and sent as written behind it, which is
// its own path where nothing is.
func targets(t *testing.T, p *capability.Policy, lines map[string]string) {
	t.Helper()
	for _, line := range slices.Sorted(maps.Keys(lines)) {
		if got := decide(t, p, line); got != lines[line] {
			t.Errorf("%s: got %q, want %q", line, got, lines[line])
		}
	}
}

func denied(t *testing.T, p *capability.Policy, neighbours []neighbour) {
	t.Helper()
	for _, n := range neighbours {
		t.Run(n.name, func(t *testing.T) {
			if got := decide(t, p, n.line, n.with...); got != string(n.want) {
				t.Errorf("%s: got %q, want %q", n.line, got, n.want)
			}
		})
	}
}

func withHeader(name, value string) []func(*capability.Request) {
	return with(func(r *capability.Request) { r.Header = map[string][]string{name: {value}} })
}

func withBody(media, coding string) []func(*capability.Request) {
	return with(func(r *capability.Request) {
		r.Body = capability.Body{Present: true, Type: media, Encoding: coding, Length: 2}
	})
}

// TestPresetsAreLaidOut: every preset is formatted, and its example expands without a
// mistake to a policy that prints as it loads.
func TestPresetsAreLaidOut(t *testing.T) {
	for _, name := range presets.Names() {
		text, _ := presets.Text(name)
		if formatted, _ := Format(name, text); !bytes.Equal(formatted, text) {
			t.Errorf("%s is not formatted:\n%s", name, formatted)
		}
		expanded, diags := Expand(name, nil)
		if diags.HasErrors() {
			t.Fatalf("%s: %v", name, diags)
		}
		file := load(t, string(expanded), Options{})
		if printed := append([]byte("version = 1\n"), Print(file.Policy.Grants())...); !bytes.Contains(expanded, Print(file.Policy.Grants())) {
			t.Errorf("%s expands to\n%s\nwhich prints as\n%s", name, expanded, printed)
		}
	}
}

// TestPresetPositions: a decision names the use block and the preset's own line.
func TestPresetPositions(t *testing.T) {
	p := load(t, "version = 1\n\nuse \"git\" {\n url = \"https://git.example.com\"\n repositories = [\"acme/app\"]\n}", Options{}).Policy
	r, err := request(t, "GET https://git.example.com/acme/app/info/refs?service=git-upload-pack")
	if err != nil {
		t.Fatal(err)
	}
	d := p.Decide(r)
	if !d.Allowed() || d.Grant.Position.String() != "policy.hcl:3:1" || d.Allow.Position.File != "presets/git.hcl" || d.Allow.Position.Line < 10 {
		t.Errorf("got %v at %v, %v", d.Reason, d.Grant.Position, d.Allow.Position)
	}
}

func TestPresetArguments(t *testing.T) {
	use := func(name, arguments string) string {
		return "version = 1\nuse \"" + name + "\" {\n" + arguments + "\n}"
	}
	const proxy, mirror, url = "proxy = \"https://go.example.com\"\n", "mirror = \"http://deb.example.com\"\n", "url = \"https://git.example.com\"\n"
	const limited = proxy + "modules = [\"example.com/team\"]\n"
	for _, c := range []struct {
		name, policy string
		want         []string
	}{
		{"go", use("go", limited), nil},
		{"EXF-10 go without modules", use("go", proxy), only(`warning: no modules ... carry data to anybody; list the modules or their common beginnings: modules = ["example.com/team"]`)},
		{"module without a host", use("go", proxy+`modules = ["team"]`), only(`error: "team" is not the path of a module`)},
		{"module with a version", use("go", proxy+`modules = ["example.com/team@v1.0.0"]`), only(`error: "example.com/team@v1.0.0" is not the path`)},
		{"module with a wildcard", use("go", proxy+`modules = ["example.com/*"]`), only(`error: "example.com/*" is not the path`)},
		{"module twice", use("go", proxy+`modules = ["example.com/a", "example.com/a/"]`), only(`error: "example.com/a/" is given twice`)},
		{"modules of nothing", use("go", proxy+`modules = []`), only("error: not a list, or an empty one")},
		{"toolchains of words", use("go", limited+`toolchains = "yes"`), only("error: not a boolean")},
		{"sumdb is a URL", use("go", limited+`sumdb = "https://sum.example.com"`), only("error: \"https://sum.example.com\" is not a checksum database ... sumdb_url")},
		{"sumdb off", use("go", limited+`sumdb = "off"`), only(`error: "off" is not a checksum database`)},
		{"sumdb with a slash", use("go", limited+`sumdb = "sum.example.com/x"`), only("error: \"sum.example.com/x\" is not a checksum database")},
		{"apt without suites", use("apt", mirror), only(`error: preset "apt" needs suites ... write suites = ["bookworm"]`)},
		{"suite with a slash", use("apt", mirror+`suites = ["stable/updates"]`), only(`error: "stable/updates" is not a name`)},
		{"suite twice", use("apt", mirror+`suites = ["a", "a"]`), only(`error: "a" is given twice`)},
		{"git without repositories", use("git", url), only(`error: preset "git" needs repositories ... write repositories = ["acme/*"]`)},
		{"git with a maximum", use("git", url+"repositories = [\"acme/x\"]\nmax = \"1MiB\""), nil},
		{"git with a maximum of words", use("git", url+"repositories = [\"acme/x\"]\nmax = \"much\""), only(`error: "much" is not a size`)},
		{"every repository", use("git", url+`repositories = ["*/*"]`), only("warning: repositories of everybody at the host")},
		{"a part of a wildcard", use("git", url+`repositories = ["acme/a*"]`), only(`error: "acme/a*" is not a repository`)},
		{"dots", use("git", url+`repositories = ["acme/../x"]`), only(`error: "acme/../x" is not a repository`)},
		{"an empty part", use("git", url+`repositories = ["acme//x"]`), only(`error: "acme//x" is not a repository`)},
		{"a variable", use("git", url+`repositories = ["acme/{x}"]`), only(`error: "acme/{x}" is not a repository`)},
		{"a URL", use("git", url+`repositories = ["https://git.example.com/acme/x"]`), only(`error: "https://git.example.com/acme/x" is not a repository`)},
		{"repository twice", use("git", url+`repositories = ["acme/x", "acme/x.git"]`), only(`error: "acme/x" is given twice`)},
		{"push", grantWith("git {\n repositories = [\"a/b\"]\n operations = [\"fetch\", \"push\"]\n}", allowWith()), only("error: push is not in this version")},
		{"another operation", grantWith("git {\n repositories = [\"a/b\"]\n operations = [\"clone\"]\n}", allowWith()), only(`error: no operation "clone" ... write operations = ["fetch"]`)},
		{"no repositories", grantWith("git {\n operations = [\"fetch\"]\n}", allowWith()), only("error: the git block names no repositories")},
		{"a size of nothing", grantWith("git {\n repositories = [\"a/b\"]\n operations = [\"fetch\"]\n max = \"0\"\n}", allowWith()), only(`error: "0" is not a size`)},
		{"coding without a schema", grantWith(allowWith(`methods = ["POST"]`, "body {\n type = \"text/plain\"\n max = \"1KiB\"\n coding = \"gzip\"\n}")), []string{"error: a coding without inspection", "warning: the body is not inspected"}},
		{"unknown coding", grantWith(allowWith(`methods = ["POST"]`, "body {\n type = \"text/plain\"\n max = \"1KiB\"\n schema = git_fetch\n coding = \"br\"\n}")), only(`error: no coding "br"`)},
		{"inspected", grantWith(allowWith(`methods = ["POST"]`, "body {\n type = \"text/plain\"\n max = \"1KiB\"\n schema = git_fetch\n coding = \"gzip\"\n}")), nil},
		{"module pattern", grantWith(allowWith(`path = "/{id...}/@latest"`, `where = { id = go_module("example.com/Team") }`)), nil},
		{"module pattern of nothing", grantWith(allowWith(`where = { id = go_module() }`)), only("error: go_module() names no value")},
		{"module pattern without a host", grantWith(allowWith(`where = { id = go_module("team") }`)), only(`error: "team" is not the path of a module`)},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, diags := Parse("policy.hcl", []byte(c.policy), Options{Now: testTime})
			matchDiagnostics(t, diags, c.want)
			if t.Failed() {
				t.Log(c.policy)
			}
		})
	}
}
