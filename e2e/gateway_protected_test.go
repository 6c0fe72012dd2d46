package e2e

import (
	"os"
	"path/filepath"
	"testing"
)

// TestBashKeepsWhatOthersExecute: what the file tools may not write, because CI, agents or
// package managers execute it, is read-only for commands too, but for a role that may.
func TestBashKeepsWhatOthersExecute(t *testing.T) {
	for _, u := range users(t) {
		t.Run(u.name, func(t *testing.T) {
			w := newWorld(t, u)
			w.policy(`version = 1
role "dev" { tools = ["bash"] }
role "ci" {
  tools  = ["bash"]
  writes = [".github/workflows"]
}`)
			workflow := w.at("work/.github/workflows/ci.yml")
			w.work(".npmrc", "as it was")
			call := func(role, command string) {
				t.Helper()
				w.scupper("call", "--policy", w.at("policy.hcl"), "--role", role, "--workdir", w.at("work"), "--audit", w.at("audit/call"),
					"bash", `{"command":"`+command+`"}`).wantExit(0)
			}
			is := func(path, want string) {
				t.Helper()
				if got, err := os.ReadFile(path); err != nil || string(got) != want {
					t.Errorf("%s is %q, %v, want %q", filepath.Base(path), got, err, want)
				}
			}
			call("ci", "mkdir -p .github/workflows; echo -n 'as it was' > .github/workflows/ci.yml")
			is(workflow, "as it was")
			call("dev", "echo -n control > control; echo -n x > .github/workflows/ci.yml; echo x > .npmrc; mv .github there; rm -rf .github .npmrc; mv .npmrc here; true")
			is(w.at("work/control"), "control")
			is(workflow, "as it was")
			is(w.at("work/.npmrc"), "as it was")
			call("ci", "echo -n changed > .github/workflows/ci.yml; echo x > .npmrc; true")
			is(workflow, "changed")
			is(w.at("work/.npmrc"), "as it was")
		})
	}
}
