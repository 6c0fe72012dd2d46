package policyfile

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"scupper.dev/scupper/capability"
)

const goPolicy = `version = 1
use "go" {
  proxy = "https://go.example.com"
  sumdb = "sum.example.com+0123+AAAA/w=="
}
`

const limitedGo = `version = 1
use "go" {
  proxy      = "https://repo.example.com/go/"
  sumdb      = "sum.example.com"
  sumdb_url  = "https://sum.example.com"
  modules    = ["example.com/Team", "lib.example.com"]
  toolchains = true
}
role "build" {
  grants = ["go"]
}
`

func TestGo(t *testing.T) {
	const at = "GET https://go.example.com"
	targets(t, load(t, goPolicy, Options{}).Policy, map[string]string{
		at + "/example.com/lib/@v/list":                                                        "/example.com/lib/@v/list",
		"HEAD https://go.example.com/example.com/@v/list":                                      "/example.com/@v/list",
		at + "/example.com/%21burnt%21sushi/toml/@v/v1.4.0.info":                               "/example.com/!burnt!sushi/toml/@v/v1.4.0.info",
		at + "/example.com/!burnt!sushi/toml/@v/v1.4.0.mod":                                    "/example.com/!burnt!sushi/toml/@v/v1.4.0.mod",
		at + "/example.com/a/b/c/v3/@v/v3.0.0-rc.1.zip":                                        "/example.com/a/b/c/v3/@v/v3.0.0-rc.1.zip",
		at + "/example.com/lib/@v/v2.0.0+incompatible.zip":                                     "/example.com/lib/@v/v2.0.0%2Bincompatible.zip",
		at + "/example.com/lib/@v/v0.0.0-20260102030405-0123456789ab.info":                     "/example.com/lib/@v/v0.0.0-20260102030405-0123456789ab.info",
		at + "/example.com/lib/@latest":                                                        "/example.com/lib/@latest",
		at + "/sumdb/sum.example.com/supported":                                                "/sumdb/sum.example.com/supported",
		at + "/sumdb/sum.example.com/latest":                                                   "/sumdb/sum.example.com/latest",
		at + "/sumdb/sum.example.com/lookup/example.com/!x/y@v1.0.0":                           "/sumdb/sum.example.com/lookup/example.com/!x/y@v1.0.0",
		at + "/sumdb/sum.example.com/lookup/example.com/y@v2.0.0+incompatible":                 "/sumdb/sum.example.com/lookup/example.com/y@v2.0.0%2Bincompatible",
		at + "/sumdb/sum.example.com/tile/8/0/x123/456":                                        "/sumdb/sum.example.com/tile/8/0/x123/456",
		at + "/sumdb/sum.example.com/tile/8/1/007.p/255":                                       "/sumdb/sum.example.com/tile/8/1/007.p/255",
		at + "/golang.org/toolchain/@v/v0.0.1-go1.26.8.linux-amd64.zip":                        "/golang.org/toolchain/@v/v0.0.1-go1.26.8.linux-amd64.zip",
		at + "/sumdb/sum.example.com/lookup/golang.org/toolchain@v0.0.1-go1.26rc1.linux-arm64": "/sumdb/sum.example.com/lookup/golang.org/toolchain@v0.0.1-go1.26rc1.linux-arm64",
	})
}

func TestGoNeighbours(t *testing.T) {
	const at = "GET https://go.example.com"
	denied(t, load(t, goPolicy, Options{}).Policy, []neighbour{
		{"a branch", at + "/example.com/lib/@v/master.info", capability.PathNotGranted, nil},
		{"a commit", at + "/example.com/lib/@v/0123456789ab.info", capability.PathNotGranted, nil},
		{"a version with build data", at + "/example.com/lib/@v/v1.0.0+secret.info", capability.PathNotGranted, nil},
		{"another file", at + "/example.com/lib/@v/v1.0.0.ziphash", capability.PathNotGranted, nil},
		{"a name that is no host", at + "/lib/@v/list", capability.PathNotGranted, nil},
		{"no module", at + "/@v/list", capability.PathNotGranted, nil},
		{"capitals", at + "/example.com/BurntSushi/@v/list", capability.PathNotGranted, nil},
		{"an encoded slash", at + "/example.com%2flib/@v/list", capability.PathNotGranted, nil},
		{"EXF-10 an endless path", at + "/example.com" + strings.Repeat("/c2VjcmV0", 20) + "/@v/list", capability.PathNotGranted, nil},
		{"EXF-10 an endless path of hosts", at + "/example.com" + strings.Repeat("/a.b", 60) + "/@v/list", capability.PathNotGranted, nil},
		{"a query", at + "/example.com/lib/@v/list?go-get=1", capability.QueryNotGranted, nil},
		{"the index of versions", at + "/index?since=2026-01-01", capability.PathNotGranted, nil},
		{"root", at + "/", capability.PathNotGranted, nil},
		{"another checksum database", at + "/sumdb/other.example.com/supported", capability.PathNotGranted, nil},
		{"a lookup without a version", at + "/sumdb/sum.example.com/lookup/example.com/y", capability.PathNotGranted, nil},
		{"a lookup of text", at + "/sumdb/sum.example.com/lookup/secret@v1.0.0", capability.PathNotGranted, nil},
		{"a tile of another height", at + "/sumdb/sum.example.com/tile/9/0/000", capability.PathNotGranted, nil},
		{"a tile of data", at + "/sumdb/sum.example.com/tile/8/data/000", capability.PathNotGranted, nil},
		{"a tile of text", at + "/sumdb/sum.example.com/tile/8/0/secret", capability.PathNotGranted, nil},
		{"an endless tile", at + "/sumdb/sum.example.com/tile/8/0" + strings.Repeat("/x000", 9) + "/000", capability.PathNotGranted, nil},
		{"publish", "PUT https://go.example.com/example.com/lib/@v/v1.0.0.zip", capability.MethodNotGranted, withBody("application/zip", "")},
		{"delete", "DELETE https://go.example.com/example.com/lib/@v/v1.0.0.zip", capability.MethodNotGranted, nil},
		{"a body", at + "/example.com/lib/@v/list", capability.BodyNotGranted, withBody("text/plain", "")},
		{"a credential", at + "/example.com/lib/@v/list", capability.ForeignCredential, withHeader("Authorization", "Basic eA==")},
		{"the origin, directly", "GET https://example.com/lib?go-get=1", capability.NoGrant, nil},
		{"the database, directly", "GET https://sum.example.com/latest", capability.NoGrant, nil},
		{"cleartext", "GET http://go.example.com/example.com/lib/@v/list", capability.PortNotGranted, nil},
	})
}

// TestGoModules: a list of modules leaves those and what is below them; the database
// is reached on its own host too; toolchains are one module of a known name.
func TestGoModules(t *testing.T) {
	p := load(t, limitedGo, Options{}).Policy
	const at, sum = "GET https://repo.example.com/go", "GET https://sum.example.com"
	const denied = "path_not_granted"
	targets(t, p, map[string]string{
		at + "/example.com/!team/@v/list":                                                     "/go/example.com/!team/@v/list",
		at + "/example.com/!team/lib/v2/@v/v2.1.0.zip":                                        "/go/example.com/!team/lib/v2/@v/v2.1.0.zip",
		at + "/lib.example.com/x/@latest":                                                     "/go/lib.example.com/x/@latest",
		at + "/sumdb/sum.example.com/lookup/example.com/!team/lib@v1.0.0":                     "/go/sumdb/sum.example.com/lookup/example.com/!team/lib@v1.0.0",
		sum + "/lookup/example.com/!team@v1.0.0":                                              "/lookup/example.com/!team@v1.0.0",
		sum + "/tile/8/0/000.p/1":                                                             "/tile/8/0/000.p/1",
		sum + "/latest":                                                                       "/latest",
		at + "/golang.org/toolchain/@v/v0.0.1-go1.26.8.linux-amd64.zip":                       "/go/golang.org/toolchain/@v/v0.0.1-go1.26.8.linux-amd64.zip",
		at + "/golang.org/toolchain/@v/list":                                                  "/go/golang.org/toolchain/@v/list",
		at + "/sumdb/sum.example.com/lookup/golang.org/toolchain@v0.0.1-go1.26.8.linux-amd64": "/go/sumdb/sum.example.com/lookup/golang.org/toolchain@v0.0.1-go1.26.8.linux-amd64",

		at + "/example.com/@v/list":                                  denied,
		at + "/example.com/!teams/@v/list":                           denied,
		at + "/example.com/team/@v/list":                             denied,
		at + "/evil.test/example.com/!team/@v/list":                  denied,
		at + "/lib.example.com.evil.test/@v/list":                    denied,
		at + "/golang.org/toolchain/@v/v0.0.1-go1.26.8.secret.zip":   denied,
		at + "/golang.org/x/net/@v/list":                             denied,
		at + "/sumdb/sum.example.com/lookup/evil.test/secret@v1.0.0": denied,
		sum + "/lookup/evil.test/secret@v1.0.0":                      denied,
		sum + "/supported":                                           denied,
		"GET https://repo.example.com/example.com/!team/@v/list":     denied,
	})
	role, err := p.ForRole("build")
	if err != nil {
		t.Fatal(err)
	}
	if got := decide(t, role, sum+"/latest"); got != "/latest" {
		t.Errorf("a role that names the preset does not have its second host: %s", got)
	}
}

func TestGoEnvironment(t *testing.T) {
	for _, c := range []struct{ policy, proxy, sumdb, toolchain string }{
		{goPolicy, "https://go.example.com/", "sum.example.com+0123+AAAA/w==", "local"},
		{limitedGo, "https://repo.example.com/go/", "sum.example.com https://sum.example.com/", "auto"},
	} {
		env := load(t, c.policy, Options{}).Environment
		got := []string{variable(env, "GOPROXY"), variable(env, "GOSUMDB"), variable(env, "GOTOOLCHAIN"), variable(env, "GONOSUMDB")}
		if diff := cmp.Diff(got, []string{c.proxy, c.sumdb, c.toolchain, "none"}); diff != "" {
			t.Errorf("got -, want +:\n%s", diff)
		}
	}
	env := load(t, strings.Replace(goPolicy, "sumdb", "#", 1), Options{}).Environment
	if slices.ContainsFunc(env, func(v Variable) bool { return v.Name == "GOSUMDB" }) {
		t.Errorf("GOSUMDB is set without a database: %v", env)
	}
}

// TestGoHeaders: nothing of the client's headers goes on.
func TestGoHeaders(t *testing.T) {
	r, err := request(t, "GET https://go.example.com/example.com/lib/@v/list")
	if err != nil {
		t.Fatal(err)
	}
	r.Header = map[string][]string{
		"Accept": {"secret/secret"}, "Accept-Encoding": {"gzip;q=0.123"}, "User-Agent": {"secret"}, "Range": {"bytes=1-2"}, "Disable-Module-Fetch": {"true"},
	}
	got, stripped := load(t, goPolicy, Options{}).Policy.Decide(r).Header(r)
	want := map[string][]string{"Accept": {"*/*"}, "Accept-Encoding": {"identity"}, "User-Agent": {"go (scupper)"}}
	if diff := cmp.Diff(got, want); diff != "" || stripped != 2 {
		t.Errorf("stripped %d, got -, want +:\n%s", stripped, diff)
	}
}
