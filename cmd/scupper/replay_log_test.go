package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"scupper.dev/scupper/audit"
	"scupper.dev/scupper/capability"
	"scupper.dev/scupper/capability/policyfile"
	"scupper.dev/scupper/replay/retrial"
)

const issuesPolicy = `version = 1
grant "issues" {
  host       = "api.example.com"
  credential = anonymous
  allow {
    methods = ["GET"]
    path    = "/repos/acme/{repo}/issues"
    query   = { page = int }
  }
  limits { requests = 100 }
}
`

// loggedRun makes a signed log of four requests: two allowed, two refused.
func loggedRun(t testing.TB, app *App) (dir, run string) {
	return loggedTargets(t, app, "/repos/acme/app/issues?page=1", "/repos/acme/lib/issues", "/repos/evil/app/issues", "/upload")
}

// loggedTargets makes a signed log of GET requests.
func loggedTargets(t testing.TB, app *App, targets ...string) (dir, run string) {
	t.Helper()
	state, err := app.stateDir()
	if err != nil {
		t.Fatal(err)
	}
	dir = filepath.Join(t.TempDir(), "audit")
	if err := app.ensureKey(state, dir); err != nil {
		t.Fatal(err)
	}
	file, diags := policyfile.Parse("policy.hcl", []byte(issuesPolicy), policyfile.Options{})
	if diags.HasErrors() {
		t.Fatal(diags.Err())
	}
	g, err := audit.New(audit.Config{Dir: dir, State: state, Policy: file.Policy, PolicyText: []byte(issuesPolicy), PolicyPath: "policy.hcl", Version: version(), Budget: 1 << 40, WriteTimeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	for _, target := range targets {
		path, query, _ := strings.Cut(target, "?")
		r := &capability.Request{Kind: capability.KindHTTP, Host: "api.example.com", Port: 443, Scheme: capability.HTTPS, Method: "GET"}
		if r.Path, err = capability.ParsePath(path); err != nil {
			t.Fatal(err)
		}
		if r.Query, err = capability.ParseQuery(query); err != nil {
			t.Fatal(err)
		}
		g.Finish(g.Authorize(r), capability.Outcome{Status: 200, Sent: 100, Received: 100})
	}
	if err := g.Close(0); err != nil {
		t.Fatal(err)
	}
	return dir, g.Run()
}

func TestReplayOfALog(t *testing.T) {
	home := t.TempDir()
	var out bytes.Buffer
	app := &App{Stdout: &out, Stderr: &out, Env: func(name string) string { return map[string]string{"HOME": home}[name] }}
	dir, run := loggedRun(t, app)
	replay := func(t *testing.T, from, to string, r logReplay) (code int, report retrial.Report) {
		t.Helper()
		text := strings.Replace(issuesPolicy, from, to, 1)
		if from != to && text == issuesPolicy {
			t.Fatal("the edit changes nothing")
		}
		r.policy = filepath.Join(t.TempDir(), "new.hcl")
		if err := os.WriteFile(r.policy, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		r.what, r.audit, r.json = "last", dir, true
		out.Reset()
		err := r.run(app)
		if e := (*exitError)(nil); errors.As(err, &e) {
			code = e.code
		} else if err != nil {
			t.Fatal(err)
		}
		if json.Unmarshal(out.Bytes(), &report) != nil && code < exitUsage {
			t.Fatalf("got %s", out.String())
		}
		return code, report
	}
	for _, c := range []struct {
		name, from, to               string
		code                         int
		allowed, denied, undecidable int64
	}{
		{"same", "", "", 0, 0, 0, 0},
		{"wider path", "/repos/acme/{repo}/issues", "/repos/{owner}/{repo}/issues", exitDenied, 1, 0, 0},
		{"narrower path", "{repo}/issues", "app/issues", exitDenied, 0, 1, 0},
		{"no query", "    query   = { page = int }\n", "", exitDenied, 0, 1, 0},
		{"a value that is not on record", "page = int", `page = one_of("1", "22")`, exitDenied, 0, 0, 1},
		{"a value that is too long for it", "page = int", "page = uuid", exitDenied, 0, 1, 0},
		{"lower limit", "requests = 100", "requests = 1", exitDenied, 0, 1, 0},
		{"limit of bytes", "requests = 100", `upload = "150B"`, exitDenied, 0, 1, 0},
		{"policy with a mistake", "version = 1", "version = 7", exitUsage, 0, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			code, r := replay(t, c.from, c.to, logReplay{})
			if code != c.code || r.NewlyAllowed.Count != c.allowed || r.NewlyDenied.Count != c.denied || r.Undecidable.Count != c.undecidable {
				t.Errorf("exit %d: %s", code, out.String())
			}
			if code < exitUsage && r.Requests != 4 {
				t.Errorf("%d requests", r.Requests)
			}
		})
	}
	t.Run("undecidable accepted", func(t *testing.T) {
		if code, _ := replay(t, "page = int", `page = one_of("1", "22")`, logReplay{accept: true}); code != 0 {
			t.Errorf("exit %d: %s", code, out.String())
		}
	})
	t.Run("text", func(t *testing.T) {
		policy := filepath.Join(t.TempDir(), "new.hcl")
		if err := os.WriteFile(policy, []byte(strings.Replace(issuesPolicy, "acme", "{owner}", 1)), 0o600); err != nil {
			t.Fatal(err)
		}
		out.Reset()
		if err := (logReplay{what: filepath.Join(dir, run), policy: policy}).run(app); err == nil {
			t.Error("no difference")
		}
		for _, want := range []string{"3 unchanged (2 allowed, 1 denied)", "1 newly allowed", `grant "issues"`, "GET https://api.example.com/repos/evil/app/issues"} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("no %q in\n%s", want, out.String())
			}
		}
	})
	t.Run("log that was changed", func(t *testing.T) {
		segment := filepath.Join(dir, run, "000001.jsonl")
		text, err := os.ReadFile(segment)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(segment, bytes.Replace(text, []byte("/upload"), []byte("/uplaod"), 1), 0o600); err != nil {
			t.Fatal(err)
		}
		if code, _ := replay(t, "", "", logReplay{}); code != exitEnvironment {
			t.Errorf("exit %d: %s", code, out.String())
		}
	})
}

// BenchmarkReplayOfALog verifies a log of 200,000 records and judges it.
func BenchmarkReplayOfALog(b *testing.B) {
	home := b.TempDir()
	var out bytes.Buffer
	app := &App{Stdout: &out, Stderr: &out, Env: func(name string) string { return map[string]string{"HOME": home}[name] }}
	var targets []string
	for i := range 200_000 {
		targets = append(targets, fmt.Sprintf("/repos/evil/app%d/issues?page=%d", i, i))
	}
	dir, _ := loggedTargets(b, app, targets...)
	policy := filepath.Join(b.TempDir(), "new.hcl")
	text := strings.NewReplacer("acme", "{owner}", "requests = 100", "requests = 1000000").Replace(issuesPolicy)
	if err := os.WriteFile(policy, []byte(text), 0o600); err != nil {
		b.Fatal(err)
	}
	before := processorTime(b)
	for b.Loop() {
		out.Reset()
		_ = logReplay{what: "last", audit: dir, policy: policy, json: true}.run(app)
		if !strings.Contains(out.String(), `"count": 200000`) {
			b.Fatal(out.String())
		}
	}
	b.ReportMetric((processorTime(b)-before).Seconds()/float64(b.N), "cpu-s/op") // says something on a busy machine, too
}

func processorTime(t testing.TB) time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
