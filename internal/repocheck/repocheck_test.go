package repocheck

import (
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// repository is the tree under test: what git tracks here.
func repository(t *testing.T) Tree {
	t.Helper()
	root := output(t, "git", "rev-parse", "--show-toplevel")
	var paths []string
	for p := range strings.SplitSeq(output(t, "git", "-C", root, "ls-files", "-z"), "\x00") {
		if _, err := os.Stat(filepath.Join(root, p)); p != "" && err == nil { // not deleted since
			paths = append(paths, p)
		}
	}
	if len(paths) < 10 {
		t.Fatalf("git tracks only %d files", len(paths))
	}
	return Tree{os.DirFS(root), paths}
}

func output(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := exec.Command(name, args...).Output()
	if err != nil {
		t.Fatalf("%s %v: %v", name, args, err)
	}
	return strings.TrimSpace(string(out))
}

func TestRepository(t *testing.T) {
	tree := repository(t)
	checks := map[string]func(Tree) []Problem{
		"imports": Imports, "lengths": Lengths, "inits": Inits, "comments": Comments, "licence": Licence, "seeds": Seeds, "calls": Calls,
		"mentions": func(tree Tree) []Problem { return Mentions(tree, unmentionable(t)) },
	}
	for name, check := range checks {
		t.Run(name, func(t *testing.T) {
			for _, p := range check(tree) {
				t.Error(p)
			}
		})
	}
}

// unmentionable is what this machine is configured with and no file may depend
// on: hosts of its package registries, and where the checkout lies.
func unmentionable(t *testing.T) map[string]string {
	texts := map[string]string{output(t, "git", "rev-parse", "--show-toplevel"): "the folder of the checkout"}
	for _, host := range registryHosts(t) {
		texts[host] = "a host of this machine's package registries"
	}
	return texts
}

var hostInURL = regexp.MustCompile(`https?://[^\s,|"'\]]+`)

func registryHosts(t *testing.T) []string {
	configured := output(t, "go", "env", "GOPROXY", "GOSUMDB")
	if _, err := exec.LookPath("npm"); err == nil {
		configured += "\n" + output(t, "npm", "config", "get", "registry")
	}
	sources, _ := filepath.Glob("/etc/apt/sources.list.d/*")
	for _, path := range append(sources, "/etc/apt/sources.list") {
		text, _ := os.ReadFile(path)
		configured += "\n" + string(text)
	}
	return hosts(configured)
}

func hosts(configured string) []string {
	var out []string
	for _, link := range hostInURL.FindAllString(configured, -1) {
		u, err := url.Parse(link)
		if err != nil || u.Hostname() == "" || u.Hostname() == "localhost" || net.ParseIP(u.Hostname()).IsLoopback() {
			continue
		}
		out = append(out, u.Hostname())
	}
	return out
}

func TestHostsAreFound(t *testing.T) {
	got := hosts("https://go.example.com/x,direct\noff\nhttps://user:pw@npm.example.com:8443/ http://127.0.0.1:3000/\ndeb [arch=amd64] http://deb.example.com/debian stable main")
	if diff := cmp.Diff([]string{"go.example.com", "npm.example.com", "deb.example.com"}, got); diff != "" {
		t.Error(diff)
	}
}

func tree(files map[string]string) Tree {
	t := Tree{FS: fstest.MapFS{}}
	for name, text := range files {
		t.FS.(fstest.MapFS)[name] = &fstest.MapFile{Data: []byte(text)}
		t.Paths = append(t.Paths, name)
	}
	return t
}

func TestImportsTable(t *testing.T) {
	for _, tc := range []struct {
		path, imported string
		permitted      bool
	}{
		{"proxy/a.go", "net/http", true},
		{"proxy/a.go", module + "/capability", true},
		{"proxy/a.go", module + "/dnsfilter", false},
		{"proxy/a.go", module + "/audit", false},
		{"proxy/a.go", module + "/capability/policyfile", false},
		{"proxy/a.go", "golang.org/x/net/http2", true},
		{"proxy/a.go", "github.com/miekg/dns", false},
		{"proxy/a_test.go", module + "/replay", true},
		{"proxy/a_test.go", module + "/audit", false},
		{"capability/a.go", "golang.org/x/sys/unix", false},
		{"capability/a.go", module + "/capability/policyfile", false},
		{"capability/policyfile/a.go", "github.com/hashicorp/hcl/v2/hclsyntax", true},
		{"netns/a.go", module + "/capability", false},
		{"netns/a.go", "github.com/vishvananda/netlink", true},
		{"replay/a.go", "github.com/vishvananda/netlink", false},
		{"audit/a.go", "github.com/hashicorp/hcl/v2", false},
		{"gateway/sql/a.go", module + "/gateway", true},
		{"gateway/sql/a.go", module + "/proxy", false},
		{"sandbox/a.go", module + "/capability/policyfile", false},
		{"sandbox/a.go", "github.com/google/go-cmp/cmp", false},
		{"sandbox/a_test.go", "github.com/google/go-cmp/cmp", true},
		{"sandbox/a_test.go", "example.com/unknown", false},
		{"cmd/scupper/a.go", "example.com/unknown", false},
		{"helpers/a.go", module + "/capability", false},
	} {
		got := Imports(tree(map[string]string{tc.path: "package a\nimport _ \"" + tc.imported + "\"\n"}))
		if permitted := len(got) == 0; permitted != tc.permitted {
			t.Errorf("%s importing %s: permitted %t, want %t", tc.path, tc.imported, permitted, tc.permitted)
		}
	}
}

// TestEachCheckCanFail gives every check a good tree, then a bad one.
func TestEachCheckCanFail(t *testing.T) {
	good := "// Package a is.\npackage a\n"
	for name, tc := range map[string]struct {
		check     func(Tree) []Problem
		good, bad map[string]string
		want      Problem
	}{
		"unparsable": {Imports, map[string]string{"a/a.go": good}, map[string]string{"a/a.go": "pack"}, "parse a/a.go:1:1: expected 'package', found pack"},
		"lengths": {
			Lengths,
			map[string]string{"a/a.go": good, "a/a_test.go": good + strings.Repeat("\n", 500)},
			map[string]string{"a/a.go": good + strings.Repeat("\n", 449)},
			"a/a.go has 451 lines, more than 450",
		},
		"inits": {
			Inits,
			map[string]string{"a/a.go": good + "func (t T) init() {}\n"},
			map[string]string{"a/a.go": good + "func init() {}\n"},
			"a/a.go:3:1: func init",
		},
		"no comment":   {Comments, map[string]string{"a/a.go": good}, map[string]string{"a/a.go": "package a\n"}, "package a has 0 package comments, want 1"},
		"two comments": {Comments, map[string]string{"a/a.go": good}, map[string]string{"a/a.go": good, "a/b.go": good}, "package a has 2 package comments, want 1"},
		"licence": {
			Licence,
			map[string]string{"LICENSE": "Apache License Version 2.0, January 2004 END OF TERMS AND CONDITIONS"},
			map[string]string{"LICENSE": "Apache License"},
			`LICENSE does not contain "Version 2.0, January 2004"`,
		},
		"seeds": {
			Seeds,
			map[string]string{"a/a_test.go": good + "func FuzzA() {}\n", "a/testdata/fuzz/FuzzA/1": "seed"},
			map[string]string{"a/a_test.go": good + "func FuzzA() {}\n", "a/testdata/fuzz/FuzzAB/1": "seed"},
			"a/a_test.go: FuzzA has no seeds in a/testdata/fuzz/FuzzA/",
		},
		"exit": {
			Calls,
			map[string]string{"cmd/scupper/a.go": "package main\nfunc main() { os.Exit(1) }\n", "a/a_test.go": "package a\nfunc f() { os.Exit(1) }\n"},
			map[string]string{"a/a.go": "package a\nfunc f() { os.Exit(1) }\n"},
			"a/a.go:2:12: call of os.Exit",
		},
		"panic": {
			Calls,
			map[string]string{"a/a.go": "package a\nfunc f() { panic(http.ErrAbortHandler) }\n"},
			map[string]string{"a/a.go": "package a\nfunc f() { panic(err) }\n"},
			"a/a.go:2:12: call of panic",
		},
		"skip": {
			Calls,
			map[string]string{"a/a_test.go": "package a\nfunc f() { b.Fatal(1) }\n"},
			map[string]string{"a/a_test.go": "package a\nfunc f() { b.Skipf(``) }\n"},
			"a/a_test.go:2:12: call of b.Skipf",
		},
		"mentions": {
			func(t Tree) []Problem { return Mentions(t, map[string]string{"npm.example.com": "a host"}) },
			map[string]string{"x.sh": "curl npm.example.net"},
			map[string]string{"x.sh": "curl NPM.example.com"},
			"x.sh names a host",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if got := tc.check(tree(tc.good)); len(got) != 0 {
				t.Errorf("good tree: %v", got)
			}
			if diff := cmp.Diff([]Problem{tc.want}, tc.check(tree(tc.bad))); diff != "" {
				t.Errorf("bad tree: %s", diff)
			}
		})
	}
}
