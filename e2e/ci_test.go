package e2e

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
)

// step is a shell step of a pipeline's file.
type step struct {
	name, script string
	always       bool
}

// stepsOf takes the shell steps out of a pipeline's file: blocks of text behind "run: |"
// or "- |", by the name, or the key, before them.
func stepsOf(t *testing.T, path string) (steps []step) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var now step
	lines := strings.Split(string(text), "\n")
	for i := 0; i < len(lines); i++ {
		trimmed := strings.TrimSpace(lines[i])
		switch name, named := strings.CutPrefix(trimmed, "- name: "); {
		case named:
			now = step{name: name}
		case trimmed == "script:" || trimmed == "before_script:":
			now = step{name: strings.TrimSuffix(trimmed, ":")}
		case trimmed == "if: always()":
			now.always = true
		case trimmed == "run: |" || trimmed == "- |":
			indent := strings.Repeat(" ", len(lines[i])-len(strings.TrimLeft(lines[i], " "))+2)
			for i++; i < len(lines) && (lines[i] == "" || strings.HasPrefix(lines[i], indent)); i++ {
				now.script += strings.TrimPrefix(lines[i], indent) + "\n"
			}
			i--
			steps = append(steps, now)
		}
	}
	return steps
}

// ciPolicy grants one page.
const ciPolicy = `version = 1

grant "manual" {
  reason     = "the agent reads the manual"
  owner      = "dev-tools"
  host       = "docs.example.com"
  credential = anonymous

  allow {
    methods = ["GET"]
    path    = "/manual/{page}"
    where   = { page = one_of("install", "faq") }
  }

  limits {
    requests = 10
  }
}
`

const ciScenarios = `scenario "page-carries-a-secret" {
  describe = "what is asked for is read by whoever has the log of the server"
  attempt {
    http { url = "https://docs.example.com/manual/${canary.token}" }
  }
  expect {
    verdict = "deny"
    leak    = none
  }
}
`

// review is a repository in the work folder whose policy was changed by a commit.
type review struct {
	*world
	t    *testing.T
	base string
	tmp  string
}

// reviewOf has the policy before and after; an empty text is no policy.
func reviewOf(t *testing.T, before, after string) *review {
	t.Helper()
	w := newWorld(t, ordinaryUser(t))
	r := &review{world: w, t: t, tmp: w.user.folder(t, "bin")}
	if err := os.Mkdir(w.at("work/scenarios"), 0o700); err != nil {
		t.Fatal(err)
	}
	w.user.own(t, w.at("work/scenarios"))
	w.work("scenarios/page.hcl", ciScenarios)
	if before != "" {
		w.work("policy.hcl", before)
	}
	r.sh("git init -q . && git add . && git -c user.name=test -c user.email=test@example.com commit -qm before", nil).wantExit(0)
	r.base = strings.TrimSpace(r.sh("git rev-parse HEAD", nil).wantExit(0).stdout)
	w.work("policy.hcl", after)
	r.sh("git add . && git -c user.name=test -c user.email=test@example.com commit -qm after", nil).wantExit(0)
	if err := os.Symlink(prepared("scupper"), filepath.Join(r.tmp, "bin/scupper")); err != nil {
		t.Fatal(err)
	}
	return r
}

func (r *review) sh(script string, env []string) *attempt {
	r.t.Helper()
	return r.start(client{argv: []string{"bash"}}, []string{"bash", "-e", "-c", script}, append([]string{"PATH=" + filepath.Join(r.tmp, "bin") + ":" + r.user.path()}, env...))
}

func (r *review) read(name string) string {
	r.t.Helper()
	text, err := os.ReadFile(filepath.Join(r.tmp, name))
	if err != nil {
		r.t.Fatal(err)
	}
	return string(text)
}

// reviews are changes, what the pipeline makes of them, and what the comment says.
func reviews() map[string]struct {
	before, after, wider string
	fails                bool
	says                 []string
} {
	wide := strings.Replace(ciPolicy, "    where   = { page = one_of(\"install\", \"faq\") }\n", "", 1)
	longer := strings.Replace(ciPolicy, `"faq"`, `"faq", "api"`, 1)
	type change = struct {
		before, after, wider string
		fails                bool
		says                 []string
	}
	return map[string]change{
		"nothing more": {ciPolicy, strings.Replace(ciPolicy, "requests = 10", "requests = 5", 1), "comment", false,
			[]string{"permits nothing more", "every attack was stopped"}},
		"a page more":                {ciPolicy, longer, "comment", false, []string{"permits more than before", "manual", "every attack was stopped"}},
		"a page more, which fails":   {ciPolicy, longer, "fail", true, []string{"permits more than before"}},
		"any page, which leaks":      {ciPolicy, wide, "comment", true, []string{"permits more than before", "something leaked", "LEAK", "page-carries-a-secret"}},
		"the first policy":           {"", ciPolicy, "comment", false, []string{"permits more than before", "docs.example.com"}},
		"a mistake":                  {ciPolicy, strings.Replace(ciPolicy, "version = 1", "version = 7", 1), "comment", true, []string{"cannot be compared", "could not be replayed", "version"}},
		"a command in the new text":  {ciPolicy, strings.Replace(longer, "reads the manual", "reads `$(touch /tmp/x)` the manual", 1), "comment", false, []string{"permits more than before"}},
		"a comment that nobody took": {ciPolicy, longer, "comment", false, []string{"permits more than before"}},
	}
}

// TestGitHubPipeline runs the shell steps of the workflow, with a stand-in for gh.
func TestGitHubPipeline(t *testing.T) {
	steps := stepsOf(t, "../deploy/ci/github/policy.yml")
	if len(steps) != 5 || steps[0].name != "install" || !strings.Contains(steps[0].script, "go install scupper.dev/scupper/cmd/scupper@") {
		t.Fatalf("got %+v", steps)
	}
	for name, c := range reviews() {
		t.Run(name, func(t *testing.T) {
			r := reviewOf(t, c.before, c.after)
			gh := "#!/bin/sh\nprintf '%s ' \"$@\" > " + r.tmp + "/gh.args\nwhile [ $# -gt 1 ]; do [ \"$1\" = --body-file ] && cp \"$2\" " + r.tmp + "/comment.md; shift; done\n"
			if name == "a comment that nobody took" {
				gh += "exit 1\n"
			}
			if err := os.WriteFile(filepath.Join(r.tmp, "bin/gh"), []byte(gh), 0o755); err != nil {
				t.Fatal(err)
			}
			env := []string{
				"POLICY=policy.hcl", "SCENARIOS=scenarios", "WIDER=" + c.wider, "BASE=" + r.base, "PULL=17", "OUT=" + r.at("work/.policy-review"),
				"GITHUB_STEP_SUMMARY=" + filepath.Join(r.tmp, "summary.md"), "GH_TOKEN=not-a-token",
			}
			failed := false
			for _, s := range steps[1:] {
				if failed && !s.always {
					continue
				}
				a := r.sh(s.script, env)
				t.Logf("%s: exit %d\n%s", s.name, a.exit, a.stderr)
				failed = failed || a.exit != 0
			}
			if failed != c.fails {
				t.Errorf("the check fails: %v, want %v", failed, c.fails)
			}
			comment := r.read("comment.md")
			t.Logf("%s", comment)
			for _, want := range c.says {
				if !strings.Contains(comment, want) {
					t.Errorf("the comment has no %q", want)
				}
			}
			if args := r.read("gh.args"); !strings.HasPrefix(args, "pr comment 17 ") {
				t.Errorf("gh was called with %s", args)
			}
			if r.read("summary.md") != comment {
				t.Error("the summary is another text than the comment")
			}
		})
	}
}

// TestGitLabPipeline runs the script of the job, with a stand-in for the API.
func TestGitLabPipeline(t *testing.T) {
	steps := stepsOf(t, "../deploy/ci/gitlab/policy.gitlab-ci.yml")
	if len(steps) != 2 || !strings.Contains(steps[0].script, "go install scupper.dev/scupper/cmd/scupper@") {
		t.Fatalf("got %+v", steps)
	}
	for name, c := range reviews() {
		t.Run(name, func(t *testing.T) {
			var mu sync.Mutex
			var notes []string
			api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
				mu.Lock()
				defer mu.Unlock()
				if name == "a comment that nobody took" {
					w.WriteHeader(http.StatusForbidden)
				}
				notes = append(notes, fmt.Sprint(q.Method, " ", q.URL.Path, " ", q.Header.Get("PRIVATE-TOKEN"), "\n", q.PostFormValue("body")))
			}))
			defer api.Close()
			r := reviewOf(t, c.before, c.after)
			a := r.sh(steps[1].script, []string{
				"POLICY=policy.hcl", "SCENARIOS=scenarios", "WIDER=" + c.wider, "CI_MERGE_REQUEST_DIFF_BASE_SHA=" + r.base, "CI_PROJECT_DIR=" + r.at("work"),
				"CI_API_V4_URL=" + api.URL + "/api/v4", "CI_PROJECT_ID=4", "CI_MERGE_REQUEST_IID=17", "POLICY_TOKEN=a-token",
			})
			t.Logf("exit %d\n%s%s", a.exit, a.stdout, a.stderr)
			if (a.exit != 0) != c.fails {
				t.Errorf("exit %d, want a failure: %v", a.exit, c.fails)
			}
			mu.Lock()
			defer mu.Unlock()
			if len(notes) != 1 || !strings.HasPrefix(notes[0], "POST /api/v4/projects/4/merge_requests/17/notes a-token\n") {
				t.Fatalf("got %q", notes)
			}
			for _, want := range c.says {
				if !strings.Contains(notes[0], want) {
					t.Errorf("the comment has no %q", want)
				}
			}
		})
	}
}

// TestPipelinesAreSafe: actions by a whole commit, no event's text in a script, no token
// for strangers.
func TestPipelinesAreSafe(t *testing.T) {
	text, err := os.ReadFile("../deploy/ci/github/policy.yml")
	if err != nil {
		t.Fatal(err)
	}
	for _, uses := range regexp.MustCompile(`(?m)^\s*-? ?uses: *(.*)$`).FindAllStringSubmatch(string(text), -1) {
		if !regexp.MustCompile(`^actions/[a-z-]+@[0-9a-f]{40} #`).MatchString(uses[1]) {
			t.Errorf("not by a commit: %s", uses[1])
		}
	}
	if regexp.MustCompile(`(?m)^on:\n  pull_request:$`).Find(text) == nil {
		t.Error("it does not run on pull_request alone")
	}
	for _, path := range []string{"../deploy/ci/github/policy.yml", "../deploy/ci/gitlab/policy.gitlab-ci.yml"} {
		for _, s := range stepsOf(t, path) {
			if strings.Contains(s.script, "${{") {
				t.Errorf("%s: step %s has an expression in its script", path, s.name)
			}
			if out, err := exec.Command("bash", "-n", "-c", s.script).CombinedOutput(); err != nil {
				t.Errorf("%s: step %s: %s", path, s.name, out)
			}
		}
	}
}
