package e2e

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"scupper.dev/scupper/probe"
)

// checkup is what scupper doctor --json prints.
type checkup struct {
	OK    bool
	Facts []struct {
		Name, Detail, Remedy string
		OK, Needed           bool
	}
	Controls []struct {
		Name, Detail string
		InForce      bool `json:"in_force"`
	}
	Probes  []probed
	Reached []string
}

type probed struct {
	Control, Name, Came string
	Out                 bool
}

func (a *attempt) checkup() checkup {
	a.t.Helper()
	var c checkup
	if err := json.Unmarshal([]byte(a.stdout), &c); err != nil {
		a.t.Fatalf("%v in %q, %q", err, a.stdout, a.stderr)
	}
	return c
}

// broken are the controls of which something got out.
func (c checkup) broken() []string {
	var all []string
	for _, p := range c.Probes {
		if p.Out && !slices.Contains(all, p.Control) {
			all = append(all, p.Control)
		}
	}
	return all
}

// controls are those that can be left out; identity is root's alone.
func controls(u user) []string {
	var all []string
	for _, c := range probe.Controls() {
		if c != probe.Identity || u.uid == 0 {
			all = append(all, string(c))
		}
	}
	return all
}

func TestDoctor(t *testing.T) {
	for _, u := range users(t) {
		t.Run(u.name, func(t *testing.T) {
			w := newWorld(t, u)
			// What only a binary built for it honours.
			runtime := u.folder(t)
			w.env = append(w.env, "SCUPPER_BROKEN_CONTROL=network", "XDG_RUNTIME_DIR="+runtime)
			a := w.scupper("doctor", "--json").wantExit(0).farSideNothing()
			c := a.checkup()
			if !c.OK || len(c.broken()) > 0 || len(c.Reached) > 0 {
				t.Errorf("got out: %v, reached: %v\n%s", c.broken(), c.Reached, a.stdout)
			}
			for _, control := range append(controls(u), "identity") {
				if !slices.ContainsFunc(c.Probes, func(p probed) bool { return p.Control == control }) {
					t.Errorf("nothing was tried against %q", control)
				}
			}
			for _, name := range []string{"filesystem", "network", "memory", "cpus", "processes", "time", "credentials", "destroyed", "output"} {
				if !strings.Contains(a.stdout, `"name": "`+name+`"`) {
					t.Errorf("control %q is not reported", name)
				}
			}
			for _, pattern := range []string{"/tmp/scupper-doctor-*", "/tmp/scupper-probe-*", "/var/tmp/scupper-probe-*", runtime + "/*"} {
				if left, err := filepath.Glob(pattern); err != nil || len(left) > 0 {
					t.Errorf("left behind: %v, %v", left, err)
				}
			}
			w.scupper("doctor").wantExit(0).wantStdout("a descriptor that was inherited: EBADF").farSideNothing()
		})
	}
}

// TestDoctorFindsEachBrokenControl leaves out one control after the other, in a binary
// that is built for that.
func TestDoctorFindsEachBrokenControl(t *testing.T) {
	broken := buildBroken(t)
	for _, u := range users(t) {
		t.Run(u.name, func(t *testing.T) {
			w := newWorld(t, u)
			doctor := command(broken, "doctor", "--json")
			if c := w.direct(doctor).wantExit(0).checkup(); !c.OK {
				t.Errorf("with every control there, %v", c.broken())
			}
			for _, control := range controls(u) {
				t.Run(control, func(t *testing.T) {
					w := *w
					w.t, w.env = t, append(slices.Clone(w.env), "SCUPPER_BROKEN_CONTROL="+control)
					a := w.direct(doctor).wantExit(1)
					if diff := cmp.Diff([]string{control}, a.checkup().broken()); diff != "" {
						a.errorf("broken controls (-want +got):\n%s", diff)
					}
				})
			}
		})
	}
}

// buildBroken builds scupper with the switch that leaves controls out, where every user
// can run it.
func buildBroken(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "scupper-broken-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "scupper")
	build := exec.Command("go", "build", "-tags", "brokencontrols", "-o", path, "scupper.dev/scupper/cmd/scupper")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return path
}

// TestDoctorSaysWhatIsMissing takes bubblewrap away.
func TestDoctorSaysWhatIsMissing(t *testing.T) {
	w := newWorld(t, ordinaryUser(t))
	bin := w.user.folder(t)
	if err := os.Symlink("/usr/bin/true", filepath.Join(bin, "true")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/usr/bin/cat", filepath.Join(bin, "cat")); err != nil {
		t.Fatal(err)
	}
	w.env = append(w.env, "PATH="+bin)
	a := w.scupper("doctor", "--json").wantExit(3)
	var missing []string
	for _, f := range a.checkup().Facts {
		if f.Needed && !f.OK {
			missing = append(missing, f.Name)
			if !strings.Contains(f.Remedy, "install bubblewrap") {
				t.Errorf("%s: remedy %q", f.Name, f.Remedy)
			}
		}
	}
	if diff := cmp.Diff([]string{"bubblewrap", "this folder", "a sandbox"}, missing); diff != "" {
		t.Errorf("missing (-want +got):\n%s", diff)
	}
}
