package shell

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"scupper.dev/scupper/audit"
	"scupper.dev/scupper/gateway"
	"scupper.dev/scupper/sandbox"
)

func TestBackground(t *testing.T) {
	w := newWorld(t, nil)
	a := w.call(arguments{Command: "echo ready; for i in $(seq 600); do sleep 0.1; echo tick é; done", Background: true})
	if a.Failed || a.Running == nil || !*a.Running || a.facts.Handle == "" || a.ExitCode != nil {
		t.Fatal(a.text)
	}
	handle, seen := a.facts.Handle, a.Output
	for until := time.Now().Add(30 * time.Second); strings.Count(seen, "tick é\n") < 3 && time.Now().Before(until); time.Sleep(50 * time.Millisecond) {
		if a = w.call(arguments{Handle: handle}); a.Failed || !*a.Running {
			t.Fatal(a.text)
		}
		seen += a.Output
	}
	if !strings.HasPrefix(seen, "ready\ntick é\ntick é\n") || strings.Contains(seen, "\uFFFD") {
		t.Errorf("seen %q", seen)
	}
	if len(processesOf(sandboxUser())) == 0 {
		t.Error("a command that runs is not found: looking for what is left proves nothing")
	}
	// Others do not have it, and cannot tell that it is there.
	gone := w.callAs(t, t.Context(), "idle", arguments{Handle: "call-9999"})
	for _, act := range []string{"output", "kill"} {
		if other := w.callAs(t, t.Context(), "idle", arguments{Handle: handle, Action: act}); other.text != gone.text || !other.Failed {
			t.Errorf("another role: %s", other.text)
		}
	}
	if a = w.call(arguments{Handle: handle, Action: "kill"}); a.Failed || *a.Running || a.Signal != "SIGKILL" {
		t.Errorf("%+v %s", a.facts, a.text)
	}
	w.nothingLives()
	if a = w.call(arguments{Handle: handle}); a.Failed || *a.Running || a.Output != "" {
		t.Errorf("%+v %s", a.facts, a.text)
	}
}

func TestBackgroundEnds(t *testing.T) {
	w := newWorld(t, nil)
	a := w.call(arguments{Command: "sleep 0.2; echo done; exit 4", Background: true})
	if a = w.call(arguments{Handle: a.facts.Handle, Timeout: 30}); a.Failed || *a.Running || a.exit() != 4 || a.Output != "done\n" {
		t.Errorf("%+v %s", a.facts, a.text)
	}
	a = w.call(arguments{Command: "trap '' TERM; sleep 1000", Background: true, Timeout: 1})
	if a = w.call(arguments{Handle: a.facts.Handle, Timeout: 30}); a.Failed || *a.Running || !a.TimedOut {
		t.Errorf("%+v %s", a.facts, a.text)
	}
}

func TestBackgroundIsBounded(t *testing.T) {
	w := newWorld(t, func(c *Config) { c.Sandboxes = idle{} })
	for range maxRunning {
		if a := w.call(arguments{Command: "x", Background: true}); a.Failed {
			t.Fatal(a.text)
		}
	}
	if a := w.call(arguments{Command: "x", Background: true}); !a.Failed {
		t.Error("one too many")
	}
	for range 2 * maxJobs {
		last := w.tool.jobs[len(w.tool.jobs)-1].handle
		w.call(arguments{Handle: last, Action: "kill"})
		if a := w.call(arguments{Command: "x", Background: true}); a.Failed {
			t.Fatal(a.text)
		}
	}
	if n := len(w.tool.jobs); n > maxJobs {
		t.Errorf("%d are remembered", n)
	}
	if err := w.tool.Close(); err != nil {
		t.Error(err)
	}
	if a := w.call(arguments{Command: "x", Background: true}); !a.Failed {
		t.Error("begun after the end")
	}
}

// idle has sandboxes that wait to be ended.
type idle struct{}

func (idle) Run(ctx context.Context, _ sandbox.Call, _ sandbox.CageConfig) (sandbox.End, error) {
	<-ctx.Done()
	return sandbox.End{}, ctx.Err()
}

// TestGatewayDies kills the process that has the tool, while a command runs in the
// background.
func TestGatewayDies(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"work", "state"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), victimEnv+"="+dir)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || line != "ready\n" {
		t.Fatalf("%q %v", line, err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // which says that it was killed
	w := &world{t: t, work: filepath.Join(dir, "work"), state: filepath.Join(dir, "nowhere")}
	w.nothingLives()
	// What a gateway that was killed could not remove, the next one does.
	w = newWorld(t, func(c *Config) {
		c.Cage.Workdir, c.Cage.StateDir = filepath.Join(dir, "work"), filepath.Join(dir, "state")
	})
	w.shell("true")
	if left, err := filepath.Glob(filepath.Join(dir, "state", "placeholders", "run-*")); err != nil || len(left) > 0 {
		t.Errorf("journals are left: %v %v", left, err)
	}
	if left, err := os.ReadDir(filepath.Join(dir, "work")); err != nil || len(left) > 0 {
		t.Errorf("placeholders are left: %v %v", left, err)
	}
}

// victim has a command in the background, says so, and waits to be killed.
func victim(dir string) int {
	guard, err := audit.New(audit.Config{Dir: dir + "/audit"})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	series, err := sandbox.NewSeries(sandbox.SeriesConfig{Guard: guard})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	tool, err := New(Config{Sandboxes: series, Cage: sandbox.CageConfig{Workdir: dir + "/work", StateDir: dir + "/state", SpareUID: spareUser}})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	c := &gateway.Call{ID: "call-1", Role: "", Arguments: []byte(`{"command":"echo up; setsid sleep 1000 & sleep 1000","background":true}`)}
	r := tool.Call(context.Background(), c)
	c.Arguments = []byte(`{"handle":"call-1"}`)
	for until := time.Now().Add(30 * time.Second); !strings.HasPrefix(r.Content[0].Text, "up") && time.Now().Before(until); time.Sleep(20 * time.Millisecond) {
		r = tool.Call(context.Background(), c)
	}
	fmt.Println("ready")
	return pause()
}

func pause() int {
	for {
		if err := unix.Pause(); err != nil {
			continue
		}
	}
}
